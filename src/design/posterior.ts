/**
 * The posterior of one experiment's history as particles, by sequential Monte Carlo (`particle-cloud.ts`).
 *
 * Particles live in the space of base noise, psi = psi(noise) in the order of the parameters: bounds, priors that
 * depend on each other and discrete parameters need no special case there, and the prior is a known density of
 * independent coordinates.
 */
import { pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { coordinatesOf } from "./base-noise.js";
import type { Model } from "./model.js";
import { checkHistory } from "./one-experiment.js";
import { ParticleCloud } from "./particle-cloud.js";
import { compileLikelihood } from "./particle-likelihood.js";
import type { History } from "./policy.js";
import { type PosteriorOptions, posteriorOptions } from "./posterior-options.js";

export interface Posterior {
  /** [particles] each. */
  readonly parameters: Readonly<Record<string, Float64Array>>;
  /** [particles], with sum 1. */
  readonly weights: Float64Array;
  /** 1 / sum of squared weights. */
  readonly effectiveSampleSize: number;
  /** An estimate of log p(outcomes | designs): the product of the mean incremental weights. */
  readonly logEvidence: number;
}

/** The posterior of a history, or particles of equal weight. One compiled likelihood serves every call. */
export interface PosteriorSampler {
  posterior(history: History, stream: RandomStream, run?: RunOptions): Promise<Posterior>;
  particles(
    history: History,
    stream: RandomStream,
    run?: RunOptions,
  ): Promise<Readonly<Record<string, Float64Array>>>;
}

export const posteriorSampler = (model: Model, options: PosteriorOptions = {}): PosteriorSampler => {
  const { particles, resampleBelow, sweeps } = posteriorOptions(options);
  const likelihood = compileLikelihood(model, particles);
  const coordinates = coordinatesOf(model);
  const setup = { model, particles, resampleBelow, sweeps, likelihood, coordinates };
  const seen = async (
    history: History,
    stream: RandomStream,
    run: RunOptions = {},
  ): Promise<ParticleCloud> => {
    checkHistory(model, history);
    const pace = pacer(run);
    let done = 0;
    const pause = () => pace.step({ done, total: Math.max(1, history.steps), label: "observations" });
    const cloud = await ParticleCloud.fromPrior(setup, stream, pause);
    for (; done < history.steps; done++) await cloud.observe(history, done);
    return cloud;
  };
  return {
    posterior: async (history, stream, run) => (await seen(history, stream, run)).posterior(),
    particles: async (history, stream, run) => (await seen(history, stream, run)).equallyWeighted(),
  };
};

/**
 * The weighted particle posterior of one experiment's history: parameters [particles] by name and their weights.
 *
 * @example
 * ```ts
 * import { linearGaussian, posteriorGiven, seededStream, readHistory } from "fairbed/design";
 *
 * const model = linearGaussian();
 * const history = readHistory([{ design: [3, 0], outcome: 3 }], model);
 * const { parameters, weights } = await posteriorGiven(model, history, { stream: seededStream(0) });
 * // theta given y = 3 at x = 3 has mean 9 / 10.
 * const mean = weights.reduce((sum, weight, i) => sum + weight * parameters.theta[i], 0);
 * console.log(Math.abs(mean - 0.9) < 0.1); // true
 * ```
 */
export const posteriorGiven = async (
  model: Model,
  history: History,
  {
    stream,
    signal,
    onProgress,
    ...options
  }: PosteriorOptions & RunOptions & { readonly stream: RandomStream },
): Promise<Posterior> => posteriorSampler(model, options).posterior(history, stream, { signal, onProgress });

/**
 * Draws from the posterior of one experiment's history, all of the same weight: [particles] by parameter.
 *
 * @example
 * ```ts
 * import { linearGaussian, particlesGiven, seededStream, readHistory } from "fairbed/design";
 *
 * const model = linearGaussian();
 * const history = readHistory([{ design: [3, 0], outcome: 3 }], model);
 * const { theta } = await particlesGiven(model, history, { particles: 256, stream: seededStream(0) });
 * console.log(theta.length); // 256
 * ```
 */
export const particlesGiven = async (
  model: Model,
  history: History,
  {
    stream,
    signal,
    onProgress,
    ...options
  }: PosteriorOptions & RunOptions & { readonly stream: RandomStream },
): Promise<Readonly<Record<string, Float64Array>>> =>
  posteriorSampler(model, options).particles(history, stream, { signal, onProgress });
