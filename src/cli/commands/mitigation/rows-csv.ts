/** What a mitigation gives for each row, as CSV. */
import { csvText } from "../../../tables/csv.js";
import { columnCell } from "../../../tables/table.js";
import type { Task } from "../../../tables/task.js";

/** The id of each row, or its number from 0. */
const nameOf = ({ table, id }: Task): ((row: number) => string | number | undefined) => {
  const column = table.columns.find(({ name }) => name === id);
  return column === undefined ? (row) => row : columnCell(column);
};

/** One line for each row: its name, then what `valuesOf` gives for the i-th of the rows. */
export const rowsCsv = (
  task: Task,
  rows: ArrayLike<number>,
  headings: readonly string[],
  valuesOf: (i: number) => readonly (string | number)[],
): string => {
  const name = nameOf(task);
  return csvText([
    [task.id ?? "row", ...headings],
    ...Array.from(rows, (row, i) => [name(row), ...valuesOf(i)]),
  ]);
};
