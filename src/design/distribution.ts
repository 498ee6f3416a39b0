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
import { exp as expOf, log as logOf } from "../core/math.js";
import { fillNormal, fillUniform, type RandomStream } from "../core/random.js";
import {
  argumentError,
  argumentTexts,
  notFinite,
  notPositive,
  notProbabilities,
  notProbability,
  requireArguments,
  requireValue,
  requireValues,
} from "./distribution-arguments.js";

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

/** Throws what is wrong with a distribution that is really used. */
export const requireDistribution = ({ problem }: Distribution): void => {
  if (problem !== undefined) throw new InputError("distribution", problem);
};

const HALF_LOG_TAU = 0.5 * logOf(2 * Math.PI);

/**
 * N(mean, sd^2):
 *
 *     log p(y) = -((y - mean) / sd)^2 / 2 - log(sd) - log(2 pi) / 2
 *
 * @example
 * ```ts
 * import { normal } from "fairbed/design";
 *
 * console.log(Number(normal(0, 1).logDensity(1)).toFixed(4)); // -1.4189
 * ```
 */
export const normal = (mean: Value, sd: Value): Distribution => locationScale("normal", mean, sd);

const locationScale = (name: "normal" | "logNormal", mean: Value, sd: Value): Distribution => {
  requireValue(name, name === "normal" ? "the mean" : "the mean of the logarithm", mean);
  requireValue(name, "the standard deviation", sd);
  return {
    problem: notFinite(name, "the mean", mean) ?? notPositive(name, "the standard deviation", sd),
    name: name === "normal" ? "normal" : "log-normal",
    logDensity: (value) => sub(sub(mul(-0.5, square(div(sub(value, mean), sd))), log(sd)), HALF_LOG_TAU),
    fromNoise: (noise) => add(mean, mul(sd, noise)),
    noise: { kind: "normal" },
  };
};

/**
 * log y ~ N(meanLog, sd^2). The outcome is recorded as log y, and the density is that of log y: the Jacobian is the
 * same for every parameter and cancels in every information quantity.
 *
 * @example
 * ```ts
 * import { logNormal } from "fairbed/design";
 *
 * console.log(Number(logNormal(0, 1).logDensity(Math.log(2))).toFixed(4)); // -1.1592
 * ```
 */
export const logNormal = (meanLog: Value, sd: Value): Distribution => ({
  ...locationScale("logNormal", meanLog, sd),
  logged: true,
});

/** Degrees of freedom nu, a fixed number above 0; where the middle is; and how wide it is. */
export interface StudentTArguments {
  readonly freedom: number;
  readonly location: Value;
  readonly scale: Value;
}

/**
 * Student's t, moved and stretched: with z = (y - location) / scale and nu = freedom,
 *
 *     log p(y) = log Gamma((nu + 1) / 2) - log Gamma(nu / 2) - log(nu pi) / 2 - log(scale)
 *                - (nu + 1) / 2 log(1 + z^2 / nu)
 *
 * @example
 * ```ts
 * import { studentT } from "fairbed/design";
 *
 * const cauchy = studentT({ freedom: 1, location: 0, scale: 1 });
 * console.log((Math.PI * Math.exp(Number(cauchy.logDensity(0)))).toFixed(2)); // 1.00
 * ```
 */
export const studentT = (given: StudentTArguments): Distribution => {
  requireArguments("studentT", given, ["freedom"], ["location"], ["scale"]);
  const { freedom, location, scale } = given;
  const wrong =
    typeof freedom === "number" ? notPositive("studentT", "the degrees of freedom", freedom) : undefined;
  if (typeof freedom !== "number") throw argumentError(argumentTexts.value("studentT", "freedom", freedom));
  if (wrong !== undefined) throw argumentError(wrong);
  requireValue("studentT", "the location", location);
  requireValue("studentT", "the scale", scale);
  const constant =
    (lgamma((freedom + 1) / 2) as number) - (lgamma(freedom / 2) as number) - 0.5 * logOf(freedom * Math.PI);
  return {
    problem: notFinite("studentT", "the location", location) ?? notPositive("studentT", "the scale", scale),
    name: "Student t",
    logDensity: (value) => {
      const z = div(sub(value, location), scale);
      return add(constant, sub(mul(-(freedom + 1) / 2, log1p(div(square(z), freedom))), log(scale)));
    },
    fromNoise: (noise) => add(location, mul(scale, noise)),
    noise: { kind: "studentT", freedom },
  };
};

