/**
 * Columns cut into bins, so that the best split of a node is found from sums over bins instead of over sorted rows.
 *
 * A column with few distinct values has a bin for each, and then no split is missed. Otherwise the bins are equal
 * parts of the training weight. Bins are numbered through all columns.
 */
import type { FeatureMatrix } from "../classifier.js";
import { eachRange } from "../standardise.js";

export interface Bins {
  /** [columns + 1]: the bins of column j are offsets[j], ..., offsets[j + 1] - 1, in the order of their values. */
  readonly offsets: Int32Array;
  /** [bins], the smallest training value in each. */
  readonly low: Float32Array;
  /** [columns], each column's bin with the most rows. */
  readonly commonest: Int32Array;
  /**
   * The bins that training row i is in are entries[starts[i]], ..., entries[starts[i + 1] - 1] and, for each column
   * that has none there, its commonest: a row of one-hot columns is then as short as the table's own.
   */
  readonly starts: Int32Array;
  readonly entries: Int32Array;
}

/** Columns that are taken out of the rows together. */
const SIDE_BY_SIDE = 16;
/** Distinct values up to which a column need not be sorted. */
const FEW_VALUES = 32;
/** Up to this many training rows every distinct value has a bin of its own. */
const FEW_ROWS = 1024;

export function* cutSteps(
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  weights: Float64Array,
  most: number,
): Generator<unknown, Bins> {
  const n = rows.length;
  const offsets = new Int32Array(columns + 1);
  const commonest = new Int32Array(columns);
  const parts: Float32Array[] = [];
  const side = new Float32Array(Math.min(columns, SIDE_BY_SIDE) * n);
  let entryCount = 0;
  for (let j = 0; j < columns; j++) {
    const place = j % SIDE_BY_SIDE;
    if (place === 0) {
      // Some columns at a time: a row's are next to each other in memory.
      const count = Math.min(SIDE_BY_SIDE, columns - j);
      for (let i = 0; i < n; i++)
        for (let k = 0, from = rows[i] * columns + j; k < count; k++) side[k * n + i] = values[from + k];
      yield;
    }
    const column = side.subarray(place * n, (place + 1) * n);
    const low = lowestOfBins(column, weights, n <= FEW_ROWS ? n : most);
    const counts = new Int32Array(low.length);
    for (let i = 0; i < n; i++) counts[lastAtMost(low, 0, low.length, column[i])]++;
    let top = 0;
    for (let b = 1; b < counts.length; b++) if (counts[b] > counts[top]) top = b;
    entryCount += n - counts[top];
    commonest[j] = offsets[j] + top;
    offsets[j + 1] = offsets[j] + low.length;
    parts.push(low);
    yield;
  }
  const low = new Float32Array(offsets[columns]);
  parts.forEach((part, j) => {
    low.set(part, offsets[j]);
  });
  const starts = new Int32Array(n + 1);
  const entries = new Int32Array(entryCount);
  let at = 0;
  yield* eachRange(n, columns, (first, end) => {
    for (let i = first; i < end; i++) {
      for (let j = 0, from = rows[i] * columns; j < columns; j++) {
        const bin = lastAtMost(low, offsets[j], offsets[j + 1], values[from + j]);
        if (bin !== commonest[j]) entries[at++] = bin;
      }
      starts[i + 1] = at;
    }
  });
  return { offsets, low, commonest, starts, entries };
}

/** The last place in low[from..to) whose value is at most x; `from` where none is. */
const lastAtMost = (low: Float32Array, from: number, to: number, x: number): number => {
  let first = from;
  let end = to;
  while (end - first > 1) {
    const middle = (first + end) >> 1;
    if (low[middle] <= x) first = middle;
    else end = middle;
  }
  return first;
};

/** The distinct values in order where there are few; undefined where there are more. */
const fewValues = (column: Float32Array): Float32Array | undefined => {
  const found = new Float32Array(FEW_VALUES);
  let count = 0;
  let last = Number.NaN;
  for (let i = 0; i < column.length; i++) {
    const x = column[i];
    if (x === last) continue;
    last = x;
    let at = 0;
    while (at < count && found[at] < x) at++;
    if (at < count && found[at] === x) continue;
    if (count === FEW_VALUES) return undefined;
    found.copyWithin(at + 1, at, count);
    found[at] = x;
    count++;
  }
  return found.slice(0, count);
};

/** The smallest value of each bin. */
const lowestOfBins = (column: Float32Array, weights: Float64Array, most: number): Float32Array => {
  const few = fewValues(column);
  if (few !== undefined && few.length <= most) return few;
  const sorted = column.slice().sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++)
    if (i === 0 || sorted[i] !== sorted[count - 1]) sorted[count++] = sorted[i];
  const distinct = sorted.subarray(0, count);
  if (count <= most) return distinct.slice();
  const weightOf = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < column.length; i++) {
    weightOf[lastAtMost(distinct, 0, count, column[i])] += weights[i];
    total += weights[i];
  }
  // A value belongs to the part of the weight that its middle lies in.
  let before = 0;
  let last = -1;
  return distinct.filter((_, k) => {
    const part = Math.floor(((before + weightOf[k] / 2) / total) * most);
    before += weightOf[k];
    const opens = part !== last;
    last = part;
    return opens;
  });
};
