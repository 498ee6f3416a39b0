/**
 * Rankings for one who keeps the questions and the answers himself, as a campaign does: whom to ask next, as a function
 * of what was asked and told so far. The table is encoded once; each ranking fits its models anew.
 */
import { betaControl } from "../active/beta-control.js";
import { informationParts } from "../active/strategy-names.js";
import type { RunOptions } from "../core/options.js";
import { pacer } from "../core/options.js";
import { seededStream } from "../core/random.js";
import type { Table } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import { type AcquisitionOptions, type AcquisitionPlan, planAcquisition } from "./acquisition-plan.js";
import type { EstimateInput, PoolEstimate } from "./estimate-acquired.js";
import type { FitTaskOptions } from "./fit-model.js";
import type { FittedModel } from "./fitted-model.js";
import type { Forecast, ForecastInput, ForecastOptions } from "./forecast.js";
import { type AskedRow, createRowSession, type RowSession } from "./row-session.js";
import { createToldLog, type Told, type ToldLog } from "./told-log.js";

/** One that was asked for, with what the ranking it came from showed, where beta follows a goal. */
export interface RecordedRow extends AskedRow {
  /** Which ranking it came from. */
  readonly ranking?: number | undefined;
  readonly parity?: number | undefined;
  readonly leastLeakage?: number | undefined;
}

/** All that a ranking depends on beside the table and the options. */
export interface AcquiredSoFar {
  /** In the order in which they were asked for; those whose question ran out without an answer are not among them. */
  readonly asked: readonly RecordedRow[];
  readonly told: readonly Told[];
}

export interface RankedRow {
  readonly row: number;
  /** What candidates are chosen by, without cost. */
  readonly score: number;
  /** In nats; null where the method's score is no information, or it does not look at leakage. */
  readonly target: number | null;
  readonly leakage: number | null;
  readonly cost: number;
  /** The group that it was taken for, where shares are kept to. */
  readonly group?: number | undefined;
}

export interface AcquisitionRanking {
  readonly rows: readonly RankedRow[];
  readonly beta: number;
  /** Labels of fewer than two classes are known: nothing can be ranked, and whoever asks draws at random. */
  readonly cold: boolean;
  readonly leastLeakage: number;
  readonly parity: number | undefined;
}

export interface AcquisitionRanker {
  readonly plan: AcquisitionPlan;
  /** The best `size` by their scores; `name`, such as the number of the last event, tells its random stream from others. */
  rank(soFar: AcquiredSoFar, size: number, name: number, run?: RunOptions): Promise<AcquisitionRanking>;
  /** The table with what was told filled in. */
  table(soFar: AcquiredSoFar): Table;
  model(soFar: AcquiredSoFar, run?: RunOptions): Promise<FittedModel>;
  estimate(soFar: AcquiredSoFar, run?: RunOptions): Promise<PoolEstimate>;
  forecast(soFar: AcquiredSoFar, options?: ForecastOptions): Promise<Forecast>;
}

/** What a forecast is asked for. */
export type ForecastChoice = Omit<ForecastOptions, keyof RunOptions>;

/** Beta where a goal finds it: from what was asked so far, in its order. */
const controlOf = (
  { rows: { goal, budget, randomPart = 0 } }: AcquisitionPlan,
  asked: readonly RecordedRow[],
) => {
  const control = betaControl(goal);
  if ("beta" in goal) return control.state;
  let last: number | undefined;
  for (const [i, { drawn, leakage, parity, leastLeakage = 0, ranking }] of asked.entries()) {
    if (drawn === true) continue;
    // Parity was measured once for each ranking, leakage is of each label.
    if ("parityAtLeast" in goal && ranking !== undefined && ranking === last) continue;
    last = ranking;
    control.observe({
      leakage,
      labels: 1,
      left: budget === undefined ? 0 : Math.round(Math.max(0, budget - i - 1) * (1 - randomPart)),
      leastLeakage,
      parity,
    });
  }
  return control.state;
};

