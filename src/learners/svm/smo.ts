/**
 * Sequential minimal optimisation of a support vector machine's dual (Fan, Chen and Lin 2005, algorithm 2; libsvm
 * without shrinking):
 *
 *     min over a of 1/2 a' Q a - sum a,   Q_st = y_s y_t k(x_s, x_t),   0 <= a_t <= c_t,   sum y_t a_t = 0.
 *
 * With G the gradient, v_t = -y_t G_t; a is optimal where no v of a row that may move up is above one that may move
 * down. A step moves a_i by y_i s and a_j by -y_j s, and then v_t by -s (k_it - k_jt).
 */

export interface SvmProblem {
  /** The rows, as numbers that `column` knows. */
  readonly rows: Int32Array;
  /** 1 or -1 for each. */
  readonly y: Int8Array;
  /** The largest multiplier of each. */
  readonly c: Float64Array;
  /** k between a row and all rows. */
  readonly column: (row: number) => Float32Array;
}

export interface SvmSolution {
  /** y_t a_t of each row: its coefficient in the decision value. */
  readonly coefficients: Float64Array;
  /** Added to the sum: the decision value is sum_t coefficients[t] k(x_t, x) + bias. */
  readonly bias: number;
}

/** How far the optimality condition may be missed (libsvm's eps). */
const TOLERANCE = 1e-3;
/** In place of a curvature that is not positive: two rows that are the same. */
const LEAST_CURVATURE = 1e-12;
/** libsvm's limit. */
const MOST_STEPS = 1e7;

/** Steps in one piece of work: each may need two columns of the kernel that are not there yet. */
const PIECE_STEPS = 8;

export function* solveSvm({ rows, y, c, column }: SvmProblem): Generator<unknown, SvmSolution> {
  const n = rows.length;
  const a = new Float64Array(n);
  const v = Float64Array.from(y);
  const mayRise = (t: number): boolean => (y[t] > 0 ? a[t] < c[t] : a[t] > 0);
  const mayFall = (t: number): boolean => (y[t] > 0 ? a[t] > 0 : a[t] < c[t]);
  for (let step = 0; step < MOST_STEPS; step++) {
    let i = -1;
    for (let t = 0; t < n; t++) if (mayRise(t) && (i < 0 || v[t] > v[i])) i = t;
    if (i < 0) break;
    const ki = column(rows[i]);
    // The partner with which the objective falls most, by its second-order model.
    let j = -1;
    let fall = 0;
    let lowest = Number.POSITIVE_INFINITY;
    for (let t = 0; t < n; t++) {
      if (!mayFall(t)) continue;
      if (v[t] < lowest) lowest = v[t];
      const difference = v[i] - v[t];
      if (difference <= 0) continue;
      const own = (difference * difference) / Math.max(2 - 2 * ki[rows[t]], LEAST_CURVATURE);
      if (own > fall) {
        fall = own;
        j = t;
      }
    }
    if (j < 0 || v[i] - lowest < TOLERANCE) break;
    const room = y[i] > 0 ? c[i] - a[i] : a[i];
    const roomOfJ = y[j] > 0 ? a[j] : c[j] - a[j];
    const s = Math.min((v[i] - v[j]) / Math.max(2 - 2 * ki[rows[j]], LEAST_CURVATURE), room, roomOfJ);
    // A bound that is reached is reached exactly, or the row would be tried for ever.
    if (s === room) a[i] = y[i] > 0 ? c[i] : 0;
    else a[i] += y[i] * s;
    if (s === roomOfJ) a[j] = y[j] > 0 ? 0 : c[j];
    else a[j] -= y[j] * s;
    const kj = column(rows[j]);
    for (let t = 0; t < n; t++) v[t] -= s * (ki[rows[t]] - kj[rows[t]]);
    if (step % PIECE_STEPS === 0) yield;
  }
  let sum = 0;
  let free = 0;
  let highest = Number.NEGATIVE_INFINITY;
  let lowest = Number.POSITIVE_INFINITY;
  for (let t = 0; t < n; t++) {
    if (a[t] > 0 && a[t] < c[t]) {
      sum += v[t];
      free++;
    }
    if (mayRise(t)) highest = Math.max(highest, v[t]);
    if (mayFall(t)) lowest = Math.min(lowest, v[t]);
  }
  // v is the same, the bias, for all free rows; without one, anything between the bounds will do.
  return {
    coefficients: a.map((each, t) => y[t] * each),
    bias: free > 0 ? sum / free : (highest + lowest) / 2,
  };
}
