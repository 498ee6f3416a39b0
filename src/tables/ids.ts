/**
 * Ids as texts. Two ids are the same where their texts are, character by character, once spaces around them are gone:
 * `007` and `7` are two people, and so are `1e3` and `1000` where a file says so, because nobody can tell whether they
 * are numbers. A number is written as JavaScript writes it, so 7 in one table and `"7"` in another are one person.
 *
 * Commands read the id column as text, whatever is in it (`asText`), so that zeros at the start and the last digits of
 * 64-bit integers are kept; a whole number of a typed source (Parquet, Arrow, a database) is written without a decimal
 * point, whatever its type.
 *
 * Files that are written for people have an apostrophe before a text that a spreadsheet would run (see `csv.ts`). It is
 * no part of an id: who comes back from such a file is who was written to it.
 */
import { withoutGuard } from "./csv.js";
import { type Column, columnCell, findColumn, type Table } from "./table.js";

/** The id of every row as text; undefined where it is missing. */
export const idReader = (column: Column): ((row: number) => string | undefined) => {
  const cell = columnCell(column);
  return (row) => {
    const value = cell(row);
    return value === undefined ? undefined : withoutGuard(String(value));
  };
};

/** The ids that a table has in a column; none where it does not have the column. */
export const idsIn = (table: Table, id: string | undefined): ReadonlySet<string> => {
  const ids = new Set<string>();
  const column = id === undefined ? undefined : findColumn(table, id);
  if (column === undefined) return ids;
  const read = idReader(column);
  for (let row = 0; row < table.rows; row++) {
    const each = read(row);
    if (each !== undefined) ids.add(each);
  }
  return ids;
};
