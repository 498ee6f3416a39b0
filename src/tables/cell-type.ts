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

const PLAIN_NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
const NO_NUMBER = /^[-+]?(?:inf(?:inity)?|nan)$/i;

/** Above this a whole number may be an identifier. */
const LARGE = 1e15;
const [SPACE, NINE] = [" ".charCodeAt(0), "9".charCodeAt(0)];

/** NaN for what is infinite or "NaN", undefined for what is no number or one that is better kept as text. */
const numberIn = (cell: string): number | undefined => {
  const value = Number(cell);
  // JavaScript knows numbers that nobody else does: "" and " " are 0 to it, 0x10 is 16.
  const isPlain = value > -LARGE && value < LARGE && value !== 0 && cell.charCodeAt(0) > SPACE;
  if (isPlain && !(cell.charCodeAt(1) > NINE && cell.length > 2)) return value;
  const trimmed = cell.trim();
  if (PLAIN_NUMBER.test(trimmed)) {
    if (LONG_NUMBER.test(trimmed)) return undefined;
    return Number.isFinite(value) ? value : Number.NaN;
  }
  return NO_NUMBER.test(trimmed) ? Number.NaN : undefined;
};

const DATE =
  /^(\d{1,6})([-/])(\d{1,2})\2(\d{1,2})(?:[ T\t](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d+))?)?Z?)?$/;
const SECONDS_PER_DAY = 86400;

/** Days since 1970. */
const daysIn = (cell: string): number | undefined => {
  const found = DATE.exec(cell.trim());
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

/** The number that a cell of each type holds; undefined where it holds none. */
export const VALUE_IN: Readonly<Record<Exclude<CellType, "text">, (cell: string) => number | undefined>> = {
  number: numberIn,
  "decimal comma": (cell) => numberIn(cell.replace(",", ".")),
  date: daysIn,
};