/** The task with the labels that are known by now. */
export const taskNow = (task: Task, rows: RowSession, table: Table): Task => {
  const labels = new Int32Array(table.rows).fill(-1);
  for (const row of rows.labelled()) labels[row] = rows.labelOf(row);
  return {
    ...task,
    table,
    target: { ...task.target, labels },
    sensitive: task.sensitive.map((label, i) => ({ ...label, labels: rows.sensitiveOf(i, table.rows) })),
  };
};

/** Fails where an acquisition of this table cannot work with the options. */
export const requireAcquisition = (table: Table, options: AcquisitionOptions): void => {
  createRowSession(planAcquisition(table, options).rows);
};

export const acquisitionRanker = (table: Table, options: AcquisitionOptions): AcquisitionRanker => {
  const plan = planAcquisition(table, options);
  const { task, settings } = plan;
  const sessionOf = ({ asked, told }: AcquiredSoFar): { rows: RowSession; log: ToldLog } => {
    const rows = createRowSession(plan.rows, { asked, control: controlOf(plan, asked) });
    const log = createToldLog(table, plan, rows);
    for (const one of told) log.take(one);
    return { rows, log };
  };
  return {
    plan,
    async rank(soFar, size, name, run = {}) {
      const { rows: ranked, ...rest } = await sessionOf(soFar).rows.rank(size, name, pacer(run));
      return {
        ...rest,
        rows: ranked.map((each) => ({
          row: each.row,
          score: each.score,
          ...informationParts(settings.method, each),
          cost: each.cost,
          ...(each.group === undefined ? {} : { group: each.group }),
        })),
      };
    },
    table: (soFar) => sessionOf(soFar).log.table(),
    async model(soFar, run = {}) {
      const { rows, log } = sessionOf(soFar);
      return fitAcquired(plan, taskNow(task, rows, log.table()), { ...run, seed: options.seed });
    },
    estimate: async (soFar, run = {}) =>
      estimateLabels({ ...run, ...estimateInput(plan, sessionOf(soFar).rows, options.seed) }),
    forecast: async (soFar, run = {}) =>
      forecastLabels({ ...run, ...estimateInput(plan, sessionOf(soFar).rows, options.seed) }),
  };
};

/*
 * What comes after questions is loaded when it is first asked for: a page that only asks does without it.
 */

/** A model of the labels so far, with the settings that questions are chosen by. */
export const fitAcquired = async (
  { settings }: AcquisitionPlan,
  task: Task,
  options: Pick<FitTaskOptions, "seed" | keyof RunOptions>,
): Promise<FittedModel> => {
  const { fitTask } = await import("./fit-model.js");
  return fitTask(task, {
    ...options,
    learnerOptions: settings.forest,
    reweigh: settings.reweigh,
    categories: settings.categories,
  });
};

export const estimateLabels = async (input: EstimateInput): Promise<PoolEstimate> =>
  (await import("./estimate-acquired.js")).estimateAcquired(input);

export const forecastLabels = async (input: ForecastInput): Promise<Forecast> =>
  (await import("./forecast.js")).forecastAcquired(input);

/** What estimates and forecasts of the acquired labels rest on: as they are now, whatever is told meanwhile. */
export const estimateInput = (
  { rows: plan, settings }: AcquisitionPlan,
  rows: RowSession,
  seed = 0,
): Omit<EstimateInput, "signal" | "onProgress"> => ({
  features: plan.features,
  target: { labels: rows.labels(), classes: plan.target.classes },
  sensitive:
    plan.sensitive.length === 0
      ? undefined
      : { ...plan.sensitive[0], labels: rows.sensitiveOf(0, plan.features.rows) },
  initial: plan.initial,
  asked: [...rows.asked],
  isRefused: refusedNow(rows),
  pool: plan.pool.length,
  learner: plan.learner,
  weights: plan.weights,
  reweigh: settings.reweigh,
  stream: seededStream(seed).split("estimate").split(rows.labelled().length),
});

const refusedNow = ({ asked, isRefused }: RowSession): ((row: number) => boolean) => {
  const refused = new Set(asked.flatMap(({ row }) => (isRefused(row) ? [row] : [])));
  return (row) => refused.has(row);
};
