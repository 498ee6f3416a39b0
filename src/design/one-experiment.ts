/** The history of one experiment, out of several side by side, and whether it is one of a model. */
import { InputError } from "../core/errors.js";
import type { Model } from "./model.js";
import type { History } from "./policy.js";

export const experimentTexts = {
  outer: (given: number) =>
    `the history has ${given} experiments side by side: a posterior is of one, take it out with experimentOf`,
  length: (what: string, given: number, expected: number) =>
    `the history has ${given} ${what} where its steps and the model ask for ${expected}: give one row per step`,
  value: (what: string, given: number) =>
    `the history has ${given} among its ${what}: every number in it must be finite`,
};

/** One experiment of a batch. */
export const experimentOf = ({ outer, steps, designs, outcomes }: History, b: number): History => {
  const row = (all: Float64Array) => all.subarray((b * all.length) / outer, ((b + 1) * all.length) / outer);
  return { outer: 1, steps, designs: row(designs), outcomes: row(outcomes) };
};

/** Throws unless the history is of one experiment with this model. */
export const checkHistory = (model: Model, { outer, steps, designs, outcomes }: History): void => {
  if (outer !== 1) throw new InputError("history", experimentTexts.outer(outer));
  const parts = [
    ["designs", designs, steps * model.design.length],
    ["outcomes", outcomes, steps * model.outcomes.length],
  ] as const;
  for (const [what, values, expected] of parts) {
    if (values.length !== expected) {
      throw new InputError("history", experimentTexts.length(what, values.length, expected));
    }
    const wrong = values.find((value) => !Number.isFinite(value));
    if (wrong !== undefined) throw new InputError("history", experimentTexts.value(what, wrong));
  }
};
