/**
 * What the columns of a Parquet file are in a table: numbers, days or texts, by the same rules as those of a file that
 * DuckDB reads in Node.
 */
import type { SchemaElement } from "hyparquet";
import { shortest } from "../core/number-text.js";
import { DATE_UNIT } from "./cell-type.js";

/** How the cells of a column are taken, none of which is missing. */
export interface ParquetCells {
  /** The element that the reader is to see: what it leaves as it is in the file is taken apart here. */
  readonly element: SchemaElement;
  /** Whether a cell is a list or a record. */
  readonly isNested?: boolean | undefined;
  /** Of a column of numbers. */
  readonly number?: ((cell: unknown) => number) | undefined;
  /** Whether float64 may not hold its whole numbers: then they are identifiers, and the column is one of texts. */
  readonly isLong?: boolean | undefined;
  readonly unit?: string | undefined;
  readonly text: (cell: unknown) => string;
}

export const cellsOf = (element: SchemaElement, isNested: boolean): ParquetCells => {
  if (isNested) return { element, isNested, text: nestedText };
  const { converted_type: converted, logical_type: logical, ...plain } = element;
  switch (element.type) {
    case "BOOLEAN":
      return { element: plain, text: String };
    case "FLOAT":
    case "DOUBLE": {
      const isSingle = element.type === "FLOAT";
      return { element: plain, number: Number, text: (cell) => numberText(Number(cell), isSingle) };
    }
    case "INT96":
      return { element: plain, ...momentCells("NANOS", false, true) };
    case "INT32":
    case "INT64":
      return { element: plain, ...integerCells(element) };
    default:
      return isText(element)
        ? { element: { ...plain, converted_type: "UTF8" }, text: String }
        : { element: plain, ...bytesCells(element) };
  }
};

type Taken = Omit<ParquetCells, "element">;

const isText = ({ type, converted_type: converted, logical_type: logical }: SchemaElement): boolean =>
  type === "BYTE_ARRAY" &&
  (/^(UTF8|ENUM|JSON)$/.test(converted ?? "") || /^(STRING|ENUM|JSON)$/.test(logical?.type ?? ""));

const integerCells = (element: SchemaElement): Taken => {
  const { type, converted_type: converted, logical_type: logical } = element;
  const decimal = decimalCells(element);
  if (decimal !== undefined) return decimal;
  if (converted === "DATE" || logical?.type === "DATE") {
    return { number: Number, unit: DATE_UNIT, text: (cell) => dateText(BigInt(cell as number)) };
  }
  const unit = unitOf(element);
  if (unit !== undefined && /^TIMESTAMP/.test(logical?.type ?? converted ?? "")) {
    return momentCells(unit, logical?.type === "TIMESTAMP" && logical.isAdjustedToUTC);
  }
  if (unit !== undefined) {
    const zone = logical?.type === "TIME" && logical.isAdjustedToUTC ? "+00" : "";
    return { text: (cell) => `${timeText(BigInt(cell as number | bigint) * NANOS_IN[unit])}${zone}` };
  }
  const isUnsigned = /^UINT/.test(converted ?? "") || (logical?.type === "INTEGER" && !logical.isSigned);
  if (type === "INT64") {
    const whole = (cell: unknown) => (isUnsigned ? BigInt.asUintN(64, cell as bigint) : (cell as bigint));
    return { number: (cell) => Number(whole(cell)), isLong: true, text: (cell) => String(whole(cell)) };
  }
  const whole = (cell: unknown) => (isUnsigned ? (cell as number) >>> 0 : (cell as number));
  return { number: whole, text: (cell) => String(whole(cell)) };
};

type TimeUnit = "MILLIS" | "MICROS" | "NANOS";

