/**
 * y = sum_i a_i(x) psi_i + noise, with a normal prior: every information quantity has a closed form, so that every
 * estimator can be checked on it.
 */
import { add, mul } from "../../compute/index.js";
import { normal } from "../distribution.js";
import { defineModel, type Model, nuisance, type Parameter, real, sensitive, target } from "../model.js";

export interface LinearGaussianOptions {
  /** Standard deviation of the outcome; 1 unless given. */
  readonly noise?: number | undefined;
  /** Standard deviation of every parameter, around 0; 1 unless given. */
  readonly priorSd?: number | undefined;
  /** Adds an unknown constant to every outcome; false unless given. */
  readonly offset?: boolean | undefined;
}

/**
 * y ~ N(theta x + phi y, noise^2): the target's weight is the design's x, the sensitive part's is y; with `offset` a
 * nuisance is added.
 *
 * @example
 * ```ts
 * import { linearGaussian } from "fairbed/design";
 *
 * const model = linearGaussian({ noise: 0.5 });
 * console.log(model.parameters.map(({ name, role }) => `${name}: ${role}`).join(", ")); // theta: target, phi: sensitive
 * ```
 */
export const linearGaussian = ({
  noise = 1,
  priorSd = 1,
  offset = false,
}: LinearGaussianOptions = {}): Model => {
  const parameters: Record<string, Parameter> = {
    theta: target(normal(0, priorSd)),
    phi: sensitive(normal(0, priorSd)),
  };
  if (offset) parameters.shift = nuisance(normal(0, priorSd));
  return defineModel({
    name: "linear-gaussian",
    parameters,
    design: { x: real(), y: real() },
    outcome: ({ theta, phi, shift }, { x, y }) => {
      const mean = add(mul(theta, x), mul(phi, y));
      return normal(offset ? add(mean, shift) : mean, noise);
    },
  });
};
