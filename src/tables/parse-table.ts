/** Tables from CSV text, without a file: what `readTable` does, in a page. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { pacer, type RunOptions } from "../core/options.js";
import {
  type CellType,
  DATE_UNIT,
  DEFAULT_MISSING,
  guessCellType,
  isNumber,
  LONG_NUMBER,
  missingTexts,
} from "./cell-type.js";
import { type Dialect, type DialectSettings, dialectTexts, findDialect } from "./dialect.js";
import { nearlyNumericNote } from "./nearly-numeric.js";
import { recordsOf } from "./records.js";
import { type Column, columnOfTexts, type Table, tableTexts } from "./table.js";

export interface ParseTableOptions extends DialectSettings, RunOptions {
  /** Only these columns, in this order; all unless given. */
  readonly columns?: readonly string[] | undefined;
  /** Texts that stand for nothing, besides the empty one; `NA`, `N/A`, `NaN`, `null` and `?` unless given. */
  readonly missing?: readonly string[] | undefined;
  /** Columns that stay text, such as identifiers, even where all their values are numbers. */
  readonly asText?: readonly string[] | undefined;
  /** What the table is called in messages; "the table" unless given. */
  readonly name?: string | undefined;
}

export const parseTableTexts = {
  noRows: (name: string) => `${name} has no rows: give a table with at least one.`,
  quote: (name: string, line: number) =>
    `${name} could not be read as a table (the quotes of the record on line ${line} do not match): mend the line.`,
};

/** The beginning that the separator, the header and the types are found from, in characters. */
const SAMPLE = 4 * 1024 * 1024;
/** Records between two chances for the page to answer. */
const PACE = 2048;

/**
 * A table from the text of a CSV file: its separator, header and types are found by the same rules as `readTable`
 * finds those of a file, quotes are as in RFC 4180, and texts such as `NA` and `?` are missing. Time grows with the
 * length of the text, and a page is not kept from answering.
 *
 * @example
 * ```ts
 * import { parseTable } from "fairbed/tables";
 *
 * const table = await parseTable("id;age;sex\n007;31;f\n008;?;m\n", { asText: ["id"] });
 * console.log(table.rows, table.columns.map(({ name, kind }) => `${name} is ${kind}`).join(", "));
 * // 2 id is categorical, age is numeric, sex is categorical
 * ```
 */
export const parseTable = async (text: string, options: ParseTableOptions = {}): Promise<Table> => {
  const { name = "the table", missing = DEFAULT_MISSING, asText = [], skipLines = 0 } = options;
  const whole = text.length <= SAMPLE;
  const unmarked = text.startsWith("\ufeff") ? text.slice(1) : text;
  const dialect = findDialect(name, whole ? unmarked : unmarked.slice(0, SAMPLE), whole, options);
  const cells = await cellsOf(unmarked, name, dialect, skipLines, options);
  if (cells[0].length === 0) throw new InputError("empty-table", parseTableTexts.noRows(name));
  const read = dialect.names.map((column, index) => {
    const known = dialect.sample.map((row) => row[index]).filter(knownAmong(missing));
    const type = asText.includes(column) ? "text" : guessCellType(known, dialect.delimiter);
    return columnOfCells(column, cells[index], type, missing, dialect.delimiter);
  });
  const columns = chooseColumns(name, read, options.columns);
  const doubts = columns.flatMap((column) =>
    asText.includes(column.name) ? [] : (nearlyNumericNote(column) ?? []),
  );
  return { name, rows: cells[0].length, columns, notes: [...dialect.notes, ...doubts] };
};

/** The cells of every column, [columns][rows], as they stand in the text. */
const cellsOf = async (
  text: string,
  name: string,
  dialect: Dialect,
  skipLines: number,
  options: RunOptions,
): Promise<readonly string[][]> => {
  const pace = pacer(options);
  const body = skipLines === 0 ? text : text.split("\n").slice(skipLines).join("\n");
  const cells: string[][] = dialect.names.map(() => []);
  let count = 0;
  for (const record of recordsOf(body, dialect)) {
    const { cells: own } = record;
    const line = record.line + skipLines;
    // An empty line is a missing value in a table of one column, and nothing in one of several.
    if (own.length === 1 && own[0] === "" && (cells.length > 1 || count === 0)) continue;
    if (record.broken) throw new InputError("broken-table", parseTableTexts.quote(name, line));
    if (own.length !== cells.length) {
      throw new InputError("ragged", dialectTexts.ragged(name, line, own.length, cells.length));
    }
    if (count > 0 || !dialect.header) for (const [at, cell] of own.entries()) cells[at].push(cell);
    count += 1;
    if (count % PACE === 0) await pace.step({ done: record.end, total: body.length, label: "reading" });
  }
  return cells;
};

