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
import { type RowSums, rowSums } from "./row-sums.js";

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

// The squares of tiny gaps are 0, hence the other form where nothing is added to them.
const smoothAbsolute = (gap: number, s: number): number =>
  s === 0 ? Math.abs(gap) : Math.sqrt(gap * gap + s * s) - s;
const smoothSign = (gap: number, s: number): number =>
  s === 0 ? Math.sign(gap) : gap / Math.sqrt(gap * gap + s * s);

/** |a[at ..] - b[from ..]|^2 over `columns` entries. */
const squaredDistance = (
  a: Float64Array,
  at: number,
  b: Float64Array,
  from: number,
  columns: number,
): number => {
  let sum = 0;
  for (let j = 0; j < columns; j++) {
    const d = a[at + j] - b[from + j];
    sum += d * d;
  }
  return sum;
};

/** M [rows, prototypes] of the rows that `sums` holds; `parameters` are w [k], then V [k, columns]. */
export const assignRows = (
  sums: RowSums,
  parameters: Float64Array,
  prototypes: number,
  out: Float64Array,
): void => {
  const { distances, stride } = sums;
  sums.v.set(parameters.subarray(prototypes));
  sums.findDistances();
  for (let n = 0, at = 0; at < out.length; n++, at += prototypes) {
    let nearest = Number.POSITIVE_INFINITY;
    for (let k = 0; k < prototypes; k++) nearest = Math.min(nearest, distances[k * stride + n]);
    let sum = 0;
    for (let k = 0; k < prototypes; k++) {
      const e = exp(nearest - distances[k * stride + n]);
      out[at + k] = e;
      sum += e;
    }
    for (let k = 0; k < prototypes; k++) out[at + k] /= sum;
  }
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
  readonly #sums: RowSums;
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
    this.#sums = rowSums(problem.x, columns, prototypes);
    this.#spreads = new Float64Array(this.rows * prototypes);
    this.#gaps = new Float64Array(prototypes);
    this.#between = new Float64Array(prototypes * prototypes);
    const members = privileged.reduce((sum, each) => sum + each, 0);
    this.#counts = [this.rows - members, members];
  }

  /**
   * The loss and its parts; leaves M behind. With smoothing s, |gap| is sqrt(gap^2 + s^2) - s: at most s less, and
   * without the kink at 0.
   */
  parts(parameters: Float64Array, smoothing = 0): LossParts {
    const { rows, raw, assignments } = this;
    const { columns, labels, privileged, prototypes } = this.problem;
    const { distances, stride } = this.#sums;
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
    assignRows(this.#sums, parameters, prototypes, assignments);
    gaps.fill(0);
    let reconstruction = 0;
    let prediction = 0;
    for (let n = 0; n < rows; n++) {
      const to = n * prototypes;
      const count = counts[privileged[n]];
      const share = (privileged[n] === 1 ? -1 : 1) / count;
      // With sum_k M_k = 1: |x - sum_k M_k v_k|^2 = sum_k M_k |x - v_k|^2 - 1/2 sum_jk M_j M_k |v_j - v_k|^2.
      let error = 0;
      let y = 0;
      for (let k = 0; k < prototypes; k++) {
        const m = assignments[to + k];
        const d = distances[k * stride + n];
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
    for (let k = 0; k < prototypes; k++) parity += smoothAbsolute(gaps[k], smoothing);
    if (this.problem.parityForm === "mean") parity /= prototypes;
    const { reconstruction: ax, prediction: ay, parity: az } = this.problem;
    const loss = ax * reconstruction + ay * prediction + az * parity;
    return { reconstruction, prediction, parity, loss };
  }

  /** The loss; writes its gradient. Where a distance or a gap between groups is 0, its derivative is taken as 0. */
  evaluate(parameters: Float64Array, gradient: Float64Array, smoothing = 0): number {
    const { loss } = this.parts(parameters, smoothing);
    const { rows, raw, assignments } = this;
    const { columns, labels, privileged, prototypes, parityForm } = this.problem;
    const { reconstruction: ax, prediction: ay, parity: az } = this.problem;
    const { distances, stride, c, sums } = this.#sums;
    const spreads = this.#spreads;
    const counts = this.#counts;
    gradient.fill(0);
    const unit = parityForm === "mean" ? az / prototypes : az;
    const pull = this.#gaps.map((gap) => unit * smoothSign(gap, smoothing));
    // The gradient of v_k is sum_j mix[k, j] v_j - sum_n c[k, n] x_n.
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
        const d = distances[k * stride + n];
        const twice = 2 * weight * m;
        for (let j = 0; j <= k; j++) mix[k * prototypes + j] += twice * assignments[at + j];
        gradient[k] += byPrediction * m;
        const h = weight * (d * d - spreads[at + k]) + byPrediction * parameters[k] + side * pull[k];
        byAssignment[k] = h;
        mean += m * h;
      }
      for (let k = 0; k < prototypes; k++) {
        const m = assignments[at + k];
        const d = distances[k * stride + n];
        // |x - v_k| has no derivative at x = v_k; 0 is one of its subgradients.
        const byDistance = d > 0 ? (m * (mean - byAssignment[k])) / d : 0;
        mix[k * prototypes + k] += byDistance;
        c[k * stride + n] = 2 * weight * m + byDistance;
      }
    }
    this.#sums.findSums();
    for (let i = 0; i < prototypes * columns; i++)
      gradient[prototypes + i] = -(sums[2 * i] + sums[2 * i + 1]);
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
