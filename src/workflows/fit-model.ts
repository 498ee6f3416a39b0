/** What people do after collecting labels: fit a model, know what it is worth in every group, and keep it. */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { VERSION } from "../core/version.js";
import {
  type LearnerName,
  type LearnerOptions,
  learnerName,
  learnerNamed,
  saveClassifier,
} from "../learners/by-name.js";
import { type CategoryEncoding, fitEncoder } from "../tables/encoder.js";
import type { LabelChoice } from "../tables/label.js";
import type { Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { FIT_DEFAULTS } from "./fit-defaults.js";
import { type FittedModel, type HeldOutMetrics, loadModel, MODEL_FORMAT } from "./fitted-model.js";
import { heldOutMetrics, heldOutParts, heldOutTexts, judge } from "./held-out-metrics.js";

/** How a model is fitted and judged, whatever the table. */
export interface FitTaskOptions extends RunOptions {
  /** What learns (`"forest"`). */
  readonly learner?: LearnerName | undefined;
  /** What that learner is told; its own defaults unless given. */
  readonly learnerOptions?: LearnerOptions[LearnerName] | undefined;
  /** How categories become numbers (`"one-hot"`). */
  readonly categories?: CategoryEncoding | undefined;
  /** Rows to learn from and to judge on, those without a label left out; all unless given. */
  readonly rows?: ArrayLike<number> | undefined;
  /** The metrics come from cross-validation with so many folds (5), from 2 on ... */
  readonly folds?: number | undefined;
  /** ... unless this share of the rows, above 0 and below 1, is held out once instead. */
  readonly testFraction?: number | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
  /** Bootstrap resamples for the intervals of gaps (1000); 0 for none. */
  readonly replicates?: number | undefined;
  /** Where the random streams start (0). */
  readonly seed?: number | undefined;
}

export interface FitOptions extends FitTaskOptions, Omit<TaskSettings, "sensitive"> {
  /** Attributes by which the model is judged; never features unless named there. None unless given. */
  readonly sensitive?: readonly LabelChoice[] | undefined;
}

export const fitTexts = {
  folds: (given: unknown) => `folds was ${String(given)}: give a whole number of at least 2`,
  testFraction: (given: unknown) => `testFraction was ${String(given)}: give a number above 0 and below 1`,
  level: (given: unknown) => `level was ${String(given)}: give a number above 0 and below 1`,
  noLabels: (target: string) =>
    `none of the rows has a known value of "${target}", so there is nothing to learn from: give rows with labels`,
  oneClass: (target: string, rows: number) =>
    `all ${rows} rows with a known value of "${target}" have the same one, so there is nothing to learn: give rows of another class`,
};

/**
 * A model of the target, fitted on every row whose label is known, with what it is worth in every group on rows that
 * were held out. `table` has one row for each person; rows whose target is missing are left out with a note.
 *
 * The metrics are of models that did not see the rows they were judged on: by cross-validation, or on `testFraction` of
 * the rows. The model that is returned is fitted on all of them. Weights count in the fits and in the rates.
 *
 * @example
 * ```ts
 * import { fitModel, predict, tableOf } from "fairbed";
 *
 * const people = Array.from({ length: 60 }, (_, i) => ({
 *   skill: i % 6,
 *   sex: i % 2 === 0 ? "f" : "m",
 *   hired: i < 50 ? (i % 6 > 2 ? "yes" : "no") : null, // the last ten are not decided yet
 * }));
 * const model = await fitModel(tableOf(people), { target: "hired=yes", sensitive: ["sex"] });
 * console.log(model.rows, model.heldOut.overall[0].rates.accuracy.value); // 50 1
 * const { predicted } = await predict(model, tableOf([{ skill: 5 }, { skill: 0 }]));
 * console.log(predicted); // [ 'yes', 'no' ]
 * ```
 */
export const fitModel = async (table: Table, options: FitOptions): Promise<FittedModel> => {
  const { sensitive = [], ...settings } = options;
  const task = defineTask(table, { ...settings, sensitive }, { sensitiveElsewhere: true });
  return fitTask(task, options);
};

/** {@link fitModel} of a task that is already defined: its labels (-1 where unknown), features, weights and attributes. */
export const fitTask = async (task: Task, options: FitTaskOptions = {}): Promise<FittedModel> => {
  const settings = settingsOf(options);
  const { learner: name, learnerOptions, categories, seed } = settings;
  const { target } = task;
  const rows = labelledRows(task, options.rows);
  const learner = learnerNamed(name, learnerOptions);
  const stream = seededStream(seed).split("fit");
  const notes: string[] = [...task.table.notes, ...task.notes];
  const parts = heldOutParts(rows, target.labels, settings, stream.split("held out"));
  if (parts.length === 0) notes.push(heldOutTexts.fewRows);
  const pace = pacer(options);
  const total = parts.length + 1;
  const step = (done: number) => pace.step({ done, total, label: "fitting" });
  await step(0);
  let heldOut: HeldOutMetrics | undefined;
  if (parts.length > 0) {
    const judgements = await judge(task, parts, learner, categories, stream, step);
    const holdOut = { ...settings, parts: parts.length };
    heldOut = await heldOutMetrics(task, judgements, holdOut, stream.split("metrics"), notes, options);
  }
  const encoder = fitEncoder(task, rows, { categories });
  const { weights } = task;
  const classifier = learner.fit(
    {
      features: encoder.encode(task.table, rows),
      labels: rows.map((row) => target.labels[row]),
      classes: target.classes.length,
      weights: weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]),
    },
    stream.split("final"),
  );
  await step(total);
  const model: FittedModel = {
    format: MODEL_FORMAT,
    version: VERSION,
    target: { name: target.name, classes: target.classes },
    sensitive: task.sensitive.map((label) => label.name),
    columns: encoder.rules.columns.map((rule) => ({ name: rule.name, kind: rule.kind })),
    encoder: encoder.rules,
    learner: { name, options: learnerOptions, fitted: saveClassifier(classifier) },
    seed,
    rows: rows.length,
    heldOut,
    notes,
  };
  // As whoever reads the file will see it, so that a model that could not be read is not handed out.
  return loadModel(model).model;
};

