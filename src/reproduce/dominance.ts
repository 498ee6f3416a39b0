/**
 * Whether one way of asking for labels is better than a line of others: fairer at no loss of accuracy. All numbers are
 * taken where as many are selected as are truly positive, so that a shift of the selection rate does not pass for
 * parity. Of a line, what counts is the best that its points or a mixture of two of them reach at the accuracy in
 * question or above: whoever may choose beta may also toss a coin between two. The best of several noisy means is
 * flattered, which is to the line's advantage and not to that of what is compared with it.
 */
import { seededStream } from "../core/random.js";
import { bootstrap, studentTQuantile } from "../core/stats.js";
import type { SeedMean } from "./verdict.js";

/** What one seed of one setting gives: its accuracy, and a number where more is better. */
export interface SeedPoint {
  readonly accuracy: number;
  readonly value: number;
}

/** The largest value that points or mixtures of two of them reach at this accuracy or above. */
export const bestAtAccuracy = (points: readonly SeedPoint[], accuracy: number): number => {
  const most = points.reduce((best, each) => (each.accuracy > best.accuracy ? each : best));
  // None is as accurate: the most accurate one stands for the line, although it loses on accuracy.
  if (most.accuracy <= accuracy) return most.value;
  let best = Number.NEGATIVE_INFINITY;
  for (const above of points) {
    if (above.accuracy < accuracy) continue;
    best = Math.max(best, above.value);
    for (const below of points) {
      if (below.accuracy >= accuracy) continue;
      const share = (accuracy - below.accuracy) / (above.accuracy - below.accuracy);
      best = Math.max(best, share * above.value + (1 - share) * below.value);
    }
  }
  return best;
};

const meanPoint = (points: readonly SeedPoint[], seeds: ArrayLike<number>): SeedPoint => {
  let [accuracy, value] = [0, 0];
  for (let i = 0; i < seeds.length; i++) {
    accuracy += points[seeds[i]].accuracy / seeds.length;
    value += points[seeds[i]].value / seeds.length;
  }
  return { accuracy, value };
};

/** Fewer seeds than this have no interval. */
const FEWEST_SEEDS = 3;

/**
 * How much more of the value is reached than by a line at the same accuracy, [settings of the line][seeds] against
 * [seeds]: means over seeds, with an interval over seeds that are drawn again, the same ones on both sides.
 */
export const advantageOver = (
  line: readonly (readonly SeedPoint[])[],
  own: readonly SeedPoint[],
): SeedMean | undefined => {
  const complete = line.filter((points) => points.length === own.length);
  if (own.length < FEWEST_SEEDS || complete.length === 0) return undefined;
  const advantage = (seeds: ArrayLike<number>): number => {
    const { accuracy, value } = meanPoint(own, seeds);
    const means = complete.map((points) => meanPoint(points, seeds));
    return value - bestAtAccuracy(means, accuracy);
  };
  const n = own.length;
  const stream = seededStream(0).split("advantage");
  const { estimate, standardError: drawn } = bootstrap(n, advantage, { stream, method: "percentile" });
  // Percentiles of so few seeds are too narrow: Student's t with the error of n - 1 instead.
  const standardError = drawn * Math.sqrt(n / (n - 1));
  const half = studentTQuantile(0.975, n - 1) * standardError;
  return { mean: estimate, standardError, interval: [estimate - half, estimate + half], n };
};
