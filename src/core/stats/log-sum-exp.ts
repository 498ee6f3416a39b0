import { InputError } from "../errors.js";
import { exp, log } from "../math.js";
import { fewValuesText } from "./values.js";

/**
 * log of the sum of e^v over values, without overflow: m + log(sum of e^(v - m)), m the largest value. -Infinity
 * for no values (the empty sum is 0); NaN where a value is NaN.
 */
export const logSumExp = (values: ArrayLike<number>): number => {
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) return Number.NaN;
    if (values[i] > largest) largest = values[i];
  }
  if (largest === Number.NEGATIVE_INFINITY || largest === Number.POSITIVE_INFINITY) return largest;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += exp(values[i] - largest);
  return largest + log(sum);
};

/** log of the mean of e^v over n >= 1 values: {@link logSumExp} - log n. */
export const logMeanExp = (values: ArrayLike<number>): number => {
  if (values.length === 0) throw new InputError("few-values", fewValuesText("A logarithm of a mean", 1, 0));
  return logSumExp(values) - log(values.length);
};