const settingsOf = (options: FitTaskOptions) => {
  const { learnerOptions = {}, testFraction } = options;
  const { categories, folds, level, replicates, seed } = { ...FIT_DEFAULTS, ...given(options) };
  if (!Number.isInteger(folds) || folds < 2) throw new InputError("folds", fitTexts.folds(folds));
  if (testFraction !== undefined && !(testFraction > 0 && testFraction < 1))
    throw new InputError("test-fraction", fitTexts.testFraction(testFraction));
  if (!(level > 0 && level < 1)) throw new InputError("level", fitTexts.level(level));
  const learner = learnerName(options.learner ?? FIT_DEFAULTS.learner);
  return { learner, learnerOptions, categories, folds, testFraction, level, replicates, seed };
};

/** Only what was given, so that it can be spread over defaults. */
const given = <Options extends object>(
  options: Options,
): { [Name in keyof Options]: Exclude<Options[Name], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Options]: Exclude<Options[Name], undefined>;
  };

const labelledRows = ({ table, target }: Task, among: ArrayLike<number> | undefined): Int32Array => {
  const all =
    among === undefined ? Int32Array.from({ length: table.rows }, (_, row) => row) : Int32Array.from(among);
  const rows = all.filter((row) => target.labels[row] >= 0);
  if (rows.length === 0) throw new InputError("no-labels", fitTexts.noLabels(target.name));
  if (rows.every((row) => target.labels[row] === target.labels[rows[0]]))
    throw new InputError("one-class", fitTexts.oneClass(target.name, rows.length));
  return rows;
};