const knownAmong = (missing: readonly string[]): ((cell: string) => boolean) => {
  const marks = new Set(["", ...missing]);
  return (cell) => !marks.has(cell);
};

/** The column as what its first cells seem to be, or as text where a cell further down is something else. */
const columnOfCells = (
  name: string,
  cells: readonly string[],
  type: CellType,
  missing: readonly string[],
  delimiter: string,
): Column => {
  const values =
    type === "text" ? undefined : numbersOf(cells, VALUE_OF[type], missing, missingTexts(missing, delimiter));
  if (values !== undefined) {
    return { kind: "numeric", name, values, ...(type === "date" ? { unit: DATE_UNIT } : {}) };
  }
  const isKnown = knownAmong(missing);
  return columnOfTexts(
    name,
    cells.map((cell) => {
      const trimmed = cell.trim();
      return isKnown(trimmed) ? trimmed : undefined;
    }),
  );
};

/** Above this a whole number may be an identifier. */
const LARGE = 1e15;

/** Undefined where a cell is neither such a number nor missing, or where numbers are so long that they name something. */
const numbersOf = (
  cells: readonly string[],
  numberIn: (cell: string) => number | undefined,
  missing: readonly string[],
  nothing: readonly string[],
): Float64Array | undefined => {
  const nothings = new Set(nothing);
  const isKnown = knownAmong(missing);
  const marks = new Set(missing.filter(isNumber).map(Number));
  const values = new Float64Array(cells.length);
  let large = false;
  for (const [row, cell] of cells.entries()) {
    const value = nothings.has(cell) ? Number.NaN : numberIn(cell);
    if (value === undefined) {
      if (isKnown(cell.trim())) return undefined;
      large = true;
    } else if (Math.abs(value) >= LARGE) large = true;
    values[row] = value === undefined || marks.has(value) || !Number.isFinite(value) ? Number.NaN : value;
  }
  // Only where some number is large at all: to look at every cell twice would take as long as to read it.
  if (large && cells.some((cell) => !nothings.has(cell) && LONG_NUMBER.test(cell.trim()))) return undefined;
  return values;
};

const PLAIN_NUMBER =
  /^[ \t\n\v\f\r]*([-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+)(?:[eE][-+]?\d+)?)[ \t\n\v\f\r]*$/;
const WORDS = /^\s*[-+]?(inf(?:inity)?|nan)\s*$/i;

const plainNumber = (cell: string): number | undefined => {
  const found = PLAIN_NUMBER.exec(cell);
  if (found !== null) return Number(found[1].includes("_") ? found[1].replaceAll("_", "") : found[1]);
  const word = WORDS.exec(cell);
  if (word === null) return undefined;
  return /nan/i.test(word[1]) ? Number.NaN : Number.POSITIVE_INFINITY;
};

const DATE =
  /^\s*(\d{1,6})([-/])(\d{1,2})\2(\d{1,2})(?:[ T\t](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d+))?)?Z?)?$/;
const SECONDS_PER_DAY = 86400;

/** Days since 1970. */
const daysOf = (cell: string): number | undefined => {
  const found = DATE.exec(cell);
  if (found === null) return undefined;
  const [year, , month, day] = found.slice(1).map(Number);
  const [hours, minutes, seconds] = found.slice(5, 8).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const isMidnight = hours === 24 && minutes === 0 && seconds === 0;
  if ((hours > 23 && !isMidnight) || minutes > 59 || seconds > 59) return undefined;
  const whole = date.getTime() / 1000 + 3600 * hours + 60 * minutes + seconds;
  const fraction = Number((found[8] ?? "").slice(0, 6).padEnd(6, "0"));
  // Microseconds, as an integer of 64 bits: that is how databases hold a time.
  const micros = fraction === 0 ? whole * 1e6 : Number(BigInt(whole) * 1_000_000n + BigInt(fraction));
  return micros / 1e6 / SECONDS_PER_DAY;
};

const VALUE_OF: Readonly<Record<Exclude<CellType, "text">, (cell: string) => number | undefined>> = {
  number: plainNumber,
  "decimal comma": (cell) => plainNumber(cell.replaceAll(",", ".")),
  date: daysOf,
};

const chooseColumns = (
  name: string,
  columns: readonly Column[],
  wanted: readonly string[] | undefined,
): readonly Column[] => {
  if (wanted === undefined) return columns;
  const names = columns.map((column) => column.name);
  return wanted.map((each) => {
    const found = columns.find((column) => column.name === each);
    if (found !== undefined) return found;
    const text = tableTexts.noColumn(name, each, nearestName(each, names), names);
    throw new InputError("unknown-column", text);
  });
};
