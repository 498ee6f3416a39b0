/** An experiment that is only tried out: somebody with parameters drawn from the prior, and what they would answer. */
import { InputError } from "../core/errors.js";
import { seededStream } from "../core/random.js";
import { draw } from "../design/distribution.js";
import { drawParameters, type Model } from "../design/model.js";
import type { NamedNumbers } from "./run-policy.js";

export interface Rehearsal {
  /** The parameters, which the experiment is to find out, or not. */
  readonly truth: NamedNumbers;
  /** What comes of a design at the observation of this number, counted from 0; always the same. */
  outcome(design: NamedNumbers, observation: number): NamedNumbers;
}

export const rehearsalTexts = {
  problem: (problem: string) => `the model has no outcome at this design (${problem}): choose another`,
};

/** Someone made up to try an experiment on: the same parameters and answers for the same seed. */
export const rehearsal = (
  model: Model,
  { seed = 0 }: { readonly seed?: number | undefined } = {},
): Rehearsal => {
  const stream = seededStream(seed).split("rehearsal");
  const truth = drawParameters(model.parameters, stream.split("truth"));
  return {
    truth,
    outcome(design, observation) {
      const by = model.distributions(truth, design);
      const problem = model.outcomes.map((name) => by[name].problem).find((each) => each !== undefined);
      if (problem !== undefined) throw new InputError("design", rehearsalTexts.problem(problem));
      const own = stream.split("outcome").split(observation);
      return Object.fromEntries(model.outcomes.map((name) => [name, draw(by[name], own.split(name))]));
    },
  };
};
