/** Expected predictive information gain: how much a candidate's label says of the labels of the targets. */
import type { Workspace } from "../compute/workspace.js";
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import { type Correction, expectedUnderIndependence } from "./correction.js";
import { rowEntropies } from "./entropy.js";
import { type JointEntropyOptions, jointEntropies } from "./joint-entropies.js";
import { meansOf } from "./kernels/dense.js";
import { type Members, reorderMembers, requireSameMembers } from "./members.js";
import { normalisedWeights } from "./weights.js";

export const epigTexts = {
  correction: (given: unknown) =>
    `the correction was ${JSON.stringify(given)}: choose "none", "analytic" or "permutation"`,
  stream:
    'the correction "permutation" draws pairings of members and was given no random stream: pass one as `stream`',
  permutations: (given: unknown) => `permutations was ${String(given)}: give a whole number of at least 1`,
};

export interface EpigOptions {
  /** How much each target counts, [targets]; all the same unless given. */
  readonly weights?: ArrayLike<number> | undefined;
  /** What is subtracted for the finite number of members; "none" unless given. */
  readonly correction?: Correction | undefined;
  /** Where the pairings of "permutation" come from. */
  readonly stream?: RandomStream | undefined;
  /** How many pairings "permutation" draws; 20 unless given. */
  readonly permutations?: number | undefined;
  /** Where kernels run; one on all cores that all calls share unless given. */
  readonly workspace?: Workspace | undefined;
  /** @internal What computes EPIG without a correction; `plainEpig` unless given. */
  readonly plain?: PlainEpig | undefined;
}

/** EPIG without a correction, [pool rows]; the weights of the targets have the sum 1. */
export type PlainEpig = (
  pool: Members,
  targets: Members,
  weights: Float64Array,
  options?: JointEntropyOptions,
) => Float64Array;

/**
 * EPIG without a correction; with weights of the members, under those: what is left to learn once they are known to
 * be more or less likely. Both weights have the sum 1.
 */
export const plainEpig: PlainEpig = (pool, targets, weights, options = {}) => {
  const means = meansOf(pool, targets, options.memberWeights);
  const scores = rowEntropies(means.pool, pool.classes);
  let ofTargets = 0;
  rowEntropies(means.targets, targets.classes).forEach((entropy, t) => {
    ofTargets += weights[t] * entropy;
  });
  const joint = jointEntropies(pool, targets, weights, { ...options, means });
  for (let n = 0; n < scores.length; n++) scores[n] += ofTargets - joint[n];
  return scores;
};

/**
 * EPIG(n) = sum_t w_t I(y_n; z_t) = H[pbar(. | n)] + sum_t w_t (H[pbar(. | t)] - H[J[n, t]]) in nats, [pool rows],
 * with J[n, t, c, d] = mean_k P[n, k, c] T[t, k, d] (the paper's equation for EPIG in section 5); less what
 * independent members would give, where a correction is asked for.
 *
 * @example
 * ```ts
 * import { epig } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 0, 1]]); // three candidates, four members
 * const targets = members([[0, 0, 1, 1], [0, 1, 1, 1]]);
 * console.log([...epig(pool, targets)].map((nats) => nats.toFixed(3)).join(" ")); // 0.454 0.000 0.108
 * ```
 */
export const epig = (pool: Members, targets: Members, options: EpigOptions = {}): Float64Array => {
  const { correction = "none", stream, permutations = 20, workspace, plain = plainEpig } = options;
  requireSameMembers(pool, targets);
  const weights = normalisedWeights(targets.rows, options.weights);
  const score = plain(pool, targets, weights, { workspace });
  if (correction === "none") return score;
  if (correction === "analytic") {
    const expected = expectedUnderIndependence(pool, targets, weights);
    return score.map((value, n) => value - expected[n]);
  }
  if (correction !== "permutation") throw new InputError("correction", epigTexts.correction(correction));
  if (stream === undefined) throw new InputError("stream", epigTexts.stream);
  if (!Number.isInteger(permutations) || permutations < 1) {
    throw new InputError("permutations", epigTexts.permutations(permutations));
  }
  for (let r = 0; r < permutations; r++) {
    const order = stream.split(r).permutation(pool.members);
    const paired = plain(pool, reorderMembers(targets, order), weights, { workspace });
    for (let n = 0; n < score.length; n++) score[n] -= paired[n] / permutations;
  }
  return score;
};
