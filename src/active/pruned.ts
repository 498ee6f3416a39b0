/**
 * The best few candidates without the scores of all: most are ruled out by a bound that costs less.
 *
 * With C_cd = J_cd - p_c q_d, the covariance of two labels, Jensen's and Pinsker's inequalities give
 *
 *     2 sum_cd C_cd^2 <= I(y; z) <= log(1 + chi^2),  chi^2 = sum_cd C_cd^2 / (p_c q_d)
 *
 * (for two classes chi^2 is the squared correlation; the 2 is Pinsker's 1/2 times 4, because the rows and the columns
 * of C have the sum 0). The logarithm is concave, so the mean over targets of the upper bound is at most
 * log(1 + mean_t chi^2). Both means are quadratic forms in what is left of a candidate's members once their mean is
 * taken away: x' M x with M [members, members], the same for all candidates, whatever the number of targets.
 */

import type { Workspace } from "../compute/workspace.js";
import { InputError } from "../core/errors.js";
import { factorise } from "../core/math/cholesky.js";
import { log1p } from "../core/math.js";
import { expectedUnderIndependence } from "./correction.js";
import { epig } from "./epig.js";
import {
  combineLeakages,
  type FairnessOptions,
  type Prediction,
  requireBeta,
  requireSameCandidates,
} from "./fairbed.js";
import { sumProducts } from "./kernels/product.js";
import { sharedWorkspace } from "./kernels/shared-workspace.js";
import { type Members, meanProbabilities, readRow, requireSameMembers, takeRows } from "./members.js";
import { createAllowance } from "./quotas.js";
import { descending } from "./ranking.js";
import { defaultTies, goesFirst, type RowKeys } from "./ties.js";
import { normalisedWeights } from "./weights.js";

export const prunedTexts = {
  correction:
    'the best candidates alone cannot be found with the correction "permutation": use "analytic" or "none", or score all',
};

/** The best candidates, from the best down. */
export interface FoundCandidates {
  readonly rows: readonly number[];
  /** Of those rows, in that order. */
  readonly score: Float64Array;
  readonly target: Float64Array;
  readonly leakage: Float64Array;
  /** How many candidates had to be scored to be sure. */
  readonly evaluated: number;
}

export interface BestOptions extends Partial<FairnessOptions> {
  /** How many candidates are wanted. */
  readonly size: number;
  readonly exclude?: Iterable<number> | undefined;
  /** Decides between equals, by row; the same for all unless given. */
  readonly ties?: RowKeys | undefined;
}

/** Room for the rounding of float32, in the forms and in the scores themselves. */
const RELATIVE_SLACK = 1e-4;
const SLACK = 2e-6;

/** L with L L' = M + e I, [size, size] row by row, for M with no negative eigenvalue; e keeps it regular. */
const regularFactor = (matrix: Float64Array, size: number): Float64Array => {
  let trace = 0;
  for (let i = 0; i < size; i++) trace += matrix[i * size + i];
  const lower = matrix.slice();
  const lift = 1e-10 * trace + Number.MIN_VALUE;
  for (let i = 0; i < size; i++) lower[i * size + i] += lift;
  factorise(lower, size, () => lift);
  for (let i = 0; i < size; i++) lower.fill(0, i * size + i + 1, (i + 1) * size);
  return lower;
};

/** The targets' labels (t, d), class 0 of two left out: what remains of T once its mean is taken away, [columns, K]. */
const centredTargets = (targets: Members, weights: Float64Array) => {
  const { rows, members, classes } = targets;
  const means = meanProbabilities(targets);
  const first = classes === 2 ? 1 : 0;
  const kept = classes - first;
  const values = new Float64Array(rows * kept * members);
  const relative = new Float64Array(rows * kept);
  const absolute = new Float64Array(rows * kept);
  const row = new Float64Array(members * classes);
  for (let t = 0; t < rows; t++) {
    readRow(targets, t, row);
    for (let d = first; d < classes; d++) {
      const j = t * kept + d - first;
      const q = means[t * classes + d];
      for (let k = 0; k < members; k++) values[j * members + k] = (row[k * classes + d] - q) / members;
      // Of two classes the other one has the same covariance with the opposite sign.
      const reciprocal = classes === 2 ? 1 / q + 1 / (1 - q) : 1 / q;
      const varies = q > 0 && q < 1;
      relative[j] = varies ? weights[t] * reciprocal : 0;
      absolute[j] = varies ? weights[t] * (classes === 2 ? 2 : 1) : 0;
    }
  }
  return { values, relative, absolute, columns: rows * kept };
};

