/** What a fitted model says of a table. */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
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

export interface PredictOptions extends RunOptions {
  /** The column that names the rows; they are counted from 0 unless given. */
  readonly id?: string | undefined;
}

/** One entry for each row of the table that was asked about, in its order. */
export interface Predictions {
  /** [rows], the name of the most probable class; of equals the first. */
  readonly predicted: readonly string[];
  /** [rows], of the positive class where there are two (above 0.5 it is predicted), else of the predicted one. */
  readonly probability: Float64Array;
  readonly classes: readonly string[];
  /** [rows, classes], row-major. */
  readonly probabilities: Float64Array;
  /** The id (or `row`), `predicted`, `probability`, and with more than two classes one `probability of CLASS` each. */
  readonly table: Table;
  /** What the model had not seen, one sentence for each column. */
  readonly notes: readonly string[];
}

export const predictTexts = {
  noRows: "the table has no rows, so there is nothing to predict: give a table with rows",
  noColumns: (names: readonly string[]) =>
    `the table has no column${names.length === 1 ? "" : "s"} ${someOf(names.map((name) => `"${name}"`))}, which the model needs: give a table with all columns that it was fitted on`,
  kind: (column: string) =>
    `the column "${column}" holds texts, and the model was fitted on numbers there: mend the values, or read the table in the same way`,
  unseen: (column: string, rows: number) =>
    `${rows} row${rows === 1 ? " has a value" : "s have values"} of "${column}" that the model has not seen: there it goes by the other columns`,
  missing: (column: string, rows: number) =>
    `${rows} row${rows === 1 ? " has" : "s have"} no value of "${column}", which every row had that the model was fitted on: there it takes the median of those, or no category`,
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
  const { needed, notes } = neededColumns(ready, table);
  const names = id === undefined ? numbers(table.rows) : columnNamed(table, id);
  const pace = pacer({ signal, onProgress });
  const probabilities = new Float64Array(table.rows * classes.length);
  for (let from = 0, size = FIRST_BLOCK; from < table.rows; ) {
    const started = performance.now();
    const end = Math.min(table.rows, from + size);
    const rows = Int32Array.from({ length: end - from }, (_, i) => from + i);
    probabilities.set(ready.classifier.predict(ready.encoder.encode(needed, rows)), from * classes.length);
    from = end;
    const took = performance.now() - started;
    if (took < LONG_MS / 2) size = Math.min(LARGEST_BLOCK, 2 * size);
    if (took > LONG_MS) size = Math.max(1, size >> 1);
    await pace.step({ done: end, total: table.rows, label: "predicting" });
  }
  const best = mostProbable(probabilities, classes.length);
  const predicted = Array.from(best, (c) => classes[c]);
  const shown = (row: number) => (classes.length === 2 ? 1 : best[row]);
  const probability = Float64Array.from(best, (_, row) => probabilities[row * classes.length + shown(row)]);
  return {
    predicted,
    probability,
    classes,
    probabilities,
    table: tableOfPredictions(names, predicted, probability, classes, probabilities),
    notes,
  };
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
    [names, columnOfTexts("predicted", predicted), columnOfNumbers("probability", probability), ...each],
    { name: "the predictions" },
  );
};

/** The columns that the encoder reads, and what of them it had not seen. */
const neededColumns = ({ encoder }: LoadedModel, table: Table) => {
  const { columns } = encoder.rules;
  const have = new Map(table.columns.map((column) => [column.name, column]));
  const absent = columns.map(({ name }) => name).filter((name) => !have.has(name));
  if (absent.length > 0) throw new InputError("missing-columns", predictTexts.noColumns(absent));
  const notes: string[] = [];
  const needed = columns.map((rule): Column => {
    const column = have.get(rule.name) as Column;
    if (rule.kind === "numeric") return numbersOf(column, rule, notes);
    noteUnseen(column, rule, notes);
    return column;
  });
  return { needed: { ...table, columns: needed }, notes };
};

type Rule = LoadedModel["encoder"]["rules"]["columns"][number];

const numbersOf = (column: Column, rule: Extract<Rule, { kind: "numeric" }>, notes: string[]): Column => {
  // A column without any value has no kind of its own.
  const empty = column.kind === "categorical" && column.codes.every((code) => code < 0);
  if (column.kind === "categorical" && !empty)
    throw new InputError("column-kind", predictTexts.kind(rule.name));
  const read =
    column.kind === "numeric"
      ? column
      : columnOfNumbers(column.name, new Float64Array(column.codes.length).fill(Number.NaN));
  const missing = read.values.reduce((count, value) => count + Number(Number.isNaN(value)), 0);
  if (missing > 0 && !rule.indicator) notes.push(predictTexts.missing(rule.name, missing));
  return read;
};

const noteUnseen = (
  column: Column,
  { name, levels, missing: hadMissing }: Extract<Rule, { kind: "categorical" }>,
  notes: string[],
): void => {
  const known = new Set(levels);
  let unseen = 0;
  let missing = 0;
  if (column.kind === "numeric") {
    for (const value of column.values) {
      if (Number.isNaN(value)) missing++;
      else if (!known.has(String(value))) unseen++;
    }
  } else {
    const isKnown = column.levels.map((level) => known.has(level));
    for (const code of column.codes) {
      if (code < 0) missing++;
      else if (!isKnown[code]) unseen++;
    }
  }
  if (unseen > 0) notes.push(predictTexts.unseen(name, unseen));
  if (missing > 0 && !hadMissing) notes.push(predictTexts.missing(name, missing));
};
