/**
 * Log evidences of simulated experiments, from which every information quantity and its error follow: whatever way
 * they were computed (nested sampling, quadrature, enumeration, closed form), a quantity is the same sum of them.
 */
import { InputError } from "../core/errors.js";
import { type Interval, type Moments, mergeMoments, momentsOf, studentTQuantile } from "../core/stats.js";
import {
  type Bound,
  type Given,
  INFORMATION,
  type InformationName,
  includesOwn,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./quantity.js";

/**
 * For every experiment and every g, numbers with E under <= E log p(D | g) <= E over; the same array where log p is
 * computed exactly. [batches * outer], batch by batch.
 */
export interface EvidenceSamples {
  /**
   * "bounded": experiments are sampled, and their log evidences known between bounds. "sampled": experiments are
   * sampled, and their log evidences exact. "all": the expectation is known without sampling, and stands here as one
   * experiment in one batch.
   */
  readonly experiments: "bounded" | "sampled" | "all";
  readonly under: Readonly<Partial<Record<Given, Float64Array>>>;
  readonly over: Readonly<Partial<Record<Given, Float64Array>>>;
  readonly batches: number;
  readonly outer: number;
}

/**
 * A quantity between its bounds, in nats. By nested sampling they are means of a lower and an upper bound; from exact
 * evidences of sampled experiments, the ends of the 95 % interval of the mean; the same number only where nothing was
 * sampled.
 */
export interface InformationEstimate {
  readonly lower: number;
  readonly upper: number;
  /** The larger of the two below: 0 only where nothing was sampled, or nothing varied. */
  readonly standardError: number;
  readonly lowerError: number;
  readonly upperError: number;
  /** From the lower end of the lower bound's 95 % interval to the upper end of the upper bound's. */
  readonly interval: Interval;
}

/** Leakage per nat of information about the target. */
export interface RatioEstimate {
  /** [leakage lower / target upper, leakage upper / target lower]: the ratio is in it, up to sampling error. */
  readonly interval: Interval;
  /** leakage lower / target lower: what the paper's Table 1 prints. Not a bound of anything. */
  readonly paper: number;
  /** Of `paper`, to first order. */
  readonly paperError: number;
}

export const evidenceTexts = {
  missing: (given: Given) =>
    `the evidence p(D | ${given}) was not estimated: leave out the option names, or name a quantity that needs it`,
  noNumber: (given: Given) =>
    `the evidence p(D | ${given}) of a simulated experiment is not a number: for some parameters the outcome's distribution is none, such as where it takes the root or the logarithm of a negative number; give priors, or bounds of the designs, for which it always is one`,
  beta: (given: number) => `beta was ${given}: give a number from 0, such as 0.8`,
};

/** Log evidences of some experiments as they are; an error where one is no number. Minus infinity is one. */
export const requireEvidences = (given: Given, values: Float64Array): Float64Array => {
  if (values.some(Number.isNaN)) throw new InputError("evidence", evidenceTexts.noNumber(given));
  return values;
};

/** From this many batches on, errors are over batch means alone. */
const ENOUGH_BATCHES = 8;
const LEVEL = 0.95;

interface Mean {
  readonly mean: number;
  readonly error: number;
  readonly freedom: number;
}

/**
 * The mean of values [batches * outer] with its standard error. The values of a batch share their inner samples and
 * are not independent, the batches are: with 8 batches or more the error is that of their means. With 2 to 7 that is
 * too noisy, and the error is the larger of it and the one over all values; with 1 batch there is only the latter,
 * which leaves out what the choice of inner samples contributes. A single value is exact: its error is 0.
 */
const meanOverBatches = (values: Float64Array, batches: number, outer: number): Mean => {
  const byBatch = Array.from({ length: batches }, (_, i) =>
    momentsOf(values.subarray(i * outer, (i + 1) * outer)),
  );
  const all = byBatch.reduce(mergeMoments);
  const error = ({ n, m2 }: Moments): number => (n < 2 ? 0 : Math.sqrt(m2 / (n - 1) / n));
  const overValues: Mean = { mean: all.mean, error: error(all), freedom: all.n - 1 };
  if (batches < 2) return overValues;
  const overMeans: Mean = {
    mean: all.mean,
    error: error(momentsOf(byBatch.map(({ mean }) => mean))),
    freedom: batches - 1,
  };
  return batches >= ENOUGH_BATCHES || overMeans.error > overValues.error ? overMeans : overValues;
};

/** A side of a quantity for every experiment: coefficients below 0 take the other side of their evidence. */
const side = ({ under, over }: EvidenceSamples, quantity: Quantity, bound: Bound): Float64Array => {
  let total: Float64Array | undefined;
  for (const [given, coefficient] of Object.entries(quantity) as [Given, number][]) {
    if (coefficient === 0) continue;
    const part = (includesOwn(coefficient, bound) ? over : under)[given];
    if (part === undefined) throw new InputError("evidence", evidenceTexts.missing(given));
    const sum = total ?? new Float64Array(part.length);
    for (let b = 0; b < sum.length; b++) sum[b] += coefficient * part[b];
    total = sum;
  }
  return total ?? new Float64Array(1);
};

const halfWidth = ({ error, freedom }: Mean): number =>
  error === 0 ? 0 : -studentTQuantile((1 - LEVEL) / 2, freedom) * error;

/** sum_g c_g E log p(D | g) between its bounds (quantity.ts). */
export const estimateQuantity = (samples: EvidenceSamples, quantity: Quantity): InformationEstimate => {
  const [lower, upper] = meansOf(samples, quantity);
  const interval: Interval = [lower.mean - halfWidth(lower), upper.mean + halfWidth(upper)];
  const isBounded = samples.experiments === "bounded";
  return {
    lower: isBounded ? lower.mean : interval[0],
    upper: isBounded ? upper.mean : interval[1],
    standardError: Math.max(lower.error, upper.error),
    lowerError: lower.error,
    upperError: upper.error,
    interval,
  };
};

/** The means of both sides of a quantity. */
const meansOf = (samples: EvidenceSamples, quantity: Quantity): readonly [lower: Mean, upper: Mean] => {
  const { batches, outer } = samples;
  return [
    meanOverBatches(side(samples, quantity, "lower"), batches, outer),
    meanOverBatches(side(samples, quantity, "upper"), batches, outer),
  ];
};

/** R_c or R_u between its bounds. Not the difference of two bounds: what is shared by both terms is kept together. */
export const estimateObjective = (
  samples: EvidenceSamples,
  kind: ObjectiveKind,
  beta: number,
): InformationEstimate => {
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", evidenceTexts.beta(beta));
  return estimateQuantity(samples, objectiveQuantity(kind, beta));
};

/** The leakage against the information about the target. An information is never below 0, whatever its bound says. */
export const estimateRatio = (
  samples: EvidenceSamples,
  leakage: Extract<InformationName, "sensitive" | "sensitiveGivenTarget">,
): RatioEstimate => {
  const { batches, outer } = samples;
  const numerator = estimateQuantity(samples, INFORMATION[leakage]);
  const denominator = estimateQuantity(samples, INFORMATION.target);
  const [{ mean: information }] = meansOf(samples, INFORMATION.target);
  const paper = meansOf(samples, INFORMATION[leakage])[0].mean / information;
  const above = side(samples, INFORMATION[leakage], "lower");
  const below = side(samples, INFORMATION.target, "lower");
  const linear = above.map((value, b) => (value - paper * below[b]) / information);
  return {
    interval: [
      Math.max(0, numerator.lower) / denominator.upper,
      denominator.lower > 0 ? Math.max(0, numerator.upper) / denominator.lower : Infinity,
    ],
    paper,
    paperError: meanOverBatches(linear, batches, outer).error,
  };
};
