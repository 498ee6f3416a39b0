/** Mean and standard deviation of the columns of sparse rows. */

import type { SparseRows } from "./sparse-rows.js";
import { eachRange } from "./standardise.js";

export interface SparseMoments {
  /** [columns]: the weighted mean of a column less its common value ... */
  readonly offsets: Float64Array;
  /** ... and one over its standard deviation (over n, not n - 1); 0 for a column that does not vary. */
  readonly inverses: Float64Array;
  /** The sum of the weights. */
  readonly weight: number;
}

/** Of these rows, with these weights. */
export function* momentSteps(
  { columns, starts, at, deltas }: SparseRows,
  rows: Int32Array,
  weights: Float64Array,
): Generator<unknown, SparseMoments> {
  const sums = new Float64Array(columns);
  const seen = new Float64Array(columns);
  const counts = new Int32Array(columns);
  const least = new Float32Array(columns).fill(Number.POSITIVE_INFINITY);
  const most = new Float32Array(columns).fill(Number.NEGATIVE_INFINITY);
  let weight = 0;
  const wide = Math.max(1, Math.ceil(starts[starts.length - 1] / Math.max(1, starts.length - 1)));
  yield* eachRange(rows.length, wide, (from, to) => {
    for (let i = from; i < to; i++) {
      const w = weights[i];
      weight += w;
      for (let e = starts[rows[i]], end = starts[rows[i] + 1]; e < end; e++) {
        const j = at[e];
        sums[j] += w * deltas[e];
        seen[j] += w;
        counts[j]++;
        if (deltas[e] < least[j]) least[j] = deltas[e];
        if (deltas[e] > most[j]) most[j] = deltas[e];
      }
    }
  });
  const offsets = sums.map((sum) => sum / weight);
  const squares = new Float64Array(columns);
  yield* eachRange(rows.length, wide, (from, to) => {
    for (let i = from; i < to; i++) {
      for (let e = starts[rows[i]], end = starts[rows[i] + 1]; e < end; e++) {
        const difference = deltas[e] - offsets[at[e]];
        squares[at[e]] += weights[i] * difference * difference;
      }
    }
  });
  const inverses = squares.map((square, j) => {
    const constant = counts[j] === 0 || (counts[j] === rows.length && least[j] === most[j]);
    if (constant) {
      offsets[j] = counts[j] === 0 ? 0 : least[j];
      return 0;
    }
    return Math.sqrt(weight / (square + (weight - seen[j]) * offsets[j] * offsets[j]));
  });
  return { offsets, inverses, weight };
}
