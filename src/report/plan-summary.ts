/** The pictures of a plan, while it runs and when it is done: what its report and the page show. It runs in a browser. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "../core/chart-description.js";
import { fixed } from "../core/number-text.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { ParityPlan } from "../workflows/parity-plan.js";
import { METRIC_NAMES } from "../workflows/plan-answer.js";
import { type LevelChoice, planAtLevel } from "../workflows/plan-at-level.js";
import { type PlanEstimate, withErrors } from "../workflows/plan-estimates.js";
import type { PlanTrial } from "../workflows/plan-progress.js";
import type { PlannedRecipe } from "../workflows/planned-recipe.js";
import { compositionChart } from "./acquisition-charts.js";
import { leftOutInWords } from "./not-drawn.js";
import { frontierChart, labelsChart, trialsChart } from "./plan-charts.js";
import { UNIT_RANGE } from "./style.js";

/** A picture, and the line below it, which also says it to those who do not see it. */
export interface PlanPicture {
  readonly specification: TopLevelSpec;
  readonly caption: string;
}

export const planSummaryTexts = {
  frontier: (name: string, level: number) =>
    `Every recipe that was tried, and what stricter rules would give. At a level of ${level}, ${name} is recommended.`,
  nothingYet: "Nothing has been tried out yet.",
  noneYet: (metric: string, level: number, name: string, parity: number) =>
    `So far no recipe reaches a ${metric} of ${level}; ${name} comes closest with ${fixed(parity, 3)}, on the rows that the choice is made on.`,
  soFar: (reach: number, of: number, metric: string, level: number, name: string, accuracy: number) =>
    `So far ${reach} of ${of} recipes reach a ${metric} of ${level} on the rows that the choice is made on; the most accurate of them is ${name}, with ${fixed(accuracy, 3)}.`,
  noCurve: (name: string, level: number) =>
    `${name} was tried with all labels only: make a plan for ${level} to see its curve.`,
};

const parityTitle = (metric: FairMetric): string => `${METRIC_NAMES[metric]} (ratio)`;

/** Those that have a colour. */
const coloured = ({ frontiers }: ParityPlan): readonly string[] => frontiers.map(({ name }) => name);

/** What a plan says at its own level, unless another one is shown. */
const ownChoice = (plan: ParityPlan): LevelChoice => planAtLevel(plan, plan.requirement.level);

/** Accuracy against parity on rows that no choice saw, with a level as a line and every finalist as it is set for it. */
export const frontierPicture = (
  plan: ParityPlan,
  { level, recommended, finalists }: LevelChoice = ownChoice(plan),
): PlanPicture => {
  const { frontiers, recipes, requirement } = plan;
  return {
    specification: frontierChart({
      lines: frontiers.flatMap(({ name: recipe, points }) =>
        points.map(({ parity, accuracy }, order) => ({ recipe, x: parity.mean, y: accuracy.mean, order })),
      ),
      chosen: finalists.map(({ id, name: recipe, outer }) => ({
        recipe,
        x: chartValue(outer.parity),
        y: chartValue(outer.accuracy),
        recommended: id === recommended.id,
      })),
      dropped: recipes
        .filter(({ finalist }) => !finalist)
        .map(({ outer }) => ({ x: outer.parity.mean, y: outer.accuracy.mean })),
      level,
      xTitle: parityTitle(requirement.metric),
      recipes: coloured(plan),
    }),
    caption: planSummaryTexts.frontier(recommended.name, level),
  };
};

interface Requirement {
  readonly level: number;
  readonly metric: FairMetric;
}

/** The same while recipes are tried out, on the rows that choices are made on: a point for every setting of every recipe. */
export const trialsPicture = (trials: readonly PlanTrial[], { level, metric }: Requirement): PlanPicture => ({
  specification: trialsChart(
    trials.flatMap(({ asking, dropped, points }) =>
      points.map(({ parity, accuracy }) => ({ asking, x: parity, y: accuracy, dropped })),
    ),
    { level, xTitle: parityTitle(metric) },
  ),
  caption: `${trials.length} recipes so far, on the rows that the choice is made on; means over seeds.`,
});

