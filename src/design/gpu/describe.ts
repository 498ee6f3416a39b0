/** A model as the GPU takes it: everything that is drawn follows from normal noise by a formula. */
import type { NestedDescription } from "../../compute/webgpu/nested/description.js";
import { InputError } from "../../core/errors.js";
import type { Model } from "../model.js";
import type { SampleSizes } from "../objective.js";
import type { Policy } from "../policy.js";
import { distributionOf, held, trialOf } from "../priors.js";
import type { Given } from "../quantity.js";

const ELSE = 'choose the device "cpu"';

export const gpuModelTexts = {
  policy: (kind: string) =>
    `a ${kind} policy was to be evaluated on a GPU, which takes static designs: ${ELSE}`,
  against: `a GPU takes one model: leave out the models that the data must not leak under, or ${ELSE}`,
  dependent: (name: string) =>
    `the prior of "${name}" depends on other parameters, which a GPU does not take yet: ${ELSE}`,
  prior: (name: string, distribution: string) =>
    `the prior of "${name}" is ${distribution}, and a GPU takes priors that follow from normal noise (normal, uniform): ${ELSE}`,
  outcome: (name: string, distribution: string) =>
    `the outcome "${name}" is ${distribution}, and a GPU takes outcomes that follow from normal noise (normal, log-normal, uniform): ${ELSE}`,
  values: (name: string) =>
    `the design variable "${name}" has a list of values, which a GPU does not take yet: ${ELSE}`,
};

/** Refuses a model that the GPU cannot train designs for. */
export const requireGpuModel = (model: Model): void => {
  const ones = Object.fromEntries([...model.parameters, ...model.design].map(({ name }) => [name, 1]));
  for (const { name, prior } of model.parameters) {
    if (typeof prior === "function") throw new InputError("gpu-model", gpuModelTexts.dependent(name));
    const { fromNoise, noise, name: distribution } = trialOf(model, name);
    if (fromNoise === undefined || noise?.kind !== "normal") {
      throw new InputError("gpu-model", gpuModelTexts.prior(name, distribution));
    }
  }
  for (const [name, { fromNoise, noise, name: distribution }] of Object.entries(
    model.distributions(ones, ones),
  )) {
    if (fromNoise === undefined || noise?.kind !== "normal") {
      throw new InputError("gpu-model", gpuModelTexts.outcome(name, distribution));
    }
  }
  const listed = model.design.find(({ values }) => values !== undefined);
  if (listed !== undefined) throw new InputError("gpu-model", gpuModelTexts.values(listed.name));
};

/** The designs of a policy that can be evaluated on a GPU; refuses others. */
export const requireGpuPolicy = (model: Model, { designs, kind }: Policy): Float64Array => {
  if (designs === undefined) throw new InputError("gpu-policy", gpuModelTexts.policy(kind));
  requireGpuModel(model);
  return designs;
};

/** Evidences for which there is something to integrate over; of the others the generating sample says it all. */
export const integrated = (model: Model, given: readonly Given[]): Given[] =>
  given.filter((each) => model.parameters.some(({ role }) => !held(each).includes(role)));

export const describeNested = (
  model: Model,
  given: readonly Given[],
  horizon: number,
  { outer, contrastive, marginal }: SampleSizes,
): NestedDescription => ({
  parameters: model.parameters.map(({ name, prior }) => ({
    name,
    fromNoise: (noise) => distributionOf(prior, {}).fromNoise?.(noise) ?? noise,
  })),
  design: model.design.map(({ name }) => name),
  outcomes: model.outcomes.map((name) => ({
    name,
    fromNoise: (at, noise) => model.distributions(at, at)[name].fromNoise?.(noise) ?? noise,
  })),
  logLikelihood: (at) => model.logLikelihood(at, at, at),
  evidences: integrated(model, given).map((each) => ({
    name: each,
    held: model.parameters.filter(({ role }) => held(each).includes(role)).map(({ name }) => name),
    inner: each === "none" ? contrastive : marginal,
  })),
  outer,
  horizon,
});
