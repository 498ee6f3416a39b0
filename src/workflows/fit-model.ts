/** What people do after collecting labels: fit a model, know what it is worth in every group, and keep it. */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { VERSION } from "../core/version.js";
import {
  type LearnerName,
  type LearnerOptions,
  learnerName,
  learnerNamed,
  saveClassifier,
} from "../learners/by-name.js";
import type { CategoryEncoding } from "../tables/encoder.js";
import type { LabelChoice } from "../tables/label.js";
import { columnNamed, type Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { FIT_DEFAULTS } from "./fit-defaults.js";
import { type MitigationChoices, type Mitigations, mitigationsOf } from "./fit-mitigations.js";
import { type FitPlan, type FittedReject, type FittedRule, fitParts } from "./fit-parts.js";
import {
  type FittedModel,
  type HeldOutMetrics,
  loadModel,
  type ModelRejectOption,
  type ModelRule,
  modelFormat,
} from "./fitted-model.js";
import { heldOutMetrics, heldOutParts, heldOutTexts, judge } from "./held-out-metrics.js";

/** How a model is fitted and judged, whatever the table. */
export interface FitTaskOptions extends RunOptions, MitigationChoices {
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
  /** More rows of the population, on which a rule is chosen: only the columns of the features are read. */
  readonly unlabelled?: Table | undefined;
  /**
   * [rows of the table]: the probability with which a row was drawn at random, NaN where it was chosen otherwise. A rule
   * counts rates by the former. All are taken as drawn at random unless given.
   */
  readonly probabilities?: Float64Array | undefined;
  /** Where the random streams start (0). */
  readonly seed?: number | undefined;
}

export interface FitOptions extends Omit<FitTaskOptions, "probabilities">, Omit<TaskSettings, "sensitive"> {
  /** Attributes by which the model is judged; never features unless named there. None unless given. */
  readonly sensitive?: readonly LabelChoice[] | undefined;
  /** The column with the probability of being drawn, empty where a row was not drawn at random; never a feature. */
  readonly probability?: string | undefined;
}

export const fitTexts = {
  folds: (given: unknown) => `folds was ${String(given)}: give a whole number of at least 2`,
  testFraction: (given: unknown) => `testFraction was ${String(given)}: give a number above 0 and below 1`,
  level: (given: unknown) => `level was ${String(given)}: give a number above 0 and below 1`,
  probabilityText: (column: string) =>
    `the column "${column}" cannot be probabilities because it holds text: name a column of numbers, empty where a row was not drawn at random`,
  probability: (column: string, row: number) =>
    `row ${row + 1} has a probability outside 0 to 1 in the column "${column}": give the probability with which it was drawn, or nothing where it was not drawn at random`,
  noProbability: (column: string) =>
    `no row with a label has a probability in the column "${column}", so nothing is known to be drawn at random: leave the column out, or fill it in`,
  unusedUnlabelled:
    "rows without labels are given, and they are of use to a fair rule only: ask for one, or leave them out",
  unusedProbability:
    "a column of probabilities is given, and it is of use to a fair rule only: ask for one, or leave it out",
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
  const { sensitive = [], probability, ...settings } = options;
  const exclude = [...(settings.exclude ?? []), ...(probability === undefined ? [] : [probability])];
  const task = defineTask(table, { ...settings, exclude, sensitive }, { sensitiveElsewhere: true });
  const probabilities = probability === undefined ? undefined : probabilitiesOf(task, probability);
  return fitTask(task, { ...options, probabilities });
};

const probabilitiesOf = ({ table, target }: Task, name: string): Float64Array => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric") throw new InputError("probability", fitTexts.probabilityText(name));
  for (const [row, value] of column.values.entries())
    if (!Number.isNaN(value) && !(value > 0 && value <= 1))
      throw new InputError("probability", fitTexts.probability(name, row));
  if (!column.values.some((value, row) => value > 0 && target.labels[row] >= 0))
    throw new InputError("probability", fitTexts.noProbability(name));
  return column.values;
};

