/**
 * The loss of learned fair representations (Zemel et al. 2013), with its gradient by hand.
 *
 *     M[n, k] = softmax_k(-|x_n - v_k|)     x_hat = M V     y_hat = clip(M w)
 *     loss = Ax Lx + Ay Ly + Az Lz
 *
 * Lx is the mean of (x_hat - x)^2 over rows and columns of the unprivileged plus the same of the privileged, Ly the
 * mean log-loss of y_hat, and Lz = sum_k |mean_unprivileged M[., k] - mean_privileged M[., k]|, or that sum over k.
 */
import { exp, log } from "../../core/math.js";

/** Rows [rows, columns] with a label and a group each, and the weights of the three losses. */
export interface RepresentationProblem {
  /** [rows, columns] */
  readonly x: Float64Array;
  readonly columns: number;
  /** 0 or 1 for each row. */
  readonly labels: Uint8Array;
  /** 1 where the row's group is the privileged one. */
  readonly privileged: Uint8Array;
  readonly prototypes: number;
  /** Ax, Ay and Az. */
  readonly reconstruction: number;
  readonly prediction: number;
  readonly parity: number;
  /** "sum" over prototypes (as first published), or their "mean" (AIF360). */
  readonly parityForm: "sum" | "mean";
}

export interface LossParts {
  /** Lx, Ly and Lz, not yet weighted. */
  readonly reconstruction: number;
  readonly prediction: number;
  readonly parity: number;
  readonly loss: number;
}

/** Predictions stay this far from 0 and 1, where their logarithms end. */
const CLIP = Number.EPSILON;

export const clipPrediction = (y: number): number => Math.min(1 - CLIP, Math.max(CLIP, y));

/** |x[at ..] - v[from ..]|^2 over `columns` entries; four sums, so that additions need not wait for each other. */
const squaredDistance = (
  x: Float64Array,
  at: number,
  v: Float64Array,
  from: number,
  columns: number,
): number => {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let j = 0;
  for (; j + 3 < columns; j += 4) {
    const d0 = x[at + j] - v[from + j];
    const d1 = x[at + j + 1] - v[from + j + 1];
    const d2 = x[at + j + 2] - v[from + j + 2];
    const d3 = x[at + j + 3] - v[from + j + 3];
    s0 += d0 * d0;
    s1 += d1 * d1;
    s2 += d2 * d2;
    s3 += d3 * d3;
  }
  for (; j < columns; j++) {
    const d = x[at + j] - v[from + j];
    s0 += d * d;
  }
  return s0 + s1 + (s2 + s3);
};

/** to[at ..] -= sum_n c[n, k] x_n; c is [rows, width]. Four rows at a time, so that the sums are loaded less often. */
const subtractRows = (
  to: Float64Array,
  at: number,
  x: Float64Array,
  columns: number,
  c: Float64Array,
  k: number,
  width: number,
): void => {
  const rows = c.length / width;
  let n = 0;
  for (; n + 3 < rows; n += 4) {
    const c0 = c[n * width + k];
    const c1 = c[(n + 1) * width + k];
    const c2 = c[(n + 2) * width + k];
    const c3 = c[(n + 3) * width + k];
    const x0 = n * columns;
    const x1 = x0 + columns;
    const x2 = x1 + columns;
    const x3 = x2 + columns;
    for (let j = 0; j < columns; j++)
      to[at + j] -= c0 * x[x0 + j] + c1 * x[x1 + j] + (c2 * x[x2 + j] + c3 * x[x3 + j]);
  }
  for (; n < rows; n++) {
    const factor = c[n * width + k];
    for (let j = 0; j < columns; j++) to[at + j] -= factor * x[n * columns + j];
  }
};

/**
 * M[row, .] into `out` and |x - v_k| into `distances`, both from `to` on; `parameters` are w [k], then V [k, columns].
 */
export const assignRow = (
  x: Float64Array,
  at: number,
  columns: number,
  parameters: Float64Array,
  prototypes: number,
  distances: Float64Array,
  out: Float64Array,
  to: number,
): void => {
  let nearest = Number.POSITIVE_INFINITY;
  for (let k = 0; k < prototypes; k++) {
    const d = Math.sqrt(squaredDistance(x, at, parameters, prototypes + k * columns, columns));
    distances[to + k] = d;
    if (d < nearest) nearest = d;
  }
  let sum = 0;
  for (let k = 0; k < prototypes; k++) {
    const e = exp(nearest - distances[to + k]);
    out[to + k] = e;
    sum += e;
  }
  for (let k = 0; k < prototypes; k++) out[to + k] /= sum;
};

/** The loss as a function of w [prototypes], then V [prototypes, columns]. */
export class RepresentationLoss {
  readonly problem: RepresentationProblem;
  readonly rows: number;
  /** How many parameters there are. */
  readonly size: number;
  /** M at the last parameters: [rows, prototypes]. */
  readonly assignments: Float64Array;
  /** M w at the last parameters, not clipped. */
  readonly raw: Float64Array;
  /** |x - v_k| at the last parameters: [rows, prototypes]. */
  readonly #distances: Float64Array;
  /** Unprivileged, then privileged. */
  readonly #counts: readonly [number, number];
  /** mean_unprivileged M - mean_privileged M. */
  readonly #gaps: Float64Array;
  /** |v_j - v_k|^2: [prototypes, prototypes]. */
  readonly #between: Float64Array;

  /** sum_j |v_j - v_k|^2 M[n, j]: [rows, prototypes]. */
  readonly #spreads: Float64Array;

