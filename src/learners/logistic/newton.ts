/**
 * The mode of penalised logistic regression by Newton's method.
 *
 * Minimises sum_i w_i log-loss_i + (l2 / 2) |W|^2, the intercepts not penalised: scikit-learn's objective with
 * C = 1 / l2. Two classes have one weight vector, the log odds of class 1; more have one for each class (softmax).
 */

import { factoriseSteps, solveLower, solveUpper } from "../../core/math/cholesky.js";
import { exp, log } from "../../core/math.js";
import { PieceSize } from "../in-steps.js";
import type { Design } from "./design.js";

export interface Mode {
  /** [vectors, width], the intercept last. */
  readonly parameters: Float64Array;
  /** Lower Cholesky factor of the Hessian there, [vectors width, vectors width]. */
  readonly factor: Float64Array;
}

/** One vector for two classes, otherwise one for each. */
export const vectorCount = (classes: number): number => (classes === 2 ? 1 : classes);

/** Class probabilities from the logits of one row; `logits` has one entry for two classes. */
export const probabilitiesOf = (logits: Float64Array, classes: number, out: Float64Array): void => {
  if (classes === 2) {
    // Each from its own side, so that a small one keeps its digits.
    const e = exp(-Math.abs(logits[0]));
    const large = 1 / (1 + e);
    out[1] = logits[0] >= 0 ? large : e * large;
    out[0] = logits[0] >= 0 ? e * large : large;
    return;
  }
  let most = logits[0];
  for (let c = 1; c < classes; c++) most = Math.max(most, logits[c]);
  let sum = 0;
  for (let c = 0; c < classes; c++) {
    out[c] = exp(logits[c] - most);
    sum += out[c];
  }
  for (let c = 0; c < classes; c++) out[c] /= sum;
};

/** What the shifts take from every logit: shift . theta_k. */
const shiftOf = ({ shifts, width }: Design, parameters: Float64Array): Float64Array => {
  const sums = new Float64Array(parameters.length / width);
  for (let i = 0; i < parameters.length; i++)
    sums[Math.floor(i / width)] += shifts[i % width] * parameters[i];
  return sums;
};

/** logits[k] = theta_k . x_row. */
const logitsOf = (
  { starts, columns, z, width }: Design,
  row: number,
  parameters: Float64Array,
  shift: Float64Array,
  logits: Float64Array,
): void => {
  const end = starts[row + 1];
  for (let k = 0; k < logits.length; k++) {
    let sum = -shift[k];
    for (let e = starts[row]; e < end; e++) sum += z[e] * parameters[k * width + columns[e]];
    logits[k] = sum;
  }
};

const penalty = ({ width, l2 }: Design, parameters: Float64Array): number => {
  let squares = 0;
  for (let i = 0; i < parameters.length; i++)
    if (i % width !== width - 1) squares += parameters[i] * parameters[i];
  return (l2 / 2) * squares;
};

/** log sum exp of the logits (of 0 and the logit for two classes), minus the label's. */
export const lossOf = (logits: Float64Array, label: number, classes: number): number => {
  if (classes === 2) {
    const z = label === 1 ? -logits[0] : logits[0];
    return Math.max(z, 0) + log(1 + exp(-Math.abs(z)));
  }
  let most = logits[0];
  for (let c = 1; c < classes; c++) most = Math.max(most, logits[c]);
  let sum = 0;
  for (let c = 0; c < classes; c++) sum += exp(logits[c] - most);
  return most + log(sum) - logits[label];
};

/** The objective at some parameters. */
const objectiveAt = (design: Design, weights: Float64Array, parameters: Float64Array): number => {
  const { labels, classes } = design;
  const logits = new Float64Array(vectorCount(classes));
  const shift = shiftOf(design, parameters);
  let loss = penalty(design, parameters);
  for (let i = 0; i < labels.length; i++) {
    if (weights[i] === 0) continue;
    logitsOf(design, i, parameters, shift, logits);
    loss += weights[i] * lossOf(logits, labels[i], classes);
  }
  return loss;
};

/**
 * Adds rows to sums over z: of residual z and, in the lower triangle of every block of the Hessian, of curvature z z';
 * returns the weight so far.
 */
const addRows = (
  design: Design,
  weights: Float64Array,
  parameters: Float64Array,
  shift: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array,
  from: number,
  to: number,
  weightBefore: number,
): number => {
  const { starts, columns, z, width, labels, classes } = design;
  const vectors = vectorCount(classes);
  const size = vectors * width;
  const logits = new Float64Array(vectors);
  const p = new Float64Array(classes);
  let total = weightBefore;
  for (let row = from; row < to; row++) {
    const w = weights[row];
    if (w === 0) continue;
    total += w;
    logitsOf(design, row, parameters, shift, logits);
    probabilitiesOf(logits, classes, p);
    const start = starts[row];
    const end = starts[row + 1];
    const first = classes === 2 ? 1 : 0; // the class of vector 0
    for (let a = 0; a < vectors; a++) {
      const residual = w * (p[a + first] - (labels[row] === a + first ? 1 : 0));
      for (let e = start; e < end; e++) gradient[a * width + columns[e]] += residual * z[e];
      for (let b = 0; b <= a; b++) {
        const curvature = w * p[a + first] * (a === b ? 1 - p[b + first] : -p[b + first]);
        if (curvature === 0) continue;
        for (let e = start; e < end; e++) {
          const scaled = curvature * z[e];
          const at = (a * width + columns[e]) * size + b * width;
          for (let f = start; f <= e; f++) hessian[at + columns[f]] += scaled * z[f];
        }
      }
    }
  }
  return total;
};

