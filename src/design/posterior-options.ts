/** What a posterior by particles can be asked for. Apart from `posterior.ts`, whose code is loaded when there is one. */
import { InputError } from "../core/errors.js";
import type { Filled } from "../core/options.js";

export interface PosteriorOptions {
  /** How many particles; 1024 unless given. */
  readonly particles?: number | undefined;
  /** Resamples when the effective sample size falls below this fraction of the particles; 0.5 unless given. */
  readonly resampleBelow?: number | undefined;
  /** Metropolis-Hastings sweeps after every resampling; 5 unless given. */
  readonly sweeps?: number | undefined;
}

export const posteriorTexts = {
  particles: (given: number) => `particles was ${given}: give a whole number of at least 2`,
  resampleBelow: (given: number) => `resampleBelow was ${given}: give a fraction above 0 and below 1`,
  sweeps: (given: number) => `sweeps was ${given}: give a whole number of at least 1`,
};

/** The options with their defaults, checked. */
export const posteriorOptions = ({
  particles = 1024,
  resampleBelow = 0.5,
  sweeps = 5,
}: PosteriorOptions): Filled<PosteriorOptions> => {
  if (!Number.isInteger(particles) || particles < 2) {
    throw new InputError("particles", posteriorTexts.particles(particles));
  }
  if (!(resampleBelow > 0 && resampleBelow < 1)) {
    throw new InputError("resampleBelow", posteriorTexts.resampleBelow(resampleBelow));
  }
  if (!Number.isInteger(sweeps) || sweeps < 1) throw new InputError("sweeps", posteriorTexts.sweeps(sweeps));
  return { particles, resampleBelow, sweeps };
};
