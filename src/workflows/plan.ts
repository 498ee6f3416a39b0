/** Which recipe meets a requirement on parity at the least loss of accuracy: tried out on a labelled table. */
import { InputError } from "../core/errors.js";
import type { Optional } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { VERSION } from "../core/version.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { Table } from "../tables/table.js";
import { tableHash } from "../tables/table-hash.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { type LabelsNeeded, labelsNeeded } from "./labels-needed.js";
import { type PlanAnswer, planAnswer } from "./plan-answer.js";
import { choose, exchangeRate, isReference, ranked, type Settled, settle } from "./plan-choice.js";
import { type CurvePointEstimates, curveLabels, curveOf, type RecipeCurve } from "./plan-curves.js";
import { PLAN_DEFAULTS } from "./plan-defaults.js";
import { type OuterDifference, outerJudge } from "./plan-estimates.js";
import { judgedRows, measure } from "./plan-measures.js";
import { recipeName, recipesOf } from "./plan-recipes.js";
import { type PlannedRound, runRounds, type Trial } from "./plan-rounds.js";
import { requirePlanTask, splitPlanRows, thinnedTask } from "./plan-rows.js";
import { type PlannedSet, plannedSet } from "./plan-sets.js";
import {
  LEAST_LABELS,
  type PlanOptions,
  type PlanSettings,
  planningTexts,
  planSettings,
} from "./plan-settings.js";
import { type PlanTable, preparePlanSeed } from "./plan-trials.js";
import {
  byMerit,
  decisionsOf,
  frontierOf,
  type PlannedRecipe,
  plannedRecipe,
  type RecipeFrontier,
} from "./planned-recipe.js";
import { RECIPE_FORMAT, type Recipe } from "./recipe.js";
import type { SimulatedComposition } from "./simulated-composition.js";

export type { PlanOptions } from "./plan-settings.js";

export interface ParityPlan {
  readonly target: string;
  readonly sensitive: string;
  readonly groups: readonly string[];
  readonly requirement: { readonly metric: FairMetric; readonly level: number; readonly labels: number };
  /** In sentences: the first says what to do. */
  readonly answer: PlanAnswer;
  /** The recommended one; that which comes closest where none reaches the level. */
  readonly recommended: PlannedRecipe;
  /** "met": the interval of its parity is above the level; "missed": below; else "open". */
  readonly verdict: "met" | "open" | "missed";
  /** How often the same decision for everybody would be right on the outer rows: parity of 1, and nothing learnt. */
  readonly sameForAll: number;
  /** The best with random acquisition, and the recommended one less it. */
  readonly reference: PlannedRecipe;
  readonly overReference: OuterDifference;
  /** What a unit of parity costs in accuracy here, on inner rows. */
  readonly exchangeRate: number;
  /** Whether the reference reaches the level, if any does, and the interval of that accuracy, at the same parity, has 0 in it. */
  readonly randomIsAsGood: boolean;
  readonly labelsNeeded: LabelsNeeded;
  /** Every recipe, from the best down, by the rounds that they were part of. */
  readonly recipes: readonly PlannedRecipe[];
  readonly frontiers: readonly RecipeFrontier[];
  readonly curves: readonly {
    readonly id: string;
    readonly name: string;
    readonly points: readonly CurvePointEstimates[];
  }[];
  /** Whom the recommended recipe asked, over seeds. */
  readonly composition: SimulatedComposition;
  /** Whom all finalists asked, and what their labels give away. */
  readonly sets: readonly ({ readonly id: string; readonly name: string } & PlannedSet)[];
  readonly rows: {
    readonly table: number;
    readonly outer: number;
    readonly inner: number;
    readonly pool: number;
  };
  readonly rounds: readonly PlannedRound[];
  readonly seeds: readonly number[];
  /** Where the time limit ended it, or null: then the answer is the same on any machine. */
  readonly cut: { readonly round: number; readonly seeds: number; readonly planned: number } | null;
  readonly notes: readonly string[];
  /** To be kept in a file: see `readRecipe`. */
  readonly recipe: Recipe;
}

