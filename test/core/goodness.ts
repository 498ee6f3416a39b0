/**
 * The Kolmogorov-Smirnov distance sqrt(n) sup |F_n - F| of a sample from a continuous distribution; above 1.95 with
 * probability 0.001 where the sample has that distribution.
 */
export const kolmogorov = (sample: Float64Array, cdf: (x: number) => number): number => {
  const sorted = sample.slice().sort();
  const n = sorted.length;
  let distance = 0;
  sorted.forEach((x, i) => {
    const f = cdf(x);
    distance = Math.max(distance, f - i / n, (i + 1) / n - f);
  });
  return Math.sqrt(n) * distance;
};

export const KOLMOGOROV_LIMIT = 1.95;

/**
 * Pearson's chi-square of counts, as standard deviations from its mean, (X - k) / sqrt(2 k) with k = cells - 1
 * degrees of freedom; above 4.5 with probability below 0.001 for the numbers of cells used here.
 */
export const chiSquare = (counts: ArrayLike<number>, probabilities: readonly number[], n: number): number => {
  let sum = 0;
  probabilities.forEach((p, i) => {
    sum += (counts[i] - n * p) ** 2 / (n * p);
  });
  const freedom = probabilities.length - 1;
  return (sum - freedom) / Math.sqrt(2 * freedom);
};

export const CHI_SQUARE_LIMIT = 4.5;
