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
import { idReader } from "../tables/ids.js";
import { columnCell, columnNamed } from "../tables/table.js";
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
  row: (given: unknown, rows: number) =>
    `row ${typeof given === "number" ? given : "of another kind"} was acquired and the table has rows 0 to ${rows - 1}: give whole numbers of those, and the table that they were acquired from`,
  twice: (row: number) => `row ${row} was acquired twice in a seed: give each row once`,
  tested: (rows: number, seed: number) =>
    `${rows} row${rows === 1 ? "" : "s"} that seed ${seed} acquired ${rows === 1 ? "is" : "are"} among its test rows, or could not be acquired: give the rows, the table and the settings as they were`,
  unlabelled: (row: number) =>
    `row ${row} was acquired and has no label: give the table that it was acquired from`,
  sameRows: (rows: number) =>
    `${rows === 1 ? "the only test row is" : `all ${rows} test rows are`} among the labelled rows too, value by value: judge on rows that nothing is learnt from`,
  someRows: (rows: number) =>
    `${rows} of the test rows ${rows === 1 ? "is" : "are"} among the labelled rows too, value by value: if ${rows === 1 ? "it is the same person" : "they are the same people"}, what is judged is what was learnt`,
  sameIds: (rows: number, id: string) =>
    `${rows} id${rows === 1 ? "" : "s"} of the column "${id}" ${rows === 1 ? "is" : "are"} among both the labelled and the test rows: judge on others than are learnt from`,
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
  for (const { labelled } of frozen) requireRowsOf(task, labelled);
  const evaluations = new Map<LearnerName, Evaluation[]>(models.map((name) => [name, []]));
  let done = 0;
  for (const { seed, labelled } of frozen) {
    const prepared = prepareSeed(task, settings, seed);
    requireAcquirable(prepared, labelled, seed);
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

/** Whole numbers of rows that are there and have a label, none twice. */
const requireRowsOf = ({ table, target }: Task, labelled: readonly unknown[]): void => {
  const seen = new Set<number>();
  for (const row of labelled) {
    if (typeof row !== "number" || !Number.isInteger(row) || row < 0 || row >= table.rows) {
      throw new InputError("no-row", generalizationTexts.row(row, table.rows));
    }
    if (seen.has(row)) throw new InputError("row-twice", generalizationTexts.twice(row));
    if (target.labels[row] < 0) throw new InputError("no-label", generalizationTexts.unlabelled(row));
    seen.add(row);
  }
};

/** What a seed acquired is its initial rows and candidates of its split, and nothing that it held out. */
const requireAcquirable = ({ split }: PreparedSeed, labelled: readonly number[], seed: number): void => {
  const may = new Set([...split.initial, ...split.pool]);
  const others = labelled.filter((row) => !may.has(row)).length;
  if (others > 0) throw new InputError("tested", generalizationTexts.tested(others, seed));
};

/** How many test rows are among the labelled ones; a note, or an error where they all are, or by their ids. */
const requireOtherRows = (task: Task, testFrom: number): readonly string[] => {
  const { table, id } = task;
  const tested = table.rows - testFrom;
  if (id !== undefined) {
    const idOf = idReader(columnNamed(table, id));
    const known = new Set(Array.from({ length: testFrom }, (_, row) => idOf(row)));
    known.delete(undefined);
    const same = Array.from({ length: tested }, (_, i) => idOf(testFrom + i)).filter((each) =>
      known.has(each),
    );
    if (same.length > 0) throw new InputError("same-rows", generalizationTexts.sameIds(same.length, id));
  }
  const cells = table.columns.map(columnCell);
  const keyOf = (row: number): string => JSON.stringify(cells.map((cell) => cell(row) ?? null));
  const known = new Set(Array.from({ length: testFrom }, (_, row) => keyOf(row)));
  const same = Array.from({ length: tested }, (_, i) => testFrom + i).filter((row) =>
    known.has(keyOf(row)),
  ).length;
  if (same === tested) throw new InputError("same-rows", generalizationTexts.sameRows(same));
  return same === 0 ? [] : [generalizationTexts.someRows(same)];
};

/** The same for a table of labelled rows above one of test rows, which begins at `testFrom`. */
export const generalizeTables = async (
  task: Task,
  testFrom: number,
  models: readonly LearnerName[],
  { seed = 0, ...run }: RunOptions & { readonly seed?: number | undefined } = {},
): Promise<{ readonly results: readonly ModelGeneralization[]; readonly notes: readonly string[] }> => {
  const pace = pacer(run);
  const notes = requireOtherRows(task, testFrom);
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
  return { results, notes };
};
