/** What a plan says about another level of parity than the one it was made for, from what was tried out for that one. */
import { InputError } from "../core/errors.js";
import { shortest } from "../core/number-text.js";
import { type LabelsNeeded, labelsNeeded, labelsNeededStream } from "./labels-needed.js";
import type { ParityPlan, PlanAnswer } from "./parity-plan.js";
import { planAnswer } from "./plan-answer.js";
import { choose, type InnerTrial, isReference, ranked, type Settled, settle } from "./plan-choice.js";
import type { OuterEstimates } from "./plan-estimates.js";
import { recipeInWords } from "./plan-recipes.js";
import { planningTexts } from "./plan-settings.js";
import { isAsGood, type PlanVerdict, verdictOf } from "./plan-verdict.js";
import { byMerit, type FrontierSetting, type PlannedRecipe } from "./planned-recipe.js";
import type { Recipe } from "./recipe.js";

/** What would be recommended at a level, as far as a plan for another one tells. */
export interface LevelChoice {
  readonly level: number;
  /** `aim` is what its rule is set to; null without a rule. */
  readonly recommended: Pick<PlannedRecipe, "id" | "name" | "description" | "acquisition" | "fit"> & {
    readonly aim: number | null;
  };
  /** On rows that no choice saw. */
  readonly outer: OuterEstimates;
  /** Whether it reaches the level on the rows that the choice is made on. */
  readonly reaches: boolean;
  readonly verdict: PlanVerdict;
  /** With so many it was tried. */
  readonly labels: number;
  /** Null where this setting was not tried with fewer labels. */
  readonly labelsNeeded: LabelsNeeded | null;
  /** The recipes that were compared to the end, each with its rule set for the level, from the best down. */
  readonly finalists: readonly PlannedRecipe[];
  /** Whether recipes were tried out for this level; else whether it is within what rules were set to, or beyond. */
  readonly tried: "planned" | "within" | "beyond";
  /** In sentences, as a plan has them. */
  readonly answer: PlanAnswer;
  /** What to do, what it reaches, and what a plan for this level would have to settle. */
  readonly sentences: readonly string[];
}

export const planAtLevelTexts = {
  within: (level: number, planned: number) =>
    `Recipes were tried out for a level of ${planned}: a plan for ${level} may find a better one.`,
  beyond: (level: number, low: number, high: number) =>
    `No rule was set for a level of ${level}, only from ${shortest(low, 3)} to ${shortest(high, 3)}: make a plan for ${level} to settle it.`,
  noRule: (level: number) =>
    `No recipe with a fair rule was compared to the end: make a plan for ${level} to settle it.`,
};

/** A finalist with all settings of its rule, as the choice looks at it. */
interface Finalist extends InnerTrial {
  readonly recipe: PlannedRecipe;
  readonly settings: readonly FrontierSetting[];
}

const finalistsOf = ({ frontiers, recipes }: ParityPlan): readonly Finalist[] =>
  frontiers.flatMap(({ id, points }) =>
    recipes
      .filter((recipe) => recipe.id === id)
      .map((recipe): Finalist => {
        const { acquisition, fit } = recipe;
        const rule = fit.rule !== undefined;
        // What it comes to without its rule is drawn beside it, and is another recipe.
        const settings = points.filter(({ aim }) => (aim !== null) === rule);
        return {
          recipe,
          settings,
          parts: { acquisition, learner: fit.learner, reweigh: fit.reweigh, rule },
          aims: settings.map(({ aim, inner }) => ({ aim: aim ?? undefined, ...inner })),
        };
      }),
  );

const plannedAt = ({ trial, at, accuracy, parity, reaches }: Settled<Finalist>): PlannedRecipe => {
  const { recipe, parts, settings } = trial;
  const { aim, accuracy: outerAccuracy, parity: outerParity, selectionRate } = settings[at];
  const { rule } = recipe.fit;
  return {
    ...recipe,
    description: recipeInWords(parts, aim ?? undefined),
    fit: {
      ...recipe.fit,
      ...(rule === undefined || aim === null ? {} : { rule: { ...rule, level: aim } }),
    },
    inner: { accuracy, parity, reaches: reaches > 0 },
    outer: { accuracy: outerAccuracy, parity: outerParity, selectionRate },
  };
};

const aimOf = ({ fit }: PlannedRecipe): number | null => fit.rule?.level ?? null;
const isSame = (a: PlannedRecipe, b: PlannedRecipe): boolean => a.id === b.id && aimOf(a) === aimOf(b);

const neededAt = (plan: ParityPlan, recommended: PlannedRecipe, level: number): LabelsNeeded | null => {
  const curve = plan.curves.find(({ id }) => id === recommended.id);
  const setting = curve?.settings.find(({ aim }) => aim === aimOf(recommended));
  return setting === undefined ? null : labelsNeeded(setting.values, level, labelsNeededStream(plan.seed));
};

