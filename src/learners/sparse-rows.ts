/**
 * A matrix as the few values of each row that are not the usual ones. A table of categories has a column for each of
 * their values, nearly all of them 0: a row of 400 columns is then twenty numbers or so. Made once for each matrix, and
 * kept for as long as it lives.
 */
import type { FeatureMatrix } from "./classifier.js";
import { eachRange } from "./standardise.js";

export interface SparseRows {
  readonly columns: number;
  /** [columns]: the value that most rows have in each; where no value has more than half of them, about the mean. */
  readonly common: Float32Array;
  /** [rows + 1]: the entries of row i are starts[i], ..., starts[i + 1] - 1. */
  readonly starts: Int32Array;
  /** Of each entry the column, ascending in a row ... */
  readonly at: Int32Array;
  /** ... and the value less the common one, never 0. */
  readonly deltas: Float32Array;
}

const kept = new WeakMap<FeatureMatrix, SparseRows>();

/** Rows that are asked for the value that most have. */
const ASKED = 255;

/** The value of each column that most of some evenly spaced rows have. */
const usualValues = ({ values, rows, columns }: FeatureMatrix): Float32Array => {
  const usual = new Float32Array(columns);
  const asked = Math.min(ASKED, rows);
  const seen = new Float32Array(asked);
  for (let j = 0; j < columns; j++) {
    for (let i = 0; i < asked; i++) seen[i] = values[Math.floor((i * rows) / asked) * columns + j];
    seen.sort();
    let most = 0;
    for (let from = 0, to = 0; from < asked; from = to) {
      while (to < asked && seen[to] === seen[from]) to++;
      if (to - from <= most) continue;
      most = to - from;
      usual[j] = seen[from];
    }
  }
  return usual;
};

/** The matrix's sparse rows, made in pieces where they are not there yet. */
export function* sparseSteps(features: FeatureMatrix): Generator<unknown, SparseRows> {
  const known = kept.get(features);
  if (known !== undefined) return known;
  const { values, rows, columns } = features;
  const common = usualValues(features);
  const others = new Int32Array(columns);
  const sums = new Float64Array(columns);
  yield* eachRange(rows, columns, (from, to) => {
    for (let i = from, at = from * columns; i < to; i++) {
      for (let j = 0; j < columns; j++, at++) {
        if (values[at] === common[j]) continue;
        others[j]++;
        sums[j] += values[at];
      }
    }
  });
  for (let j = 0; j < columns; j++) {
    if (2 * others[j] <= rows) continue;
    common[j] = (sums[j] + (rows - others[j]) * common[j]) / rows;
    others[j] = rows;
  }
  const starts = new Int32Array(rows + 1);
  const most = others.reduce((sum, count) => sum + count, 0);
  const at = new Int32Array(most);
  const deltas = new Float32Array(most);
  let next = 0;
  yield* eachRange(rows, columns, (from, to) => {
    for (let i = from, place = from * columns; i < to; i++) {
      for (let j = 0; j < columns; j++, place++) {
        if (values[place] === common[j]) continue;
        at[next] = j;
        deltas[next++] = values[place] - common[j];
      }
      starts[i + 1] = next;
    }
  });
  const sparse = { columns, common, starts, at, deltas };
  kept.set(features, sparse);
  return sparse;
}
