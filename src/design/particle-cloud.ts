/**
 * Particles that take in the observations of a history one after the other, by sequential Monte Carlo (Del Moral, Doucet
 * and Jasra, JRSS B 68, 2006). Each enters by its likelihood raised to powers that grow to 1 as fast as the effective
 * sample size allows; where it falls too low, particles are resampled and moved by Metropolis-Hastings steps that leave
 * prior x likelihood of the history so far unchanged.
 */

import type { Pause } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { factorise } from "../core/math/cholesky.js";
import { exp, log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { type Coordinate, fromBaseNoise } from "./base-noise.js";
import type { Model } from "./model.js";
import type { Likelihood } from "./particle-likelihood.js";
import type { History } from "./policy.js";
import type { Posterior } from "./posterior.js";

/** What particles are moved by. */
export interface CloudSetup {
  readonly particles: number;
  readonly resampleBelow: number;
  readonly sweeps: number;
  readonly model: Model;
  readonly likelihood: Likelihood;
  readonly coordinates: readonly Coordinate[];
}

export const cloudTexts = {
  impossible: (step: number) =>
    `observation ${step + 1} of the history has probability 0 under every parameter that was tried: check its outcome, or use more particles`,
};

/** Particles that are dealt with between two looks at the clock. */
const PIECE = 2048;

/** Steps of the bisection for the power of a likelihood, and the least it grows by. */
const BISECTIONS = 40;
const LEAST_POWER = 1e-4;
/** A random walk at this scale over the root of the dimension is best for normal targets (Roberts et al. 1997). */
const BEST_SCALE = 2.38;
const WANTED_ACCEPTANCE = 0.3;

/** New values of some coordinates. */
type Proposal = readonly (readonly [coordinate: number, noise: number])[];

/** Particles, their weights and what they have seen. */
export class ParticleCloud {
  readonly #setup: CloudSetup;
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

  private constructor(
    setup: CloudSetup,
    stream: RandomStream,
    pause: Pause,
    noise: Float64Array[],
    parameters: Record<string, Float64Array>,
  ) {
    const { particles } = setup;
    this.#setup = setup;
    this.#stream = stream;
    this.#pause = pause;
    this.#noise = noise;
    this.#parameters = parameters;
    this.#logWeights = new Float64Array(particles).fill(-log(particles));
    this.#past = new Float64Array(particles);
    this.#current = new Float64Array(particles);
    this.#scale = this.#largestScale();
  }

  /** Particles from the prior, which have seen nothing. */
  static async fromPrior(setup: CloudSetup, stream: RandomStream, pause: Pause): Promise<ParticleCloud> {
    const noise: Float64Array[] = [];
    for (const [k, { draw }] of setup.coordinates.entries()) {
      const own = stream.split("prior").split(k);
      noise.push(Float64Array.from({ length: setup.particles }, () => draw(own)));
      await pause();
    }
    return new ParticleCloud(setup, stream, pause, noise, await parametersOf(setup, noise, pause));
  }

  /** Observations taken in. */
  get observed(): number {
    return this.#step;
  }

  #largestScale(): number {
    const dimensions = this.#setup.coordinates.filter(({ continuous }) => continuous).length;
    return BEST_SCALE / Math.sqrt(Math.max(1, dimensions));
  }

  /** Takes in observation t of the history. */
  async observe(history: History, t: number): Promise<void> {
    const { likelihood, particles, resampleBelow } = this.#setup;
    this.#history = history;
    this.#step = t;
    this.#power = 0;
    likelihood(this.#parameters, history, t, this.#current);
    if (!this.#current.some((value) => value > -Infinity)) {
      throw new InputError("history", cloudTexts.impossible(t));
    }
    while (this.#power < 1) {
      const growth = await this.#largestGrowth(1 - this.#power, resampleBelow * particles);
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
  async #largestGrowth(rest: number, least: number): Promise<number> {
    const at = (growth: number) =>
      effectiveSampleSize(this.#logWeights.map((weight, i) => weight + growth * this.#current[i]));
    if (at(rest) >= least) return rest;
    let low = 0;
    let high = rest;
    for (let i = 0; i < BISECTIONS; i++) {
      const middle = (low + high) / 2;
      if (at(middle) >= least) low = middle;
      else high = middle;
      await this.#pause();
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
    let below = exp(this.#logWeights[0]);
    let chosen = 0;
    for (let i = 0; i < particles; i++) {
      while (below < (i + u) / particles && chosen < particles - 1) {
        below += exp(this.#logWeights[++chosen]);
      }
      from[i] = chosen;
    }
    const taken = (values: Float64Array) => Float64Array.from(from, (i) => values[i]);
    this.#noise = this.#noise.map(taken);
    for (const { name } of model.parameters) this.#parameters[name] = taken(this.#parameters[name]);
    this.#past = taken(this.#past);
    this.#current = taken(this.#current);
    this.#logWeights.fill(-log(particles));
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
        const next = this.#scale * exp(1.5 * (accepted - WANTED_ACCEPTANCE));
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
      if (i % PIECE === PIECE - 1) await this.#pause();
    }
    const parameters = await parametersOf(this.#setup, noise, this.#pause);
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
      if (!(log(uniforms.uniform()) < after - before)) continue;
      accepted++;
      for (const [k, values] of this.#noise.entries()) values[i] = noise[k][i];
      for (const { name } of model.parameters) this.#parameters[name][i] = parameters[name][i];
      this.#past[i] = past[i];
      this.#current[i] = current[i];
    }
    await this.#pause();
    return accepted / particles;
  }

  posterior(): Posterior {
    return {
      parameters: this.#parameters,
      weights: this.#logWeights.map(exp),
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

/** The parameters of particles by name, from noise [coordinate][particle]. */
const parametersOf = async (
  { model, particles }: CloudSetup,
  noise: readonly Float64Array[],
  pause: Pause,
): Promise<Record<string, Float64Array>> => {
  const parameters = Object.fromEntries(
    model.parameters.map(({ name }) => [name, new Float64Array(particles)]),
  );
  const before: Record<string, number> = {};
  for (let i = 0; i < particles; i++) {
    for (const [k, { name, prior }] of model.parameters.entries()) {
      before[name] = fromBaseNoise(prior, noise[k][i], before);
      parameters[name][i] = before[name];
    }
    if (i % PIECE === PIECE - 1) await pause();
  }
  return parameters;
};

const logSum = (values: Float64Array): number => {
  let most = -Infinity;
  for (const value of values) if (value > most) most = value;
  if (most === -Infinity) return most;
  let sum = 0;
  for (const value of values) sum += exp(value - most);
  return most + log(sum);
};

/** (sum w)^2 / sum w^2. */
const effectiveSampleSize = (logWeights: Float64Array): number => {
  let most = -Infinity;
  for (const weight of logWeights) if (weight > most) most = weight;
  let sum = 0;
  let squares = 0;
  for (const weight of logWeights) {
    const w = exp(weight - most);
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
