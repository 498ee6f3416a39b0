/** Tables and numbers for a person. */

import { shortest } from "../core/number-text.js";
import { shownText } from "./terminal-text.js";

/** A number without the digits that nobody reads. */
export const short = (value: number): string => shortest(value, 4);

/** Rows of cells in columns: the first to the left, the others to the right. */
export const rightAligned = (given: readonly (readonly string[])[]): string[] => {
  const rows = given.map((row) => row.map(shownText));
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join("  "),
  );
};
