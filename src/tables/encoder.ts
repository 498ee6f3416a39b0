/**
 * From columns to numbers. An encoder is fitted on the rows that may be looked at (never on test rows), and is plain
 * data without any row in it: it is saved beside a model and encodes other tables in the same way.
 */
import { InputError } from "../core/errors.js";
import { asNumbers } from "./column-types.js";
import {
  clamped,
  fitNumberCode,
  isNumberCode,
  type NumberCode,
  partNames,
  writeNumber,
} from "./number-code.js";
import { leastRowsOfLevel } from "./rare-levels.js";
import { type Column, columnNamed, type Table } from "./table.js";
import type { Task } from "./task.js";

/**
 * Row-major float32 [rows, columns], none missing: what learners take, with the meaning of its columns. The values are
 * in shared memory where the platform has it, so that threads read them without a copy.
 */
export interface EncodedMatrix {
  readonly values: Float32Array;
  readonly rows: number;
  readonly columns: number;
  /** [columns], e.g. `"age"`, `"age is missing"`, `"sex=Male"`. */
  readonly featureNames: readonly string[];
  /** [columns], the column of the table that each comes from. */
  readonly sourceColumns: readonly string[];
}

export type CategoryEncoding = "one-hot" | "ordinal";

export interface NumberRule {
  readonly kind: "numeric";
  readonly name: string;
  /** Stands in for a missing number: the median of the fitted rows. */
  readonly median: number;
  /** Whether a 0/1 column says where it was missing. */
  readonly indicator: boolean;
  /** How numbers that float32 would make equal are kept apart; absent where it holds them as they are. */
  readonly code?: NumberCode | undefined;
  /** Whether texts are read as numbers; one that is none is missing. */
  readonly fromText?: true | undefined;
}

export interface CategoryRule {
  readonly kind: "categorical";
  readonly name: string;
  /** Those of the fitted rows that stand for themselves, sorted. */
  readonly levels: readonly string[];
  /** Whether all other values together are a level of their own, after these. */
  readonly others?: true | undefined;
  /** Whether "missing" is a level of its own, after the others. */
  readonly missing: boolean;
}

export interface EncoderRules {
  readonly categories: CategoryEncoding;
  readonly columns: readonly (NumberRule | CategoryRule)[];
}

export interface Encoder {
  readonly rules: EncoderRules;
  readonly featureNames: readonly string[];
  readonly sourceColumns: readonly string[];
  /** These rows of a table that has the same columns; all unless given. */
  encode(table: Table, rows?: ArrayLike<number>): EncodedMatrix;
}

/** What becomes of a missing value, in words, for reports. */
export const MISSING_RULE =
  "a missing number becomes the median of the fitted rows, and a 0/1 column says where; a missing category is a level of its own";

export const encoderTexts = {
  noRows: "the encoder was given no rows to be fitted on: give at least one.",
  kind: (column: string, expected: string) =>
    `the column "${column}" is not ${expected}, as it was when the encoder was fitted: read the table in the same way.`,
  tooLarge: (rows: number, columns: number, widest: string, levels: number) =>
    `${rows} rows of ${columns} encoded columns do not fit into memory; the column "${widest}" alone has ${levels} levels: exclude it, or encode categories as ordinal.`,
  notAnEncoder: (reason: string) =>
    `this is not an encoder file (${reason}): give one that saveEncoder wrote.`,
};

/** Fitted on `rows` of the task's table (all unless given), which must not be test rows, for the task's features. */
export const fitEncoder = (
  {
    table,
    features,
    minLevel,
    types,
  }: Pick<Task, "table" | "features"> & Partial<Pick<Task, "minLevel" | "types">>,
  rows?: ArrayLike<number>,
  { categories = "one-hot" }: { readonly categories?: CategoryEncoding | undefined } = {},
): Encoder => {
  const fitted = rows ?? Uint32Array.from({ length: table.rows }, (_, row) => row);
  if (fitted.length === 0) throw new InputError("no-rows", encoderTexts.noRows);
  const read = new Set(types?.numeric);
  const columns = features.map((name) =>
    fitColumn(columnNamed(table, name), fitted, minLevel, read.has(name)),
  );
  return encoderOf({ categories, columns });
};

