/** What is predicted from the targets, and how far covariates make it depend on the sensitive part. */
import { InputError } from "../../core/errors.js";
import type { RandomStream } from "../../core/random.js";
import { meanEstimate, quantile } from "../../core/stats.js";
import type { Model } from "../model.js";
import { distributionOf } from "../priors.js";
import { drawTargets, type Numbers, ofRole, QUANTILE_DRAWS } from "./by-role.js";
import type { Measured } from "./posteriors.js";

/** p(z = 1 | theta, x): the probability of the downstream event given the targets and, where there are any, covariates. */
export type Predictor = (targets: Numbers, covariates: Numbers) => number;

/** One draw of covariates, x ~ p(x | theta, phi), given targets and sensitive parameters. */
export type Covariates = (parameters: Numbers, stream: RandomStream) => Numbers;

/** How many standard errors away from a limit counts as beyond it. */
export const CONFIDENCE = 3;

export const predictionTexts = {
  probability: (given: number) =>
    `the predictor returned ${given}: it must return a probability, from 0 to 1`,
};

/** 1 where the first target is above its prior median; above its mean where it is discrete. */
export const aboveMedian = (model: Model, stream: RandomStream): Predictor => {
  const [{ name, prior }] = ofRole(model, "target");
  const draws = drawTargets(model, QUANTILE_DRAWS, stream).map((row) => row[name]);
  const discrete = distributionOf(prior, {}).fromNoise === undefined;
  const threshold = discrete
    ? draws.reduce((total, value) => total + value, 0) / draws.length
    : quantile(draws, 0.5);
  return (targets) => Number(targets[name] > threshold);
};

/** Covariates drawn for every theta and value of phi, in each of two halves. */
const COVARIATE_DRAWS = 16;

/**
 * p(z = 1 | theta_s, phi_v) = int p(z | x, theta) p(x | theta, phi) dx (appendix A), [half][value][particle]: two
 * independent estimates, the same where there are no covariates. All values of phi share their random numbers.
 */
export const predictions = (
  pool: readonly Numbers[],
  values: readonly Numbers[],
  predictor: Predictor,
  covariates: Covariates | undefined,
  stream: RandomStream,
): readonly (readonly Float64Array[])[] => {
  const probability = (targets: Numbers, x: Numbers): number => {
    const p = predictor(targets, x);
    if (!(p >= 0 && p <= 1)) throw new InputError("predictor", predictionTexts.probability(p));
    return p;
  };
  if (covariates === undefined) {
    const invariant = Float64Array.from(pool, (targets) => probability(targets, {}));
    const half = values.map(() => invariant);
    return [half, half];
  }
  return [0, 1].map((half) =>
    values.map((value) =>
      Float64Array.from(pool, (targets, s) => {
        const own = stream.split(half).split(s);
        let total = 0;
        for (let r = 0; r < COVARIATE_DRAWS; r++) {
          total += probability(targets, covariates({ ...targets, ...value }, own));
        }
        return total / COVARIATE_DRAWS;
      }),
    ),
  );
};

/**
 * The root of E (p(z | theta, phi_1) - p(z | theta, phi_2))^2 over the prior of theta, the largest over pairs. The
 * product of the differences in two independent halves has that square as its expectation, without the noise of x.
 */
export const covariateDifference = ([a, b]: readonly (readonly Float64Array[])[]): CovariateDifference => {
  let largest: CovariateDifference = { covariates: { mean: 0, standardError: 0 }, surely: 0, possibly: 0 };
  for (let v = 0; v < a.length; v++) {
    for (let w = 0; w < v; w++) {
      const products = a[v].map((value, s) => (value - a[w][s]) * (b[v][s] - b[w][s]));
      const { mean, standardError } = meanEstimate(products);
      const root = Math.sqrt(Math.max(0, mean));
      // Of a root: half its relative error; of one that is nearly 0, the root of the error.
      const error = Math.min(Math.sqrt(standardError), root > 0 ? standardError / (2 * root) : Infinity);
      const surely = Math.sqrt(Math.max(0, mean - CONFIDENCE * standardError));
      const possibly = Math.sqrt(Math.max(0, mean) + CONFIDENCE * standardError);
      if (root >= largest.covariates.mean) {
        largest = {
          covariates: { mean: root, standardError: error },
          surely,
          possibly,
        };
      }
    }
  }
  return largest;
};

export interface CovariateDifference {
  readonly covariates: Measured;
  /** What the difference is at least and at most: the root of the mean square less and plus its error. */
  readonly surely: number;
  readonly possibly: number;
}
