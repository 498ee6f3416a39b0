/** How far the groups' score distributions are apart, without intervals: for a simulation's checkpoints. */

export interface DistributionDistances {
  /** The area between the highest and the lowest of the groups' distribution functions. */
  readonly area: number;
  /** Their largest distance. */
  readonly largest: number;
}

/**
 * Undefined where fewer than two groups have rows. `scores` and `groups` are [rows]; group -1 is unknown and left out;
 * rows count by their weights, [rows], 1 unless given.
 *
 * @example
 * ```ts
 * import { scoreDistances } from "fairbed/fairness";
 *
 * const gap = scoreDistances(Float64Array.of(0.2, 0.4, 0.6, 0.8), Int32Array.of(0, 0, 1, 1), 2);
 * console.log(gap.area.toFixed(1), gap.largest); // 0.4 1
 * ```
 */
export const scoreDistances = (
  scores: Float64Array,
  groups: Int32Array,
  groupCount: number,
  weights?: Float64Array | undefined,
): DistributionDistances | undefined => {
  const sizes = new Float64Array(groupCount);
  const weightOf = (row: number): number => weights?.[row] ?? 1;
  groups.forEach((group, row) => {
    if (group >= 0) sizes[group] += weightOf(row);
  });
  const present = [...sizes.keys()].filter((group) => sizes[group] > 0);
  if (present.length < 2) return undefined;
  const order = Uint32Array.from(scores.keys())
    .filter((row) => groups[row] >= 0 && weightOf(row) > 0)
    .sort((a, b) => scores[a] - scores[b]);
  const below = new Float64Array(groupCount);
  let area = 0;
  let largest = 0;
  order.forEach((row, at) => {
    below[groups[row]] += weightOf(row) / sizes[groups[row]];
    const next = order[at + 1];
    if (next === undefined || scores[next] === scores[row]) return;
    let [least, most] = [Infinity, -Infinity];
    for (const group of present) {
      least = Math.min(least, below[group]);
      most = Math.max(most, below[group]);
    }
    area += (most - least) * (scores[next] - scores[row]);
    largest = Math.max(largest, most - least);
  });
  return { area, largest };
};
