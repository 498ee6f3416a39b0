/** Small ensembles with known scores. */

import type { ExactMembers } from "../../src/active/members.js";
import type { DenseMembers, VoteMembers } from "../../src/learners/classifier.js";

/** P(class 1) of each member, by row. */
export const binary = (rows: readonly (readonly number[])[]): ExactMembers => ({
  kind: "dense",
  rows: rows.length,
  members: rows[0].length,
  classes: 2,
  values: Float64Array.from(rows.flatMap((row) => row.flatMap((p) => [1 - p, p]))),
});

/** [row][member][class] */
export const exact = (rows: readonly (readonly (readonly number[])[])[]): ExactMembers => ({
  kind: "dense",
  rows: rows.length,
  members: rows[0].length,
  classes: rows[0][0].length,
  values: Float64Array.from(rows.flat(2)),
});

export const single = (given: ExactMembers): DenseMembers => ({
  ...given,
  values: Float32Array.from(given.values),
});

/** Rows of 0 and 1 as packed votes. */
export const votes = (rows: readonly (readonly number[])[]): VoteMembers => {
  const members = rows[0].length;
  const width = Math.ceil(members / 32);
  const words = new Uint32Array(rows.length * width);
  rows.forEach((row, n) => {
    row.forEach((vote, k) => {
      if (vote === 1) words[n * width + (k >> 5)] |= 1 << (k & 31);
    });
  });
  return { kind: "votes", rows: rows.length, members, classes: 2, words };
};

export const THETA_POOL = [
  [0, 0, 1, 1],
  [1, 1, 1, 1],
  [0, 1, 0, 1],
  [0.25, 0.5, 0.75, 1],
];
export const THETA_TARGETS = [
  [0, 0, 1, 1],
  [0, 1, 1, 1],
];
export const PHI_POOL = [
  [1, 1, 0, 0],
  [0, 1, 0, 1],
  [0, 0, 0, 0],
  [0.5, 0.5, 0.5, 0.5],
];
export const PHI_TARGETS = [
  [1, 0, 0, 0],
  [1, 1, 0, 0],
];
export const THREE_POOL = [
  [
    [0.7, 0.2, 0.1],
    [0.1, 0.8, 0.1],
  ],
  [
    [1, 0, 0],
    [0, 0, 1],
  ],
];
const THIRD = 1 / 3;
export const THREE_TARGETS = [
  [
    [0.6, 0.3, 0.1],
    [0.2, 0.2, 0.6],
  ],
  [
    [0, 1, 0],
    [0, 0, 1],
  ],
  [
    [THIRD, THIRD, THIRD],
    [THIRD, THIRD, THIRD],
  ],
];
export const EPIG_THETA = [0.4544543674, 0, 0.1078807772, 0.120812316];
export const EPIG_PHI = [0.4544543674, 0.1078807772, 0, 0];
export const ENTROPY_THETA = [Math.LN2, 0, Math.LN2, 0.6615632382];
export const BALD_THETA = [Math.LN2, 0, Math.LN2, 0.2071088707];
export const FAIRBED_10 = [-4.090089307, -1.0788077717, 0.1078807772, 0.120812316];
export const FAIRBED_HALF = [0.2272271837, -0.0539403886, 0.1078807772, 0.120812316];
export const EPIG_THREE = [0.0947855395, 0.2831888917];
