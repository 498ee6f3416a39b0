/** Columns of one table beside the rows of another, by what both call their rows. */
import { InputError } from "../core/errors.js";
import { idReader } from "./ids.js";
import { type Column, columnNamed, columnNames, type Table } from "./table.js";

export const joinTexts = {
  twice: (table: string, column: string, first: number, second: number) =>
    `rows ${first} and ${second} of ${table} have the same ${column}: keep one of them.`,
  none: (table: string, column: string, other: string) =>
    `no ${column} of ${table} is one of ${other}: give the names as they are written there, letter by letter.`,
  sameColumn: (table: string, column: string) =>
    `the column "${column}" of ${table} has the name of one that it is to stand beside: rename it.`,
  left: (rows: number, table: string, column: string, other: string) =>
    `${rows} ${rows === 1 ? "row" : "rows"} of ${table} ${rows === 1 ? "has" : "have"} a ${column} that is not in ${other}, and ${rows === 1 ? "is" : "are"} left out`,
};

/** For each row of `table` the row of `other` with the same name, -1 where there is none. */
const placesOf = (table: Table, other: Table, column: string): Int32Array => {
  const rowOf = new Map<string, number>();
  const name = idReader(columnNamed(other, column));
  for (let row = 0; row < other.rows; row++) {
    const each = name(row);
    if (each === undefined) continue;
    const first = rowOf.get(each);
    if (first !== undefined) {
      throw new InputError("same-row", joinTexts.twice(other.name, column, first + 1, row + 1));
    }
    rowOf.set(each, row);
  }
  const own = idReader(columnNamed(table, column));
  return Int32Array.from({ length: table.rows }, (_, row) => rowOf.get(own(row) ?? "") ?? -1);
};

const columnAt = (column: Column, places: Int32Array): Column => {
  if (column.kind === "numeric") {
    return {
      ...column,
      values: Float64Array.from(places, (place) => (place < 0 ? Number.NaN : column.values[place])),
    };
  }
  return { ...column, codes: places.map((place) => (place < 0 ? -1 : column.codes[place])) };
};

/** All rows of `table`, with the other columns of `other` behind it, missing where `other` has no such row. */
export const joinRows = (table: Table, other: Table, column: string): Table => {
  const places = placesOf(table, other, column);
  const found = places.reduce((sum, place) => sum + (place < 0 ? 0 : 1), 0);
  if (found === 0) throw new InputError("no-row", joinTexts.none(other.name, column, table.name));
  const taken = new Set(columnNames(table));
  const added = other.columns.filter(({ name }) => name !== column);
  for (const { name } of added) {
    if (taken.has(name)) throw new InputError("same-column", joinTexts.sameColumn(other.name, name));
  }
  const left = other.rows - found;
  return {
    ...table,
    columns: [...table.columns, ...added.map((each) => columnAt(each, places))],
    notes: [
      ...table.notes,
      ...other.notes,
      ...(left === 0 ? [] : [joinTexts.left(left, other.name, column, table.name)]),
    ],
  };
};
