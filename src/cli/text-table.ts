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

/** A table wider than this is broken by most terminals. */
const WIDEST = 120;
/** So much of a name stands in a heading. */
const LONGEST_NAME = 32;

/** A name of any length as a heading or the begin of a row. */
export const cut = (name: string): string => {
  const letters = [...name];
  return letters.length <= LONGEST_NAME ? name : `${letters.slice(0, LONGEST_NAME - 1).join("")}…`;
};

/** With groups as columns where they have room, else as rows. */
export const byGroups = (rows: readonly (readonly string[])[]): string[] => {
  const across = rightAligned(rows);
  if (across[0].length <= WIDEST) return across;
  return rightAligned(rows[0].map((_, column) => rows.map((row) => row[column])));
};
