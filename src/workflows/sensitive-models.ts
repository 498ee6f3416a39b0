/** What leakage is read from: models of a sensitive attribute by their names. */
import { classBalanced, type SensitiveModel, type SingleModel } from "../active/pool-models.js";
import { InputError } from "../core/errors.js";
import { type ForestOptions, forest } from "../learners/forest.js";
import { logistic } from "../learners/logistic.js";
import type { SensitiveModelName } from "./acquisition-settings.js";

/** Those that learn from the attributes that were revealed so far. */
export type RevealedModelName = Exclude<SensitiveModelName, "pretrained">;

export const sensitiveModelTexts = {
  none: "the list of sensitive models is empty: name at least one",
};

/** One that learns from what was revealed. */
export const revealedModel = (name: RevealedModelName, options: ForestOptions): SingleModel => {
  switch (name) {
    case "revealed":
      return { kind: "revealed", learner: forest(options) };
    case "balanced":
      return { kind: "revealed", learner: classBalanced(forest(options)) };
    case "logistic":
      return { kind: "revealed", learner: logistic() };
  }
};

/** One model as it is, several as the worst of them. */
export const worstOf = (models: readonly SingleModel[]): SensitiveModel => {
  if (models.length === 0) throw new InputError("sensitive-model", sensitiveModelTexts.none);
  return models.length === 1 ? models[0] : { kind: "worst", models };
};
