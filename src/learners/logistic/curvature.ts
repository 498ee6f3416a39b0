/**
 * What a step of conjugate gradients is shaped by: for every vector k its own block of the Hessian,
 *
 *     X' D_k X + l2 I,   D_k = w p_k (1 - p_k),
 *
 * factorised; of very many columns, or where that would take longer than the steps it saves, only its diagonal. Some
 * rows say enough of it.
 */
import { factoriseSteps, solveLower, solveUpper } from "../../core/math/cholesky.js";
import { eachPiece, type SparseProblem } from "./sparse-problem.js";

/** out = M^-1 r, both [width, vectors]. */
export type Shape = (r: Float64Array, out: Float64Array) => void;

/** A block of more columns would need too long to be factorised. */
export const MOST_BLOCK = 1024;
/** Products that the blocks' sums may need, at most. */
const MOST_PRODUCTS = 2 ** 28;

/** Sums over rows of d delta_j delta_l (the lower triangle) as those over standardised columns, with a penalty. */
const standardisedBlock = (
  { width, moments: { offsets, inverses } }: SparseProblem,
  block: Float64Array,
  l2: number,
): void => {
  const last = (width - 1) * width;
  const total = block[last + width - 1];
  for (let i = 0; i < width - 1; i++) {
    const row = i * width;
    const cross = block[last + i] - offsets[i] * total;
    for (let j = 0; j <= i; j++) {
      const sum = block[row + j] - cross * offsets[j] - offsets[i] * block[last + j];
      block[row + j] = sum * inverses[i] * inverses[j];
    }
    block[row + i] += l2;
  }
  for (let j = 0; j < width - 1; j++) block[last + j] = (block[last + j] - offsets[j] * total) * inverses[j];
};

/** Adds rows from..to, every `stride`th of them, to the block's sums. */
const addToBlock = (
  { sparse: { starts, at, deltas }, rows, width }: SparseProblem,
  curvatureOf: (row: number) => number,
  stride: number,
  block: Float64Array,
  from: number,
  to: number,
): void => {
  const last = (width - 1) * width;
  for (let i = Math.ceil(from / stride) * stride; i < to; i += stride) {
    const d = stride * curvatureOf(i);
    if (d === 0) continue;
    const start = starts[rows[i]];
    const end = starts[rows[i] + 1];
    for (let e = start; e < end; e++) {
      const scaled = d * deltas[e];
      const row = at[e] * width;
      for (let f = start; f <= e; f++) block[row + at[f]] += scaled * deltas[f];
      block[last + at[e]] += scaled;
    }
    block[last + width - 1] += d;
  }
};

/** One row in how many is looked at. */
const strideOf = ({ sparse: { starts }, rows, vectors, width }: SparseProblem): number => {
  const mean = starts[starts.length - 1] / Math.max(1, starts.length - 1) + 1;
  const most = MOST_PRODUCTS / ((mean * mean) / 2) / vectors;
  return Math.max(1, Math.floor(rows.length / Math.max(most, 4 * width)));
};

/** About how many products it takes to make a shape, and how many a step of conjugate gradients. */
export const shapeCost = (problem: SparseProblem): number => {
  const { sparse, rows, vectors, width } = problem;
  const mean = sparse.starts[sparse.starts.length - 1] / Math.max(1, sparse.starts.length - 1) + 1;
  if (width > MOST_BLOCK) return rows.length * mean * vectors;
  return vectors * ((rows.length / strideOf(problem)) * mean * (mean / 2) + width ** 3 / 6);
};
export const stepCost = ({ sparse, rows, vectors }: SparseProblem): number => {
  const mean = sparse.starts[sparse.starts.length - 1] / Math.max(1, sparse.starts.length - 1) + 1;
  return 2 * rows.length * mean * vectors;
};

/** A block is worth as many steps of conjugate gradients. */
const STEPS_SAVED = 50;

/** From the curvature w p (1 - p) of every row and vector. */
export function* shapeSteps(problem: SparseProblem, curvatures: Float64Array): Generator<unknown, Shape> {
  return problem.width > MOST_BLOCK || shapeCost(problem) > STEPS_SAVED * stepCost(problem)
    ? yield* diagonalShape(problem, curvatures)
    : yield* blockShape(problem, curvatures);
}