/** {@link fitModel} of a task that is already defined: its labels (-1 where unknown), features, weights and attributes. */
export const fitTask = async (task: Task, options: FitTaskOptions = {}): Promise<FittedModel> => {
  const settings = settingsOf(options);
  const { learner: name, learnerOptions, categories, seed } = settings;
  const { target } = task;
  const rows = labelledRows(task, options.rows);
  const learner = learnerNamed(name, learnerOptions);
  const mitigations = mitigationsOf(task, options);
  const { unlabelled: more, probabilities } = options;
  if (mitigations.rule === undefined && more !== undefined)
    throw new InputError("unlabelled", fitTexts.unusedUnlabelled);
  if (mitigations.rule === undefined && probabilities !== undefined)
    throw new InputError("probability", fitTexts.unusedProbability);
  const plan: FitPlan = {
    task,
    learner,
    categories,
    mitigations,
    unlabelled: among(task, options.rows).filter((row) => target.labels[row] < 0),
    more,
    probabilities,
  };
  const stream = seededStream(seed).split("fit");
  const notes: string[] = [...task.table.notes, ...task.notes];
  const parts = heldOutParts(rows, target.labels, settings, stream.split("held out"));
  if (parts.length === 0) notes.push(heldOutTexts.fewRows);
  const pace = pacer(options);
  const total = parts.length + 1;
  const step = (done: number) => pace.step({ done, total, label: "fitting" });
  const fit = (of: Int32Array, own: RandomStream) => fitParts(plan, of, own, { signal: options.signal });
  await step(0);
  let heldOut: HeldOutMetrics | undefined;
  if (parts.length > 0) {
    const judgements = await judge(parts, fit, stream, step);
    const holdOut = { ...settings, parts: parts.length };
    heldOut = await heldOutMetrics(task, judgements, holdOut, stream.split("metrics"), notes, options);
  }
  const { encoder, classifier, representation, rule, rejectOption, ...fitted } = await fit(
    rows,
    stream.split("final"),
  );
  await step(total);
  notes.push(...fitted.notes);
  const how = {
    encoder: encoder.rules,
    representation,
    rule: rule === undefined ? undefined : modelRule(mitigations, rule, heldOut),
    rejectOption: rejectOption === undefined ? undefined : modelRejectOption(mitigations, rejectOption),
  };
  const model: FittedModel = {
    format: modelFormat(how),
    version: VERSION,
    target: { name: target.name, classes: target.classes },
    sensitive: task.sensitive.map((label) => label.name),
    columns: encoder.rules.columns.map((each) => ({ name: each.name, kind: each.kind })),
    encoder: how.encoder,
    learner: { name, options: learnerOptions, fitted: saveClassifier(classifier) },
    reweighed: mitigations.reweigh ? true : undefined,
    representation: how.representation,
    rule: how.rule,
    rejectOption: how.rejectOption,
    seed,
    rows: rows.length,
    heldOut,
    notes,
  };
  // As whoever reads the file will see it, so that a model that could not be read is not handed out.
  return loadModel(model).model;
};

const modelRule = (
  { attribute }: Mitigations,
  { tuned, groups }: FittedRule,
  heldOut: HeldOutMetrics | undefined,
): ModelRule => {
  const { rule, groupModel, chosenOn, warnings } = tuned;
  const { metric, multipliers, shares, threshold, level, ratio, interval } = rule;
  const { classifier, only, calibration } = groupModel;
  // The last is the attribute that the rule goes by: the only one, or all together.
  const gaps = heldOut?.groups.at(-1)?.gaps;
  return {
    metric,
    multipliers,
    shares,
    threshold,
    attribute: attribute?.name ?? "",
    groups,
    level,
    groupModel: {
      fitted: classifier === undefined ? undefined : saveClassifier(classifier),
      only,
      calibration,
    },
    chosenOn: {
      by: chosenOn.by,
      labelled: chosenOn.labelled.length,
      unlabelled: chosenOn.unlabelled.length,
      ratio,
      interval,
    },
    heldOut: (metric === "dp" ? gaps?.demographicParity : gaps?.equalOpportunity)?.ratio,
    warnings,
  };
};

const modelRejectOption = (
  { attribute }: Mitigations,
  { rule, privileged, rows }: FittedReject,
): ModelRejectOption | undefined =>
  attribute === undefined
    ? undefined
    : {
        threshold: rule.threshold,
        margin: rule.margin,
        attribute: attribute.rule,
        privileged,
        rows,
        difference: rule.difference,
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

const among = ({ table }: Task, rows: ArrayLike<number> | undefined): Int32Array =>
  rows === undefined ? Int32Array.from({ length: table.rows }, (_, row) => row) : Int32Array.from(rows);

const labelledRows = (task: Task, given: ArrayLike<number> | undefined): Int32Array => {
  const { target } = task;
  const rows = among(task, given).filter((row) => target.labels[row] >= 0);
  if (rows.length === 0) throw new InputError("no-labels", fitTexts.noLabels(target.name));
  if (rows.every((row) => target.labels[row] === target.labels[rows[0]]))
    throw new InputError("one-class", fitTexts.oneClass(target.name, rows.length));
  return rows;
};
