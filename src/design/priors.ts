/** Priors of parameters of which some are held and the others integrated over. */

import { add, exp, less, select, type Value } from "../compute/index.js";
import type { Distribution } from "./distribution.js";
import type { Model, Prior, Role, Values } from "./model.js";
import type { Given } from "./quantity.js";

/** Roles held at their generating values. */
export const held = (given: Given): readonly Role[] =>
  given === "none" ? [] : given === "both" ? ["target", "sensitive"] : [given];

export const distributionOf = (prior: Prior, before: Values): Distribution =>
  typeof prior === "function" ? prior(before) : prior;

/** Which noise and support a parameter's prior has does not depend on the parameters before it: any numbers do. */
export const trialOf = (model: Model, name: string): Distribution => {
  const ones = Object.fromEntries(model.parameters.map((each) => [each.name, 1]));
  const parameter = model.parameters.find((each) => each.name === name);
  if (parameter === undefined) throw new RangeError(`the model has no parameter "${name}"`);
  return distributionOf(parameter.prior, ones);
};

/** Whether the prior of a held parameter may depend on one that is integrated over. */
export const dependsOnFree = (model: Model, roles: readonly Role[]): boolean =>
  model.parameters.some((_, k) => isWeight(model, roles, k));

const isWeight = ({ parameters }: Model, roles: readonly Role[], k: number): boolean =>
  typeof parameters[k].prior === "function" &&
  roles.includes(parameters[k].role) &&
  parameters.slice(0, k).some(({ role }) => !roles.includes(role));

/** sum of log p(held | parameters before) over the held parameters that may depend on free ones. */
export const logPriorOfHeld = (model: Model, roles: readonly Role[], at: Values): Value =>
  model.parameters.reduce<Value>(
    (sofar, { name, prior }, k) =>
      isWeight(model, roles, k) ? add(sofar, distributionOf(prior, at).logDensity(at[name])) : sofar,
    0,
  );

/** The value of a discrete distribution that a uniform number falls on. */
export const fromUniform = ({ support = [], logDensity }: Distribution, uniform: Value): Value => {
  let below: Value = 0;
  const ends = support.slice(0, -1).map((value) => {
    below = add(below, exp(logDensity(value)));
    return below;
  });
  return ends.reduceRight<Value>(
    (rest, end, k) => select(less(uniform, end), support[k], rest),
    support[support.length - 1],
  );
};

/**
 * Parameters from held values and, for the others, base noise, in the order of definition. `discrete` says how a
 * parameter without a formula follows from its number: from a uniform one, or as it is.
 */
export const parametersFromNoise = (
  model: Model,
  roles: readonly Role[],
  at: Values,
  discrete: (distribution: Distribution, number: Value) => Value,
): Values => {
  const made: Record<string, Value> = {};
  for (const { name, role, prior } of model.parameters) {
    if (roles.includes(role)) made[name] = at[name];
    else {
      const distribution = distributionOf(prior, made);
      made[name] = distribution.fromNoise?.(at[name]) ?? discrete(distribution, at[name]);
    }
  }
  return made;
};
