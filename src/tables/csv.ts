/**
 * Tables as text with commas: the one writer for everything that is written as CSV.
 *
 * A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula and runs it,
 * so a text that does gets an apostrophe before it, which spreadsheets read as "what follows is text". Numbers stay
 * numbers, and a text of numbers, such as `-1.5` or `- 2 3`, stays as it is.
 */
import { DATE_UNIT, isNumber } from "./cell-type.js";
import { recordsOf } from "./records.js";
import { columnCell, type Table } from "./table.js";

/** Nothing is written where a value is null or undefined. */
export type CsvValue = string | number | boolean | null | undefined;

const FORMULA = /^[=+\-@\t\r]/;
/** A guard and what it guards: one that a text has by itself is guarded too, so that taking one away gives it back. */
const GUARDED = /^'+[=+\-@\t\r]/;
const QUOTED = /[",\n\r]/;

/** Rows of values, the names first: RFC 4180, with `\n` after every row. */
export const csvText = (rows: readonly (readonly CsvValue[])[]): string => {
  const lines: string[] = [];
  for (const row of rows) lines.push(csvLine(row));
  return lines.join("");
};

/** One row of `csvText`, with its end of line. */
export const csvLine = (row: readonly CsvValue[]): string => {
  const line = row.map(written).join(",");
  // A line with nothing on it would be no row.
  return line === "" ? '""\n' : `${line}\n`;
};

/** Numbers with spaces or semicolons between them, a dash for none. */
const isNumbers = (value: string): boolean =>
  value.split(/[ ;]/).every((each) => each === "-" || isNumber(each));

const written = (value: CsvValue): string => {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const isRun = FORMULA.test(value) && !isNumbers(value);
  const safe = isRun || GUARDED.test(value) ? `'${value}` : value;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** What stood there before it was written: the text without the apostrophe that keeps spreadsheets from running it. */
export const withoutGuard = (text: string): string => (GUARDED.test(text) ? text.slice(1) : text);

/**
 * A table as CSV: the names of its columns, then its rows; what is missing is empty, and dates are written as dates.
 * Texts that a spreadsheet would run as a formula have an apostrophe before them.
 *
 * @example
 * ```ts
 * import { tableOf, toCsv } from "fairbed/tables";
 *
 * const table = tableOf([{ name: "Ada, Countess", age: 36 }, { name: "=1+1", age: null }]);
 * console.log(JSON.stringify(toCsv(table))); // "name,age\n\"Ada, Countess\",36\n'=1+1,\n"
 * ```
 */
export const toCsv = (table: Table): string => {
  const cells = table.columns.map((column) => {
    const cell = columnCell(column);
    const isDate = column.kind === "numeric" && column.unit === DATE_UNIT;
    return isDate ? (row: number) => dateText(cell(row)) : cell;
  });
  const lines = [csvLine(table.columns.map(({ name }) => name))];
  for (let row = 0; row < table.rows; row++) lines.push(csvLine(cells.map((cell) => cell(row))));
  return lines.join("");
};

const MS_PER_DAY = 86_400_000;

/** Days since 1970 as `2020-01-05`, with the time where there is one. */
const dateText = (days: string | number | undefined): string | undefined => {
  if (typeof days !== "number") return undefined;
  const text = new Date(Math.round(days * MS_PER_DAY)).toISOString().replace("T", " ").replace("Z", "");
  return text.replace(/ 00:00:00\.000$/, "").replace(/\.000$/, "");
};

/** The rows of what `csvText` wrote, as texts; an end of line inside quotes belongs to its cell. */
export const parseCsv = (text: string): readonly (readonly string[])[] =>
  Array.from(recordsOf(text, { delimiter: ",", quote: '"', escape: '"' }), ({ cells }) => cells);
