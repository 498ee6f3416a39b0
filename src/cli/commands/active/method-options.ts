/** How candidates are scored and chosen: the options that `acquire` and `rank` share. */
import type { BetaGoal } from "../../../active/beta-control.js";
import type { Correction } from "../../../active/correction.js";
import { type StrategyName, strategyNames } from "../../../active/strategies.js";
import { InputError } from "../../../core/errors.js";
import type { ForestOptions } from "../../../learners/forest.js";
import { choice, flag, integer, optionalInteger, optionalReal, real } from "../../options.js";

const CORRECTIONS = ["auto", "none", "analytic", "permutation"] as const satisfies readonly (
  | Correction
  | "auto"
)[];

export const methodOptions = {
  method: choice<StrategyName>("--method <name>", "how candidates are scored", strategyNames, "fairbed"),
  beta: optionalReal("--beta <number>", "what a nat of leakage costs (10; 3 with fairbed-set)", { min: 0 }),
  combine: choice("--combine <how>", "leakage of several sensitive columns", ["sum", "worst"], "sum"),
  trees: integer("--trees <number>", "trees of every forest", 100, { min: 2 }),
  paper: flag("--paper", "the paper's fully grown trees in the sensitive model"),
  sensitiveLeaf: optionalInteger(
    "--sensitive-leaf <number>",
    "labels in a leaf of the sensitive model (10; 5 with fairbed-set)",
    {
      min: 1,
    },
  ),
  sensitiveSmoothing: real("--sensitive-smoothing <number>", "smoothing of its leaves", 0, { min: 0 }),
  correction: choice(
    "--correction <how>",
    "of the sensitive model for few trees; auto is analytic, or none with --paper or fairbed-set",
    CORRECTIONS,
    "auto",
  ),
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
  goalMethod: (method: string) =>
    `the method ${method} does not look at leakage, so no beta can reach a goal with it: choose --method fairbed, or leave out --leakage-budget and --dp-at-least`,
  twoGoals: "give --leakage-budget or --dp-at-least, not both",
  paperLeaf: "--paper means fully grown trees: leave out --sensitive-leaf and --sensitive-smoothing",
};

const FAIR: readonly StrategyName[] = ["fairbed", "fairbed-set", "fairbed-bald"];

/** What of a score is information, in nats: the rest (a random number, an entropy) is a number to sort by. */
export const partsOf = (
  method: StrategyName,
  { target, leakage }: { readonly target: number; readonly leakage: number },
): { readonly target: number | null; readonly leakage: number | null } => {
  if (FAIR.includes(method)) return { target, leakage };
  return { target: method === "epig" || method === "bald" ? target : null, leakage: null };
};

/** What a score is, in words. */
export const scoreInWords = (method: StrategyName): string => {
  if (method === "fairbed-set") {
    return "score = target - beta x leakage: what the label tells about the target, less how far the candidate's features give the sensitive label away within what is labelled (nats).";
  }
  if (FAIR.includes(method)) {
    return "score = target - beta x leakage: what the label tells about the target, less what it gives away (nats).";
  }
  if (method === "hfe")
    return "score = entropy of the target - beta x entropy of the sensitive label (nats).";
  if (method === "random") return "score: a random number.";
  return `score: ${method === "entropy" ? "the entropy of the prediction" : "information about the target"} (nats); leakage is not looked at.`;
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

/** The correction of the sensitive model. */
export const correctionOf = (
  { correction, paper }: { readonly correction: Correction | "auto"; readonly paper: boolean },
  recommended: Correction,
): Correction => {
  if (correction !== "auto") return correction;
  return paper ? "none" : recommended;
};

export const goalOf = (
  words: {
    readonly method: StrategyName;
    readonly beta: number | undefined;
    readonly leakageBudget: number | undefined;
    readonly dpAtLeast: number | undefined;
  },
  recommended: BetaGoal,
): BetaGoal => {
  const { beta, leakageBudget, dpAtLeast } = words;
  if (leakageBudget !== undefined && dpAtLeast !== undefined) {
    throw new InputError("goal", methodTexts.twoGoals);
  }
  const sought = leakageBudget !== undefined || dpAtLeast !== undefined;
  if (sought && !FAIR.includes(words.method)) {
    throw new InputError("goal", methodTexts.goalMethod(words.method));
  }
  if (leakageBudget !== undefined) return { leakageBudget };
  if (dpAtLeast !== undefined) return { parityAtLeast: dpAtLeast };
  return beta === undefined ? recommended : { beta };
};
