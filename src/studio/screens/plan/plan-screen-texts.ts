/** What the plan screen calls its settings, and what it says where they no longer are those of the plan that it shows. */
import { listed } from "../../../core/list-in-words.js";
import type { FairMetric } from "../../../mitigation/fair-rule.js";
import { LEARNER_CHOICES, type PlanChoice } from "../../plan-choice.js";

export const METRIC_WORDS: Readonly<Record<FairMetric, string>> = {
  dp: "who is selected",
  eopp: "who is rightly selected",
};

export const LEARNERS_WORDS: Readonly<Record<keyof typeof LEARNER_CHOICES, string>> = {
  all: "forest, logistic, boosting",
  one: "forest only",
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What of a plan is not as it is wanted now. */
const differences = (made: PlanChoice, wanted: PlanChoice): readonly string[] => [
  ...(made.labels === wanted.labels ? [] : [`for ${made.labels} labels`]),
  ...(made.metric === wanted.metric ? [] : [`for "${METRIC_WORDS[made.metric]}"`]),
  ...(isSame(made.learners, wanted.learners)
    ? []
    : [`with ${isSame(made.learners, LEARNER_CHOICES.one) ? LEARNERS_WORDS.one : LEARNERS_WORDS.all}`]),
  ...(isSame(made.roles, wanted.roles) ? [] : ["with other roles"]),
];

export const planScreenTexts = {
  stale: (made: PlanChoice, wanted: PlanChoice) =>
    `The plan below was made ${listed(differences(made, wanted))}. Press "Find a recipe" to follow what is chosen now.`,
  cutOff:
    'The last plan had not ended when its tab was closed. What you had asked for is kept: press "Find a recipe" to begin it again.',
};
