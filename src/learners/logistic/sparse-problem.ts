/**
 * Penalised logistic regression on sparse rows, with columns standardised without being touched:
 *
 *     x_ij = (delta_ij - offset_j) / scale_j,   logit_ik = b_k + sum_j theta_jk x_ij
 *          = (b_k - sum_j u_jk offset_j) + sum over entries of u_jk delta_ij,   u_jk = theta_jk / scale_j.
 *
 * Parameters are [width, vectors], the vectors of a column side by side (an entry is looked up once for all of them),
 * the intercepts last.
 */
import type { SparseMoments } from "../sparse-moments.js";
import type { SparseRows } from "../sparse-rows.js";
import { sumColumns, sumRows } from "./strands.js";

export interface SparseProblem {
  readonly sparse: SparseRows;
  readonly moments: SparseMoments;
  /** Rows of the matrix, their classes and weights. */
  readonly rows: Int32Array;
  readonly labels: Int32Array;
  readonly weights: Float64Array;
  readonly classes: number;
  /** One for two classes, otherwise one for each. */
  readonly vectors: number;
  /** Columns and the intercept. */
  readonly width: number;
  readonly l2: number;
}

/** Products that make a piece of work. */
const PIECE_PRODUCTS = 2 ** 23;

/** Calls `work` with ranges of the rows, in pieces of about so many products. */
export function* eachPiece(
  { sparse: { starts }, rows, vectors }: SparseProblem,
  work: (from: number, to: number) => void,
): Generator<unknown, void> {
  const mean = Math.max(1, starts[starts.length - 1] / Math.max(1, starts.length - 1));
  const size = Math.max(256, Math.floor(PIECE_PRODUCTS / (mean * vectors)));
  for (let from = 0; from < rows.length; from += size) {
    work(from, Math.min(rows.length, from + size));
    yield;
  }
}

/** out[row, vector] = the logits of these parameters. */
export function* logitSteps(
  problem: SparseProblem,
  parameters: Float64Array,
  out: Float64Array,
): Generator<unknown, void> {
  const { sparse, moments, rows, vectors, width } = problem;
  const { offsets, inverses } = moments;
  const u = new Float64Array(width * vectors);
  const start = parameters.slice((width - 1) * vectors);
  for (let j = 0; j < width - 1; j++) {
    for (let k = 0; k < vectors; k++) {
      u[j * vectors + k] = parameters[j * vectors + k] * inverses[j];
      start[k] -= u[j * vectors + k] * offsets[j];
    }
  }
  yield* eachPiece(problem, (from, to) => sumRows(sparse, rows, vectors, u, start, out, from, to));
}

/** out[parameter] = sum over rows of r[row, vector] x[row, column]: the other way round. */
export function* gatherSteps(
  problem: SparseProblem,
  r: Float64Array,
  out: Float64Array,
): Generator<unknown, void> {
  const { sparse, moments, rows, vectors, width } = problem;
  const { offsets, inverses } = moments;
  out.fill(0);
  const last = (width - 1) * vectors;
  yield* eachPiece(problem, (from, to) => {
    for (let i = from; i < to; i++) for (let k = 0; k < vectors; k++) out[last + k] += r[i * vectors + k];
    sumColumns(sparse, rows, vectors, r, out, from, to);
  });
  for (let j = 0; j < width - 1; j++)
    for (let k = 0; k < vectors; k++)
      out[j * vectors + k] = (out[j * vectors + k] - offsets[j] * out[last + k]) * inverses[j];
}
