import { InputError } from "../errors.js";
import { exp, log, normalQuantile } from "../math.js";
import { momentsOf, standardError } from "./moments.js";
import { studentTQuantile } from "./student.js";
import { requireLevel, requireValues } from "./values.js";

/** Lower and upper end. */
export type Interval = readonly [number, number];

/** A mean with its error. */
export interface EstimatedMean {
  readonly mean: number;
  readonly standardError: number;
  readonly interval: Interval;
  readonly n: number;
}

/**
 * The mean of n >= 2 finite values, its standard error, and Student's interval
 * mean ± t(1/2 + level/2; n - 1) standardError.
 */
export const meanEstimate = (values: ArrayLike<number>, level = 0.95): EstimatedMean => {
  requireLevel(level);
  requireValues("A mean with an error", values, 2);
  const moments = momentsOf(values);
  const error = standardError(moments);
  const half = -studentTQuantile((1 - level) / 2, moments.n - 1) * error;
  return {
    mean: moments.mean,
    standardError: error,
    interval: [moments.mean - half, moments.mean + half],
    n: moments.n,
  };
};

/** Shares, ratios of rates, accuracies, AUCs. */
export const UNIT_RANGE: Interval = [0, 1];
/** Differences between two of these. */
export const DIFFERENCE_RANGE: Interval = [-1, 1];
/** Information, costs: nothing is less than none. */
export const FROM_ZERO: Interval = [0, Infinity];
/** Where an interval may reach as far as it likes. */
export const ANYWHERE: Interval = [-Infinity, Infinity];

/**
 * The interval estimate ± half of what lies within a range, on the scale where the range has no ends (the delta method):
 * the logit of the place in it, or the logarithm where it has no upper end. About the same where `half` is small, and
 * never outside. At an end of the range, where those scales end too, it is cut off.
 */
export const intervalWithin = (estimate: number, half: number, [least, most]: Interval): Interval => {
  const width = most - least;
  const place = estimate - least;
  const within = (value: number): number => Math.min(most, Math.max(least, value));
  if (!(place > 0 && place < width)) return [within(estimate - half), within(estimate + half)];
  if (width === Infinity) {
    const factor = exp(half / place);
    return [least + place / factor, least + place * factor];
  }
  const share = place / width;
  const middle = log(share / (1 - share));
  const reach = half / width / (share * (1 - share));
  const back = (logit: number): number => least + width / (1 + exp(-logit));
  return [back(middle - reach), back(middle + reach)];
};

export const wilsonText = (successes: number, trials: number): string =>
  `wilsonInterval got ${successes} successes in ${trials} trials, but needs whole numbers with 0 <= successes <= trials and at least 1 trial; check the counts.`;

/**
 * Wilson's score interval for a proportion k / n (JASA 22, 1927), within [0, 1]; with z the normal quantile:
 *
 *     (k + z^2/2 ± z sqrt(k (n - k) / n + z^2/4)) / (n + z^2)
 */
export const wilsonInterval = (successes: number, trials: number, level = 0.95): Interval => {
  requireLevel(level);
  const whole = Number.isInteger(successes) && Number.isInteger(trials);
  if (!whole || successes < 0 || successes > trials || trials < 1) {
    throw new InputError("proportion", wilsonText(successes, trials));
  }
  const z = -normalQuantile((1 - level) / 2);
  const center = successes + (z * z) / 2;
  const half = z * Math.sqrt((successes * (trials - successes)) / trials + (z * z) / 4);
  const n = trials + z * z;
  // At the ends the two terms are equal and only rounding would keep the interval from closing.
  const low = successes === 0 ? 0 : (center - half) / n;
  const high = successes === trials ? 1 : (center + half) / n;
  return [low, high];
};
