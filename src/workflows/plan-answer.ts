/** What a plan comes to, in sentences. */
import { between, fixed, signed } from "../core/number-text.js";
import type { LabelsNeeded } from "./labels-needed.js";
import type { PlanAnswer, PlanFindings } from "./parity-plan.js";
import type { OuterDifference, OuterEstimates, PlanEstimate } from "./plan-estimates.js";
import type { PlannedRecipe } from "./planned-recipe.js";

/** What an answer is made of: of a plan, or of what it says about another level than its own. */
export interface AnsweredFindings
  extends Pick<
    PlanFindings,
    "recommended" | "verdict" | "requirement" | "reference" | "randomIsAsGood" | "sameForAll" | "recipes"
  > {
  /** Null where the setting that is recommended was not tried with fewer labels. */
  readonly labelsNeeded: LabelsNeeded | null;
  /** Null where the two were not compared. */
  readonly overReference: OuterDifference | null;
  /** Where it is not the one that recipes were tried out for: that one. */
  readonly plannedLevel?: number | undefined;
}

const METRICS = {
  dp: "demographic parity (the lowest selection rate of a group over the highest)",
  eopp: "equal opportunity (the lowest true positive rate of a group over the highest)",
} as const;

/** The measure in a few words. */
export const METRIC_NAMES = { dp: "demographic parity", eopp: "equal opportunity" } as const;

const number = (value: number): string => fixed(value, 3);

/** `0.812 (0.76 to 0.86)` */
export const estimateInWords = ({ mean, interval }: PlanEstimate): string =>
  `${number(mean)} (${between(interval, 2)})`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const reachedWords = ({ recommended, verdict, requirement: { metric, level } }: AnsweredFindings): string => {
  const { accuracy, parity } = recommended.outer;
  const verdictWords = {
    met: `at least the ${level} that is wanted`,
    open:
      parity.mean >= level
        ? `the ${level} that is wanted, though the interval reaches below it`
        : `about the ${level} that is wanted, and not surely that much`,
    missed: `less than the ${level} that is wanted`,
  }[verdict];
  return `With ${recommended.labels} labels it reaches ${METRICS[metric]} of ${number(parity.mean)} (95 % interval ${between(parity.interval)}${recommended.seeds < 2 ? ", for other rows and not for other labels" : ""}), ${verdictWords}, at an accuracy of ${number(accuracy.mean)} (${between(accuracy.interval)}), on rows that no choice saw.`;
};

const labelsWords = ({ labelsNeeded, requirement, recommended }: AnsweredFindings): string => {
  const most = recommended.labels;
  if (recommended.seeds < 2) return "One seed does not tell how many labels the level needs.";
  if (labelsNeeded === null) return planAnswerTexts.labelsNotKnown(requirement.level);
  const { labels, interval } = labelsNeeded;
  if (labels === null)
    return `A parity of ${requirement.level} needs more than ${most} labels with this recipe, if it can be had at all.`;
  const [low, high] = interval.map((end) => (end === null ? `more than ${most}` : String(end)));
  const range = low === high ? "" : ` (90 % interval ${low} to ${high})`;
  return `This level needs about ${labels} labels${range}: from so many on, parity is at least ${requirement.level} and accuracy that of ${most} labels, each within a standard error.`;
};

const randomWords = ({
  recommended,
  reference,
  overReference,
  randomIsAsGood,
  requirement,
}: AnsweredFindings): string => {
  const inWords = ({ fit }: PlannedRecipe) =>
    `random acquisition ${fit.rule === undefined ? "without a rule" : "with the fair rule"}`;
  const random = inWords(reference);
  if (recommended.acquisition.method === "random") {
    const own = capital(inWords(recommended));
    return recommended.inner.reaches
      ? `${own} is recommended: no other way of asking that reaches the level was better by more than a standard error.`
      : `${own} comes nearest.`;
  }
  if (overReference === null ? recommended.seeds < 2 : randomIsAsGood === null)
    return `One seed does not tell whether ${random} would be as good.`;
  if (recommended.inner.reaches && !reference.inner.reaches)
    return `${capital(random)} does not reach the level here (${number(reference.outer.parity.mean)} on rows that no choice saw).`;
  if (overReference === null)
    return planAnswerTexts.notCompared(capital(random), reference.outer, requirement.level);
  const { mean, interval } = overReference.accuracyAtParity;
  const difference = `${signed(mean, 3)} (${between(interval)})`;
  return randomIsAsGood
    ? `${capital(random)} is as good as far as can be told: at the same parity, the accuracy gained over it is ${difference}, an interval with 0 in it.`
    : `At the same parity it gains ${difference} of accuracy over ${random}.`;
};

