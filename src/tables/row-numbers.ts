/** Columns that probably name rows, by what they are called and by the whole numbers in them. */
import type { Column } from "./table.js";

const ID = /\b(?:ids?|uuid|guid|identifier|key|index|ssn|email|unnamed 0)\b/;

/** The words of a name: `partTime`, `part_time` and `part-time` are two. */
export const wordsOfName = (name: string): string =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .join(" ");

/** Whether a column is called as ids are. */
export const hasNameOfId = (name: string): boolean => ID.test(wordsOfName(name));

/** Fewer rows than this may well have different numbers, or be in order, without their being ids. */
const ROWS_TO_TELL_NUMBERS = 20;

/**
 * Whether every row has a whole number of its own, and the column is called as ids are, or its numbers only rise or only
 * fall. Columns with a unit are dates.
 */
export const numbersRows = (column: Column): boolean => {
  if (column.kind !== "numeric" || column.unit !== undefined) return false;
  const { name, values } = column;
  if (values.length < ROWS_TO_TELL_NUMBERS || !values.every(Number.isInteger)) return false;
  const rises = values.every((value, row) => row === 0 || value > values[row - 1]);
  const falls = values.every((value, row) => row === 0 || value < values[row - 1]);
  return rises || falls || (hasNameOfId(name) && new Set(values).size === values.length);
};
