/**
 * From held-out gains to a leakage with its interval.
 *
 * **Not yet learnt.** A model of m rows falls short of what it would reach with endless rows by about c / m: for
 * p weights, by chi-square(p) / 2m, of mean b = p / 2m and variance b / m. With the same adversary on m' < m rows,
 *
 *     gain(infinity) = gain(m) + (gain(m) - gain(m')) m' / (m - m')
 *
 * which is taken record by record, so that the interval knows what the correction costs; the correction is never
 * negative on average (more rows do not make an adversary worse), and b / m is added to the variance.
 *
 * **The maximum.** With q the level's quantile, over resamples of the records, of the largest standardised deviation
 * of any adversary, estimate ± q error covers all of them at once, and so
 * [max(estimate - q error), max(estimate + q error)] covers the largest.
 *
 * **Small leakages.** The gains of a small leakage I have the variance 2 I, so a sample that happens to show little also
 * shows too small an error. The upper end is therefore where the estimate would be just as far out with the error
 * that belongs to that end (as Wilson's is for a share): u - estimate = q sqrt(error^2 + 2 (u - estimate) / n).
 */
import type { RandomStream } from "../../core/random.js";
import { type Interval, momentsOf, quantile, sampleVariance } from "../../core/stats.js";
import type { CrossFit, Watch } from "./cross-fit.js";

export interface AdversaryEstimate {
  readonly name: string;
  /** Nats per record that it finds, carried on to endless rows; not below 0. */
  readonly nats: number;
  readonly interval: Interval;
  readonly standardError: number;
  /** Nats per record on rows held out, as they come: H(phi) - cross-entropy. May be below 0. */
  readonly heldOut: number;
  /** How far its probabilities were believed: 0 not at all, 1 as they were. The mean over the folds. */
  readonly strength: number;
}

/** One adversary's corrected gain for every judged record (0 where nothing could be gained). */
export interface RecordGains {
  readonly name: string;
  readonly gains: Float64Array;
  readonly heldOut: Float64Array;
  /** What is added to the variance of the mean for the correction. */
  readonly extraVariance: number;
  readonly strength: number;
}

/** Strata under each other; `idle` records, in strata where there is one group only, gain 0. */
export const recordGains = (name: string, fits: readonly CrossFit[], idle: number): RecordGains => {
  const records = fits.reduce((sum, { gains }) => sum + gains.length, idle);
  const gains = new Float64Array(records);
  const heldOut = new Float64Array(records);
  let at = 0;
  let extraVariance = 0;
  for (const fit of fits) {
    const n = fit.gains.length;
    const factor = fit.learnt > fit.learntOfFewer ? fit.learntOfFewer / (fit.learnt - fit.learntOfFewer) : 0;
    const missed = momentsOf(fit.gains.map((gain, i) => factor * (gain - fit.gainsOfFewer[i]))).mean;
    const weight = missed > 0 ? factor : 0;
    for (let i = 0; i < n; i++) {
      heldOut[at + i] = fit.gains[i];
      gains[at + i] = fit.gains[i] + weight * (fit.gains[i] - fit.gainsOfFewer[i]);
    }
    if (missed > 0) extraVariance += (n / records) ** 2 * (missed / fit.learnt);
    at += n;
  }
  const strengths = fits.flatMap(({ blocks }) => blocks.map(({ calibration }) => calibration.strength));
  return { name, gains, heldOut, extraVariance, strength: momentsOf(strengths).mean };
};

export interface LargestEstimate {
  readonly nats: number;
  readonly interval: Interval;
  readonly standardError: number;
  readonly winner: string;
  readonly adversaries: readonly AdversaryEstimate[];
}

/** The standard error of a mean of gains, with what the correction adds. */
const errorOf = ({ gains, extraVariance }: RecordGains): number =>
  Math.sqrt(sampleVariance(momentsOf(gains)) / gains.length + extraVariance);

/** Resampled means of several columns of gains, the same records in each: [replicates][columns]. */
const resampledMeans = async (
  columns: readonly Float64Array[],
  replicates: number,
  stream: RandomStream,
  watch: Watch,
): Promise<Float64Array[]> => {
  const n = columns[0].length;
  const times = new Float64Array(n);
  const drawn: Float64Array[] = [];
  for (let r = 0; r < replicates; r++) {
    times.fill(0);
    for (let i = 0; i < n; i++) times[stream.integer(n)]++;
    drawn.push(
      Float64Array.from(columns, (column) => {
        let sum = 0;
        for (let i = 0; i < n; i++) sum += times[i] * column[i];
        return sum / n;
      }),
    );
    await watch.pause();
  }
  return drawn;
};

/** See "small leakages" above. */
export const upperEnd = (mean: number, error: number, q: number, n: number): number => {
  const shift = (q * q) / n;
  return mean + shift + Math.sqrt(shift * shift + q * q * error * error);
};

const notBelowZero = ([low, high]: Interval): Interval => [Math.max(0, low), Math.max(0, high)];

export const largestOf = async (
  all: readonly RecordGains[],
  {
    level,
    replicates,
    stream,
    watch,
  }: {
    readonly level: number;
    readonly replicates: number;
    readonly stream: RandomStream;
    readonly watch: Watch;
  },
): Promise<LargestEstimate> => {
  const means = all.map(({ gains }) => momentsOf(gains).mean);
  const errors = all.map(errorOf);
  const n = all[0].gains.length;
  const drawn = await resampledMeans(
    all.map(({ gains }) => gains),
    replicates,
    stream,
    watch,
  );
  // The extra variance is not in the resamples: deviations are standardised by what is.
  const plain = all.map(({ gains }) => Math.sqrt(sampleVariance(momentsOf(gains)) / gains.length));
  const deviations = drawn.map((resample) =>
    resample.reduce(
      (most, mean, a) => (plain[a] > 0 ? Math.max(most, Math.abs(mean - means[a]) / plain[a]) : most),
      0,
    ),
  );
  const together = quantile(deviations, level);
  const alone = all.map((_, a) =>
    plain[a] > 0
      ? quantile(
          drawn.map((resample) => Math.abs(resample[a] - means[a]) / plain[a]),
          level,
        )
      : 0,
  );
  let best = 0;
  for (let a = 1; a < all.length; a++) if (means[a] > means[best]) best = a;
  const adversaries = all.map(
    ({ name, heldOut, strength }, a): AdversaryEstimate => ({
      name,
      nats: Math.max(0, means[a]),
      interval: notBelowZero([means[a] - alone[a] * errors[a], upperEnd(means[a], errors[a], alone[a], n)]),
      standardError: errors[a],
      heldOut: momentsOf(heldOut).mean,
      strength,
    }),
  );
  return {
    nats: adversaries[best].nats,
    interval: notBelowZero([
      Math.max(...means.map((mean, a) => mean - together * errors[a])),
      Math.max(...means.map((mean, a) => upperEnd(mean, errors[a], together, n))),
    ]),
    standardError: errors[best],
    winner: all[best].name,
    adversaries,
  };
};