  constructor(problem: RepresentationProblem) {
    const { labels, privileged, prototypes, columns } = problem;
    this.problem = problem;
    this.rows = labels.length;
    this.size = prototypes * (columns + 1);
    this.assignments = new Float64Array(this.rows * prototypes);
    this.raw = new Float64Array(this.rows);
    this.#distances = new Float64Array(this.rows * prototypes);
    this.#spreads = new Float64Array(this.rows * prototypes);
    this.#gaps = new Float64Array(prototypes);
    this.#between = new Float64Array(prototypes * prototypes);
    const members = privileged.reduce((sum, each) => sum + each, 0);
    this.#counts = [this.rows - members, members];
  }

  /** The loss and its parts; leaves M behind. */
  parts(parameters: Float64Array): LossParts {
    const { rows, raw, assignments } = this;
    const { x, columns, labels, privileged, prototypes } = this.problem;
    const distances = this.#distances;
    const gaps = this.#gaps;
    const between = this.#between;
    const spreads = this.#spreads;
    const counts = this.#counts;
    for (let j = 0; j < prototypes; j++) {
      for (let k = 0; k < prototypes; k++) {
        const at = prototypes + j * columns;
        between[j * prototypes + k] =
          j === k ? 0 : squaredDistance(parameters, at, parameters, prototypes + k * columns, columns);
      }
    }
    gaps.fill(0);
    let reconstruction = 0;
    let prediction = 0;
    for (let n = 0; n < rows; n++) {
      const to = n * prototypes;
      assignRow(x, n * columns, columns, parameters, prototypes, distances, assignments, to);
      const count = counts[privileged[n]];
      const share = (privileged[n] === 1 ? -1 : 1) / count;
      // With sum_k M_k = 1: |x - sum_k M_k v_k|^2 = sum_k M_k |x - v_k|^2 - 1/2 sum_jk M_j M_k |v_j - v_k|^2.
      let error = 0;
      let y = 0;
      for (let k = 0; k < prototypes; k++) {
        const m = assignments[to + k];
        const d = distances[to + k];
        let spread = 0;
        for (let j = 0; j < prototypes; j++) spread += between[k * prototypes + j] * assignments[to + j];
        spreads[to + k] = spread;
        error += m * (d * d - spread / 2);
        y += m * parameters[k];
        gaps[k] += share * m;
      }
      reconstruction += error / (count * columns);
      raw[n] = y;
      const p = clipPrediction(y);
      prediction -= log(labels[n] === 1 ? p : 1 - p);
    }
    prediction /= rows;
    let parity = 0;
    for (let k = 0; k < prototypes; k++) parity += Math.abs(gaps[k]);
    if (this.problem.parityForm === "mean") parity /= prototypes;
    const { reconstruction: ax, prediction: ay, parity: az } = this.problem;
    const loss = ax * reconstruction + ay * prediction + az * parity;
    return { reconstruction, prediction, parity, loss };
  }

  /** The loss; writes its gradient. Where a distance or a gap between groups is 0, its derivative is taken as 0. */
  evaluate(parameters: Float64Array, gradient: Float64Array): number {
    const { loss } = this.parts(parameters);
    const { rows, raw, assignments } = this;
    const { x, columns, labels, privileged, prototypes, parityForm } = this.problem;
    const { reconstruction: ax, prediction: ay, parity: az } = this.problem;
    const distances = this.#distances;
    const spreads = this.#spreads;
    const counts = this.#counts;
    gradient.fill(0);
    const pull = this.#gaps.map((gap) => (az * Math.sign(gap)) / (parityForm === "mean" ? prototypes : 1));
    // The gradient of v_k is sum_j mix[k, j] v_j - sum_n c[n, k] x_n; the second sum is made row by row.
    const mix = new Float64Array(prototypes * prototypes);
    const byAssignment = new Float64Array(prototypes);
    for (let n = 0; n < rows; n++) {
      const at = n * prototypes;
      const count = counts[privileged[n]];
      const side = (privileged[n] === 1 ? -1 : 1) / count;
      const weight = ax / (count * columns);
      const y = raw[n];
      const clipped = y < CLIP || y > 1 - CLIP;
      const byPrediction = clipped ? 0 : (ay / rows) * (labels[n] === 1 ? -1 / y : 1 / (1 - y));
      let mean = 0;
      for (let k = 0; k < prototypes; k++) {
        const m = assignments[at + k];
        const d = distances[at + k];
        const twice = 2 * weight * m;
        for (let j = 0; j <= k; j++) mix[k * prototypes + j] += twice * assignments[at + j];
        gradient[k] += byPrediction * m;
        const h = weight * (d * d - spreads[at + k]) + byPrediction * parameters[k] + side * pull[k];
        byAssignment[k] = h;
        mean += m * h;
      }
      for (let k = 0; k < prototypes; k++) {
        const m = assignments[at + k];
        const d = distances[at + k];
        // |x - v_k| has no derivative at x = v_k; 0 is one of its subgradients.
        const byDistance = d > 0 ? (m * (mean - byAssignment[k])) / d : 0;
        mix[k * prototypes + k] += byDistance;
        // Not needed any more: the distances make room for c.
        distances[at + k] = 2 * weight * m + byDistance;
      }
    }
    for (let k = 0; k < prototypes; k++)
      subtractRows(gradient, prototypes + k * columns, x, columns, distances, k, prototypes);
    for (let k = 0; k < prototypes; k++) {
      for (let i = 0; i < prototypes; i++) {
        // Only the lower half of the symmetric matrix was added up.
        const factor = mix[Math.max(i, k) * prototypes + Math.min(i, k)];
        for (let j = 0; j < columns; j++)
          gradient[prototypes + k * columns + j] += factor * parameters[prototypes + i * columns + j];
      }
    }
    return loss;
  }
}