const fitColumn = (
  column: Column,
  rows: ArrayLike<number>,
  minLevel: number | undefined,
  fromText: boolean,
): NumberRule | CategoryRule => {
  const { name } = column;
  if (column.kind === "numeric") {
    const known = new Float64Array(rows.length);
    let count = 0;
    for (let at = 0; at < rows.length; at++) {
      const value = column.values[rows[at]];
      if (!Number.isNaN(value)) known[count++] = value;
    }
    // Where none is known, 0 says as little as any other number.
    const median = count === 0 ? 0 : medianOf(known.subarray(0, count));
    const { code } = fitNumberCode(known.subarray(0, count));
    const rule: NumberRule = { kind: "numeric", name, median, indicator: count < rows.length };
    return {
      ...rule,
      ...(code === undefined ? {} : { code }),
      ...(fromText ? { fromText } : {}),
    };
  }
  const counts = new Int32Array(column.levels.length);
  let missing = false;
  for (let at = 0; at < rows.length; at++) {
    const code = column.codes[rows[at]];
    if (code < 0) missing = true;
    else counts[code] += 1;
  }
  const least = leastRowsOfLevel(counts, minLevel);
  const levels = column.levels.filter((_, code) => counts[code] >= least);
  const isGrouped = counts.some((count) => count > 0 && count < least);
  return { kind: "categorical", name, levels, missing, ...(isGrouped ? { others: true } : {}) };
};

/** The median. Sorting a million numbers for it takes ten times as long as finding it by selection. */
const medianOf = (values: Float64Array): number => {
  const half = values.length >> 1;
  const upper = selectSmallest(values, half);
  if (values.length % 2 === 1) return upper;
  const lower = values.subarray(0, half).reduce((most, value) => Math.max(most, value));
  return lower + (upper - lower) / 2;
};

/** The value at `place` in order (Hoare's selection); everything before it is at most as large afterwards. */
const selectSmallest = (values: Float64Array, place: number): number => {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let left = low;
    let right = high;
    while (left <= right) {
      while (values[left] < pivot) left += 1;
      while (values[right] > pivot) right -= 1;
      if (left > right) break;
      [values[left], values[right]] = [values[right], values[left]];
      left += 1;
      right -= 1;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place];
};

/** The encoder of these rules. */
export const encoderOf = (rules: EncoderRules): Encoder => {
  const named = rules.columns.flatMap((rule) =>
    namesOf(rule, rules.categories).map((feature) => ({ feature, source: rule.name })),
  );
  const featureNames = named.map(({ feature }) => feature);
  const sourceColumns = named.map(({ source }) => source);
  return {
    rules,
    featureNames,
    sourceColumns,
    encode(table, given) {
      const rows = given?.length ?? table.rows;
      const values = sharedFloats(rules, rows, featureNames.length);
      let at = 0;
      for (const rule of rules.columns) {
        const column = columnNamed(table, rule.name);
        const write =
          rule.kind === "numeric"
            ? numberWriter(rule, column)
            : rules.categories === "one-hot"
              ? oneHotWriter(rule, column)
              : ordinalWriter(rule, column);
        for (let row = 0, base = at; row < rows; row++, base += featureNames.length) {
          write(values, base, given === undefined ? row : given[row]);
        }
        at += namesOf(rule, rules.categories).length;
      }
      return { values, rows, columns: featureNames.length, featureNames, sourceColumns };
    },
  };
};

const namesOf = (rule: NumberRule | CategoryRule, categories: CategoryEncoding): readonly string[] => {
  const { name } = rule;
  if (rule.kind === "numeric") {
    const parts = partNames(name, rule.code?.parts ?? 1);
    return rule.indicator ? [...parts, `${name} is missing`] : parts;
  }
  if (categories === "ordinal") return [name];
  return [
    ...rule.levels.map((level) => `${name}=${level}`),
    ...(rule.others === true ? [`${name} is rare`] : []),
    ...(rule.missing ? [`${name} is missing`] : []),
  ];
};

const sharedFloats = ({ columns: rules }: EncoderRules, rows: number, columns: number): Float32Array => {
  const bytes = rows * columns * Float32Array.BYTES_PER_ELEMENT;
  try {
    return typeof SharedArrayBuffer === "undefined"
      ? new Float32Array(rows * columns)
      : new Float32Array(new SharedArrayBuffer(bytes));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const widths = rules.map((rule) => ({
      name: rule.name,
      levels: rule.kind === "categorical" ? rule.levels.length : 1,
    }));
    const widest = widths.reduce((a, b) => (b.levels > a.levels ? b : a));
    const text = encoderTexts.tooLarge(rows, columns, widest.name, widest.levels);
    throw new InputError("too-large", text, { cause: error });
  }
};

/** Writes the cell of one row at `base`. */
type Writer = (values: Float32Array, base: number, row: number) => void;