/** Whether rules were set for the level, and what is to be said where they were not. */
const triedAt = (
  finalists: readonly Finalist[],
  level: number,
  planned: number,
): { readonly tried: LevelChoice["tried"]; readonly notes: readonly string[] } => {
  if (level === planned) return { tried: "planned", notes: [] };
  const aims = finalists.flatMap(({ settings }) => settings.flatMap(({ aim }) => aim ?? []));
  if (aims.length === 0) return { tried: "beyond", notes: [planAtLevelTexts.noRule(level)] };
  const [low, high] = [Math.min(...aims), Math.max(...aims)];
  return level < low || level > high
    ? { tried: "beyond", notes: [planAtLevelTexts.beyond(level, low, high)] }
    : { tried: "within", notes: [planAtLevelTexts.within(level, planned)] };
};

/**
 * Which recipe and setting of its rule a plan would recommend at another level, by the choice that it made for its own: at
 * once, from what was tried out. It says where only a plan for that level would settle it, since recipes were kept and
 * rules set for the level of the plan. At that level it is what the plan recommends.
 *
 * @example
 * ```ts
 * import { plan, planAtLevel, syntheticPool } from "fairbed";
 *
 * const { table, settings } = syntheticPool({ rows: 400, seed: 1 });
 * const made = await plan(table, {
 *   ...settings,
 *   parity: 0.8,
 *   labels: 20,
 *   methods: ["epig"],
 *   learners: ["forest"],
 *   trees: 5,
 * });
 * console.log(planAtLevel(made, 0.8).recommended.id === made.recommended.id); // true
 * console.log(planAtLevel(made, 0.85).tried); // within
 * ```
 */
export const planAtLevel = (plan: ParityPlan, level: number): LevelChoice => {
  if (!(level > 0 && level <= 1)) throw new InputError("level", planningTexts.level(level));
  const planned = plan.requirement.level;
  const all = finalistsOf(plan);
  const settled = all.map((each) => settle(each, level));
  const best = choose(settled);
  const reference = ranked(settled).find(({ trial }) => isReference(trial.parts)) ?? best;
  const recommended = plannedAt(best);
  const compared = plannedAt(reference);
  const isCompared = isSame(recommended, plan.recommended) && isSame(compared, plan.reference);
  const overReference = isCompared ? plan.overReference : null;
  const needed = neededAt(plan, recommended, level);
  const verdict = verdictOf(recommended.outer.parity, level);
  const finalists = settled.map(plannedAt).sort(byMerit);
  const answer = planAnswer({
    recommended,
    verdict,
    requirement: { ...plan.requirement, level },
    reference: compared,
    overReference,
    randomIsAsGood:
      overReference === null ? null : isAsGood(best, reference, overReference, recommended.seeds),
    labelsNeeded: needed,
    sameForAll: plan.sameForAll,
    recipes: [...finalists, ...plan.recipes.filter(({ finalist }) => !finalist)],
    plannedLevel: level === planned ? undefined : planned,
  });
  const { tried, notes } = triedAt(all, level, planned);
  const { id, name, description, acquisition, fit } = recommended;
  return {
    level,
    recommended: { id, name, description, acquisition, fit, aim: aimOf(recommended) },
    outer: recommended.outer,
    reaches: recommended.inner.reaches,
    verdict,
    labels: recommended.labels,
    labelsNeeded: needed,
    finalists,
    tried,
    answer,
    sentences: [
      ...(answer.unmet === null ? [] : [answer.unmet]),
      answer.recommendation,
      answer.reached,
      ...notes,
    ],
  };
};

/**
 * The recipe of {@link planAtLevel}, to be kept in a file as that of the plan: see `readRecipe`.
 *
 * @example
 * ```ts
 * import { plan, recipeAtLevel, syntheticPool } from "fairbed";
 *
 * const { table, settings } = syntheticPool({ rows: 400, seed: 1 });
 * const made = await plan(table, {
 *   ...settings,
 *   parity: 0.8,
 *   labels: 20,
 *   methods: ["epig"],
 *   learners: ["forest"],
 *   trees: 5,
 * });
 * console.log(recipeAtLevel(made, 0.85).requirement.level); // 0.85
 * ```
 */
export const recipeAtLevel = (plan: ParityPlan, level: number): Recipe => {
  const { recommended, answer, outer, verdict } = planAtLevel(plan, level);
  const { recipe } = plan;
  return {
    ...recipe,
    description: answer.recommendation,
    requirement: { ...recipe.requirement, level },
    acquisition: recommended.acquisition,
    fit: recommended.fit,
    chosenOn: {
      ...recipe.chosenOn,
      accuracy: { mean: outer.accuracy.mean, interval: outer.accuracy.interval },
      parity: { mean: outer.parity.mean, interval: outer.parity.interval },
      verdict,
    },
  };
};
