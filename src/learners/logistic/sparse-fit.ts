/** A logistic regression on many rows: the mode by conjugate gradients, and as much of the Hessian as members need. */
import { factoriseSteps, solveUpper } from "../../core/math/cholesky.js";
import type { RandomStream } from "../../core/random.js";
import type { FeatureMatrix } from "../classifier.js";
import { momentSteps } from "../sparse-moments.js";
import { sparseSteps } from "../sparse-rows.js";
import { diagonalSteps, hessianSteps, MOST_BLOCK } from "./curvature.js";
import { vectorCount } from "./newton.js";
import { curvaturesOf, type SparseMode, sparseModeSteps } from "./newton-cg.js";
import type { SparseProblem } from "./sparse-problem.js";

/** Draws parameters from the normal distribution around the mode. */
export type Draw = (stream: RandomStream) => Float64Array;

export interface SparseFit {
  readonly problem: SparseProblem;
  readonly means: Float64Array;
  readonly scales: Float64Array;
  readonly mode: SparseMode;
}

export interface SparseTraining {
  readonly features: FeatureMatrix;
  readonly rows: Int32Array;
  /** From 0, all of the classes. */
  readonly labels: Int32Array;
  readonly weights: Float64Array;
  readonly classes: number;
  readonly l2: number;
}

/** Where another fit of standardised features ended, as the same function of these features. */
export interface Start {
  readonly means: Float64Array;
  readonly scales: Float64Array;
  /** [vectors, width]. */
  readonly mode: Float64Array;
}

const startAt = (
  { means, scales, mode }: Start,
  own: Pick<Start, "means" | "scales">,
  { width, vectors, moments }: SparseProblem,
): Float64Array => {
  const parameters = new Float64Array(width * vectors);
  for (let k = 0; k < vectors; k++) {
    let intercept = mode[(k + 1) * width - 1];
    for (let j = 0; j < width - 1; j++) {
      // A column that did not vary there, or does not here, says nothing.
      const slope = mode[k * width + j] / scales[j];
      if (moments.inverses[j] === 0 || slope === 0) continue;
      parameters[j * vectors + k] = slope * own.scales[j];
      intercept += slope * (own.means[j] - means[j]);
    }
    parameters[(width - 1) * vectors + k] = intercept;
  }
  return parameters;
};

export function* sparseFitSteps(training: SparseTraining, start?: Start): Generator<unknown, SparseFit> {
  const { features, rows, labels, weights, classes, l2 } = training;
  const sparse = yield* sparseSteps(features);
  const moments = yield* momentSteps(sparse, rows, weights);
  const width = features.columns + 1;
  const vectors = vectorCount(classes);
  const problem: SparseProblem = { sparse, moments, rows, labels, weights, classes, vectors, width, l2 };
  const means = moments.offsets.map((offset, j) => sparse.common[j] + offset);
  const scales = moments.inverses.map((inverse) => (inverse === 0 ? 1 : 1 / inverse));
  const from = start === undefined ? undefined : startAt(start, { means, scales }, problem);
  return { problem, means, scales, mode: yield* sparseModeSteps(problem, from) };
}

/** From [width, vectors] to [vectors, width]: each vector in one piece, as files and predictions have them. */
export const byVector = (parameters: Float64Array, vectors: number): Float64Array => {
  const width = parameters.length / vectors;
  return parameters.map((_, at) => parameters[(at % width) * vectors + Math.floor(at / width)]);
};

/** The mode of other weights of the same rows, from the mode. */
export function* refitSteps(
  { problem, mode }: SparseFit,
  weights: Float64Array,
): Generator<unknown, Float64Array> {
  const { parameters } = yield* sparseModeSteps({ ...problem, weights }, mode.parameters);
  return byVector(parameters, problem.vectors);
}

/**
 * The normal distribution around the mode: with the inverse Hessian as covariance where it has at most `mostWeights`
 * rows; otherwise of each vector on its own, with the inverse of its block; of very many columns with that of the
 * diagonal.
 */
export function* laplaceSteps({ problem, mode }: SparseFit, mostWeights: number): Generator<unknown, Draw> {
  const { width, vectors } = problem;
  const size = width * vectors;
  const centre = byVector(mode.parameters, vectors);
  if (size <= mostWeights) {
    const factor = yield* hessianSteps(problem, mode.probabilities);
    yield* factoriseSteps(factor, size, (diagonal) => 1e-12 * Math.max(1, diagonal));
    return (stream) => drawAround(centre, factor, stream);
  }
  const curvatures = curvaturesOf(problem, mode.probabilities);
  if (width > MOST_BLOCK) {
    const diagonal = byVector(yield* diagonalSteps(problem, curvatures), vectors);
    return (stream) => centre.map((value, i) => value + stream.normal() / Math.sqrt(diagonal[i]));
  }
  const factors: Float64Array[] = [];
  for (let k = 0; k < vectors; k++) {
    const own = mode.probabilities.filter((_, at) => at % vectors === k);
    const factor = yield* hessianSteps({ ...problem, vectors: 1 }, own);
    yield* factoriseSteps(factor, width, (diagonal) => 1e-12 * Math.max(1, diagonal));
    factors.push(factor);
  }
  return (stream) => {
    const drawn = new Float64Array(size);
    factors.forEach((factor, k) => {
      drawn.set(drawAround(centre.subarray(k * width, (k + 1) * width), factor, stream), k * width);
    });
    return drawn;
  };
}

/** mode + L'^-1 z, whose covariance is (L L')^-1. */
export const drawAround = (mode: Float64Array, factor: Float64Array, stream: RandomStream): Float64Array => {
  const draw = mode.map(() => stream.normal());
  solveUpper(factor, mode.length, draw);
  return draw.map((z, i) => mode[i] + z);
};