/** Gradient, and the lower triangle of the Hessian, at some parameters. */
function* derivatives(
  design: Design,
  weights: Float64Array,
  parameters: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array,
): Generator<unknown, void> {
  const { width, labels, classes, l2 } = design;
  const vectors = vectorCount(classes);
  const size = vectors * width;
  const shift = shiftOf(design, parameters);
  gradient.fill(0);
  hessian.fill(0);
  let total = 0;
  const piece = new PieceSize(64);
  for (let from = 0; from < labels.length; ) {
    const to = Math.min(labels.length, from + piece.next());
    total = addRows(design, weights, parameters, shift, gradient, hessian, from, to, total);
    piece.done();
    from = to;
    yield;
  }
  for (let a = 0; a < vectors; a++) {
    shiftGradient(design, gradient.subarray(a * width, (a + 1) * width));
    for (let b = 0; b <= a; b++) shiftBlock(design, hessian, a * width * size + b * width, size, a !== b);
  }
  for (let i = 0; i < size; i++) {
    if (i % width === width - 1) continue;
    gradient[i] += l2 * parameters[i];
    hessian[i * size + i] += l2;
  }
  // Adding a constant to all intercepts of a softmax changes nothing: curvature along that direction, which the
  // gradient does not have, makes the system solvable and keeps the intercepts' sum at 0.
  for (let a = 0; vectors > 1 && a < vectors; a++)
    for (let b = 0; b <= a; b++)
      hessian[(a * width + width - 1) * size + b * width + width - 1] += total / vectors;
}

/** From sums over z to sums over x = z - shift; the intercept's is the sum of the residuals. */
const shiftGradient = ({ shifts, width }: Design, gradient: Float64Array): void => {
  for (let j = 0; j < width - 1; j++) gradient[j] -= shifts[j] * gradient[width - 1];
};

/**
 * The same for the block of the Hessian that starts at `from`, of which the lower triangle is known; a block off the
 * diagonal is wanted whole. Its last row holds sums of curvature z_j and, last, of the curvature.
 */
const shiftBlock = (
  { shifts, width }: Design,
  hessian: Float64Array,
  from: number,
  size: number,
  whole: boolean,
): void => {
  const last = from + (width - 1) * size;
  const curvature = hessian[last + width - 1];
  for (let i = 0; i < width - 1; i++) {
    const at = from + i * size;
    const own = shifts[i];
    const cross = hessian[last + i] - own * curvature;
    for (let j = 0; j <= i; j++) hessian[at + j] -= cross * shifts[j] + own * hessian[last + j];
  }
  for (let j = 0; j < width - 1; j++) hessian[last + j] -= shifts[j] * curvature;
  for (let i = 0; whole && i < width; i++)
    for (let j = 0; j < i; j++) hessian[from + j * size + i] = hessian[from + i * size + j];
};

const MOST_STEPS = 100;
/** Below this decrement Newton's steps are surely good, and the objective too flat to judge them by its last digits. */
const SURE = 1e-6;
const DONE = 1e-24;

/** The minimum, from `start` or from 0: Newton's steps, halved until the objective falls, down to rounding. */
export function* findModeSteps(
  design: Design,
  weights: Float64Array,
  start?: Float64Array,
): Generator<unknown, Mode> {
  const size = vectorCount(design.classes) * design.width;
  let parameters: Float64Array = start?.slice() ?? new Float64Array(size);
  const gradient = new Float64Array(size);
  const factor = new Float64Array(size * size);
  let objective = objectiveAt(design, weights, parameters);
  let last = Number.POSITIVE_INFINITY;
  for (let steps = 0; ; steps++) {
    yield* derivatives(design, weights, parameters, gradient, factor);
    // Rounding can spoil a Hessian that is nearly flat: a little more curvature only shortens the step.
    let ridge = 0;
    while (!(yield* factoriseSteps(factor, size))) {
      yield* derivatives(design, weights, parameters, gradient, factor);
      ridge = ridge === 0 ? 1e-10 : 10 * ridge;
      for (let i = 0; i < size; i++) factor[i * size + i] += ridge;
    }
    const step = gradient.slice();
    solveLower(factor, size, step);
    let decrement = 0; // g' H^-1 g
    for (const each of step) decrement += each * each;
    const settled = decrement <= DONE || (decrement <= SURE && decrement >= last);
    if (settled || steps === MOST_STEPS) return { parameters, factor };
    last = decrement;
    solveUpper(factor, size, step);
    let length = 1;
    let next = parameters.map((value, i) => value - step[i]);
    if (decrement > SURE) {
      let reached = objectiveAt(design, weights, next);
      while (!(reached < objective) && length > 1e-10) {
        length /= 2;
        next = parameters.map((value, i) => value - length * step[i]);
        reached = objectiveAt(design, weights, next);
      }
      if (!(reached < objective)) return { parameters, factor }; // as low as rounding lets it
      objective = reached;
    }
    parameters = next;
    yield;
  }
}
