/** How candidates are scored and chosen: the options that `acquire` and `rank` share. */
import type { BetaGoal } from "../../../active/beta-control.js";
import type { Correction } from "../../../active/correction.js";
import { type StrategyName, strategyNames } from "../../../active/strategies.js";
import { InputError } from "../../../core/errors.js";
import type { ForestOptions } from "../../../learners/forest.js";
import { choice, flag, integer, optionalInteger, optionalReal, real } from "../../options.js";

const CORRECTIONS = ["none", "analytic", "permutation"] as const satisfies readonly Correction[];

export const methodOptions = {
  method: choice<StrategyName>("--method <name>", "how candidates are scored", strategyNames, "fairbed"),
  beta: real("--beta <number>", "what a nat of leakage costs", 10, { min: 0 }),
  combine: choice("--combine <how>", "leakage of several sensitive columns", ["sum", "worst"], "sum"),
  trees: integer("--trees <number>", "trees of every forest", 100, { min: 2 }),
  paper: flag("--paper", "the paper's fully grown trees in the sensitive model"),
  sensitiveLeaf: optionalInteger("--sensitive-leaf <number>", "labels in a leaf of the sensitive model (5)", {
    min: 1,
  }),
  sensitiveSmoothing: real("--sensitive-smoothing <number>", "smoothing of its leaves", 0, { min: 0 }),
  correction: choice("--correction <how>", "for few trees, both models", CORRECTIONS, "none"),
};

/** Only one of these says what beta is. */
export const goalOptions = {
  leakageBudget: optionalReal("--leakage-budget <nats>", "at most so much leakage in all, instead of beta", {
    above: 0,
  }),
  dpAtLeast: optionalReal("--dp-at-least <ratio>", "a demographic-parity ratio to reach, instead of beta", {
    above: 0,
  }),
};

export const methodTexts = {
  twoGoals: "give --leakage-budget or --dp-at-least, not both",
  paperLeaf: "--paper means fully grown trees: leave out --sensitive-leaf and --sensitive-smoothing",
};

export interface SensitiveWords {
  readonly paper: boolean;
  readonly trees: number;
  readonly sensitiveLeaf: number | undefined;
  readonly sensitiveSmoothing: number;
}

/** The forest of the sensitive model: calibrated leaves unless the paper's are asked for. */
export const sensitiveForestOf = (
  { paper, trees, sensitiveLeaf, sensitiveSmoothing }: SensitiveWords,
  recommended: ForestOptions,
): ForestOptions => {
  if (paper && (sensitiveLeaf !== undefined || sensitiveSmoothing > 0)) {
    throw new InputError("paper", methodTexts.paperLeaf);
  }
  if (paper) return { trees };
  return {
    ...recommended,
    trees,
    ...(sensitiveLeaf === undefined ? {} : { minLeaf: sensitiveLeaf }),
    ...(sensitiveSmoothing === 0 ? {} : { leafSmoothing: sensitiveSmoothing }),
  };
};

export const goalOf = (words: {
  readonly beta: number;
  readonly leakageBudget: number | undefined;
  readonly dpAtLeast: number | undefined;
}): BetaGoal => {
  const { beta, leakageBudget, dpAtLeast } = words;
  if (leakageBudget !== undefined && dpAtLeast !== undefined) {
    throw new InputError("goal", methodTexts.twoGoals);
  }
  if (leakageBudget !== undefined) return { leakageBudget };
  return dpAtLeast === undefined ? { beta } : { parityAtLeast: dpAtLeast };
};