/** sum_j w_j (x_i . z_j)^2 for the rows x_i of the pool, [pool rows, kept classes], directly or through M. */
const quadraticForms = (
  workspace: Workspace,
  pool: Members,
  means: Float64Array,
  values: Float64Array,
  columns: number,
  weights: Float64Array,
): Float64Array => {
  const { members, classes } = pool;
  const first = classes === 2 ? 1 : 0;
  const kept = classes - first;
  const row = new Float64Array(members * classes);
  let current = -1;
  const left = {
    rows: pool.rows * kept,
    fill: (i: number, to: Float32Array, at: number, stride: number): void => {
      const n = Math.floor(i / kept);
      const c = (i % kept) + first;
      if (n !== current) readRow(pool, n, row);
      current = n;
      const mean = means[n * classes + c];
      for (let k = 0; k < members; k++) to[at + stride * k] = row[k * classes + c] - mean;
    },
  };
  const direct = columns <= members;
  let factor = values;
  if (!direct) {
    const matrix = new Float64Array(members * members);
    for (let j = 0; j < columns; j++) {
      const z = values.subarray(j * members, (j + 1) * members);
      if (weights[j] === 0) continue;
      for (let k = 0; k < members; k++) {
        const scaled = weights[j] * z[k];
        for (let l = 0; l <= k; l++) matrix[k * members + l] += scaled * z[l];
      }
    }
    factor = regularFactor(matrix, members);
  }
  return sumProducts(workspace, "square", members, left, {
    rows: direct ? columns : members,
    fill: (j, to, at, stride) => {
      // Columns of L are what x is multiplied by.
      for (let k = 0; k < members; k++)
        to[at + stride * k] = direct ? factor[j * members + k] : factor[k * members + j];
    },
    weights: direct ? weights : new Float64Array(members).fill(1),
  });
};

/** Bounds on EPIG of one model for every candidate, its correction included. */
const bounds = (workspace: Workspace, prediction: Prediction, side: "upper" | "lower"): Float64Array => {
  const { pool, targets, correction = "none" } = prediction;
  const weights = normalisedWeights(targets.rows, prediction.weights);
  const { values, relative, absolute, columns } = centredTargets(targets, weights);
  const means = meanProbabilities(pool);
  const { classes } = pool;
  const first = classes === 2 ? 1 : 0;
  const kept = classes - first;
  const forms = quadraticForms(
    workspace,
    pool,
    means,
    values,
    columns,
    side === "upper" ? relative : absolute,
  );
  const expected = correction === "analytic" ? expectedUnderIndependence(pool, targets, weights) : undefined;
  return Float64Array.from({ length: pool.rows }, (_, n) => {
    let sum = 0;
    for (let c = first; c < classes; c++) {
      const form = forms[n * kept + c - first];
      const p = means[n * classes + c];
      if (!(p > 0 && p < 1)) continue;
      if (side === "lower") sum += (classes === 2 ? 2 : 1) * form;
      else sum += form * (classes === 2 ? 1 / p + 1 / (1 - p) : 1 / p);
    }
    const bound =
      side === "upper" ? log1p(sum * (1 + RELATIVE_SLACK)) + SLACK : 2 * sum * (1 - RELATIVE_SLACK) - SLACK;
    return bound - (expected?.[n] ?? 0);
  });
};

