/** What a fitted model says of a table. */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import { fairMargins } from "../mitigation/fair-rule.js";
import { applyRule, columnsOfRule } from "../tables/label.js";
import {
  type Column,
  columnNamed,
  columnOfNumbers,
  columnOfTexts,
  someOf,
  type Table,
  tableOfColumns,
} from "../tables/table.js";
import { mostProbable } from "./evaluation.js";
import { type FittedModel, type LoadedModel, loadModel } from "./fitted-model.js";
import { blindRowsOf, favourable } from "./group-model.js";
import { columnTexts, neededColumns } from "./needed-columns.js";
import { rejectRows } from "./reject-rows.js";

export interface PredictOptions extends RunOptions {
  /** The column that names the rows; they are counted from 0 unless given. */
  readonly id?: string | undefined;
}

/** One entry for each row of the table that was asked about, in its order. */
export interface Predictions {
  /** [rows], the name of the class that the model's rule decides for; without one the most probable, of equals the first. */
  readonly predicted: readonly string[];
  /** [rows], of the positive class where there are two (above 0.5 it is predicted unless a rule decides), else of the predicted one. */
  readonly probability: Float64Array;
  /** [rows], how far a row is on the selected side of the fair rule, above 0 where it is selected; absent without a rule. */
  readonly margin?: Float64Array | undefined;
  readonly classes: readonly string[];
  /** [rows, classes], row-major. */
  readonly probabilities: Float64Array;
  /**
   * The id (or `row`), `predicted`, `probability`, with a fair rule `margin`, and with more than two classes one
   * `probability of CLASS` each.
   */
  readonly table: Table;
  /** What the model had not seen, one sentence for each column. */
  readonly notes: readonly string[];
}

export const predictTexts = {
  ...columnTexts,
  noRows: "the table has no rows, so there is nothing to predict: give a table with rows",
  noAttribute: (names: readonly string[]) =>
    `the model decides by the reject option, which needs the group of a person, and the table has no column ${someOf(names.map((name) => `"${name}"`))}: give a table with it, or a model with the fair rule, which needs none`,
  unknownGroup: (rows: number) =>
    `${rows} row${rows === 1 ? " has" : "s have"} no known group, so the reject option decided there by its threshold alone`,
};

/** Rows asked about at once; more while that is quick, fewer where it is not. Answers do not depend on it. */
const FIRST_BLOCK = 256;
const LARGEST_BLOCK = 65_536;
const LONG_MS = 20;

/**
 * The most probable class and its probability for every row of `table`, which needs the columns that the model was
 * fitted on (`model.columns`); others are not looked at. The same model and table give the same bits in Node and in a
 * browser.
 *
 * @example
 * ```ts
 * import { fitModel, predict, tableOf } from "fairbed";
 *
 * const people = Array.from({ length: 40 }, (_, i) => ({ skill: i % 8, hired: i % 8 > 3 ? "yes" : "no" }));
 * const model = await fitModel(tableOf(people), { target: "hired=yes" });
 * const { predicted, probability } = await predict(model, tableOf([{ id: "a", skill: 7 }]), { id: "id" });
 * console.log(predicted[0], probability[0] > 0.5); // yes true
 * ```
 */
export const predict = async (
  model: FittedModel,
  table: Table,
  { id, signal, onProgress }: PredictOptions = {},
): Promise<Predictions> => {
  const ready = loadModel(model);
  const { classes } = model.target;
  if (table.rows === 0) throw new InputError("no-rows", predictTexts.noRows);
  const { needed, notes: seen } = neededColumns(ready.encoder, table);
  const notes = [...seen];
  const names = id === undefined ? numbers(table.rows) : columnNamed(table, id);
  const pace = pacer({ signal, onProgress });
  const probabilities = new Float64Array(table.rows * classes.length);
  const margin = model.rule === undefined ? undefined : new Float64Array(table.rows);
  for (let from = 0, size = FIRST_BLOCK; from < table.rows; ) {
    const started = performance.now();
    const end = Math.min(table.rows, from + size);
    const rows = Int32Array.from({ length: end - from }, (_, i) => from + i);
    const features = ready.encode(needed, rows);
    probabilities.set(ready.classifier.predict(features), from * classes.length);
    if (margin !== undefined && ready.rule !== undefined)
      margin.set(
        fairMargins(ready.rule.rule, blindRowsOf(ready.classifier, ready.rule.groupModel, features)),
        from,
      );
    from = end;
    const took = performance.now() - started;
    if (took < LONG_MS / 2) size = Math.min(LARGEST_BLOCK, 2 * size);
    if (took > LONG_MS) size = Math.max(1, size >> 1);
    await pace.step({ done: end, total: table.rows, label: "predicting" });
  }
  const best = decided(ready, table, probabilities, margin, notes);
  const predicted = Array.from(best, (c) => classes[c]);
  const shown = (row: number) => (classes.length === 2 ? 1 : best[row]);
  const probability = Float64Array.from(best, (_, row) => probabilities[row * classes.length + shown(row)]);
  return {
    predicted,
    probability,
    margin,
    classes,
    probabilities,
    table: tableOfPredictions(names, predicted, probability, margin, classes, probabilities),
    notes,
  };
};

/** The class of each row: by the fair rule, by the reject option, or the most probable one. */
const decided = (
  { model, rejectOption }: LoadedModel,
  table: Table,
  probabilities: Float64Array,
  margin: Float64Array | undefined,
  notes: string[],
): Int32Array => {
  if (margin !== undefined) return Int32Array.from(margin, (each) => Number(each > 0));
  if (rejectOption === undefined) return mostProbable(probabilities, model.target.classes.length);
  const { rule, attribute, privileged } = rejectOption;
  const have = new Set(table.columns.map(({ name }) => name));
  const absent = columnsOfRule(attribute).filter((name) => !have.has(name));
  if (absent.length > 0) throw new InputError("missing-columns", predictTexts.noAttribute(absent));
  const groups = applyRule(attribute, table);
  const unknown = groups.reduce((count, group) => count + Number(group < 0), 0);
  if (unknown > 0) notes.push(predictTexts.unknownGroup(unknown));
  const isPrivileged = groups.map((group) => (group < 0 ? -1 : Number(group === privileged)));
  return rejectRows(rule, favourable(probabilities), isPrivileged);
};

const numbers = (rows: number): Column =>
  columnOfNumbers(
    "row",
    Float64Array.from({ length: rows }, (_, row) => row),
  );

const tableOfPredictions = (
  names: Column,
  predicted: readonly string[],
  probability: Float64Array,
  margin: Float64Array | undefined,
  classes: readonly string[],
  probabilities: Float64Array,
): Table => {
  const each =
    classes.length === 2
      ? []
      : classes.map((name, c) =>
          columnOfNumbers(
            `probability of ${name}`,
            probabilities.filter((_, at) => at % classes.length === c),
          ),
        );
  return tableOfColumns(
    [
      names,
      columnOfTexts("predicted", predicted),
      columnOfNumbers("probability", probability),
      ...(margin === undefined ? [] : [columnOfNumbers("margin", margin)]),
      ...each,
    ],
    { name: "the predictions" },
  );
};
