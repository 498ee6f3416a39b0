/** The likelihood of one observation of a history for many particles at once. */

import { compile, type Program } from "../compute/index.js";
import type { Model, Values } from "./model.js";
import type { History } from "./policy.js";

type Inputs = Record<string, readonly string[]>;

/** log p(observation t | every particle), written into `out`, which has one entry per particle. */
export type Likelihood = (
  parameters: Readonly<Record<string, Float64Array>>,
  history: History,
  t: number,
  out: Float64Array,
) => void;

export const compileLikelihood = (model: Model, particles: number): Likelihood => {
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
