/** A table: typed columns of the same length, with what is missing kept as missing. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";

export interface NumericColumn {
  readonly kind: "numeric";
  readonly name: string;
  /** [rows], NaN where missing. */
  readonly values: Float64Array;
  /** What the numbers count where it was not a number in the file, e.g. "days since 1970-01-01". */
  readonly unit?: string | undefined;
}

export interface CategoricalColumn {
  readonly kind: "categorical";
  readonly name: string;
  /** [rows], places in `levels`, -1 where missing. */
  readonly codes: Int32Array;
  /** Different texts, sorted by code point; a part of a table may not use them all. */
  readonly levels: readonly string[];
}

export type Column = NumericColumn | CategoricalColumn;

export interface Table {
  /** Where it came from, for messages: a file's name or "synthetic". */
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly Column[];
  /** What was changed on the way in, one sentence each. */
  readonly notes: readonly string[];
}

export const tableTexts = {
  noColumn: (table: string, given: string, suggestion: string | undefined, names: readonly string[]) =>
    suggestion === undefined
      ? `${table} has no column "${given}": its columns are ${someOf(names)}.`
      : `${table} has no column "${given}"; did you mean "${suggestion}"${inList(suggestion)}?`,
  lengths: (name: string, given: number, expected: number) =>
    `the column "${name}" has ${given} rows where the others have ${expected}: give columns of the same length.`,
  sameName: (name: string) => `two columns are called "${name}": give every column a name of its own.`,
};

/** How a column is named among others with commas between them, where that is not its name as it is. */
const inList = (name: string): string =>
  name.includes(",") ? `, written "${name.replaceAll('"', '""')}" in a list of columns` : "";

const SHOWN_NAMES = 12;

/** A list that stays readable when there are ten thousand. */
export const someOf = (names: readonly string[]): string =>
  names.length <= SHOWN_NAMES
    ? names.join(", ")
    : `${names.slice(0, SHOWN_NAMES).join(", ")} and ${names.length - SHOWN_NAMES} more`;

/** A table of these columns, checked; `tableOf` makes one of records. */
export const tableOfColumns = (
  columns: readonly Column[],
  {
    name = "the table",
    notes = [],
  }: { readonly name?: string | undefined; readonly notes?: readonly string[] | undefined } = {},
): Table => {
  const rows = columns.length === 0 ? 0 : lengthOf(columns[0]);
  const seen = new Set<string>();
  for (const column of columns) {
    const length = lengthOf(column);
    if (length !== rows) throw new InputError("column-length", tableTexts.lengths(column.name, length, rows));
    if (seen.has(column.name)) throw new InputError("same-name", tableTexts.sameName(column.name));
    seen.add(column.name);
  }
  return { name, rows, columns, notes };
};

const lengthOf = (column: Column): number =>
  column.kind === "numeric" ? column.values.length : column.codes.length;

/** A column of texts, its levels sorted; undefined is missing. */
export const columnOfTexts = (name: string, texts: readonly (string | undefined)[]): CategoricalColumn => {
  const levels = [...new Set(texts.filter((text) => text !== undefined))].sort(byCodePoint);
  const codeOf = new Map(levels.map((level, code) => [level, code]));
  const codes = Int32Array.from(texts, (text) => (text === undefined ? -1 : (codeOf.get(text) ?? -1)));
  return { kind: "categorical", name, codes, levels };
};

/** The order of `levels`, which is that of UTF-8 bytes too. */
export const byCodePoint = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    if (a[at] === b[at]) continue;
    // Halves of a pair stand above every other unit, though the units from U+E000 have larger values.
    const [left, right] = [a.codePointAt(at) ?? 0, b.codePointAt(at) ?? 0];
    return left - right;
  }
  return a.length - b.length;
};

/** A numeric column; NaN is a missing value. */
export const columnOfNumbers = (name: string, values: ArrayLike<number>): NumericColumn => ({
  kind: "numeric",
  name,
  values: values instanceof Float64Array ? values : Float64Array.from(values),
});

