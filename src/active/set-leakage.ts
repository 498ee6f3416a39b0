/**
 * What the features of an acquired set tell of the attribute, as a whole and under the model of the attribute that one
 * has: within a set S of inputs
 *
 *     I_S(x; phi) = mean over i in S of KL( p(phi | x_i) || pbar_S ),      pbar_S = mean over i in S of p(phi | x_i),
 *
 * and a candidate adds its own divergence from pbar_S, to first order. Asking where it is small picks inputs of which
 * that model is unsure. A new model that learns the attribute from the labels of the set is not thereby worse at it: on
 * Census it is better (docs/concepts/what-moves-parity.md).
 */
import { log } from "../core/math.js";
import { type Members, meanProbabilities, requireMembers } from "./members.js";

/**
 * KL( p(phi | n) || pbar_S ) in nats, [pool rows]; the mean over the set counts one made-up row of each class.
 *
 * @example
 * ```ts
 * import { setLeakage } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[0.5], [0]]);
 * const labelled = members([[0.5], [0.5]]); // the group cannot be told there
 * console.log([...setLeakage(pool, labelled)].map((nats) => nats.toFixed(3)).join(" ")); // 0.000 0.693
 * ```
 */
export const setLeakage = (pool: Members, labelled: Members): Float64Array => {
  requireMembers("the pool", pool);
  requireMembers("what is labelled", labelled);
  const { classes } = pool;
  const sums = new Float64Array(classes).fill(1);
  meanProbabilities(labelled).forEach((p, i) => {
    sums[i % classes] += p;
  });
  const logs = sums.map((sum) => log(sum / (labelled.rows + classes)));
  const mean = meanProbabilities(pool);
  return Float64Array.from({ length: pool.rows }, (_, n) => {
    let divergence = 0;
    for (let c = 0; c < classes; c++) {
      const p = mean[n * classes + c];
      if (p > 0) divergence += p * (log(p) - logs[c]);
    }
    return divergence;
  });
};
