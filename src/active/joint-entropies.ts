/** The one costly part of EPIG, sum_t w_t H[J[n, t]], by whichever way suits its members and its size. */
import type { Workspace } from "../compute/workspace.js";
import { denseJointEntropies, type Means, meansOf } from "./kernels/dense.js";
import { sharedWorkspace } from "./kernels/shared-workspace.js";
import { voteJointEntropies } from "./kernels/votes.js";
import type { Members } from "./members.js";
import { referenceJointEntropies } from "./reference.js";

export interface JointEntropyOptions {
  /** Where kernels run; one on all cores that all calls share unless given. */
  readonly workspace?: Workspace | undefined;
  /** Weights of the members with the sum 1, [members]; all the same unless given. */
  readonly memberWeights?: Float64Array | undefined;
  /** The mean probabilities of both sides under those weights, [rows, classes], where they are at hand. */
  readonly means?: Means | undefined;
}

/** Members times targets up to which float64 as the formula reads is fast enough. */
const SMALL = 64;

const isExact = (given: Members): boolean => given.kind === "dense" && given.values instanceof Float64Array;

/**
 * sum_t w_t H[J[n, t]], [pool rows]; the weights have the sum 1. Votes are exact; float32 members have products in
 * float32, within 1e-6 of the exact value; float64 members, and a few members and targets, float64 throughout. What
 * is used depends on the members and the targets alone, so that a candidate has the same bits in any part of a pool.
 */
export const jointEntropies = (
  pool: Members,
  targets: Members,
  weights: Float64Array,
  options: JointEntropyOptions = {},
): Float64Array => {
  const { memberWeights } = options;
  const plain = targets.rows * pool.members <= SMALL || isExact(pool) || isExact(targets);
  const workspace = plain ? undefined : (options.workspace ?? sharedWorkspace());
  if (workspace === undefined) return referenceJointEntropies(pool, targets, weights, memberWeights);
  if (pool.kind === "votes" && targets.kind === "votes" && memberWeights === undefined) {
    return voteJointEntropies(workspace, pool, targets, weights);
  }
  const means = options.means ?? meansOf(pool, targets, memberWeights);
  return denseJointEntropies(workspace, pool, targets, weights, means, memberWeights);
};
