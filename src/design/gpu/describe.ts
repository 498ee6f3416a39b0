/** A model as the GPU takes it: how everything that is drawn follows from a number, and what is likely then. */
import type { Drawn, NestedDescription } from "../../compute/webgpu/nested/description.js";
import type { Distribution } from "../distribution.js";
import type { Model, Values } from "../model.js";
import type { SampleSizes } from "../objective.js";
import { dependsOnFree, distributionOf, fromUniform, held, logPriorOfHeld, trialOf } from "../priors.js";
import type { Given } from "../quantity.js";

const ELSE = 'choose the device "cpu"';

export const gpuModelTexts = {
  against: `a GPU takes one model: leave out the models that the data must not leak under, or ${ELSE}`,
};

/** Evidences for which there is something to integrate over; of the others the generating sample says it all. */
export const integrated = (model: Model, given: readonly Given[]): Given[] =>
  given.filter((each) => model.parameters.some(({ role }) => !held(each).includes(role)));

/** How a parameter or an outcome is drawn; which noise and support it has does not depend on others (`trial`). */
const drawn = (
  name: string,
  { fromNoise, noise = { kind: "normal" }, rate }: Distribution,
  at: (given: Values) => Distribution,
): Drawn => ({
  name,
  noise: fromNoise === undefined ? { kind: "uniform" } : noise,
  count: rate !== undefined,
  fromNoise: (given, number) => {
    const distribution = at(given);
    return distribution.fromNoise?.(number) ?? distribution.rate ?? fromUniform(distribution, number);
  },
});

/** The distributions of the outcomes at any numbers. */
const trialOutcomes = (model: Model): Readonly<Record<string, Distribution>> => {
  const ones = Object.fromEntries([...model.parameters, ...model.design].map(({ name }) => [name, 1]));
  return model.distributions(ones, ones);
};

export const describeNested = (
  model: Model,
  given: readonly Given[],
  horizon: number,
  { outer, contrastive, marginal }: SampleSizes,
): NestedDescription => ({
  parameters: model.parameters.map(({ name, prior }) =>
    drawn(name, trialOf(model, name), (before) => distributionOf(prior, before)),
  ),
  dependent: model.dependentPriors,
  design: model.design.map(({ name }) => name),
  outcomes: model.outcomes.map((name) =>
    drawn(name, trialOutcomes(model)[name], (at) => model.distributions(at, at)[name]),
  ),
  reparameterised: model.reparameterised,
  logLikelihood: (at) => model.logLikelihood(at, at, at),
  evidences: integrated(model, given).map((each) => ({
    name: each,
    held: model.parameters.filter(({ role }) => held(each).includes(role)).map(({ name }) => name),
    inner: each === "none" ? contrastive : marginal,
    logPrior: dependsOnFree(model, held(each)) ? (at) => logPriorOfHeld(model, held(each), at) : undefined,
  })),
  outer,
  horizon,
});
