/**
 * Source location finding (paper, section 6.1 and appendix F.1): K sources in d dimensions are heard at a design with
 * intensity mu = background + sum_k 1 / (offset + distance_k^2); the log of the reading is normal around log mu. The
 * paper prints 1 / (offset + distance)^2 instead, which gives nearly the same information and far steeper gradients:
 * `signal: "printed"`.
 */
import { add, div, log, sqrt, square, sub, type Value } from "../../compute/index.js";
import { InputError } from "../../core/errors.js";
import { logNormal, normal } from "../distribution.js";
import { defineModel, type Model, nuisance, type Parameter, real, sensitive, target } from "../model.js";

export interface LocationOptions {
  /** Where the sources are expected: one number per dimension, or one for all; 3 unless given. */
  readonly priorMean?: number | readonly number[] | undefined;
  /** How far from there, as a standard deviation; 1 unless given. */
  readonly priorSd?: number | undefined;
  /** How many sources; 1 unless given. */
  readonly sources?: number | undefined;
  /** How many dimensions they are in; 2 unless given. */
  readonly dimensions?: number | undefined;
  /**
   * Which coordinates are the target, counted from 0 through all sources, one source after the other; the first unless
   * given.
   */
  readonly targets?: readonly number[] | undefined;
  /** Which coordinates are sensitive; the second unless given. Those that are neither are a nuisance. */
  readonly sensitives?: readonly number[] | undefined;
  /** Standard deviation of the log reading; 0.5 unless given. */
  readonly noise?: number | undefined;
  /** What is heard without a source; 0.1 unless given. */
  readonly background?: number | undefined;
  /** What keeps the intensity finite at the source; 0.0001 unless given. */
  readonly offset?: number | undefined;
  /** How the intensity falls with distance, see the top of this file; "squared" unless given. */
  readonly signal?: "squared" | "printed" | undefined;
}

export const locationTexts = {
  priorMean: (given: number, dimensions: number) =>
    `the prior mean has ${given} coordinates and the location ${dimensions}: give one for each, or a single number`,
  coordinate: (given: number, count: number) =>
    `there is no coordinate ${given}: coordinates are numbered from 0 to ${count - 1}`,
};

const AXES = ["x", "y", "z"];
const axisName = (axis: number, dimensions: number): string =>
  dimensions <= AXES.length ? AXES[axis] : `x${axis}`;

/**
 * Source location finding (paper, section 6.1): log y ~ N(log mu, noise^2), mu = background + sum_k 1 / (offset +
 * distance_k^2). A design is a place to listen at.
 *
 * @example
 * ```ts
 * import { locationFinding } from "fairbed/design";
 *
 * const model = locationFinding({ priorMean: [3, 3] });
 * console.log(model.design.map(({ name }) => name).join(", ")); // x, y
 * ```
 */
export const locationFinding = ({
  priorMean = 3,
  priorSd = 1,
  sources = 1,
  dimensions = 2,
  targets = [0],
  sensitives = [1],
  noise = 0.5,
  background = 0.1,
  offset = 1e-4,
  signal = "squared",
}: LocationOptions = {}): Model => {
  const means =
    typeof priorMean === "number" ? Array.from({ length: dimensions }, () => priorMean) : priorMean;
  if (means.length !== dimensions) {
    throw new InputError("prior-mean", locationTexts.priorMean(means.length, dimensions));
  }
  const count = sources * dimensions;
  const wrong = [...targets, ...sensitives].find((k) => !Number.isInteger(k) || k < 0 || k >= count);
  if (wrong !== undefined) throw new InputError("coordinate", locationTexts.coordinate(wrong, count));
  const roleOf = (k: number) =>
    targets.includes(k) ? target : sensitives.includes(k) ? sensitive : nuisance;
  // In the paper's case the two coordinates keep the paper's names.
  const plain = count === 2 && targets.length === 1 && sensitives.length === 1;
  const nameOf = (k: number) => (plain ? (targets.includes(k) ? "theta" : "phi") : `source${k}`);
  const parameters: Record<string, Parameter> = {};
  for (let k = 0; k < count; k++) parameters[nameOf(k)] = roleOf(k)(normal(means[k % dimensions], priorSd));
  const names = Array.from({ length: dimensions }, (_, axis) => axisName(axis, dimensions));
  return defineModel({
    name: "location",
    parameters,
    design: Object.fromEntries(names.map((name) => [name, real()])),
    outcome: (given, at) => {
      let intensity: Value = background;
      for (let source = 0; source < sources; source++) {
        const distance2 = names
          .map((name, axis) => square(sub(given[nameOf(source * dimensions + axis)], at[name])))
          .reduce((sum, term) => add(sum, term));
        const divisor = signal === "squared" ? add(offset, distance2) : square(add(offset, sqrt(distance2)));
        intensity = add(intensity, div(1, divisor));
      }
      return logNormal(log(intensity), noise);
    },
  });
};