const shortfall = ({
  verdict,
  recommended,
  requirement: { metric, level },
  recipes,
  plannedLevel,
}: AnsweredFindings): readonly string[] => {
  if (!recommended.inner.reaches) {
    // Of those that were tried with as many labels: one that was dropped early is no promise.
    const best = recipes
      .filter(({ labels }) => labels >= recommended.labels)
      .reduce((most, { inner }) => Math.max(most, inner.parity), 0);
    const highest =
      best < level ? ` (the highest on the rows that the choice was made on is ${number(best)})` : "";
    const next =
      plannedLevel === undefined
        ? "Collect more labels, add columns that say more, or lower the level."
        : `Rules were set for a level of ${plannedLevel}: make a plan for ${level}, which sets them for it.`;
    return [
      `No recipe reaches a ${METRIC_NAMES[metric]} of ${level} with ${recommended.labels} labels${highest}: the one that comes closest is shown. ${next}`,
    ];
  }
  if (verdict !== "missed") return [];
  return [
    `The level of ${level} was reached on the rows that the choice was made on and is missed on others: ask for a higher one, or use a larger pilot table.`,
  ];
};

/** Parity is had for nothing where all are treated alike: then it must not pass for a solution. */
const nothingLearnt = ({
  recommended,
  sameForAll,
  requirement: { level },
}: AnsweredFindings): readonly string[] => {
  const { mean, interval } = recommended.outer.accuracy;
  if (interval[0] > sameForAll) return [];
  return [
    `${mean > sameForAll ? "The accuracy is not surely higher than" : "The accuracy is no higher than"} that of the same decision for everybody, which is right for ${number(sameForAll)} and has a parity of 1: a level of ${level} is met here by hardly deciding at all. Collect more labels, add columns that say more, or lower the level.`,
  ];
};

export const planAnswerTexts = {
  unmet: (name: string, level: number, reached: PlanEstimate) =>
    `NOT MET: a ${name} of at least ${level} was wanted; on rows that no choice saw the recommended recipe reaches ${number(reached.mean)} (${between(reached.interval)}).`,
  labelsNotKnown: (level: number) =>
    `This setting was tried with all labels only: make a plan for ${level} to know how many labels it needs.`,
  notCompared: (random: string, { accuracy, parity }: OuterEstimates, level: number) =>
    `${random} reaches a parity of ${estimateInWords(parity)} at an accuracy of ${estimateInWords(accuracy)}: make a plan for ${level} to know whether it is as good.`,
};

export const planAnswer = (found: AnsweredFindings): PlanAnswer => {
  const { recommended, requirement } = found;
  const reached = recommended.outer.parity;
  const met = reached.mean >= requirement.level;
  const recommendation = `${capital(recommended.description)}.`;
  return {
    recommendation,
    level: { wanted: requirement.level, reached, met },
    unmet: met ? null : planAnswerTexts.unmet(METRIC_NAMES[requirement.metric], requirement.level, reached),
    reached: reachedWords(found),
    labels: labelsWords(found),
    random: randomWords(found),
    warnings: [
      ...shortfall(found),
      ...nothingLearnt(found),
      ...(recommended.labels < requirement.labels
        ? [`The plan was ended early and rests on ${recommended.labels} of the ${requirement.labels} labels.`]
        : []),
    ],
  };
};
