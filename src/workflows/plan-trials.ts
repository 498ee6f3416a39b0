/** One way of asking on one seed, and what every recipe that asks so makes of the labels. */
import type { RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import type { Task } from "../tables/task.js";
import { recommendedFor, type SimulationSettings } from "./acquisition-settings.js";
import { type JudgedRows, judgedRows, type Measured, measure } from "./plan-measures.js";
import { type AcquiredSet, decide } from "./plan-models.js";
import { askingId, type PlannedParts } from "./plan-recipes.js";
import type { PlanRows } from "./plan-rows.js";
import type { PlanSettings } from "./plan-settings.js";
import type { RecipeAcquisition } from "./recipe.js";
import { type Acquisition, type PreparedSeed, prepareSeed, simulateSeed } from "./simulation.js";

/** Decisions under one setting of the rule (undefined: none). The outer ones are kept for the report, and not looked at. */
export interface Outcome {
  readonly aim: number | undefined;
  readonly inner: Measured;
  readonly outer: Uint8Array;
}

/** A seed's split and features; the same for every recipe. */
export interface PlanSeed {
  readonly seed: number;
  readonly prepared: PreparedSeed;
  readonly inner: JudgedRows;
}

export interface PlanTable {
  readonly task: Task;
  readonly rows: PlanRows;
  readonly settings: PlanSettings;
  /** The most labels that are acquired. */
  readonly labels: number;
}

/**
 * What the rule is set to, since what it then reaches on other rows is seldom the same: steps around the level, small
 * ones where recipes are compared to the end.
 */
export const aimsFor = (level: number, fine: boolean): readonly number[] => {
  const step = (1 - level) / 6;
  const steps = fine ? [-3, -1.5, 0, 1, 2, 3, 4, 5] : [-3, 0, 2, 4];
  const aims = steps.map((times) => Math.max(level + times * step, level / 2));
  return [...new Set(aims.map((aim) => Number(aim.toFixed(3))))];
};

const simulationSettings = (
  { rows, settings }: PlanTable,
  asking: RecipeAcquisition,
  budget: number,
): SimulationSettings => {
  const { method, beta, shares, randomPart, reweigh, batch } = asking;
  const recommended = recommendedFor(method);
  const { trees } = settings;
  return {
    ...recommended,
    goal: beta === undefined ? recommended.goal : { beta },
    forest: { ...recommended.forest, trees },
    sensitiveForest: { ...recommended.sensitiveForest, trees },
    shares,
    randomPart,
    reweigh,
    batch,
    budget,
    pool: settings.pool,
    testFraction: rows.innerFraction,
    checkpoints: [],
  };
};

export const preparePlanSeed = (table: PlanTable, seed: number): PlanSeed => {
  const { rows, settings } = table;
  const recommended = recommendedFor("random");
  const prepared = prepareSeed(
    rows.development,
    { ...recommended, pool: settings.pool, testFraction: rows.innerFraction },
    seed,
  );
  return { seed, prepared, inner: judgedRows(rows.development, prepared.split.test, settings.metric) };
};

/** How many rows a seed chooses on, and how many candidates it has: the same for all. */
export const sizesOf = (table: PlanTable): { readonly inner: number; readonly pool: number } => {
  const { prepared } = preparePlanSeed(table, 100 * table.settings.seed);
  return { inner: prepared.split.test.length, pool: prepared.split.pool.length };
};

/** The labels that one way of asking acquires; in their order, so that fewer labels are the first ones. */
export const acquireFor = async (
  table: PlanTable,
  asking: RecipeAcquisition,
  budget: number,
  seed: number,
  run: RunOptions,
): Promise<Acquisition> => {
  const settings = simulationSettings(table, asking, budget);
  return (await simulateSeed(table.rows.development, settings, seed, run)).acquisition;
};

/** The first `labels` of what was acquired, with the initial ones. */
export const acquiredSet = (
  table: PlanTable,
  { prepared }: PlanSeed,
  { acquired, initial }: Acquisition,
  labels: number,
): AcquiredSet => {
  const first = acquired.slice(0, labels);
  const taken = new Set(first.map(({ row }) => row));
  return {
    features: prepared.features,
    target: prepared.target,
    sensitive: prepared.sensitive[0],
    labelled: Int32Array.from([...initial, ...taken]),
    representative: Int32Array.from(
      first.filter(({ probability }) => probability !== undefined),
      ({ row }) => row,
    ),
    pool: prepared.split.pool.filter((row) => !taken.has(row)),
    weights: table.task.weights,
  };
};

/** What is made of a set by every recipe that was asked for, by {@link finishId}. */
export const finishId = ({ learner, reweigh }: Pick<PlannedParts, "learner" | "reweigh">): string =>
  `${learner}${reweigh ? " reweighed" : ""}`;

/** Decisions on inner and outer rows, one for each aim. */
export const judgeSet = async (
  table: PlanTable,
  seed: PlanSeed,
  set: AcquiredSet,
  parts: PlannedParts,
  { aims, folds }: { readonly aims: readonly (number | undefined)[]; readonly folds: number },
  run: RunOptions,
): Promise<readonly Outcome[]> => {
  const { trees, metric } = table.settings;
  const { outer } = table.rows;
  const inner = seed.inner.rows;
  const rows = Int32Array.from([...inner, ...outer]);
  const { acquisition, learner, reweigh } = parts;
  const stream = seededStream(seed.seed)
    .split("plan")
    .split(askingId(acquisition))
    .split(finishId(parts))
    .split(set.labelled.length);
  const decided = await decide(set, { learner, reweigh, trees, metric, folds }, aims, rows, stream, run);
  return decided.map((each, i) => ({
    aim: aims[i],
    inner: measure(each.subarray(0, inner.length), seed.inner),
    outer: each.slice(inner.length),
  }));
};