/** How far it is while recipes are tried out, in a sentence; which of them is recommended is not settled yet. */
export const trialsInWords = (trials: readonly PlanTrial[], { level, metric }: Requirement): string => {
  const kept = trials.filter(({ dropped }) => !dropped);
  const reaching = kept.filter(({ points }) => points.some(({ parity }) => parity >= level));
  const [best] = kept
    .flatMap(({ name, points }) => points.map((point) => ({ name, ...point })))
    .filter(({ parity }) => reaching.length === 0 || parity >= level)
    .sort((a, b) => (reaching.length === 0 ? b.parity - a.parity : b.accuracy - a.accuracy));
  if (best === undefined) return planSummaryTexts.nothingYet;
  const name = METRIC_NAMES[metric];
  return reaching.length === 0
    ? planSummaryTexts.noneYet(name, level, best.name, best.parity)
    : planSummaryTexts.soFar(reaching.length, kept.length, name, level, best.name, best.accuracy);
};

const chartValue = ({ mean, interval: [low, high] }: PlanEstimate): ChartValue => ({ mean, low, high });

interface ShownCurve {
  readonly recipe: string;
  readonly bands: "rows and seeds" | "seeds";
  readonly points: readonly {
    readonly labels: number;
    readonly accuracy: ChartValue;
    readonly parity: ChartValue;
  }[];
}

/** The curves that a plan has, each with its rule as it is set for the level shown. */
const curvesAt = ({ curves, recipes }: ParityPlan, { finalists }: LevelChoice): readonly ShownCurve[] =>
  curves.map(({ id, name: recipe, points, settings }) => {
    const aimIn = (list: readonly PlannedRecipe[]) =>
      list.find((each) => each.id === id)?.fit.rule?.level ?? null;
    const aim = aimIn(finalists);
    const other = aim === aimIn(recipes) ? undefined : settings.find((each) => each.aim === aim);
    if (other === undefined)
      return {
        recipe,
        bands: "rows and seeds",
        points: points.map(({ labels, accuracy, parity }) => ({
          labels,
          accuracy: chartValue(accuracy),
          parity: chartValue(parity),
        })),
      };
    // Of settings that were not taken only what each seed came to is kept.
    const overSeeds = (values: readonly number[]) => chartValue(withErrors(values, 0, UNIT_RANGE));
    return {
      recipe,
      bands: "seeds",
      points: other.values.map(({ labels, accuracy, parity }) => ({
        labels,
        accuracy: overSeeds(accuracy),
        parity: overSeeds(parity),
      })),
    };
  });

/** Accuracy and parity as labels come in. */
export const curvePictures = (
  plan: ParityPlan,
  choice: LevelChoice = ownChoice(plan),
): readonly PlanPicture[] => {
  const { recommended, level } = choice;
  const recipes = coloured(plan);
  const shown = curvesAt(plan, choice);
  const bands = shown.some((curve) => curve.bands === "seeds")
    ? "bands are 95 % intervals, some of them over seeds alone"
    : undefined;
  const points = (of: "accuracy" | "parity") =>
    shown.flatMap(({ recipe, points: own }) =>
      own.map((at) => ({ recipe, labels: at.labels, value: at[of] })),
    );
  const missing = plan.curves.some(({ id }) => id === recommended.id)
    ? ""
    : ` ${planSummaryTexts.noCurve(recommended.name, level)}`;
  return [
    {
      caption: `Accuracy as labels come in.${missing}`,
      specification: labelsChart(points("accuracy"), {
        title: "Accuracy",
        yTitle: "accuracy",
        recipes,
        bands,
      }),
    },
    {
      caption: `Parity as labels come in.${missing}`,
      specification: labelsChart(points("parity"), {
        title: "Parity",
        yTitle: parityTitle(plan.requirement.metric),
        level,
        recipes,
        bands,
      }),
    },
  ];
};

/** Whom the recipes that were compared to the end asked. */
export const compositionPicture = ({ sets, sensitive, leftOut }: ParityPlan): PlanPicture => ({
  specification: compositionChart(
    sets.flatMap(({ name: method, composition }) =>
      composition.groups.flatMap(({ group, acquired: { mean, interval }, population }) => {
        if (mean === null) return [];
        const [low, high] = interval ?? [mean, mean];
        return [{ method, group, share: { mean, low, high }, population }];
      }),
    ),
    { title: "Who was asked", subtitle: sensitive },
  ),
  caption: `Shares of the groups of ${sensitive} among the labels.${leftOutInWords(leftOut, sensitive)}`,
});
