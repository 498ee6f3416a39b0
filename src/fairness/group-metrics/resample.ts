/**
 * The rows of a table drawn again with replacement, seen as counts of the cells they fall into.
 *
 * That is one draw of Multinomial(n, counts / n), so where there are few cells it is drawn as such, in a time that
 * does not depend on n; where there are many cells, or rows have weights, the rows themselves are drawn.
 */
import { exp, lgamma, log, log1p } from "../../core/math.js";
import type { RandomStream } from "../../core/random.js";

/** Puts the weight that each cell has after one resample of the rows into `out` [cells]. */
export type Resample = (stream: RandomStream, out: Float64Array) => void;

/** By inversion, adding up the probabilities of 0, 1, ... until a uniform is reached; for small n p. */
const binomialByInversion = (stream: RandomStream, n: number, p: number): number => {
  const odds = p / (1 - p);
  for (;;) {
    let probability = exp(n * log1p(-p));
    let rest = stream.uniform();
    for (let k = 0; k <= n; k++) {
      if (rest <= probability) return k;
      rest -= probability;
      probability *= (odds * (n - k)) / (k + 1);
    }
    // Rounding may leave a little of the uniform after n: draw again.
  }
};

/**
 * Transformed rejection with squeeze, algorithm BTRS of Hormann, "The generation of binomial random variates"
 * (Journal of Statistical Computation and Simulation 46, 1993), for n p >= 10 and p <= 1/2.
 */
const binomialByRejection = (stream: RandomStream, n: number, p: number): number => {
  const sd = Math.sqrt(n * p * (1 - p));
  const b = 1.15 + 2.53 * sd;
  const a = -0.0873 + 0.0248 * b + 0.01 * p;
  const squeeze = 0.92 - 4.2 / b;
  const mode = Math.floor((n + 1) * p);
  for (;;) {
    const u = stream.uniform() - 0.5;
    const v = stream.uniform();
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + n * p + 0.5);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > n) continue;
    const logRatio =
      lgamma(mode + 1) +
      lgamma(n - mode + 1) -
      lgamma(k + 1) -
      lgamma(n - k + 1) +
      (k - mode) * log(p / (1 - p));
    if (log((v * (2.83 + 5.1 / b) * sd) / (a / (us * us) + b)) <= logRatio) return k;
  }
};

/** The number of successes in n trials with probability p each, 0 <= p <= 1. */
export const binomialVariate = (stream: RandomStream, n: number, p: number): number => {
  if (p > 0.5) return n - binomialVariate(stream, n, 1 - p);
  if (n === 0 || p === 0) return 0;
  return n * p < 10 ? binomialByInversion(stream, n, p) : binomialByRejection(stream, n, p);
};

/** Multinomial(sum of counts, counts / sum), cell by cell: each is binomial among what is left. */
const drawCounts =
  (counts: Float64Array, rows: number): Resample =>
  (stream, out) => {
    let trials = rows;
    let rest = rows;
    for (let cell = 0; cell < counts.length; cell++) {
      const drawn =
        trials === 0 || rest === 0 ? 0 : binomialVariate(stream, trials, Math.min(1, counts[cell] / rest));
      out[cell] = drawn;
      trials -= drawn;
      rest -= counts[cell];
    }
  };

const drawRows =
  (cells: Int32Array, weights: Float64Array | undefined): Resample =>
  (stream, out) => {
    out.fill(0);
    for (let i = 0; i < cells.length; i++) {
      const row = stream.integer(cells.length);
      out[cells[row]] += weights === undefined ? 1 : weights[row];
    }
  };

/**
 * How to draw again the rows whose cells are given, `cells` of [0, count).
 *
 * A binomial costs about as much as twenty rows.
 */
export const resampleOf = (cells: Int32Array, count: number, weights?: Float64Array): Resample => {
  if (weights !== undefined) return drawRows(cells, weights);
  const counts = new Float64Array(count);
  for (const cell of cells) counts[cell]++;
  const occupied = counts.reduce((sum, rows) => sum + Number(rows > 0), 0);
  return occupied * 20 < cells.length ? drawCounts(counts, cells.length) : drawRows(cells, undefined);
};
