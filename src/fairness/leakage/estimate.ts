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
 * **Who decides.** The adversary that finds most on the rows held out gives the estimate. The others count for the
 * interval where they are not clearly behind it on those rows, and not much less certain: one that found little and
 * whose figure is carried on over a long way would only say that it does not know.
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
import {
  blockMeans,
  type Interval,
  meanEstimate,
  momentsOf,
  quantile,
  sampleVariance,
} from "../../core/stats.js";
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
  /** Rows that it learnt from, of all strata. */
  readonly learnt: number;
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
    const { missed, corrections } = notYetLearnt(fit);
    for (let i = 0; i < n; i++) {
      heldOut[at + i] = fit.gains[i];
      gains[at + i] = fit.gains[i] + corrections[i];
    }
    extraVariance += (n / records) ** 2 * (missed / fit.learnt);
    at += n;
  }
  const strengths = fits.flatMap(({ blocks }) => blocks.map(({ calibration }) => calibration.strength));
  const learnt = fits.reduce((sum, fit) => sum + fit.learnt, 0);
  return { name, gains, heldOut, extraVariance, strength: momentsOf(strengths).mean, learnt };
};

/** Where a limit on rows leaves the smaller model nearly as many, their difference says nothing of what more would do. */
const TOO_ALIKE = 0.8;

/** What is missed for lack of rows: its mean, not below 0, and the share of each record. */
const notYetLearnt = ({ gains, gainsOfFewer, learnt, learntOfFewer }: CrossFit) => {
  const n = gains.length;
  const corrections = new Float64Array(n);
  const compared = gainsOfFewer.reduce((count, gain) => count + Number(!Number.isNaN(gain)), 0);
  if (learntOfFewer > TOO_ALIKE * learnt || compared === 0) return { missed: 0, corrections };
  // Records that the smaller model has learnt from are left out: the others stand for them.
  const weight = (learntOfFewer / (learnt - learntOfFewer)) * (n / compared);
  for (let i = 0; i < n; i++) {
    if (!Number.isNaN(gainsOfFewer[i])) corrections[i] = weight * (gains[i] - gainsOfFewer[i]);
  }
  const missed = momentsOf(corrections).mean;
  return missed > 0 ? { missed, corrections } : { missed: 0, corrections: corrections.fill(0) };
};

export interface LargestEstimate {
  readonly nats: number;
  readonly interval: Interval;
  readonly standardError: number;
  /** Of the same adversary, on rows held out as they come. */
  readonly heldOut: { readonly nats: number; readonly interval: Interval };
  readonly winner: string;
  /** Those that were as good as the winner on the rows held out, but too uncertain to count. */
  readonly unstable: readonly string[];
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
  const blocks = columns.map(blockMeans);
  const size = blocks[0].length;
  const times = new Float64Array(size);
  const drawn: Float64Array[] = [];
  for (let r = 0; r < replicates; r++) {
    times.fill(0);
    for (let i = 0; i < size; i++) times[stream.integer(size)]++;
    drawn.push(
      Float64Array.from(blocks, (block) => {
        let sum = 0;
        for (let i = 0; i < size; i++) sum += times[i] * block[i];
        return sum / size;
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

/** An adversary is clearly behind where the best is better by more than this many standard errors. */
const BEHIND = 3;
/** One whose error is larger than the winner's by more than this does not count. */
const UNCERTAIN = 2;

/** The best on the rows held out, and who else counts. */
const decidersOf = (all: readonly RecordGains[], errors: readonly number[]) => {
  const heldOut = all.map((each) => momentsOf(each.heldOut).mean);
  let best = 0;
  for (let a = 1; a < all.length; a++) if (heldOut[a] > heldOut[best]) best = a;
  const near = [...all.keys()].filter((a) => {
    const ahead = momentsOf(all[best].heldOut.map((gain, i) => gain - all[a].heldOut[i]));
    return ahead.mean <= BEHIND * Math.sqrt(sampleVariance(ahead) / ahead.n);
  });
  const certain = (a: number) => a === best || errors[a] <= UNCERTAIN * errors[best];
  return {
    best,
    deciders: near.filter(certain),
    unstable: near.filter((a) => !certain(a)).map((a) => all[a].name),
  };
};

export interface IntervalSettings {
  readonly level: number;
  readonly replicates: number;
  /** At its start: the same for every adversary, so that all are resampled alike. */
  readonly stream: RandomStream;
  readonly watch: Watch;
}

/** How many errors each resampled mean of one adversary is away from its mean. */
const deviationsOf = ({ gains }: RecordGains, resampled: readonly number[]): number[] => {
  const moments = momentsOf(gains);
  // The extra variance is not in the resamples: deviations are standardised by what is.
  const plain = Math.sqrt(sampleVariance(moments) / gains.length);
  return resampled.map((mean) => (plain > 0 ? Math.abs(mean - moments.mean) / plain : 0));
};

const estimateOf = (own: RecordGains, deviations: readonly number[], level: number): AdversaryEstimate => {
  const { mean } = momentsOf(own.gains);
  const error = errorOf(own);
  const q = quantile(deviations, level);
  return {
    name: own.name,
    nats: Math.max(0, mean),
    interval: notBelowZero([mean - q * error, upperEnd(mean, error, q, own.gains.length)]),
    standardError: error,
    heldOut: momentsOf(own.heldOut).mean,
    strength: own.strength,
  };
};

/** What one adversary finds, before it is known what the others do: its entry among those of {@link largestOf}. */
export const adversaryAlone = async (
  own: RecordGains,
  { level, replicates, stream, watch }: IntervalSettings,
): Promise<AdversaryEstimate> => {
  const drawn = await resampledMeans([own.gains], replicates, stream, watch);
  return estimateOf(
    own,
    deviationsOf(
      own,
      drawn.map(([mean]) => mean),
    ),
    level,
  );
};

export const largestOf = async (
  all: readonly RecordGains[],
  { level, replicates, stream, watch }: IntervalSettings,
): Promise<LargestEstimate> => {
  const means = all.map(({ gains }) => momentsOf(gains).mean);
  const errors = all.map(errorOf);
  const n = all[0].gains.length;
  const { best, deciders, unstable } = decidersOf(all, errors);
  const drawn = await resampledMeans(
    all.map(({ gains }) => gains),
    replicates,
    stream,
    watch,
  );
  const deviations = all.map((each, a) =>
    deviationsOf(
      each,
      drawn.map((resample) => resample[a]),
    ),
  );
  const together = quantile(
    drawn.map((_, r) => deciders.reduce((most, a) => Math.max(most, deviations[a][r]), 0)),
    level,
  );
  const adversaries = all.map((each, a) => estimateOf(each, deviations[a], level));
  return {
    nats: adversaries[best].nats,
    interval: notBelowZero([
      Math.max(...deciders.map((a) => means[a] - together * errors[a])),
      Math.max(...deciders.map((a) => upperEnd(means[a], errors[a], together, n))),
    ]),
    standardError: errors[best],
    heldOut: heldOutOf(all[best], level),
    winner: all[best].name,
    unstable,
    adversaries,
  };
};

const heldOutOf = ({ heldOut }: RecordGains, level: number) => {
  const { mean, interval } = meanEstimate(heldOut, level);
  return { nats: mean, interval };
};