const numberWriter = ({ name, median, indicator, code, fromText }: NumberRule, given: Column): Writer => {
  const column = fromText === true && given.kind === "categorical" ? asNumbers(given).column : given;
  if (column.kind !== "numeric") throw new InputError("column-kind", encoderTexts.kind(name, "a number"));
  const { values: numbers } = column;
  const parts = code?.parts ?? 1;
  return (values, base, row) => {
    const value = numbers[row];
    const isMissing = Number.isNaN(value);
    const known = isMissing ? median : value;
    if (code === undefined) values[base] = clamped(known);
    else writeNumber(values, base, known, code);
    if (indicator && isMissing) values[base + parts] = 1;
  };
};

/** A level that was not among the fitted rows leaves every place 0, unless there is one for all others. */
const oneHotWriter = (rule: CategoryRule, column: Column): Writer => {
  const placeAt = placesOf(rule, column);
  return (values, base, row) => {
    const place = placeAt(row);
    if (place >= 0) values[base + place] = 1;
  };
};

/** The place of the level among the fitted ones, missing after the last; -1 where it was not among them. */
const ordinalWriter = (rule: CategoryRule, column: Column): Writer => {
  const placeAt = placesOf(rule, column);
  return (values, base, row) => {
    values[base] = placeAt(row);
  };
};

const placesOf = ({ levels, missing, others }: CategoryRule, column: Column): ((row: number) => number) => {
  const placeOf = new Map(levels.map((level, at) => [level, at]));
  const otherPlace = others === true ? levels.length : -1;
  const missingPlace = missing ? levels.length + (others === true ? 1 : 0) : -1;
  if (column.kind === "categorical") {
    const { codes } = column;
    const places = Int32Array.from(column.levels, (level) => placeOf.get(level) ?? otherPlace);
    return (row) => (codes[row] < 0 ? missingPlace : places[codes[row]]);
  }
  // In a table whose levels happen to be numbers all.
  const { values } = column;
  return (row) =>
    Number.isNaN(values[row]) ? missingPlace : (placeOf.get(String(values[row])) ?? otherPlace);
};

const FORMAT = "fairbed encoder";

/** Whether versions before 2 of the format would encode otherwise: they know no codes and no level of all others. */
export const needsLaterEncoder = ({ columns }: EncoderRules): boolean =>
  columns.some((rule) =>
    rule.kind === "numeric" ? rule.code !== undefined || rule.fromText === true : rule.others === true,
  );

/** The encoder as text, to be written to a file; it holds levels and medians, and no row. */
export const saveEncoder = ({ rules }: Encoder): string =>
  `${JSON.stringify({ format: FORMAT, version: needsLaterEncoder(rules) ? 2 : 1, ...rules }, null, 2)}\n`;

/** The encoder that {@link saveEncoder} wrote. */
export const loadEncoder = (text: string): Encoder => {
  const fail = (reason: string) => new InputError("encoder-file", encoderTexts.notAnEncoder(reason));
  let stored: Partial<EncoderRules> & { readonly format?: unknown; readonly version?: unknown };
  try {
    stored = JSON.parse(text);
  } catch {
    // Without the parser's words, which quote the text.
    throw fail("it is no JSON");
  }
  if (stored === null || typeof stored !== "object" || stored.format !== FORMAT)
    throw fail("it says so nowhere");
  if (stored.version !== 1 && stored.version !== 2)
    throw fail(`its version is ${JSON.stringify(stored.version)}, not 1 or 2`);
  const { categories, columns } = stored;
  if (categories !== "one-hot" && categories !== "ordinal") throw fail("its categories are not known");
  if (!Array.isArray(columns) || !columns.every(isRule)) throw fail("its columns are broken");
  return encoderOf({ categories, columns });
};

const isRule = (rule: unknown): rule is NumberRule | CategoryRule => {
  if (typeof rule !== "object" || rule === null) return false;
  const { kind, name, median, indicator, code, fromText, levels, missing, others } = rule as Record<
    string,
    unknown
  >;
  const isSwitch = (given: unknown) => given === undefined || given === true;
  if (typeof name !== "string" || !isSwitch(fromText) || !isSwitch(others)) return false;
  if (kind === "numeric")
    return (
      Number.isFinite(median) && typeof indicator === "boolean" && (code === undefined || isNumberCode(code))
    );
  const areTexts = Array.isArray(levels) && levels.every((level) => typeof level === "string");
  return kind === "categorical" && areTexts && typeof missing === "boolean";
};
