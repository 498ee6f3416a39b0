/** What leakage is read from: models of a sensitive attribute by their names. */
import { classBalanced, type SensitiveModel, type SingleModel } from "../active/pool-models.js";
import { InputError } from "../core/errors.js";
import { type ForestOptions, forest } from "../learners/forest.js";
import { learnerOnDemand, loadLearner } from "../learners/on-demand.js";
import type { SensitiveModelName } from "./acquisition-settings.js";

/** Those that learn from the attributes that were revealed so far. */
export type RevealedModelName = Exclude<SensitiveModelName, "pretrained">;

export const sensitiveModelTexts = {
  none: "the list of sensitive models is empty: name at least one",
};

const logisticOnDemand = learnerOnDemand("logistic", async () =>
  (await import("../learners/logistic.js")).logistic(),
);

/** One that learns from what was revealed; {@link loadModels} before the first step with it. */
export const revealedModel = (name: RevealedModelName, options: ForestOptions): SingleModel => {
  switch (name) {
    case "revealed":
      return { kind: "revealed", learner: forest(options) };
    case "balanced":
      return { kind: "revealed", learner: classBalanced(forest(options)) };
    case "logistic":
      return { kind: "revealed", learner: logisticOnDemand };
  }
};

/** One model as it is, several as the worst of them. */
export const worstOf = (models: readonly SingleModel[]): SensitiveModel => {
  if (models.length === 0) throw new InputError("sensitive-model", sensitiveModelTexts.none);
  return models.length === 1 ? models[0] : { kind: "worst", models };
};

/** Loads the learners that are not there yet. */
export const loadModels = async (models: readonly SensitiveModel[]): Promise<void> => {
  for (const model of models) {
    for (const each of model.kind === "worst" ? model.models : [model]) {
      if (each.kind === "revealed") await loadLearner(each.learner);
    }
  }
};
