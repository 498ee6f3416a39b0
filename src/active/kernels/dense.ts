/** Joint entropies of members with any probabilities, as matrix products in float32. */
import type { Workspace } from "../../compute/workspace.js";
import { rowEntropies, xlogx } from "../entropy.js";
import { type Members, meanProbabilities, readRow, weightedProbabilities } from "../members.js";
import { sumProducts } from "./product.js";

/** Mean probabilities, [rows, classes], of candidates and of targets. */
export interface Means {
  readonly pool: Float64Array;
  readonly targets: Float64Array;
}

export const meansOf = (pool: Members, targets: Members, memberWeights?: Float64Array): Means => {
  const mean = (given: Members): Float64Array =>
    memberWeights === undefined ? meanProbabilities(given) : weightedProbabilities(given, memberWeights);
  return { pool: mean(pool), targets: mean(targets) };
};

/**
 * P(class 1) of every row in float32 with the entropy that goes with it, in float32 too, and what H[pbar] and this
 * rounding leave to be added to a joint entropy: a kernel's entropies of a pair must all be of the same rounded p and
 * q, or the information between them is off by as much as the rounding.
 */
const roundedValues = (means: Float64Array) => {
  const rows = means.length / 2;
  const own = new Float32Array(rows);
  const shift = new Float32Array(rows);
  const offsets = rowEntropies(means, 2);
  for (let i = 0; i < rows; i++) {
    own[i] = means[2 * i + 1];
    const rounded = 0 - xlogx(own[i]) - xlogx(1 - own[i]);
    shift[i] = rounded;
    offsets[i] = offsets[i] - rounded + shift[i];
  }
  return { values: { own, shift }, offsets };
};

/**
 * Two classes on both sides: one product for a pair, of what is left of P(class 1) once its mean is taken away. That
 * product is the covariance of the two labels, so that its rounding errors are small where the labels have little to
 * do with each other, and are not made large by differences of entropies.
 */
const binaryJointEntropies = (
  workspace: Workspace,
  pool: Members,
  targets: Members,
  weights: Float64Array,
  { pool: p, targets: q }: Means,
  memberWeights: Float64Array | undefined,
): Float64Array => {
  const { members } = pool;
  const row = new Float64Array(2 * members);
  const fill =
    (given: Members, means: Float64Array) => (i: number, to: Float32Array, at: number, stride: number) => {
      const mean = means[2 * i + 1];
      if (given.kind === "dense") {
        const { values } = given;
        for (let k = 0, from = 2 * members * i + 1; k < members; k++, from += 2, at += stride)
          to[at] = values[from] - mean;
        return;
      }
      readRow(given, i, row);
      for (let k = 0; k < members; k++, at += stride) to[at] = row[2 * k + 1] - mean;
    };
  const left = roundedValues(p);
  const right = roundedValues(q);
  const fillPool = fill(pool, p);
  const fillTarget = fill(targets, q);
  const sums = sumProducts(
    workspace,
    "binary",
    members,
    { rows: pool.rows, fill: fillPool, values: left.values },
    {
      rows: targets.rows,
      fill: (j, to, at, stride) => {
        fillTarget(j, to, at, stride);
        for (let k = 0; k < members; k++) to[at + stride * k] *= memberWeights?.[k] ?? 1 / members;
      },
      values: right.values,
      weights,
    },
  );
  let ofTargets = 0;
  right.offsets.forEach((offset, t) => {
    ofTargets += weights[t] * offset;
  });
  return sums.map((sum, n) => left.offsets[n] + ofTargets - sum);
};

/** Any classes: every cell of J is a product of its own, of row (n, c) and column (t, d). */
const cellJointEntropies = (
  workspace: Workspace,
  pool: Members,
  targets: Members,
  weights: Float64Array,
  memberWeights: Float64Array | undefined,
): Float64Array => {
  const { members } = pool;
  const reader = (given: Members, factor: (k: number) => number) => {
    const { classes } = given;
    const row = new Float64Array(members * classes);
    let current = -1;
    return (i: number, to: Float32Array, at: number, stride: number): void => {
      const n = Math.floor(i / classes);
      if (n !== current) readRow(given, n, row);
      current = n;
      for (let k = 0, from = i % classes; k < members; k++, from += classes)
        to[at + stride * k] = factor(k) * row[from];
    };
  };
  const sums = sumProducts(
    workspace,
    "cells",
    members,
    { rows: pool.rows * pool.classes, fill: reader(pool, () => 1) },
    {
      rows: targets.rows * targets.classes,
      fill: reader(targets, (k) => memberWeights?.[k] ?? 1 / members),
      weights: Float64Array.from(
        { length: targets.rows * targets.classes },
        (_, j) => weights[Math.floor(j / targets.classes)],
      ),
    },
  );
  return Float64Array.from({ length: pool.rows }, (_, n) => {
    let total = 0;
    for (let c = 0; c < pool.classes; c++) total -= sums[n * pool.classes + c];
    return total;
  });
};

/** sum_t w_t H[J[n, t]], [pool rows], within 1e-6; the weights have the sum 1, and so have those of the members. */
export const denseJointEntropies = (
  workspace: Workspace,
  pool: Members,
  targets: Members,
  weights: Float64Array,
  means: Means = meansOf(pool, targets),
  memberWeights?: Float64Array,
): Float64Array => {
  return pool.classes === 2 && targets.classes === 2
    ? binaryJointEntropies(workspace, pool, targets, weights, means, memberWeights)
    : cellJointEntropies(workspace, pool, targets, weights, memberWeights);
};
