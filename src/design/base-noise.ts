/**
 * Parameters as functions of base noise: independent coordinates with a known density, whatever bounds, discrete values
 * and priors that depend on each other the parameters have.
 */
import { exp, log1p, normalCdf } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { type Distribution, drawNoise } from "./distribution.js";
import type { Model, Prior } from "./model.js";
import { distributionOf } from "./priors.js";

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
      below += exp(logDensity(count) as number);
      if (u < below) return count;
    }
    return most;
  }
  const values = support ?? [];
  for (const value of values.slice(0, -1)) {
    below += exp(logDensity(value) as number);
    if (u < below) return value;
  }
  return values[values.length - 1];
};

/** How a parameter's noise is distributed, and whether the parameter moves with it continuously. */
export interface Coordinate {
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
      base.kind === "normal" ? -0.5 * z * z : -0.5 * (base.freedom + 1) * log1p((z * z) / base.freedom),
  };
};

/** The coordinates of all parameters; which noise a prior has does not depend on the parameters before it. */
export const coordinatesOf = (model: Model): readonly Coordinate[] => {
  const before: Record<string, number> = {};
  return model.parameters.map(({ name, prior }) => {
    before[name] = fromBaseNoise(prior, 0, before);
    return coordinateOf(distributionOf(prior, before));
  });
};
