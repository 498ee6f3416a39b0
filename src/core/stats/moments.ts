import { InputError } from "../errors.js";
import { fewValuesText } from "./values.js";

/** What is kept of a set of values: their number n, mean, and m2 = sum of (x - mean)^2. A plain value. */
export interface Moments {
  readonly n: number;
  readonly mean: number;
  readonly m2: number;
}

/** The moments of no values: the neutral element of {@link mergeMoments}. */
export const NO_VALUES: Moments = { n: 0, mean: 0, m2: 0 };

/** The moments after one more value x (Welford, Technometrics 4, 1962). NaN or Infinity make the result NaN. */
export const addValue = ({ n, mean, m2 }: Moments, x: number): Moments => {
  const delta = x - mean;
  const newMean = mean + delta / (n + 1);
  return { n: n + 1, mean: newMean, m2: m2 + delta * (x - newMean) };
};

/** The moments of both sets together (Chan, Golub and LeVeque, The American Statistician 37, 1983). */
export const mergeMoments = (a: Moments, b: Moments): Moments => {
  if (a.n === 0) return b;
  if (b.n === 0) return a;
  const n = a.n + b.n;
  const delta = b.mean - a.mean;
  return { n, mean: a.mean + (delta * b.n) / n, m2: a.m2 + b.m2 + (delta * delta * a.n * b.n) / n };
};

/** The moments of `values`; {@link NO_VALUES} where there are none. */
export const momentsOf = (values: ArrayLike<number>): Moments => {
  let mean = 0;
  let m2 = 0;
  for (let i = 0; i < values.length; i++) {
    const delta = values[i] - mean;
    mean += delta / (i + 1);
    m2 += delta * (values[i] - mean);
  }
  return { n: values.length, mean, m2 };
};

/** The unbiased sample variance m2 / (n - 1); needs n >= 2. */
export const sampleVariance = ({ n, m2 }: Moments): number => {
  if (n < 2) throw new InputError("few-values", fewValuesText("A sample variance", 2, n));
  return m2 / (n - 1);
};

/** The standard error of the mean, sqrt(variance / n); needs n >= 2. */
export const standardError = (moments: Moments): number => {
  if (moments.n < 2) throw new InputError("few-values", fewValuesText("A standard error", 2, moments.n));
  return Math.sqrt(sampleVariance(moments) / moments.n);
};
