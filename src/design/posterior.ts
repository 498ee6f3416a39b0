/**
 * The posterior of one experiment's history as particles, by sequential Monte Carlo (Del Moral, Doucet and Jasra,
 * JRSS B 68, 2006): observations are taken in one after the other, each by its likelihood raised to powers that grow
 * to 1 as fast as the effective sample size allows; where it falls too low, particles are resampled and moved by
 * Metropolis-Hastings steps that leave prior x likelihood of the history so far unchanged.
 *
 * Particles live in the space of base noise, psi = psi(noise) in the order of the parameters: bounds, priors that
 * depend on each other and discrete parameters need no special case there, and the prior is a known density of
 * independent coordinates.
 */
import { compile, type Pause, type Program, type Value } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { factorise } from "../core/math/cholesky.js";
import { normalCdf } from "../core/math.js";
import { type Filled, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { type Distribution, drawNoise } from "./distribution.js";
import type { Model, Prior } from "./model.js";
import type { History } from "./policy.js";
import { distributionOf } from "./priors.js";

type Values = Readonly<Record<string, Value>>;
type Inputs = Record<string, readonly string[]>;

export interface PosteriorOptions {
  readonly particles?: number | undefined;
  /** Resamples when the effective sample size falls below this fraction of the particles. */
  readonly resampleBelow?: number | undefined;
  /** Metropolis-Hastings sweeps after every resampling. */
  readonly sweeps?: number | undefined;
}

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

export const posteriorTexts = {
  particles: (given: number) => `particles was ${given}: give a whole number of at least 2`,
  resampleBelow: (given: number) => `resampleBelow was ${given}: give a fraction above 0 and below 1`,
  sweeps: (given: number) => `sweeps was ${given}: give a whole number of at least 1`,
  outer: (given: number) =>
    `the history has ${given} experiments side by side: a posterior is of one, take it out with experimentOf`,
  length: (what: string, given: number, expected: number) =>
    `the history has ${given} ${what} where its steps and the model ask for ${expected}: give one row per step`,
  value: (what: string, given: number) =>
    `the history has ${given} among its ${what}: every number in it must be finite`,
  impossible: (step: number) =>
    `observation ${step + 1} of the history has probability 0 under every parameter that was tried: check its outcome, or use more particles`,
};

/** One experiment of a batch. */
export const experimentOf = ({ outer, steps, designs, outcomes }: History, b: number): History => {
  const row = (all: Float64Array) => all.subarray((b * all.length) / outer, ((b + 1) * all.length) / outer);
  return { outer: 1, steps, designs: row(designs), outcomes: row(outcomes) };
};

/** Throws unless the history is of one experiment with this model. */
export const checkHistory = (model: Model, { outer, steps, designs, outcomes }: History): void => {
  if (outer !== 1) throw new InputError("history", posteriorTexts.outer(outer));
  const parts = [
    ["designs", designs, steps * model.design.length],
    ["outcomes", outcomes, steps * model.outcomes.length],
  ] as const;
  for (const [what, values, expected] of parts) {
    if (values.length !== expected) {
      throw new InputError("history", posteriorTexts.length(what, values.length, expected));
    }
    const wrong = values.find((value) => !Number.isFinite(value));
    if (wrong !== undefined) throw new InputError("history", posteriorTexts.value(what, wrong));
  }
};

/**
 * A parameter from its base noise, given the parameters before it. A prior without a formula takes standard normal
 * noise z to the value where its distribution function reaches Phi(z).
 */
export const fromBaseNoise = (
  prior: Prior,
  noise: number,
  before: Readonly<Record<string, number>>,
): number => {
  const { fromNoise, support, rate, logDensity } = distributionOf(prior, before);
  if (fromNoise !== undefined) return fromNoise(noise) as number;
  const u = normalCdf(noise);
  let below = 0;
  if (rate !== undefined) {
    // Twenty standard deviations above the mean nothing is left.
    const most = Math.ceil((rate as number) + 20 * Math.sqrt(rate as number) + 20);
    for (let count = 0; count < most; count++) {
      below += Math.exp(logDensity(count) as number);
      if (u < below) return count;
    }
    return most;
  }
  const values = support ?? [];
  for (const value of values.slice(0, -1)) {
    below += Math.exp(logDensity(value) as number);
    if (u < below) return value;
  }
  return values[values.length - 1];
};

/** How a parameter's noise is distributed, and whether the parameter moves with it continuously. */
interface Coordinate {
  readonly continuous: boolean;
  draw(stream: RandomStream): number;
  /** Up to a constant. */
  logDensity(noise: number): number;
}

const coordinateOf = ({ fromNoise, noise }: Distribution): Coordinate => {
  const base = noise ?? { kind: "normal" };
  return {
    continuous: fromNoise !== undefined,
    draw: (stream) => drawNoise(base, stream),
    logDensity: (z) =>
      base.kind === "normal" ? -0.5 * z * z : -0.5 * (base.freedom + 1) * Math.log1p((z * z) / base.freedom),
  };
};

/** The coordinates of all parameters; which noise a prior has does not depend on the parameters before it. */
const coordinatesOf = (model: Model): readonly Coordinate[] => {
  const before: Record<string, number> = {};
  return model.parameters.map(({ name, prior }) => {
    before[name] = fromBaseNoise(prior, 0, before);
    return coordinateOf(distributionOf(prior, before));
  });
};

/** The posterior of a history, or particles of equal weight. One compiled likelihood serves every call. */
export interface PosteriorSampler {
  posterior(history: History, stream: RandomStream, run?: RunOptions): Promise<Posterior>;
  particles(
    history: History,
    stream: RandomStream,
    run?: RunOptions,
  ): Promise<Readonly<Record<string, Float64Array>>>;
}

export const posteriorSampler = (
  model: Model,
  { particles = 1024, resampleBelow = 0.5, sweeps = 5 }: PosteriorOptions = {},
): PosteriorSampler => {
  if (!Number.isInteger(particles) || particles < 2) {
    throw new InputError("particles", posteriorTexts.particles(particles));
  }
  if (!(resampleBelow > 0 && resampleBelow < 1)) {
    throw new InputError("resampleBelow", posteriorTexts.resampleBelow(resampleBelow));
  }
  if (!Number.isInteger(sweeps) || sweeps < 1) throw new InputError("sweeps", posteriorTexts.sweeps(sweeps));
  const likelihood = compileLikelihood(model, particles);
  const coordinates = coordinatesOf(model);
  const seen = async (history: History, stream: RandomStream, run: RunOptions = {}): Promise<Cloud> => {
    checkHistory(model, history);
    const pace = pacer(run);
    const setup = { model, particles, resampleBelow, sweeps, likelihood, coordinates };
    const cloud: Cloud = new Cloud(setup, stream, () =>
      pace.step({ done: cloud.observed, total: history.steps, label: "observations" }),
    );
    for (let t = 0; t < history.steps; t++) await cloud.observe(history, t);
    return cloud;
  };
  return {
    posterior: async (history, stream, run) => (await seen(history, stream, run)).posterior(),
    particles: async (history, stream, run) => (await seen(history, stream, run)).equallyWeighted(),
  };
};

/** The weighted particle posterior of one experiment's history. */
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

/** Draws from the posterior of one experiment's history, all of the same weight: [particles] by parameter. */
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

/** log p(observation t | every particle), written into `out`, which has one entry per particle. */
type Likelihood = (
  parameters: Readonly<Record<string, Float64Array>>,
  history: History,
  t: number,
  out: Float64Array,
) => void;

const compileLikelihood = (model: Model, particles: number): Likelihood => {
  const inputs: Inputs = {
    ...Object.fromEntries(model.parameters.map(({ name }) => [name, ["particle"]])),
    ...Object.fromEntries([...model.design.map(({ name }) => name), ...model.outcomes].map((n) => [n, []])),
  };
  // In float64: a long history's likelihoods differ by little beside their size.
  const program: Program<Inputs> = compile((at: Values) => model.logLikelihood(at, at, at), {
    inputs,
    backend: "js",
  });
  program.resize({ particle: particles });
  return (parameters, { designs, outcomes }, t, out) => {
    for (const { name } of model.parameters) program.input(name).set(parameters[name]);
    for (const [d, { name }] of model.design.entries()) {
      program.input(name)[0] = designs[t * model.design.length + d];
    }
    for (const [k, name] of model.outcomes.entries()) {
      program.input(name)[0] = outcomes[t * model.outcomes.length + k];
    }
    program.run();
    const values = program.output();
    for (let i = 0; i < out.length; i++) {
      // One value for all where the likelihood depends on no parameter.
      const value = values[values.length === 1 ? 0 : i];
      out[i] = Number.isNaN(value) ? -Infinity : value;
    }
  };
};

interface Setup extends Filled<PosteriorOptions> {
  readonly model: Model;
  readonly likelihood: Likelihood;
  readonly coordinates: readonly Coordinate[];
}

/** Steps of the bisection for the power of a likelihood, and the least it grows by. */
const BISECTIONS = 40;
const LEAST_POWER = 1e-4;
/** A random walk at this scale over the root of the dimension is best for normal targets (Roberts et al. 1997). */
const BEST_SCALE = 2.38;
const WANTED_ACCEPTANCE = 0.3;

/** New values of some coordinates. */
type Proposal = readonly (readonly [coordinate: number, noise: number])[];

/** Particles, their weights and what they have seen. */
class Cloud {
  readonly #setup: Setup;
  readonly #stream: RandomStream;
  readonly #pause: Pause;
  /** [coordinate][particle]. */
  #noise: Float64Array[];
  #parameters: Record<string, Float64Array>;
  readonly #logWeights: Float64Array;
  /** log likelihood of the observations taken in whole, and of the one being taken in. */
  #past: Float64Array;
  #current: Float64Array;
  #logEvidence = 0;
  #scale: number;
  #moves = 0;
  #history: History | undefined;
  /** The observation being taken in, and the power of its likelihood. */
  #step = 0;
  #power = 0;

  constructor(setup: Setup, stream: RandomStream, pause: Pause) {
    const { particles, coordinates } = setup;
    this.#setup = setup;
    this.#stream = stream;
    this.#pause = pause;
    this.#noise = coordinates.map(({ draw }, k) => {
      const own = stream.split("prior").split(k);
      return Float64Array.from({ length: particles }, () => draw(own));
    });
    this.#parameters = this.#parametersOf(this.#noise);
    this.#logWeights = new Float64Array(particles).fill(-Math.log(particles));
    this.#past = new Float64Array(particles);
    this.#current = new Float64Array(particles);
    this.#scale = this.#largestScale();
  }

  /** Observations taken in. */
  get observed(): number {
    return this.#step;
  }

  #largestScale(): number {
    const dimensions = this.#setup.coordinates.filter(({ continuous }) => continuous).length;
    return BEST_SCALE / Math.sqrt(Math.max(1, dimensions));
  }

  #parametersOf(noise: readonly Float64Array[]): Record<string, Float64Array> {
    const { model, particles } = this.#setup;
    const parameters = Object.fromEntries(
      model.parameters.map(({ name }) => [name, new Float64Array(particles)]),
    );
    const before: Record<string, number> = {};
    for (let i = 0; i < particles; i++) {
      for (const [k, { name, prior }] of model.parameters.entries()) {
        before[name] = fromBaseNoise(prior, noise[k][i], before);
        parameters[name][i] = before[name];
      }
    }
    return parameters;
  }

  /** Takes in observation t of the history. */
  async observe(history: History, t: number): Promise<void> {
    const { likelihood, particles, resampleBelow } = this.#setup;
    this.#history = history;
    this.#step = t;
    this.#power = 0;
    likelihood(this.#parameters, history, t, this.#current);
    if (!this.#current.some((value) => value > -Infinity)) {
      throw new InputError("history", posteriorTexts.impossible(t));
    }
    while (this.#power < 1) {
      const growth = this.#largestGrowth(1 - this.#power, resampleBelow * particles);
      this.#power = growth >= 1 - this.#power ? 1 : this.#power + growth;
      this.#reweight(growth);
      if (this.#power < 1 || effectiveSampleSize(this.#logWeights) < resampleBelow * particles) {
        this.#resample();
        await this.#rejuvenate();
      }
      await this.#pause();
    }
    for (let i = 0; i < particles; i++) this.#past[i] += this.#current[i];
    // What follows is counted from here: the current likelihood is part of the past.
    this.#current.fill(0);
    this.#step = t + 1;
    this.#power = 0;
  }

  /** How far the power can grow with the effective sample size still at `least`. */
  #largestGrowth(rest: number, least: number): number {
    const at = (growth: number) =>
      effectiveSampleSize(this.#logWeights.map((weight, i) => weight + growth * this.#current[i]));
    if (at(rest) >= least) return rest;
    let low = 0;
    let high = rest;
    for (let i = 0; i < BISECTIONS; i++) {
      const middle = (low + high) / 2;
      if (at(middle) >= least) low = middle;
      else high = middle;
    }
    return Math.min(rest, Math.max(low, LEAST_POWER));
  }

  #reweight(growth: number): void {
    const weights = this.#logWeights;
    for (let i = 0; i < weights.length; i++) weights[i] += growth * this.#current[i];
    const total = logSum(weights);
    this.#logEvidence += total;
    for (let i = 0; i < weights.length; i++) weights[i] -= total;
  }

  /** Systematic resampling: one uniform, and every particle kept about its weight times their number. */
  #resample(): void {
    const { particles, model } = this.#setup;
    const u = this.#stream.split("resample").split(this.#moves).uniform();
    const from = new Int32Array(particles);
    let below = Math.exp(this.#logWeights[0]);
    let chosen = 0;
    for (let i = 0; i < particles; i++) {
      while (below < (i + u) / particles && chosen < particles - 1) {
        below += Math.exp(this.#logWeights[++chosen]);
      }
      from[i] = chosen;
    }
    const taken = (values: Float64Array) => Float64Array.from(from, (i) => values[i]);
    this.#noise = this.#noise.map(taken);
    for (const { name } of model.parameters) this.#parameters[name] = taken(this.#parameters[name]);
    this.#past = taken(this.#past);
    this.#current = taken(this.#current);
    this.#logWeights.fill(-Math.log(particles));
  }

  /** Sweeps of moves that leave prior x likelihood so far unchanged. */
  async #rejuvenate(): Promise<void> {
    const { coordinates, sweeps } = this.#setup;
    const stream = this.#stream.split("move").split(this.#moves++);
    const continuous = coordinates.flatMap((each, k) => (each.continuous ? [k] : []));
    const discrete = coordinates.flatMap((each, k) => (each.continuous ? [] : [k]));
    const root = rootOf(covariance(continuous.map((k) => this.#noise[k])), continuous.length);
    for (let sweep = 0; sweep < sweeps; sweep++) {
      const own = stream.split(sweep);
      if (continuous.length > 0) {
        const accepted = await this.#move(
          continuous,
          (i, step) => this.#walk(i, continuous, root, step),
          own.split("walk"),
        );
        // Wide posteriors accept far steps, thin curved ones only near steps: the scale follows.
        const next = this.#scale * Math.exp(1.5 * (accepted - WANTED_ACCEPTANCE));
        this.#scale = Math.min(this.#largestScale(), Math.max(1e-3, next));
      }
      for (const k of discrete) {
        // From the prior, which cancels in the ratio of the densities.
        await this.#move([], (_, step) => [[k, coordinates[k].draw(step)]], own.split("redraw").split(k));
      }
    }
  }

  /** A random walk with the shape of the particles. */
  #walk(i: number, continuous: readonly number[], root: Float64Array, stream: RandomStream): Proposal {
    const step = continuous.map(() => stream.normal());
    return continuous.map((k, row) => {
      let moved = this.#noise[k][i];
      for (let column = 0; column <= row; column++)
        moved += this.#scale * root[row * continuous.length + column] * step[column];
      return [k, moved];
    });
  }

  /** One Metropolis-Hastings step of every particle; the ratio has the prior of the `walked` coordinates. */
  async #move(
    walked: readonly number[],
    propose: (i: number, stream: RandomStream) => Proposal,
    stream: RandomStream,
  ): Promise<number> {
    const { particles, coordinates, likelihood, model } = this.#setup;
    const noise = this.#noise.map((values) => values.slice());
    const steps = stream.split("step");
    for (let i = 0; i < particles; i++) {
      for (const [k, value] of propose(i, steps)) noise[k][i] = value;
    }
    const parameters = this.#parametersOf(noise);
    const past = new Float64Array(particles);
    const current = new Float64Array(particles);
    const history = this.#history;
    if (history !== undefined) {
      for (let t = 0; t < this.#step; t++) {
        likelihood(parameters, history, t, current);
        for (let i = 0; i < particles; i++) past[i] += current[i];
        await this.#pause();
      }
      if (this.#power > 0) likelihood(parameters, history, this.#step, current);
      else current.fill(0);
    }
    const prior = (at: readonly Float64Array[], i: number) =>
      walked.reduce((total, k) => total + coordinates[k].logDensity(at[k][i]), 0);
    const uniforms = stream.split("accept");
    let accepted = 0;
    for (let i = 0; i < particles; i++) {
      const before = prior(this.#noise, i) + this.#past[i] + this.#power * this.#current[i];
      const after = prior(noise, i) + past[i] + this.#power * current[i];
      if (!(Math.log(uniforms.uniform()) < after - before)) continue;
      accepted++;
      for (const [k, values] of this.#noise.entries()) values[i] = noise[k][i];
      for (const { name } of model.parameters) this.#parameters[name][i] = parameters[name][i];
      this.#past[i] = past[i];
      this.#current[i] = current[i];
    }
    return accepted / particles;
  }

  posterior(): Posterior {
    return {
      parameters: this.#parameters,
      weights: this.#logWeights.map(Math.exp),
      effectiveSampleSize: effectiveSampleSize(this.#logWeights),
      logEvidence: this.#logEvidence,
    };
  }

  async equallyWeighted(): Promise<Readonly<Record<string, Float64Array>>> {
    if (this.#logWeights.some((weight) => weight !== this.#logWeights[0])) {
      this.#resample();
      await this.#rejuvenate();
    }
    return this.#parameters;
  }
}

const logSum = (values: Float64Array): number => {
  let most = -Infinity;
  for (const value of values) if (value > most) most = value;
  if (most === -Infinity) return most;
  let sum = 0;
  for (const value of values) sum += Math.exp(value - most);
  return most + Math.log(sum);
};

/** (sum w)^2 / sum w^2. */
const effectiveSampleSize = (logWeights: Float64Array): number => {
  let most = -Infinity;
  for (const weight of logWeights) if (weight > most) most = weight;
  let sum = 0;
  let squares = 0;
  for (const weight of logWeights) {
    const w = Math.exp(weight - most);
    sum += w;
    squares += w * w;
  }
  return (sum * sum) / squares;
};

/** Of equally weighted columns, [columns, columns]. */
const covariance = (columns: readonly Float64Array[]): Float64Array => {
  const centred = columns.map((column) => {
    const mean = column.reduce((total, value) => total + value, 0) / column.length;
    return column.map((value) => value - mean);
  });
  return Float64Array.from(
    centred.flatMap((a) => centred.map((b) => a.reduce((sum, value, i) => sum + value * b[i], 0) / a.length)),
  );
};

/** The lower triangular root of a covariance [n, n], in its place; a direction without spread gets a little. */
const rootOf = (covariances: Float64Array, n: number): Float64Array => {
  factorise(covariances, n, (variance) => Math.max(1e-6 * variance, 1e-12));
  return covariances;
};
