/** The columns of a table that a fitted encoder reads, and what of them it had not seen. */
import { InputError } from "../core/errors.js";
import { asNumbers, columnTypeTexts } from "../tables/column-types.js";
import type { Encoder } from "../tables/encoder.js";
import { type Column, columnOfNumbers, someOf, type Table } from "../tables/table.js";

export const columnTexts = {
  noColumns: (names: readonly string[]) =>
    `the table has no column${names.length === 1 ? "" : "s"} ${someOf(names.map((name) => `"${name}"`))}, which the model needs: give a table with all columns that it was fitted on`,
  kind: (column: string) =>
    `the column "${column}" holds texts, and the model was fitted on numbers there: mend the values, or read the table in the same way`,
  unseen: (column: string, rows: number) =>
    `${rows} row${rows === 1 ? " has a value" : "s have values"} of "${column}" that the model has not seen: there it goes by the other columns`,
  missing: (column: string, rows: number) =>
    `${rows} row${rows === 1 ? " has" : "s have"} no value of "${column}", which every row had that the model was fitted on: there it takes the median of those, or no category`,
};

/** The columns that the encoder reads, and what of them it had not seen. */
export const neededColumns = (
  encoder: Pick<Encoder, "rules">,
  table: Table,
): { readonly needed: Table; readonly notes: readonly string[] } => {
  const { columns } = encoder.rules;
  const have = new Map(table.columns.map((column) => [column.name, column]));
  const absent = columns.map(({ name }) => name).filter((name) => !have.has(name));
  if (absent.length > 0) throw new InputError("missing-columns", columnTexts.noColumns(absent));
  const notes: string[] = [];
  const needed = columns.map((rule): Column => {
    const column = have.get(rule.name) as Column;
    if (rule.kind === "numeric") return numbersOf(column, rule, notes);
    noteUnseen(column, rule, notes);
    return column;
  });
  return { needed: { ...table, columns: needed }, notes };
};

type Rule = Encoder["rules"]["columns"][number];

const numbersOf = (column: Column, rule: Extract<Rule, { kind: "numeric" }>, notes: string[]): Column => {
  if (column.kind === "categorical" && rule.fromText === true) {
    const { column: numbers, lost } = asNumbers(column);
    if (lost > 0) notes.push(columnTypeTexts.lost(rule.name, lost));
    return numbersOf(numbers, rule, notes);
  }
  // A column without any value has no kind of its own.
  const empty = column.kind === "categorical" && column.codes.every((code) => code < 0);
  if (column.kind === "categorical" && !empty)
    throw new InputError("column-kind", columnTexts.kind(rule.name));
  const read =
    column.kind === "numeric"
      ? column
      : columnOfNumbers(column.name, new Float64Array(column.codes.length).fill(Number.NaN));
  const missing = read.values.reduce((count, value) => count + Number(Number.isNaN(value)), 0);
  if (missing > 0 && !rule.indicator) notes.push(columnTexts.missing(rule.name, missing));
  return read;
};

const noteUnseen = (
  column: Column,
  { name, levels, others, missing: hadMissing }: Extract<Rule, { kind: "categorical" }>,
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
  // Where rare values are taken as one, those that were not seen are among them.
  if (unseen > 0 && others !== true) notes.push(columnTexts.unseen(name, unseen));
  if (missing > 0 && !hadMissing) notes.push(columnTexts.missing(name, missing));
};