/** What a yes or no depends on: the logit log(p / (1 - p)), any number, or the probability p, from 0 to 1. */
export type LogitOrProbability =
  | { readonly logit: Value; readonly probability?: undefined }
  | { readonly probability: Value; readonly logit?: undefined };

/**
 * Yes (1) or no (0): p(1) = sigmoid(logit) = 1 / (1 + e^-logit), or p(1) = probability; p(0) = 1 - p(1). With y the
 * outcome,
 *
 *     log p(y) = y logit - log(1 + e^logit)        log p(y) = log(y probability + (1 - y) (1 - probability))
 *
 * @example
 * ```ts
 * import { bernoulli } from "fairbed/design";
 *
 * const likely = bernoulli({ probability: 0.8 });
 * console.log(Math.exp(Number(likely.logDensity(1))).toFixed(2)); // 0.80
 * const even = bernoulli({ logit: 0 });
 * console.log(Math.exp(Number(even.logDensity(1))).toFixed(2)); // 0.50
 * ```
 */
export const bernoulli = (given: LogitOrProbability): Distribution => {
  requireArguments("bernoulli", given, ["logit", "probability"]);
  const { logit, probability } = given;
  requireValue("bernoulli", logit === undefined ? "the probability" : "the logit", logit ?? probability);
  return logit === undefined
    ? {
        problem: notProbability("bernoulli", probability),
        name: "Bernoulli",
        // One logarithm of the probability of what was seen: nothing infinite is multiplied by 0.
        logDensity: (value) => log(select(equal(value, 1), probability, sub(1, probability))),
        support: [0, 1],
      }
    : {
        problem: notFinite("bernoulli", "the logit", logit),
        name: "Bernoulli",
        logDensity: (value) => sub(mul(value, logit), softplus(logit)),
        support: [0, 1],
      };
};

/**
 * Successes k in `trials` independent trials, each with p = sigmoid(logit) or p = probability:
 *
 *     log p(k) = log(n! / (k! (n - k)!)) + k log p + (n - k) log(1 - p),    n = trials
 *
 * @example
 * ```ts
 * import { binomial } from "fairbed/design";
 *
 * const heads = binomial({ trials: 2, probability: 0.5 });
 * console.log(Math.exp(Number(heads.logDensity(1))).toFixed(2)); // 0.50
 * ```
 */
export const binomial = (given: { readonly trials: number } & LogitOrProbability): Distribution => {
  requireArguments("binomial", given, ["trials"], ["logit", "probability"]);
  const { trials, logit, probability } = given;
  if (!Number.isInteger(trials) || trials < 1) throw argumentError(argumentTexts.trials(trials));
  requireValue("binomial", logit === undefined ? "the probability" : "the logit", logit ?? probability);
  const all = lgamma(trials + 1) as number;
  const ways = (value: Value): Value => sub(sub(all, lgamma(add(value, 1))), lgamma(sub(trials + 1, value)));
  const support = Array.from({ length: trials + 1 }, (_, k) => k);
  if (logit !== undefined) {
    return {
      problem: notFinite("binomial", "the logit", logit),
      name: "binomial",
      logDensity: (value) => add(ways(value), sub(mul(value, logit), mul(trials, softplus(logit)))),
      support,
    };
  }
  return {
    problem: notProbability("binomial", probability),
    name: "binomial",
    logDensity: (value) => {
      // 0 log 0 = 0: a factor that is taken no times is 1, whatever its probability.
      const successes = mul(value, log(select(equal(value, 0), 1, probability)));
      const failures = mul(sub(trials, value), log(select(equal(value, trials), 1, sub(1, probability))));
      return add(ways(value), add(successes, failures));
    },
    support,
  };
};

/** Unnormalised log probabilities, any numbers; or probabilities, which sum to 1. */
export type LogitsOrProbabilities =
  | { readonly logits: readonly Value[]; readonly probabilities?: undefined }
  | { readonly probabilities: readonly Value[]; readonly logits?: undefined };

/**
 * One of the values 0, 1, ..., K - 1:
 *
 *     p(k) = e^logits[k] / sum_j e^logits[j]        p(k) = probabilities[k]
 *
 * @example
 * ```ts
 * import { categorical } from "fairbed/design";
 *
 * const colour = categorical({ probabilities: [0.2, 0.3, 0.5] });
 * console.log(Math.exp(Number(colour.logDensity(2))).toFixed(2)); // 0.50
 * ```
 */
