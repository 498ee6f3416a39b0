/**
 * Fairness as a property of the data (paper, section 6.3): a dataset that was acquired with one model is frozen, other
 * models are trained on it, and each is judged on the same held-out rows.
 */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { type LearnerName, learnerNamed } from "../learners/by-name.js";
import type { Learner } from "../learners/classifier.js";
import { fitEncoder } from "../tables/encoder.js";
import type { Task } from "../tables/task.js";
import { type Evaluation, evaluate } from "./evaluation.js";
import {
  type MetricSummaries,
  type PreparedSeed,
  prepareSeed,
  type SimulationSettings,
  summarise,
} from "./simulation.js";

/** What one seed acquired, by rows of the task's table: initial labels included. */
export interface FrozenSeed {
  readonly seed: number;
  readonly labelled: readonly number[];
}

export type SplitSettings = Pick<
  SimulationSettings,
  "testFraction" | "initial" | "targets" | "pool" | "categories"
>;

export interface ModelGeneralization {
  readonly model: LearnerName;
  readonly metrics: MetricSummaries;
}

export const generalizationTexts = {
  noRow: (row: number, rows: number) =>
    `row ${row} was acquired and the table has ${rows} rows: give the table that the rows were acquired from`,
};

/** A learner on frozen rows of a prepared seed, judged on the rows held out; `name` says which stream it draws from. */
export const judgeLearner = (
  {
    features,
    target,
    sensitive,
    test,
  }: Pick<PreparedSeed, "features" | "target" | "sensitive"> & { readonly test: Int32Array },
  labelled: Int32Array,
  weights: Float64Array | undefined,
  { name, learner }: { readonly name: LearnerName; readonly learner: Learner },
  seed: number,
): Evaluation =>
  evaluate({
    features,
    target,
    sensitive: sensitive[0],
    labelled,
    test,
    weights,
    learner,
    sensitiveLearner: learner,
    stream: seededStream(seed).split("generalization").split(name),
  });

/** Every model on every seed's data, judged on the rows that the seed held out. */
export const generalize = async (
  task: Task,
  settings: SplitSettings,
  frozen: readonly FrozenSeed[],
  models: readonly LearnerName[],
  run: RunOptions = {},
): Promise<ModelGeneralization[]> => {
  const pace = pacer(run);
  const rows = task.table.rows;
  const outside = frozen.flatMap(({ labelled }) => labelled).find((row) => row >= rows);
  if (outside !== undefined) throw new InputError("no-row", generalizationTexts.noRow(outside, rows));
  const evaluations = new Map<LearnerName, Evaluation[]>(models.map((name) => [name, []]));
  let done = 0;
  for (const { seed, labelled } of frozen) {
    const prepared = prepareSeed(task, settings, seed);
    for (const [name, own] of evaluations) {
      const learner = learnerNamed(name);
      const { test } = prepared.split;
      own.push(
        judgeLearner({ ...prepared, test }, Int32Array.from(labelled), task.weights, { name, learner }, seed),
      );
      await pace.step({ done: ++done, total: frozen.length * evaluations.size, label: name });
    }
  }
  return [...evaluations].map(([model, all]) => ({ model, metrics: summarise(all) }));
};

/** The same for a table of labelled rows above one of test rows, which begins at `testFrom`. */
export const generalizeTables = async (
  task: Task,
  testFrom: number,
  models: readonly LearnerName[],
  { seed = 0, ...run }: RunOptions & { readonly seed?: number | undefined } = {},
): Promise<ModelGeneralization[]> => {
  const pace = pacer(run);
  const all = Int32Array.from({ length: task.table.rows }, (_, row) => row);
  const [labelled, test] = [all.subarray(0, testFrom), all.subarray(testFrom)];
  const labelOf = ({ labels, classes }: Task["target"]) => ({ labels, classes: classes.length });
  const prepared = {
    features: fitEncoder(task, labelled).encode(task.table),
    target: labelOf(task.target),
    sensitive: task.sensitive.map(labelOf),
    test,
  };
  const results: ModelGeneralization[] = [];
  for (const model of new Set(models)) {
    const learner = learnerNamed(model);
    const evaluation = judgeLearner(prepared, labelled, task.weights, { name: model, learner }, seed);
    results.push({ model, metrics: summarise([evaluation]) });
    await pace.step({ done: results.length, total: models.length, label: model });
  }
  return results;
};
