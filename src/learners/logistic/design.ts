/**
 * What a logistic regression is fitted to: standardised features with a 1 behind them, most of which need not be looked
 * at. In a table of categories nearly every column has a value that most rows share, so a row is kept as the columns in
 * which it differs from that,
 *
 *     x_j = z_j - shift_j,   z_j = (value_j - common_j) / scale_j,   shift_j = (mean_j - common_j) / scale_j
 *
 * and sums over rows are made of the z that are not 0. Where more than half of the weight has the common value, shift_j
 * is at most 1, so that putting it back costs no digits; a column without such a value has its mean in that place.
 */
import type { FeatureMatrix } from "../classifier.js";
import { eachRange } from "../standardise.js";

export interface Design {
  /** Where the entries of each row start, [rows + 1]. */
  readonly starts: Int32Array;
  /** Of each entry the column, ascending in a row, and z; the last entry of a row is the 1 of the intercept. */
  readonly columns: Int32Array;
  readonly z: Float64Array;
  /** [width], 0 for the intercept. */
  readonly shifts: Float64Array;
  /** Columns and the intercept. */
  readonly width: number;
  readonly labels: Int32Array;
  readonly classes: number;
  readonly l2: number;
}

/** The value that more than half of the weight has in each column; the column's mean where there is none. */
function* commonValues(
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  weights: Float64Array,
  means: Float64Array,
): Generator<unknown, Float64Array> {
  // Weight against weight: what has more than half is left standing, if anything has.
  const common = new Float64Array(columns);
  const lead = new Float64Array(columns);
  let total = 0;
  yield* eachRange(rows.length, columns, (from, to) => {
    for (let i = from; i < to; i++) {
      const w = weights[i];
      total += w;
      for (let j = 0, at = rows[i] * columns; j < columns; j++, at++) {
        if (values[at] === common[j]) lead[j] += w;
        else if (w <= lead[j]) lead[j] -= w;
        else {
          common[j] = values[at];
          lead[j] = w - lead[j];
        }
      }
    }
  });
  const own = new Float64Array(columns);
  yield* eachRange(rows.length, columns, (from, to) => {
    for (let i = from; i < to; i++) {
      for (let j = 0, at = rows[i] * columns; j < columns; j++, at++) {
        if (values[at] === common[j]) own[j] += weights[i];
      }
    }
  });
  return common.map((value, j) => (own[j] > total / 2 ? value : means[j]));
}

export function* designSteps(
  features: FeatureMatrix,
  rows: Int32Array,
  weights: Float64Array,
  { means, scales }: { readonly means: Float64Array; readonly scales: Float64Array },
  rest: Pick<Design, "labels" | "classes" | "l2">,
): Generator<unknown, Design> {
  const { values, columns: count } = features;
  const width = count + 1;
  const from = yield* commonValues(features, rows, weights, means);
  const differs = (row: number, j: number) => values[row * count + j] !== from[j];
  const starts = new Int32Array(rows.length + 1);
  yield* eachRange(rows.length, count, (first, end) => {
    for (let i = first; i < end; i++) {
      let own = 1;
      for (let j = 0; j < count; j++) if (differs(rows[i], j)) own++;
      starts[i + 1] = starts[i] + own;
    }
  });
  const columns = new Int32Array(starts[rows.length]);
  const z = new Float64Array(starts[rows.length]);
  let at = 0;
  yield* eachRange(rows.length, count, (first, end) => {
    for (let i = first; i < end; i++) {
      for (let j = 0; j < count; j++) {
        if (!differs(rows[i], j)) continue;
        columns[at] = j;
        z[at++] = (values[rows[i] * count + j] - from[j]) / scales[j];
      }
      columns[at] = count;
      z[at++] = 1;
    }
  });
  const shifts = new Float64Array(width);
  for (let j = 0; j < count; j++) shifts[j] = (means[j] - from[j]) / scales[j];
  return { ...rest, starts, columns, z, shifts, width };
}
