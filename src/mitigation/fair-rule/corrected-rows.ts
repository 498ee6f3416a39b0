/**
 * Rates of many rows by predicted groups, corrected by what a few rows with known groups say beyond predicted ones:
 * rate = (mean over many of f q + mean over few of f (1[g] - q)) / (the same without f), which is unbiased whatever q
 * is, and the less noisy the better q is (prediction-powered inference; Angelopoulos et al., Science 382, 2023).
 */
import type { CountedRows } from "./rule-rows.js";

const joined = (
  a: Float64Array,
  factorOfA: number,
  b: Float64Array,
  c: Float64Array,
  factor: number,
): Float64Array => {
  const out = new Float64Array(a.length + b.length);
  for (let i = 0; i < a.length; i++) out[i] = a[i] * factorOfA;
  for (let i = 0; i < b.length; i++) out[a.length + i] = (b[i] - c[i]) * factor;
  return out;
};

/**
 * `predicted` are the many rows and `also` the few ones, by predicted groups; `known` are the few ones by known ones.
 * `strength` is how much of the difference is added: all of it (1) for no bias, less for less noise.
 */
export const correctedRows = (
  predicted: CountedRows,
  known: CountedRows,
  also: CountedRows,
  strength: number,
): CountedRows => {
  const { groups } = predicted;
  const [many, few] = [1 / predicted.weight, strength / known.weight];
  const counts = joined(predicted.counts, many, known.counts, also.counts, few);
  const totals = predicted.totals.map((total, g) => total * many + (known.totals[g] - also.totals[g]) * few);
  return {
    rows: predicted.rows + known.rows,
    parts: [predicted.rows, known.rows],
    groups,
    eta: joined(predicted.eta, 1, known.eta, new Float64Array(known.rows), 1),
    probabilities: joined(
      predicted.probabilities,
      1,
      known.probabilities,
      new Float64Array(known.rows * groups),
      1,
    ),
    counts,
    // A group that the few rows say is not there is not there.
    totals: totals.map((total) => Math.max(0, total)),
    shares: Array.from(totals, (total) => Math.max(0, total)),
    // Selected is selected, whatever is known of a row: the few add nothing.
    weights: joined(predicted.weights, many, known.weights, also.weights, few),
    weight: 1,
    gains: joined(predicted.gains, many, known.gains, also.gains, few),
    rightAtNone: predicted.rightAtNone * many + (known.rightAtNone - also.rightAtNone) * few,
  };
};