/** How many candidates are scored at a time. */
const blockSize = (size: number): number => Math.max(256, 4 * size);

/**
 * The `size` candidates with the best FairBED-EPIG, or EPIG where no sensitive model is given: the same rows in the
 * same order and with the same numbers as from scoring all, ties included.
 *
 * @example
 * ```ts
 * import { bestCandidates } from "fairbed/active";
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
 * const { rows, score } = bestCandidates({ pool, targets }, [], { size: 2 });
 * console.log(rows, score[0].toFixed(3)); // [ 0, 2 ] 0.454
 * ```
 */
export const bestCandidates = (
  target: Prediction,
  sensitive: readonly Prediction[],
  { size, beta = 0, combine, exclude = [], ties = defaultTies() }: BestOptions,
): FoundCandidates => {
  requireBeta(beta);
  const all = [target, ...sensitive];
  for (const { pool, targets, correction } of all) {
    requireSameMembers(pool, targets);
    if (correction === "permutation") throw new InputError("correction", prunedTexts.correction);
  }
  if (sensitive.length > 0)
    requireSameCandidates(
      target.pool,
      sensitive.map(({ pool }) => pool),
    );
  const count = target.pool.rows;
  const excluded = [...exclude];
  createAllowance(count, { size, exclude: excluded });
  const workspace = target.workspace ?? sharedWorkspace();
  const fair = sensitive.length > 0 && beta > 0;

  const upper =
    workspace === undefined
      ? new Float64Array(count).fill(Number.MAX_VALUE)
      : bounds(workspace, target, "upper");
  const least =
    workspace === undefined || !fair
      ? undefined
      : combineLeakages(
          sensitive.map((each) => bounds(workspace, each, "lower")),
          combine,
        );
  const limits = least === undefined ? upper : upper.map((bound, n) => bound - beta * least[n]);
  for (const row of excluded) limits[row] = Number.NEGATIVE_INFINITY;

  const part = ({ pool, targets, ...rest }: Prediction, rows: readonly number[]): Float64Array =>
    epig(takeRows(pool, rows), targets, rest);
  const [targets, leakages] = [new Map<number, number>(), new Map<number, number>()];
  let best: { row: number; score: number }[] = [];
  let evaluated = 0;
  let threshold = Number.NEGATIVE_INFINITY;
  const evaluate = (rows: readonly number[]): void => {
    evaluated += rows.length;
    part(target, rows).forEach((value, i) => {
      targets.set(rows[i], value);
    });
    const targetOf = (row: number): number => targets.get(row) ?? 0;
    // The target's own score is often enough to rule a candidate out.
    const left =
      least === undefined ? rows : rows.filter((row) => targetOf(row) - beta * least[row] >= threshold);
    if (sensitive.length > 0 && left.length > 0) {
      combineLeakages(
        sensitive.map((each) => part(each, left)),
        combine,
      ).forEach((value, i) => {
        leakages.set(left[i], value);
      });
    }
    best.push(...left.map((row) => ({ row, score: targetOf(row) - beta * (leakages.get(row) ?? 0) })));
    best.sort((a, b) => b.score - a.score || (goesFirst(ties, a.row, b.row) ? -1 : 1));
    best = best.slice(0, size);
    if (best.length === size) threshold = best[size - 1].score;
  };
  let block: number[] = [];
  for (const row of descending(limits, ties)) {
    if (limits[row] < threshold || limits[row] === Number.NEGATIVE_INFINITY) break;
    block.push(row);
    if (block.length < blockSize(size)) continue;
    evaluate(block);
    block = [];
  }
  if (block.length > 0) evaluate(block.filter((row) => limits[row] >= threshold));
  return {
    rows: best.map(({ row }) => row),
    score: Float64Array.from(best, ({ score }) => score),
    target: Float64Array.from(best, ({ row }) => targets.get(row) ?? 0),
    leakage: Float64Array.from(best, ({ row }) => leakages.get(row) ?? 0),
    evaluated,
  };
};