/** Of moments and times of day; undefined for other numbers. */
const unitOf = ({
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): TimeUnit | undefined => {
  if (logical?.type === "TIMESTAMP" || logical?.type === "TIME") return logical.unit;
  return /^TIME(?:STAMP)?_(MILLIS|MICROS)$/.exec(converted ?? "")?.[1] as TimeUnit | undefined;
};

const NANOS_IN: Readonly<Record<TimeUnit, bigint>> = { MILLIS: 1_000_000n, MICROS: 1000n, NANOS: 1n };
const SECONDS_PER_DAY = 86400;
const NANOS_PER_SECOND = 1_000_000_000n;
const NANOS_PER_DAY = 86_400n * NANOS_PER_SECOND;

/** Microseconds, as databases hold a moment, as days. */
const momentCells = (unit: TimeUnit, hasZone: boolean, isCut = false): Taken => {
  const nanos = (cell: unknown) => (cell as bigint) * NANOS_IN[unit];
  const zone = hasZone ? "+00" : "";
  return {
    number: (cell) => Number(nanos(cell) / 1000n) / 1e6 / SECONDS_PER_DAY,
    unit: DATE_UNIT,
    text: (cell) => {
      const exact = nanos(cell);
      const moment = isCut ? exact - (exact % 1000n) : exact;
      const ofDay = ((moment % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;
      return `${dateText((moment - ofDay) / NANOS_PER_DAY)} ${timeText(ofDay)}${zone}`;
    },
  };
};

const dateText = (days: bigint): string => {
  const date = new Date(Number(days) * SECONDS_PER_DAY * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  return `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
};

const twoDigits = (value: number | bigint): string => String(value).padStart(2, "0");

/** Nanoseconds of a day. */
const timeText = (nanos: bigint): string => {
  const seconds = nanos / NANOS_PER_SECOND;
  const fraction = String(nanos % NANOS_PER_SECOND)
    .padStart(9, "0")
    .replace(/0+$/, "");
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(twoDigits).join(":");
  return fraction === "" ? clock : `${clock}.${fraction}`;
};

/** Above so many digits behind the point, a power of ten is no exact number. */
const MOST_EXACT_SCALE = 22;

/** Undefined where it is no decimal number. */
const decimalCells = (element: SchemaElement): Taken | undefined => {
  const { converted_type: converted, logical_type: logical } = element;
  if (converted !== "DECIMAL" && logical?.type !== "DECIMAL") return undefined;
  const scale = element.scale ?? (logical?.type === "DECIMAL" ? logical.scale : 0);
  const whole = (cell: unknown): bigint =>
    cell instanceof Uint8Array ? signedOf(cell) : BigInt(cell as number);
  if (scale === 0) {
    return { number: (cell) => Number(whole(cell)), isLong: true, text: (cell) => String(whole(cell)) };
  }
  const one = Number(`1e${scale}`);
  const number = (cell: unknown): number => {
    const digits = whole(cell);
    const close = Number(digits);
    // A quotient of two exact numbers is rounded once; through its digits, 0.1 is the 0.1 of a text too.
    return Number.isSafeInteger(close) && scale <= MOST_EXACT_SCALE
      ? close / one
      : Number(`${digits}e${-scale}`);
  };
  return { number, text: (cell) => decimalText(whole(cell), scale) };
};

/** Without what is behind the point where that is nothing: 7 and not 7.00, as an identifier. */
const decimalText = (digits: bigint, scale: number): string => {
  const size = digits < 0n ? -digits : digits;
  const padded = String(size).padStart(scale + 1, "0");
  const [before, behind] = [padded.slice(0, -scale), padded.slice(-scale)];
  const sign = digits < 0n ? "-" : "";
  return /^0*$/.test(behind) ? `${sign}${before}` : `${sign}${before}.${behind}`;
};

/** Two's complement, the highest byte first. */
const signedOf = (bytes: Uint8Array): bigint => {
  let total = 0n;
  for (const byte of bytes) total = (total << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, total);
};

const bytesCells = (element: SchemaElement): Taken => {
  const decimal = decimalCells(element);
  if (decimal !== undefined) return decimal;
  const { logical_type: logical } = element;
  if (logical?.type === "UUID") return { text: (cell) => uuidText(cell as Uint8Array) };
  if (logical?.type === "FLOAT16") {
    return {
      number: (cell) => halfOf(cell as Uint8Array),
      text: (cell) => numberText(halfOf(cell as Uint8Array), true),
    };
  }
  return { text: (cell) => bytesText(cell as Uint8Array) };
};

const uuidText = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** A float of 16 bits. */
const halfOf = ([low, high]: Uint8Array): number => {
  const sign = high & 0x80 ? -1 : 1;
  const exponent = (high >> 2) & 0x1f;
  const fraction = (((high & 3) << 8) | low) / 1024;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? 2 ** -14 * fraction : 2 ** (exponent - 15) * (1 + fraction));
};

/** What can be read of bytes that are no text, and the others as numbers. */
const bytesText = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    const isPlain = byte >= 0x20 && byte < 0x7f && !/["'\\]/.test(letter);
    return isPlain ? letter : `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");

/** As short as the number allows; one of 32 bits has fewer digits than the float64 that holds it. */
const numberText = (value: number, isSingle: boolean): string => {
  if (!isSingle || !Number.isFinite(value)) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = shortest(value, digits);
    if (Math.fround(Number(short)) === value) return short;
  }
  return shortest(value, 9);
};

/** A list or a record as it would be written by hand. */
const nestedText = (cell: unknown): string => {
  if (cell === null || cell === undefined) return "NULL";
  if (cell instanceof Uint8Array) return bytesText(cell);
  if (cell instanceof Date) return cell.toISOString();
  if (Array.isArray(cell)) return `[${cell.map(nestedText).join(", ")}]`;
  if (typeof cell !== "object") return String(cell);
  const parts = Object.entries(cell).map(([name, value]) => `'${name}': ${nestedText(value)}`);
  return `{${parts.join(", ")}}`;
};