/** The cells of a column, by row: a number or a text, undefined where missing. */
export const columnCell = (column: Column): ((row: number) => number | string | undefined) =>
  column.kind === "numeric"
    ? (row) => (Number.isNaN(column.values[row]) ? undefined : column.values[row])
    : (row) => (column.codes[row] < 0 ? undefined : column.levels[column.codes[row]]);

/** The names of all columns, in their order. */
export const columnNames = (table: Table): readonly string[] => table.columns.map(({ name }) => name);

/** Columns by name, found once for each list of columns: a task asks for each of ten thousand several times. */
const byName = new WeakMap<readonly Column[], ReadonlyMap<string, Column>>();

/** The column of this name; undefined where there is none. */
export const findColumn = ({ columns }: Table, name: string): Column | undefined => {
  let known = byName.get(columns);
  if (known === undefined) {
    // The first of a name, where there are two.
    known = new Map(columns.toReversed().map((column) => [column.name, column]));
    byName.set(columns, known);
  }
  return known.get(name);
};

/** Throws with the nearest name where there is none. */
export const columnNamed = (table: Table, name: string): Column => {
  const found = findColumn(table, name);
  if (found !== undefined) return found;
  const names = columnNames(table);
  const text = tableTexts.noColumn(table.name, name, nearestName(name, names), names);
  throw new InputError("unknown-column", text);
};

/** The same columns, of these rows in this order. */
export const selectRows = (table: Table, rows: ArrayLike<number>): Table => ({
  ...table,
  rows: rows.length,
  columns: table.columns.map((column) => selectColumnRows(column, rows)),
});

const selectColumnRows = (column: Column, rows: ArrayLike<number>): Column => {
  if (column.kind === "numeric") {
    const values = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) values[i] = column.values[rows[i]];
    return { ...column, values };
  }
  const codes = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) codes[i] = column.codes[rows[i]];
  return { ...column, codes };
};

/** The table without these columns. */
export const dropColumns = (table: Table, names: readonly string[]): Table => {
  const dropped = new Set(names.map((name) => columnNamed(table, name).name));
  return { ...table, columns: table.columns.filter(({ name }) => !dropped.has(name)) };
};

/** One table under the other; levels are merged. Both have the same columns in the same order. */
export const appendRows = (above: Table, below: Table): Table => ({
  ...above,
  rows: above.rows + below.rows,
  columns: above.columns.map((column) => appendColumn(column, columnNamed(below, column.name))),
  notes: [...new Set([...above.notes, ...below.notes])],
});

const appendColumn = (above: Column, below: Column): Column => {
  if (above.kind === "numeric" && below.kind === "numeric") {
    const values = new Float64Array(above.values.length + below.values.length);
    values.set(above.values);
    values.set(below.values, above.values.length);
    return { ...above, values };
  }
  const [first, second] = [asCategorical(above), asCategorical(below)];
  const levels = [...new Set([...first.levels, ...second.levels])].sort(byCodePoint);
  const codeOf = new Map(levels.map((level, code) => [level, code]));
  const recode = ({ codes, levels: old }: CategoricalColumn): Int32Array => {
    const to = Int32Array.from(old, (level) => codeOf.get(level) ?? -1);
    return codes.map((code) => (code < 0 ? -1 : to[code]));
  };
  const codes = new Int32Array(first.codes.length + second.codes.length);
  codes.set(recode(first));
  codes.set(recode(second), first.codes.length);
  return { kind: "categorical", name: above.name, codes, levels };
};

/** Numbers as levels, for two files of which one happens to hold only numbers in a column. */
export const asCategorical = (column: Column): CategoricalColumn =>
  column.kind === "categorical"
    ? column
    : columnOfTexts(
        column.name,
        Array.from(column.values, (value) => (Number.isNaN(value) ? undefined : String(value))),
      );
