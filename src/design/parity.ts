/**
 * Demographic parity of what is learnt from the data (paper, section 4 and appendix A).
 *
 * Predictions p(z | phi, D) = int p(z | theta) p(theta | D, phi) dtheta do not depend on phi, whatever D and the
 * predictor, if (i) the policy has F_c = -EIG_{phi|theta} = 0, (ii) the prior is p(theta) p(phi), and (iii) the
 * predictor, averaged over covariates x that it reads, is p(z | theta). {@link checkParity} checks the three, and
 * measures on simulated data how far posterior and predictions do depend on phi.
 */

import { Workspace } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { fixed, significant } from "../core/number-text.js";
import { pacer, type RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import type { Model } from "./model.js";
import {
  checkOrder,
  drawTargets,
  logSensitivePrior,
  type Numbers,
  sensitiveValues,
} from "./parity/by-role.js";
import { type ConditionalFairness, fairnessOf, isInvariant } from "./parity/conditional-leakage.js";
import { largestDistance, type Measured, normalised, posteriorDifferences } from "./parity/posteriors.js";
import {
  aboveMedian,
  CONFIDENCE,
  type CovariateDifference,
  type Covariates,
  covariateDifference,
  type Predictor,
  predictions,
} from "./parity/predictions.js";
import { type Policy, simulate } from "./policy.js";

export type { Measured } from "./parity/posteriors.js";
export type { Covariates, Predictor } from "./parity/predictions.js";

export interface ParityOptions extends RunOptions {
  /** Where the random streams start; 0 unless given. */
  readonly seed?: number | undefined;
  /** Simulated data sets; 200 unless given. */
  readonly outer?: number | undefined;
  /** Inner samples for p(D | theta) in F_c; 2000 unless given. */
  readonly inner?: number | undefined;
  /** Draws of theta that stand for its posterior; 2000 unless given. */
  readonly particles?: number | undefined;
  /** What is predicted; whether the first target is above its prior median unless given. */
  readonly predictor?: Predictor | undefined;
  /**
   * One draw of the predictor's covariates, x ~ p(x | theta, phi), given targets and sensitive parameters. A draw that
   * reads no sensitive parameter is invariant (appendix A, conditions 1 and 2).
   */
  readonly covariates?: Covariates | undefined;
  /**
   * What counts as zero, in nats and in probability. By Pinsker's inequality a leakage of eps nats moves p(D | theta)
   * by a total variation of at most sqrt(eps / 2), on average. 0.001 unless given.
   */
  readonly tolerance?: number | undefined;
}

export type ParityReason = "leakage" | "prior" | "covariates";

export interface Parity {
  /**
   * "holds": the conditions do. "fails": one of them does not, and predictions differ by more than the error.
   * "undecided": F_c or the part of covariates cannot be told from 0, or predictions cannot be told apart although a
   * condition fails.
   */
  readonly verdict: "holds" | "fails" | "undecided";
  /** The verdict and why, for a person. */
  readonly sentence: string;
  /** Which conditions fail. */
  readonly reasons: readonly ParityReason[];
  /** F_c = -EIG_{phi|theta} in nats, between two bounds. */
  readonly fairness: ConditionalFairness;
  /** The values of the sensitive parameters that are compared. */
  readonly values: readonly Numbers[];
  /** Total variation between p(theta | phi) before any data, the largest over pairs of values. */
  readonly prior: number;
  /** The same for p(theta | D, phi). */
  readonly posterior: Measured;
  /** Largest less smallest p(z = 1 | phi, D). */
  readonly prediction: Measured;
  /** Root mean square difference of p(z = 1 | theta, phi) at the same theta; 0 without covariates. */
  readonly covariates: Measured;
  /** How many independent draws of theta the weighted ones are worth, on average. */
  readonly effectiveSampleSize: number;
}

const number = (value: number): string => (Math.abs(value) < 5e-4 ? "0" : fixed(value, 3));

export const parityTexts = {
  whole: (name: string, given: number, least: number) =>
    `${name} was ${given}: give a whole number of at least ${least}`,
  tolerance: (given: number) => `tolerance was ${given}: give a finite number of at least 0`,
  predictor: "covariates were given without a predictor: give the predictor that reads them",
  reasons: {
    leakage: (fairness: number) =>
      `the data say something about phi given theta (leakage given the target is ${number(-fairness)} nats, F_c = ${number(fairness)})`,
    prior: () => "the prior is not factorised: theta and phi depend on each other before any data",
    covariates: () => "the predictor reads covariates that depend on phi",
  },
  differ: (prediction: Measured) =>
    `predictions of z differ by ${number(prediction.mean)} ± ${number(prediction.standardError)} between values of phi`,
  holds: (differ: string) =>
    `demographic parity holds, since nothing leaks given the target (F_c = 0), the prior is factorised and the predictor does not depend on phi: ${differ}`,
  fails: (reasons: readonly string[], differ: string) =>
    `demographic parity fails, since ${reasons.join("; and ")}: ${differ}`,
  notSeen: (reasons: readonly string[], differ: string) =>
    `demographic parity is not guaranteed, since ${reasons.join("; and ")}, but no violation was measured: ${differ}`,
  untold: (lower: number, upper: number, error: number) =>
    `it cannot be told whether demographic parity holds, since the leakage given the target (-F_c) is between ${significant(-upper, 2)} and ${significant(-lower, 2)} ± ${significant(error, 1)} nats: use more outer and inner samples`,
  untoldCovariates: (possibly: number) =>
    `it cannot be told whether demographic parity holds, since covariates could make predictions of z differ by up to ${significant(possibly, 2)} between values of phi: use more particles, or draw covariates that do not read phi`,
  unexpected: (differ: string) =>
    `the conditions of demographic parity hold, but ${differ}: use more particles, or a smaller tolerance`,
};

/**
 * Checks the conditions of the proposition of section 4 and measures how far it is from holding.
 *
 * @example
 * ```ts
 * import { checkParity, linearGaussian, staticPolicy } from "fairbed/design";
 *
 * const small = { outer: 20, inner: 200, particles: 200 };
 * const silent = staticPolicy(Float64Array.of(1, 0), 2); // looks at the target alone
 * const { verdict } = await checkParity(linearGaussian(), silent, small);
 * console.log(verdict); // holds
 * const leaky = staticPolicy(Float64Array.of(1, 3), 2);
 * const { reasons } = await checkParity(linearGaussian(), leaky, small);
 * console.log(reasons.join()); // leakage
 * ```
 */
export const checkParity = async (
  model: Model,
  policy: Policy,
  options: ParityOptions = {},
): Promise<Parity> => {
  const {
    seed = 0,
    outer = 200,
    inner = 2000,
    particles = 2000,
    predictor,
    covariates,
    tolerance = 1e-3,
  } = options;
  for (const [name, given, least] of [
    ["outer", outer, 2],
    ["inner", inner, 1],
    ["particles", particles, 2],
  ] as const) {
    if (!Number.isInteger(given) || given < least) {
      throw new InputError(name, parityTexts.whole(name, given, least));
    }
  }
  if (!(tolerance >= 0 && tolerance < Infinity)) {
    throw new InputError("tolerance", parityTexts.tolerance(tolerance));
  }
  if (covariates !== undefined && predictor === undefined) {
    throw new InputError("predictor", parityTexts.predictor);
  }
  checkOrder(model);
  const stream = seededStream(seed).split("parity");
  const workspace = new Workspace({ threads: 1 });
  const pace = pacer(options);
  try {
    const data = await simulate(model, policy, {
      outer,
      stream: stream.split("data"),
      workspace,
      signal: options.signal,
    });
    const fairness = isInvariant(model, policy.horizon, data, stream.split("invariance"))
      ? { lower: 0, upper: 0, standardError: 0 }
      : await fairnessOf(model, policy.horizon, data, inner, stream.split("fairness"), workspace, pace);
    const values = sensitiveValues(model, stream.split("values"));
    const pool = drawTargets(model, particles, stream.split("targets"));
    const table = predictions(
      pool,
      values,
      predictor ?? aboveMedian(model, stream.split("median")),
      covariates,
      stream.split("covariates"),
    );
    const logPriors = values.map((value) => pool.map((targets) => logSensitivePrior(model, targets, value)));
    const posteriors = await posteriorDifferences(model, policy.horizon, data, {
      pool,
      values,
      logPriors,
      table,
      stream: stream.split("nuisance"),
      workspace,
      pace,
    });
    const difference = covariateDifference(table);
    const found = {
      fairness,
      values,
      prior: largestDistance(logPriors.map(normalised)),
      ...posteriors,
      covariates: difference.covariates,
    };
    return { ...judge(found, difference, tolerance), ...found };
  } finally {
    workspace.dispose();
  }
};

const judge = (
  { fairness, prior, prediction }: Pick<Parity, "fairness" | "prior" | "prediction">,
  { surely, possibly }: CovariateDifference,
  tolerance: number,
): Pick<Parity, "verdict" | "sentence" | "reasons"> => {
  const { lower, upper, standardError } = fairness;
  const error = CONFIDENCE * standardError;
  const leaks = upper + error < -tolerance;
  const tight = lower - error >= -tolerance;
  const texts = parityTexts.reasons;
  const failed: [ParityReason, string][] = [];
  if (leaks) failed.push(["leakage", texts.leakage((lower + upper) / 2)]);
  if (prior > tolerance) failed.push(["prior", texts.prior()]);
  if (surely > tolerance) failed.push(["covariates", texts.covariates()]);
  const reasons = failed.map(([reason]) => reason);
  const why = failed.map(([, text]) => text);
  const differ = parityTexts.differ(prediction);
  const differs = prediction.mean - CONFIDENCE * prediction.standardError > tolerance;
  if (reasons.length > 0) {
    return differs
      ? { verdict: "fails", reasons, sentence: parityTexts.fails(why, differ) }
      : { verdict: "undecided", reasons, sentence: parityTexts.notSeen(why, differ) };
  }
  if (!tight) {
    return { verdict: "undecided", reasons, sentence: parityTexts.untold(lower, upper, standardError) };
  }
  if (possibly > tolerance) {
    return { verdict: "undecided", reasons, sentence: parityTexts.untoldCovariates(possibly) };
  }
  // A leakage below the tolerance can still move predictions by its root (Pinsker).
  return differs && prediction.mean > Math.sqrt(tolerance / 2)
    ? { verdict: "undecided", reasons, sentence: parityTexts.unexpected(differ) }
    : { verdict: "holds", reasons, sentence: parityTexts.holds(differ) };
};