const isTask = (given: Table | Task): given is Task => "features" in given;

/**
 * Recommends how to ask for labels and what to make of them, for a parity that is wanted. `table` is a pilot: one row for
 * each person, with outcome and attribute. Recipes (a way of asking, shares of the groups, reweighing, the fair decision
 * rule, a learner) are simulated on it, on few seeds first and the best on more; which is recommended is decided on inner
 * rows, and what it is worth is reported on outer rows, which no choice has seen. The answer says where the level cannot
 * be met, and where random acquisition is as good.
 *
 * The same table, options and seed give the same plan on any machine, unless `minutes` cut it short.
 *
 * @example
 * ```ts
 * import { plan, syntheticPool } from "fairbed";
 *
 * const { table, settings } = syntheticPool({ rows: 400, seed: 1 });
 * const { recommended, recipe, rows } = await plan(table, {
 *   ...settings,
 *   parity: 0.8,
 *   labels: 20,
 *   methods: ["epig"],
 *   learners: ["forest"],
 *   trees: 5,
 * });
 * console.log(rows.outer, recipe.requirement.level, recommended.acquisition.method === recipe.acquisition.method); // 120 0.8 true
 * ```
 */
export const plan: {
  (table: Table, options: PlanOptions & TaskSettings): Promise<ParityPlan>;
  (task: Task, options: PlanOptions): Promise<ParityPlan>;
} = async (source: Table | Task, options: PlanOptions & Optional<TaskSettings>): Promise<ParityPlan> => {
  const settings = planSettings(options);
  const whole = isTask(source) ? source : defineTask(source, options as TaskSettings);
  const stream = seededStream(settings.seed).split("plan");
  requirePlanTask(whole);
  const { task, note } = thinnedTask(whole, stream.split("rows"));
  const rows = splitPlanRows(task, settings.metric, stream.split("outer"));
  const { table, notes } = withLabels(task, settings, rows);
  if (note !== undefined) notes.push(note);
  const { labels } = table;
  const batch = settings.batch ?? Math.max(1, Math.round(labels / 100));
  const recipes = recipesOf(settings.methods, settings.learners, batch);
  const { signal, onProgress } = options;
  const curveUnits = CURVES * curveLabels(labels).length;
  let before = 0;
  const { trials, finalists, rounds, cut } = await runRounds(table, recipes, {
    signal,
    onProgress: (progress) => {
      before = progress.total;
      return onProgress?.({ ...progress, total: progress.total + curveUnits });
    },
  });
  if (cut !== null) notes.push(planningTexts.cut(cut.round, cut.seeds, cut.planned));

  // Chosen on inner rows; from here on the outer ones are looked at, and nothing is chosen any more.
  const best = choose(finalists);
  const rate = exchangeRate(finalists.map(({ trial }) => trial));
  const reference = ranked(finalists).find(({ trial }) => isReference(trial.parts)) ?? best;
  const outer = judgedRows(task, rows.outer, settings.metric);
  const judge = outerJudge(outer, stream.split("outer errors"));
  const ids = new Set(finalists.map(({ trial }) => trial.id));
  const describe = (settled: Settled<Trial>) => plannedRecipe(settled, settings.metric, judge, ids);
  const all = trials.map((trial) => describe(settle(trial, settings.level)));
  const recommended = describe(best);
  const shown =
    best === reference ? [best, ...finalists.filter((each) => each !== best).slice(0, 1)] : [best, reference];
  const curves: (RecipeCurve & { readonly id: string; readonly name: string })[] = [];
  for (const [i, { trial, at }] of shown.entries()) {
    const share = curveUnits / shown.length;
    const curve = await curveOf(table, trial, trial.aims[at].aim, judge, {
      signal,
      onProgress: ({ done, total }) =>
        onProgress?.({
          done: before + (i + done / total) * share,
          total: before + curveUnits,
          label: `labels needed: ${recipeName(trial.parts)}`,
        }),
    });
    curves.push({ id: trial.id, name: recipeName(trial.parts), ...curve });
  }
  const sets: ParityPlan["sets"][number][] = [];
  for (const { trial } of finalists) {
    sets.push({
      id: trial.id,
      name: recipeName(trial.parts),
      ...(await plannedSet(table, trial, { signal })),
    });
  }
  const setOf = (id: string) => sets.find((set) => set.id === id) ?? sets[0];
  const overReference = judge.difference(decisionsOf(best), decisionsOf(reference), rate);
  const { interval } = recommended.outer.parity;
  const found = {
    target: task.target.name,
    sensitive: task.sensitive[0].name,
    groups: task.sensitive[0].classes,
    requirement: { metric: settings.metric, level: settings.level, labels },
    recommended,
    verdict: interval[0] >= settings.level ? "met" : interval[1] < settings.level ? "missed" : "open",
    sameForAll: Math.max(
      ...[0, 1].map((all) => measure(new Uint8Array(rows.outer.length).fill(all), outer).accuracy),
    ),
    reference: describe(reference),
    overReference,
    exchangeRate: rate,
    // One that does not reach the level is not as good, however accurate it is.
    randomIsAsGood:
      overReference.accuracyAtParity.interval[0] <= 0 && reference.reaches >= Math.min(1, best.reaches),
    labelsNeeded: labelsNeeded(curves[0].values, settings.level, stream.split("labels needed")),
    recipes: all.sort(byMerit),
    frontiers: finalists.map(({ trial }) => frontierOf(trial, judge)),
    curves: curves.map(({ values: _, ...curve }) => curve),
    composition: setOf(best.trial.id).composition,
    sets,
    rows: { table: whole.table.rows, outer: rows.outer.length, ...sizesOf(table) },
    rounds,
    seeds: best.trial.seeds,
    cut,
    notes: [...task.notes, ...notes],
  } as const;
  const answer = planAnswer(found);
  return { ...found, answer, recipe: recipeOf(found, answer, tableHash(whole.table)) };
};