function* blockShape(problem: SparseProblem, curvatures: Float64Array): Generator<unknown, Shape> {
  const { width, vectors } = problem;
  const stride = strideOf(problem);
  const blocks: Float64Array[] = [];
  for (let k = 0; k < vectors; k++) {
    const block = new Float64Array(width * width);
    const curvatureOf = (i: number) => curvatures[i * vectors + k];
    yield* eachPiece(problem, (from, to) => addToBlock(problem, curvatureOf, stride, block, from, to));
    standardisedBlock(problem, block, problem.l2);
    // The intercept has no penalty, and rounding may leave less than nothing where all rows are sure.
    yield* factoriseSteps(block, width, (diagonal) => 1e-10 * Math.max(1, diagonal));
    blocks.push(block);
  }
  const own = new Float64Array(width);
  return (r, out) => {
    blocks.forEach((block, k) => {
      for (let j = 0; j < width; j++) own[j] = r[j * vectors + k];
      solveLower(block, width, own);
      solveUpper(block, width, own);
      for (let j = 0; j < width; j++) out[j * vectors + k] = own[j];
    });
  };
}

function* diagonalShape(problem: SparseProblem, curvatures: Float64Array): Generator<unknown, Shape> {
  const { width, vectors } = problem;
  const diagonal = yield* diagonalSteps(problem, curvatures);
  return (r, out) => {
    for (let i = 0; i < width * vectors; i++) out[i] = r[i] / diagonal[i];
  };
}

/** The Hessian's diagonal, [width, vectors]. */
export function* diagonalSteps(
  problem: SparseProblem,
  curvatures: Float64Array,
): Generator<unknown, Float64Array> {
  const { sparse, rows, width, vectors, l2, moments } = problem;
  const { starts, at, deltas } = sparse;
  const { offsets, inverses } = moments;
  const squares = new Float64Array(width * vectors);
  const sums = new Float64Array(width * vectors);
  const last = (width - 1) * vectors;
  yield* eachPiece(problem, (from, to) => {
    for (let i = from; i < to; i++) {
      for (let k = 0; k < vectors; k++) squares[last + k] += curvatures[i * vectors + k];
      for (let e = starts[rows[i]], end = starts[rows[i] + 1]; e < end; e++) {
        for (let k = 0; k < vectors; k++) {
          const scaled = curvatures[i * vectors + k] * deltas[e];
          sums[at[e] * vectors + k] += scaled;
          squares[at[e] * vectors + k] += scaled * deltas[e];
        }
      }
    }
  });
  for (let j = 0; j < width - 1; j++) {
    for (let k = 0; k < vectors; k++) {
      const i = j * vectors + k;
      const sum = squares[i] - 2 * offsets[j] * sums[i] + offsets[j] ** 2 * squares[last + k];
      squares[i] = Math.max(0, sum) * inverses[j] ** 2 + l2;
    }
  }
  for (let k = 0; k < vectors; k++) squares[last + k] = Math.max(squares[last + k], 1e-10);
  return squares;
}

/**
 * The whole Hessian where the probabilities are p [rows, vectors]: its lower triangle, of parameters in the order
 * [vectors, width]. Curvature along the direction in which a softmax has none, the same change of all intercepts, is
 * added, or it could not be factorised.
 */
export function* hessianSteps(problem: SparseProblem, p: Float64Array): Generator<unknown, Float64Array> {
  const { weights, width, vectors, l2, moments } = problem;
  const size = width * vectors;
  const hessian = new Float64Array(size * size);
  const block = new Float64Array(width * width);
  for (let a = 0; a < vectors; a++) {
    for (let b = 0; b <= a; b++) {
      const curvatureOf = (i: number) =>
        weights[i] * p[i * vectors + a] * ((a === b ? 1 : 0) - p[i * vectors + b]);
      block.fill(0);
      yield* eachPiece(problem, (from, to) => addToBlock(problem, curvatureOf, 1, block, from, to));
      standardisedBlock(problem, block, a === b ? l2 : 0);
      if (vectors > 1) block[width * width - 1] += moments.weight / vectors;
      for (let i = 0; i < width; i++) {
        for (let j = 0; j <= i; j++) {
          const value = block[i * width + j];
          hessian[(a * width + i) * size + b * width + j] = value;
          if (a !== b) hessian[(a * width + j) * size + b * width + i] = value;
        }
      }
      yield;
    }
  }
  return hessian;
}
