/**
 * Distributions of parameters and outcomes, on traced values or numbers.
 *
 * A distribution knows its log density and how a draw follows from base noise: by a formula (`fromNoise`), which
 * gradients go through, or, for a discrete one, by comparing a uniform with the probabilities of its support.
 */
import {
  add,
  div,
  equal,
  erf,
  exp,
  lgamma,
  log,
  log1p,
  mul,
  neg,
  select,
  softplus,
  square,
  sub,
  type Value,
} from "../compute/index.js";
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";

export interface Distribution {
  readonly name: string;
  /** log p(value), with its constants. */
  logDensity(value: Value): Value;
  /** A draw from base noise, where that is a formula: the outcome can then be reparameterised. */
  readonly fromNoise?: ((noise: Value) => Value) | undefined;
  /** The base noise of `fromNoise`. */
  readonly noise?: BaseNoise | undefined;
  /** All values of a discrete distribution with finitely many. */
  readonly support?: readonly number[] | undefined;
  /** The mean of a Poisson distribution, whose values are all counts. */
  readonly rate?: Value | undefined;
  /** Whether an outcome is recorded by its logarithm: densities are then of the logarithm. */
  readonly logged?: boolean | undefined;
  /**
   * Why this is no distribution, where its numbers make it none. Not thrown at once: a model is also evaluated at
   * points that never occur, such as a standard deviation in proportion to a dose of 0.
   */
  readonly problem?: string | undefined;
}

/** A distribution without parameters, to draw base noise from. */
export type BaseNoise = { readonly kind: "normal" } | { readonly kind: "studentT"; readonly freedom: number };

export const distributionTexts = {
  positive: (name: string, what: string, given: number) =>
    `${name}(...) was given ${what} ${given}: it must be a number above 0`,
  trials: (given: number) => `binomial(...) was given ${given} trials: give a whole number of at least 1`,
  logits: (given: number) => `categorical(...) was given ${given} logits: give two or more`,
};

const notPositive = (name: string, what: string, given: Value): string | undefined =>
  typeof given === "number" && !(given > 0 && given < Infinity)
    ? distributionTexts.positive(name, what, given)
    : undefined;

/** Throws what is wrong with a distribution that is really used. */
export const requireDistribution = ({ problem }: Distribution): void => {
  if (problem !== undefined) throw new InputError("distribution", problem);
};

const requirePositive = (name: string, what: string, given: number): void => {
  const problem = notPositive(name, what, given);
  if (problem !== undefined) throw new InputError("distribution", problem);
};

const HALF_LOG_TAU = 0.5 * Math.log(2 * Math.PI);

/** N(mean, sd^2). */
export const normal = (mean: Value, sd: Value): Distribution => {
  const problem = notPositive("normal", "the standard deviation", sd);
  return {
    problem,
    name: "normal",
    logDensity: (value) => sub(sub(mul(-0.5, square(div(sub(value, mean), sd))), log(sd)), HALF_LOG_TAU),
    fromNoise: (noise) => add(mean, mul(sd, noise)),
    noise: { kind: "normal" },
  };
};

/**
 * log y ~ N(meanLog, sd^2). The outcome is recorded as log y, and the density is that of log y: the Jacobian is the
 * same for every parameter and cancels in every information quantity.
 */
export const logNormal = (meanLog: Value, sd: Value): Distribution => ({
  ...normal(meanLog, sd),
  name: "log-normal",
  logged: true,
});

/** Location-scale Student t with a fixed number of degrees of freedom. */
export const studentT = (freedom: number, location: Value, scale: Value): Distribution => {
  requirePositive("studentT", "the degrees of freedom", freedom);
  const problem = notPositive("studentT", "the scale", scale);
  const constant =
    (lgamma((freedom + 1) / 2) as number) -
    (lgamma(freedom / 2) as number) -
    0.5 * Math.log(freedom * Math.PI);
  return {
    problem,
    name: "Student t",
    logDensity: (value) => {
      const z = div(sub(value, location), scale);
      return add(constant, sub(mul(-(freedom + 1) / 2, log1p(div(square(z), freedom))), log(scale)));
    },
    fromNoise: (noise) => add(location, mul(scale, noise)),
    noise: { kind: "studentT", freedom },
  };
};

/** 1 with probability sigmoid(logit), else 0. */
export const bernoulli = (logit: Value): Distribution => ({
  name: "Bernoulli",
  logDensity: (value) => sub(mul(value, logit), softplus(logit)),
  support: [0, 1],
});

/** Successes in `trials` independent trials with probability sigmoid(logit). */
export const binomial = (trials: number, logit: Value): Distribution => {
  if (!Number.isInteger(trials) || trials < 1) {
    throw new InputError("distribution", distributionTexts.trials(trials));
  }
  const all = lgamma(trials + 1) as number;
  return {
    name: "binomial",
    logDensity: (value) => {
      const ways = sub(sub(all, lgamma(add(value, 1))), lgamma(sub(trials + 1, value)));
      return add(ways, sub(mul(value, logit), mul(trials, softplus(logit))));
    },
    support: Array.from({ length: trials + 1 }, (_, k) => k),
  };
};

/** k with probability proportional to e^logits[k]. */
export const categorical = (logits: readonly Value[]): Distribution => {
  if (logits.length < 2) throw new InputError("distribution", distributionTexts.logits(logits.length));
  // log sum e^logit, folded pairwise: log(e^a + e^b) = a + softplus(b - a).
  const total = logits.reduce((sofar, logit) => add(sofar, softplus(sub(logit, sofar))));
  return {
    name: "categorical",
    logDensity: (value) => {
      const last = logits[logits.length - 1];
      const chosen = logits
        .slice(0, -1)
        .reduceRight<Value>((rest, logit, k) => select(equal(value, k), logit, rest), last);
      return sub(chosen, total);
    },
    support: logits.map((_, k) => k),
  };
};

/** Counts with mean e^logRate. */
export const poisson = (logRate: Value): Distribution => ({
  name: "Poisson",
  logDensity: (value) => sub(sub(mul(value, logRate), exp(logRate)), lgamma(add(value, 1))),
  rate: exp(logRate),
});

/** Uniform on [low, high], as a prior. */
export const uniform = (low: number, high: number): Distribution => {
  requirePositive("uniform", "the width", high - low);
  return {
    name: "uniform",
    logDensity: () => neg(Math.log(high - low)),
    // The normal distribution function takes normal noise to a uniform.
    fromNoise: (noise) => add(low, mul(high - low, normalCdf(noise))),
    noise: { kind: "normal" },
  };
};

/** Phi(x), on traced values. */
const normalCdf = (x: Value): Value => mul(0.5, add(1, erf(mul(Math.SQRT1_2, x))));

/** A draw of base noise. */
export const drawNoise = (noise: BaseNoise, stream: RandomStream): number => {
  const z = stream.normal();
  if (noise.kind === "normal") return z;
  const { freedom } = noise;
  return z / Math.sqrt(stream.gamma(freedom / 2, 2) / freedom);
};

/** A draw from a distribution whose parameters are numbers. */
export const draw = (distribution: Distribution, stream: RandomStream): number => {
  requireDistribution(distribution);
  const { fromNoise, noise, support, rate, logDensity } = distribution;
  if (fromNoise !== undefined && noise !== undefined) return fromNoise(drawNoise(noise, stream)) as number;
  if (rate !== undefined) return stream.poisson(rate as number);
  const values = support ?? [];
  return values[stream.categorical(values.map((value) => Math.exp(logDensity(value) as number)))];
};