/** The recommended one and what it is compared with. */
const CURVES = 2;

/** How many labels, where that depends on the table. */
const withLabels = (
  task: Task,
  settings: PlanSettings,
  rows: PlanTable["rows"],
): { readonly table: PlanTable; readonly notes: string[] } => {
  const table: PlanTable = { task, rows, settings, labels: settings.labels ?? PLAN_DEFAULTS.labels };
  const { pool } = sizesOf(table);
  if (settings.labels === undefined && 2 * table.labels > pool) {
    const labels = Math.max(LEAST_LABELS, Math.floor(pool / 2));
    return { table: { ...table, labels }, notes: [planningTexts.fewerLabels(labels, pool)] };
  }
  if (table.labels > pool) throw new InputError("labels", planningTexts.labels(table.labels, pool));
  return { table, notes: 2 * table.labels > pool ? [planningTexts.manyLabels(table.labels, pool)] : [] };
};

/** Of the first seed; all have the same. */
const sizesOf = (table: PlanTable): { readonly inner: number; readonly pool: number } => {
  const { prepared } = preparePlanSeed(table, 100 * table.settings.seed);
  return { inner: prepared.split.test.length, pool: prepared.split.pool.length };
};

const recipeOf = (
  {
    target,
    sensitive,
    requirement,
    recommended,
    seeds,
    verdict,
    rows,
  }: Omit<ParityPlan, "answer" | "recipe">,
  { recommendation }: PlanAnswer,
  table: string,
): Recipe => ({
  format: RECIPE_FORMAT,
  version: VERSION,
  description: recommendation,
  requirement: { ...requirement, target, sensitive },
  acquisition: recommended.acquisition,
  fit: recommended.fit,
  chosenOn: {
    table,
    rows: rows.table,
    seeds,
    labels: recommended.labels,
    accuracy: { mean: recommended.outer.accuracy.mean, interval: recommended.outer.accuracy.interval },
    parity: { mean: recommended.outer.parity.mean, interval: recommended.outer.parity.interval },
    verdict,
  },
});
