/** Scores that look at the candidates alone. */
import type { RandomStream } from "../core/random.js";
import { rowEntropies, xlogx } from "./entropy.js";
import { type Members, meanProbabilities, requireMembers } from "./members.js";

/**
 * H[pbar(. | n)] in nats, [pool rows]: how uncertain the ensemble's prediction is.
 *
 * @example
 * ```ts
 * import { predictiveEntropy } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const entropies = predictiveEntropy(members([[0, 0, 1, 1], [1, 1, 1, 1]]));
 * console.log([...entropies].map((nats) => nats.toFixed(3)).join(" ")); // 0.693 0.000
 * ```
 */
export const predictiveEntropy = (pool: Members): Float64Array => {
  requireMembers("the pool", pool);
  return rowEntropies(meanProbabilities(pool), pool.classes);
};

/**
 * BALD(n) = H[pbar(. | n)] - mean_k H[P[n, k]] in nats, [pool rows]: how much its members disagree.
 *
 * @example
 * ```ts
 * import { bald } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * console.log([...bald(members([[0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]]))].map((nats) => nats.toFixed(3)).join(" ")); // 0.693 0.000
 * ```
 */
export const bald = (pool: Members): Float64Array => {
  const scores = predictiveEntropy(pool);
  // Members that vote are sure, each of them.
  if (pool.kind === "votes") return scores;
  const { members, classes, values } = pool;
  for (let n = 0, at = 0; n < pool.rows; n++) {
    let sum = 0;
    for (let i = 0; i < members * classes; i++) sum += xlogx(values[at++]);
    scores[n] += sum / members;
  }
  return scores;
};

/** A number drawn for each candidate, [rows]: the best of them are a random choice. */
export const randomScores = (rows: number, stream: RandomStream): Float64Array =>
  Float64Array.from({ length: rows }, () => stream.uniform());
