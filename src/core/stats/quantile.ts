import { InputError } from "../errors.js";
import { fewValuesText } from "./values.js";

export const quantileProbabilityText = (p: number): string =>
  `A quantile got the probability ${p}, but it must lie between 0 and 1; give for example 0.5 for the median.`;
export const quantileNaNText = (index: number): string =>
  `A quantile got NaN at index ${index}, but NaN has no place in an order; remove or repair that value first.`;

/** The quantile of values that are sorted already and not empty; see {@link quantile}. */
const sortedQuantile = (sorted: Float64Array, p: number): number => {
  if (!(p >= 0 && p <= 1)) throw new InputError("probability", quantileProbabilityText(p));
  const place = (sorted.length - 1) * p;
  const below = Math.floor(place);
  const fraction = place - below;
  const low = sorted[below];
  // An exact place needs no neighbour, which could be missing or infinite.
  return fraction === 0 || low === sorted[below + 1] ? low : low + fraction * (sorted[below + 1] - low);
};

/** {@link quantile} at each of `probabilities`, sorting once. */
export const quantiles = (values: ArrayLike<number>, probabilities: readonly number[]): number[] => {
  if (values.length === 0) throw new InputError("few-values", fewValuesText("A quantile", 1, 0));
  const sorted = Float64Array.from(values);
  const nan = sorted.findIndex(Number.isNaN);
  if (nan >= 0) throw new InputError("bad-value", quantileNaNText(nan));
  sorted.sort();
  return probabilities.map((p) => sortedQuantile(sorted, p));
};

/**
 * The sample quantile at 0 <= p <= 1 by linear interpolation at place (n - 1) p of the sorted values: type 7 of
 * Hyndman and Fan (The American Statistician 50, 1996), the default of NumPy and R. Needs n >= 1; infinite values
 * are allowed, NaN is not.
 */
export const quantile = (values: ArrayLike<number>, p: number): number => quantiles(values, [p])[0];
