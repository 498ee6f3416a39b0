/** What a mitigation gives for each row, as CSV. */
import type { Task } from "../../../tables/task.js";

const cell = (value: string | number): string => {
  const written = String(value);
  return /[",\n\r]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
};

/** The id of each row, or its number from 0. */
const nameOf = ({ table, id }: Task): ((row: number) => string | number) => {
  const column = table.columns.find(({ name }) => name === id);
  if (column === undefined) return (row) => row;
  return column.kind === "numeric" ? (row) => column.values[row] : (row) => column.levels[column.codes[row]];
};

/** One line for each row: its name, then what `valuesOf` gives for the i-th of the rows. */
export const rowsCsv = (
  task: Task,
  rows: ArrayLike<number>,
  headings: readonly string[],
  valuesOf: (i: number) => readonly (string | number)[],
): string => {
  const name = nameOf(task);
  return [
    [task.id ?? "row", ...headings].map(cell).join(","),
    ...Array.from(rows, (row, i) => [name(row), ...valuesOf(i)].map(cell).join(",")),
    "",
  ].join("\n");
};
