/** Rows in two parts that resemble each other. */
import type { RandomStream } from "../core/random.js";

/** Both parts have about the same share of every outcome in every group, in an order drawn from the stream. */
export const stratify = (
  rows: Int32Array,
  labels: Int32Array,
  privileged: Int32Array,
  fraction: number,
  stream: RandomStream,
): { readonly rest: Int32Array; readonly part: Int32Array } => {
  const part = new Set<number>();
  for (let stratum = 0; stratum < 4; stratum++) {
    const own = rows.filter((row) => 2 * labels[row] + privileged[row] === stratum);
    const order = stream.split(stratum).permutation(own.length);
    for (let i = 0; i < Math.round(fraction * own.length); i++) part.add(own[order[i]]);
  }
  return { rest: rows.filter((row) => !part.has(row)), part: rows.filter((row) => part.has(row)) };
};
