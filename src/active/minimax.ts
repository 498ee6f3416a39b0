/** EPIG for the group that gains least by it. */
import { InputError } from "../core/errors.js";
import { epig } from "./epig.js";
import type { Prediction } from "./fairbed.js";
import { requireSameMembers } from "./members.js";
import { normalisedWeights, targetWeightTexts } from "./weights.js";

export const minimaxTexts = {
  none: "no group has targets with a probability above 0: give P(group | target input) of at least one group",
};

/**
 * Group-minimax EPIG: min over groups g of sum_t w_gt I(y_n; z_t) / sum_t w_gt with w_gt = w_t P(g | x_t), [pool rows]: what
 * a candidate's label says of the targets of the group that it says least of. `groups` are [groups][targets]; a group
 * without any probability is left out.
 *
 * @example
 * ```ts
 * import { minimaxEpig } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[0, 0, 1, 1], [0, 1, 0, 1]]);
 * const targets = members([[0, 0, 1, 1], [0, 1, 0, 1]]); // the first is of one group, the second of the other
 * console.log([...minimaxEpig({ pool, targets }, [[1, 0], [0, 1]])]); // [ 0, 0 ]
 * console.log(minimaxEpig({ pool, targets }, [[1, 1]])[0].toFixed(3)); // 0.347
 * ```
 */
export const minimaxEpig = (
  { pool, targets, labelled: _, ...options }: Prediction,
  groups: readonly ArrayLike<number>[],
): Float64Array => {
  requireSameMembers(pool, targets);
  const own = normalisedWeights(targets.rows, options.weights);
  const weighted = groups.map((probabilities) => {
    if (probabilities.length !== targets.rows) {
      throw new InputError("groups", targetWeightTexts.length(probabilities.length, targets.rows));
    }
    return own.map((weight, t) => weight * probabilities[t]);
  });
  const present = weighted.filter((weights) => weights.some((weight) => weight > 0));
  const [first, ...others] = present.map((weights) => epig(pool, targets, { ...options, weights }));
  if (first === undefined) throw new InputError("groups", minimaxTexts.none);
  return others.reduce((least, each) => least.map((value, n) => Math.min(value, each[n])), first);
};
