/** What the cells of a text table are: numbers, dates or text, by the same rules wherever the text comes from. */

/** Besides nothing at all; texts that were asked for take their place. */
export const DEFAULT_MISSING: readonly string[] = ["NA", "N/A", "NaN", "nan", "null", "NULL", "?"];

export const DATE_UNIT = "days since 1970-01-01";

export type CellType = "number" | "decimal comma" | "date" | "text";

export const isNumber = (cell: string): boolean => cell !== "" && Number.isFinite(Number(cell));

export const ISO_DATE = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?$/;
const DECIMAL_COMMA = /^[-+]?\d+(,\d+)?$/;
const INFINITE = /^[-+]?inf(inity)?$/i;
/** A whole number that float64 may not hold: an identifier, and better kept as text. */
export const LONG_NUMBER = /^[-+]?\d{16,}$/;

/** From the trimmed cells of the first rows, without those that are missing. */
export const guessCellType = (cells: readonly string[], delimiter: string): CellType => {
  if (cells.every((cell) => isNumber(cell) || INFINITE.test(cell)))
    return cells.some((cell) => LONG_NUMBER.test(cell)) ? "text" : "number";
  // Where semicolons part the values, as spreadsheets do in countries that write 1,5.
  if (delimiter === ";" && cells.every((cell) => DECIMAL_COMMA.test(cell))) return "decimal comma";
  if (cells.every((cell) => ISO_DATE.test(cell))) return "date";
  return "text";
};

/** How a missing value may stand between separators, where the separator allows it. */
export const missingTexts = (missing: readonly string[], delimiter: string): readonly string[] => [
  "",
  ...missing
    .flatMap((mark) => [mark, ` ${mark}`, `${mark} `])
    .filter((text) => !text.includes(delimiter) && !delimiter.includes(text)),
];