export const categorical = (given: LogitsOrProbabilities): Distribution => {
  requireArguments("categorical", given, ["logits", "probabilities"]);
  const { logits, probabilities } = given;
  const values = logits ?? probabilities;
  requireValues("categorical", logits === undefined ? "probabilities" : "logits", values);
  const chosen = (value: Value): Value =>
    values
      .slice(0, -1)
      .reduceRight<Value>((rest, each, k) => select(equal(value, k), each, rest), values[values.length - 1]);
  const support = values.map((_, k) => k);
  if (logits === undefined) {
    return {
      problem: notProbabilities("categorical", probabilities),
      name: "categorical",
      logDensity: (value) => log(chosen(value)),
      support,
    };
  }
  // log sum e^logit, folded pairwise: log(e^a + e^b) = a + softplus(b - a).
  const total = logits.reduce((sofar, logit) => add(sofar, softplus(sub(logit, sofar))));
  return {
    problem: logits
      .map((logit) => notFinite("categorical", "a logit", logit))
      .find((text) => text !== undefined),
    name: "categorical",
    logDensity: (value) => sub(chosen(value), total),
    support,
  };
};

/** The mean of a count, above 0, or its logarithm. */
export type RateOrLogRate =
  | { readonly rate: Value; readonly logRate?: undefined }
  | { readonly logRate: Value; readonly rate?: undefined };

/**
 * Counts k = 0, 1, 2, ... with mean rate = e^logRate:
 *
 *     log p(k) = k log(rate) - rate - log(k!)
 *
 * @example
 * ```ts
 * import { poisson } from "fairbed/design";
 *
 * const calls = poisson({ rate: 2 });
 * console.log(Math.exp(Number(calls.logDensity(0))).toFixed(3)); // 0.135
 * ```
 */
export const poisson = (given: RateOrLogRate): Distribution => {
  requireArguments("poisson", given, ["rate", "logRate"]);
  const { rate, logRate } = given;
  requireValue("poisson", logRate === undefined ? "the rate" : "the log rate", rate ?? logRate);
  return logRate === undefined
    ? {
        problem: notPositive("poisson", "the rate", rate),
        name: "Poisson",
        logDensity: (value) =>
          sub(sub(mul(value, log(select(equal(value, 0), 1, rate))), rate), lgamma(add(value, 1))),
        rate,
      }
    : {
        problem: notFinite("poisson", "the log rate", logRate),
        name: "Poisson",
        logDensity: (value) => sub(sub(mul(value, logRate), exp(logRate)), lgamma(add(value, 1))),
        rate: exp(logRate),
      };
};

/**
 * Uniform from low to high: p(y) = 1 / (high - low) between them.
 *
 * @example
 * ```ts
 * import { uniform } from "fairbed/design";
 *
 * console.log(Math.exp(Number(uniform(0, 4).logDensity(1))).toFixed(2)); // 0.25
 * ```
 */
export const uniform = (low: number, high: number): Distribution => {
  if (!(typeof low === "number" && typeof high === "number" && high - low > 0 && high - low < Infinity)) {
    throw argumentError(argumentTexts.bounds(low, high));
  }
  return {
    name: "uniform",
    logDensity: () => neg(logOf(high - low)),
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

/** Draws of base noise one after the other, or of uniforms where there is none. */
export const fillNoise = (
  noise: BaseNoise | undefined,
  stream: RandomStream,
  out: Float32Array | Float64Array,
): void => {
  if (noise === undefined) fillUniform(stream, out);
  else if (noise.kind === "normal") fillNormal(stream, out);
  else for (let i = 0; i < out.length; i++) out[i] = drawNoise(noise, stream);
};

/** A draw from a distribution whose parameters are numbers. */
export const draw = (distribution: Distribution, stream: RandomStream): number => {
  requireDistribution(distribution);
  const { fromNoise, noise, support, rate, logDensity } = distribution;
  if (fromNoise !== undefined && noise !== undefined) return fromNoise(drawNoise(noise, stream)) as number;
  if (rate !== undefined) return stream.poisson(rate as number);
  const values = support ?? [];
  return values[stream.categorical(values.map((value) => expOf(logDensity(value) as number)))];
};
