/** Which recipe meets a requirement on parity at the least loss of accuracy: tried out on a labelled table. */
import { InputError } from "../core/errors.js";
import type { Optional } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { VERSION } from "../core/version.js";
import type { Table } from "../tables/table.js";
import { tableHash } from "../tables/table-hash.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import type { ParityPlan, PlanAnswer, PlanFindings } from "./parity-plan.js";
import { planAnswer } from "./plan-answer.js";
import { curveLabels } from "./plan-curves.js";
import { PLAN_DEFAULTS } from "./plan-defaults.js";
import { findingsOf } from "./plan-findings.js";
import { recipesOf } from "./plan-recipes.js";
import { runRounds } from "./plan-rounds.js";
import { requirePlanTask, splitPlanRows, thinnedTask } from "./plan-rows.js";
import {
  LEAST_LABELS,
  type PlanOptions,
  type PlanSettings,
  planningTexts,
  planSettings,
} from "./plan-settings.js";
import { type PlanTable, sizesOf } from "./plan-trials.js";
import { RECIPE_FORMAT, type Recipe } from "./recipe.js";

export type { ParityPlan } from "./parity-plan.js";
export type { PlanOptions } from "./plan-settings.js";

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
  const given = isTask(source) ? source : defineTask(source, options as TaskSettings);
  const stream = seededStream(settings.seed).split("plan");
  requirePlanTask(given);
  const { task, note } = thinnedTask(given, stream.split("rows"));
  const rows = splitPlanRows(task, settings.metric, stream.split("outer"));
  const { table, notes } = withLabels(task, settings, rows);
  if (note !== undefined) notes.push(note);
  const { labels } = table;
  const batch = settings.batch ?? Math.max(1, Math.round(labels / 100));
  const recipes = recipesOf(settings.methods, settings.learners, batch);
  const { signal, onProgress, onTrial } = options;
  const later = 2 * curveLabels(labels).length; // about as long as so many acquisitions
  let before = 0;
  const tried = await runRounds(table, recipes, {
    signal,
    onTrial,
    onProgress: (progress) => {
      before = progress.total;
      return onProgress?.({ ...progress, total: progress.total + later });
    },
  });
  const { cut } = tried;
  if (cut !== null) notes.push(planningTexts.cut(cut.round, cut.seeds, cut.planned));

  const found = await findingsOf(table, tried, {
    signal,
    onProgress: ({ done, total, label }) =>
      onProgress?.({ done: before + (done / total) * later, total: before + later, label }),
  });
  const whole = {
    ...found,
    rows: { ...found.rows, table: given.table.rows },
    notes: [...task.notes, ...notes],
  };
  const answer = planAnswer(whole);
  return { ...whole, answer, recipe: recipeOf(whole, answer, tableHash(given.table)) };
};

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

const recipeOf = (
  { target, sensitive, requirement, recommended, seeds, verdict, rows }: PlanFindings,
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
