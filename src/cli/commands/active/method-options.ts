/** How candidates are scored: the options that `acquire` and `rank` share. */

import type { Correction } from "../../../active/correction.js";
import { isFair, type StrategyName, strategyNames } from "../../../active/strategy-names.js";
import { InputError } from "../../../core/errors.js";
import type { InformationUnit } from "../../../core/information-unit.js";
import { RECOMMENDED, type SharesChoice, WHOLE_SET } from "../../../workflows/acquisition-settings.js";
import { choice, flag, integer, optionalInteger, optionalReal, real, text } from "../../options.js";

const CORRECTIONS = ["auto", "none", "analytic", "permutation"] as const satisfies readonly (
  | Correction
  | "auto"
)[];

export const betaOption = optionalReal(
  "--beta <number>",
  `price of one nat of leakage (${RECOMMENDED.goal.beta}; ${WHOLE_SET.goal.beta} with ${WHOLE_SET.method})`,
  { min: 0 },
);

/** Of the scores and their models. */
export const modelOptions = {
  combine: choice(
    "--combine <how>",
    "leakage of several sensitive columns",
    ["sum", "worst"],
    RECOMMENDED.combine,
  ),
  trees: integer("--trees <number>", "trees of every forest", 100, { min: 2 }),
  paper: flag(
    "--paper",
    "the paper's way: fully grown trees in the sensitive model, no shares, no random part",
  ),
  sensitiveLeaf: optionalInteger(
    "--sensitive-leaf <number>",
    `labels in a leaf of the sensitive model (${RECOMMENDED.sensitiveForest.minLeaf}; ${WHOLE_SET.sensitiveForest.minLeaf} with ${WHOLE_SET.method})`,
    {
      min: 1,
    },
  ),
  sensitiveSmoothing: real("--sensitive-smoothing <number>", "smoothing of its leaves", 0, { min: 0 }),
  correction: choice(
    "--correction <how>",
    `of the sensitive model for few trees; auto is ${RECOMMENDED.sensitiveCorrection}, or none with --paper or ${WHOLE_SET.method}`,
    CORRECTIONS,
    "auto",
  ),
};

export const methodOptions = {
  method: choice<StrategyName>(
    "--method <name>",
    "how candidates are scored",
    strategyNames,
    RECOMMENDED.method,
  ),
  beta: betaOption,
  ...modelOptions,
};

/** Who is asked, whatever the score. */
export const compositionOptions = {
  shares: text(
    "--shares <which>",
    "what the acquired groups are kept to: population, equal, none, or group=share,... (population)",
  ),
  randomPart: optionalReal(
    "--random-part <share>",
    `the share of the labels that is drawn at random (${RECOMMENDED.randomPart})`,
    { min: 0, max: 1 },
  ),
  reweigh: flag(
    "--reweigh",
    "the target's model learns from rows reweighed so that outcome and group are independent",
  ),
};

export const compositionTexts = {
  shares: (given: string) =>
    `--shares takes population, equal, none, or shares such as f=0.5,m=0.5, not "${given}"`,
};

/** `f=0.5,m=0.5`, or one of the names. */
export const parseShares = (given: string | undefined): SharesChoice | undefined => {
  if (given === undefined || given === "population" || given === "equal" || given === "none") return given;
  const entries = given.split(",").map((part) => {
    const at = part.lastIndexOf("=");
    const share = Number(part.slice(at + 1));
    if (at < 1 || part.slice(at + 1).trim() === "" || !(share >= 0 && share < Number.POSITIVE_INFINITY)) {
      throw new InputError("shares", compositionTexts.shares(given));
    }
    return [part.slice(0, at).trim(), share] as const;
  });
  return Object.fromEntries(entries);
};

/** The same the other way round. */
export const sharesInWords = (shares: SharesChoice): string =>
  typeof shares === "string"
    ? shares
    : Object.entries(shares)
        .map(([group, share]) => `${group}=${share}`)
        .join(",");

/** Costs are shown, and decide only where it is said what they are worth: the unit of a column is nobody's default. */
export const costWeightOption = optionalReal(
  "--cost-weight <nats>",
  "what a unit of cost is worth, in nats: candidates compete by score - weight x cost (costs do not decide)",
  { min: 0 },
);

export const costsInWords = (costWeight: number | undefined): string =>
  costWeight === undefined
    ? "Costs are shown and do not decide: --cost-weight says what a unit of cost is worth, in nats."
    : "Candidates compete by net = score - cost weight x cost.";

/** Only one of these says what beta is. */
export const goalOptions = {
  leakageBudget: optionalReal(
    "--leakage-budget <nats>",
    "at most so much leakage of all chosen labels, instead of beta",
    {
      above: 0,
    },
  ),
  dpAtLeast: optionalReal("--dp-at-least <ratio>", "a demographic-parity ratio to reach, instead of beta", {
    above: 0,
  }),
};

/** What a score is, in words. */
export const scoreInWords = (method: StrategyName, { name: unit }: InformationUnit): string => {
  if (method === "fairbed-set") {
    return `score = target - beta x leakage: what the label tells about the target, less how far the candidate's features give the sensitive label away within what is labelled (${unit}).`;
  }
  if (method === "fairbed-conditional") {
    return `score = target - beta x leakage: what both labels tell about the target, less what they give away beyond it (${unit}).`;
  }
  if (isFair(method)) {
    return `score = target - beta x leakage: what the label tells about the target, less what it gives away (${unit}).`;
  }
  if (method === "hfe")
    return `score = entropy of the target - beta x entropy of the sensitive label (${unit}).`;
  if (method === "random") return "score: a random number.";
  return `score: ${method === "entropy" ? "the entropy of the prediction" : "information about the target"} (${unit}); leakage is not looked at.`;
};
