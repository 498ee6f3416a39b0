/** Columns that are taken otherwise than they were read: codes that look like numbers, numbers that look like text. */
import { InputError } from "../core/errors.js";
import { isNumber } from "./cell-type.js";
import {
  asCategorical,
  type CategoricalColumn,
  type Column,
  columnNamed,
  columnOfNumbers,
  type NumericColumn,
  type Table,
} from "./table.js";

export interface ColumnTypes {
  /** Columns whose numbers are codes of categories, not quantities. */
  readonly categorical?: readonly string[] | undefined;
  /** Columns whose texts are numbers; a text that is none counts as missing. */
  readonly numeric?: readonly string[] | undefined;
}

export const columnTypeTexts = {
  both: (column: string) =>
    `the column "${column}" is said to be categorical and numeric: name it as one of the two.`,
  noNumbers: (column: string) =>
    `no value of the column "${column}" is a number: leave it out of the numeric columns.`,
  lost: (column: string, cells: number) =>
    `${cells} ${cells === 1 ? "cell" : "cells"} of "${column}" ${cells === 1 ? "is" : "are"} no number and ${cells === 1 ? "counts" : "count"} as missing, since it is taken as numeric`,
};

/** The table with its columns as they are to be taken, and what that changed. */
export const withColumnTypes = (
  table: Table,
  { categorical = [], numeric = [] }: ColumnTypes,
): { readonly table: Table; readonly notes: readonly string[] } => {
  if (categorical.length === 0 && numeric.length === 0) return { table, notes: [] };
  const codes = new Set(categorical.map((name) => columnNamed(table, name).name));
  const numbers = new Set(numeric.map((name) => columnNamed(table, name).name));
  for (const name of codes)
    if (numbers.has(name)) throw new InputError("column-type", columnTypeTexts.both(name));
  const notes: string[] = [];
  const columns = table.columns.map((column): Column => {
    if (codes.has(column.name)) return asCategorical(column);
    if (!numbers.has(column.name) || column.kind === "numeric") return column;
    const { column: read, lost } = asNumbers(column);
    if (column.codes.some((code) => code >= 0) && read.values.every(Number.isNaN))
      throw new InputError("column-type", columnTypeTexts.noNumbers(column.name));
    if (lost > 0) notes.push(columnTypeTexts.lost(column.name, lost));
    return read;
  });
  return { table: { ...table, columns }, notes };
};

/** Texts as numbers, and how many cells are none. */
export const asNumbers = ({
  name,
  codes,
  levels,
}: CategoricalColumn): { readonly column: NumericColumn; readonly lost: number } => {
  const numbers = Float64Array.from(levels, (level) => (isNumber(level.trim()) ? Number(level) : Number.NaN));
  const values = Float64Array.from(codes, (code) => (code < 0 ? Number.NaN : numbers[code]));
  const lost = codes.reduce((sum, code) => sum + Number(code >= 0 && Number.isNaN(numbers[code])), 0);
  return { column: columnOfNumbers(name, values), lost };
};
