/** What a mitigation gives for each row, as CSV. */
import { type CsvValue, csvText } from "../../../tables/csv.js";
import { columnCell, columnNamed, type Table } from "../../../tables/table.js";

/** One line for each row: its id, or its number from 0, then what `valuesOf` gives for the i-th of the rows. */
export const rowsCsv = (
  table: Table,
  id: string | undefined,
  rows: ArrayLike<number>,
  headings: readonly string[],
  valuesOf: (i: number) => readonly CsvValue[],
): string => {
  const name = id === undefined ? (row: number) => row : columnCell(columnNamed(table, id));
  return csvText([[id ?? "row", ...headings], ...Array.from(rows, (row, i) => [name(row), ...valuesOf(i)])]);
};
