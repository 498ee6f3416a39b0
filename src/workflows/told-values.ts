/** Values that were told for the rows of a column, and what class each is. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { DEFAULT_MISSING } from "../tables/cell-type.js";
import { applyRule, columnsOfRule, type LabelRule } from "../tables/label.js";
import {
  asCategorical,
  type Column,
  columnNamed,
  columnOfNumbers,
  columnOfTexts,
  someOf,
  type Table,
  tableOfColumns,
} from "../tables/table.js";

/** As it would stand in the column. */
export type LabelValue = string | number | boolean;

/** The values of one row by column. */
export type LabelValues = Readonly<Record<string, LabelValue>>;

export const toldTexts = {
  value: (column: string, near: string | undefined, classes: readonly string[]) =>
    `the label that was told is no value of the column "${column}": ${near === undefined ? `give one of ${someOf(classes)}` : `did you mean "${near}"?`}`,
  missing: (column: string) =>
    `the label that was told for the column "${column}" stands for a missing value in tables: give a value, or say that it was refused`,
  number: (column: string) =>
    `the label that was told for the column "${column}" is no finite number: give one`,
  columns: (expected: readonly string[]) =>
    `the sensitive label is of the column${expected.length === 1 ? "" : "s"} ${someOf(expected)}: give a value${expected.length === 1 ? "" : ", by its name, for some of them, as in { sex: ... }"}`,
};

const withNumbers = new WeakMap<Column, boolean>();

const isNumeric = (column: Column): boolean => {
  if (column.kind !== "numeric") return false;
  const known = withNumbers.get(column) ?? column.values.some((value) => !Number.isNaN(value));
  withNumbers.set(column, known);
  return known;
};

/** The column with the told values in it; texts make it a column of texts where it has no numbers yet. */
export const withTold = (column: Column, told: ReadonlyMap<number, LabelValue>): Column => {
  if (told.size === 0) return column;
  const numbers = [...told.values()].every((value) => typeof value === "number");
  if (column.kind === "numeric" && (isNumeric(column) || numbers)) {
    const values = column.values.slice();
    for (const [row, value] of told) values[row] = Number(value);
    return { ...column, values };
  }
  const { codes, levels } = asCategorical(column);
  const texts = Array.from(codes, (code) => (code < 0 ? undefined : levels[code]));
  for (const [row, value] of told) texts[row] = String(value);
  return columnOfTexts(column.name, texts);
};

/** Looked for once: thousands of labels may be told of a large table. */
const knownValues = new WeakMap<Column, readonly string[]>();

/** Values that a column has, as texts. */
const valuesIn = (column: Column): readonly string[] => {
  let known = knownValues.get(column);
  if (known === undefined) {
    const { codes, levels } = asCategorical(column);
    const used = new Set(codes);
    known = levels.filter((_, code) => used.has(code));
    knownValues.set(column, known);
  }
  return known;
};

/** One value for one thing, whether it was told as 1 or as "1": a number where the column has no texts. */
const asKept = (column: Column, text: string): LabelValue =>
  column.kind === "numeric" && String(Number(text)) === text ? Number(text) : text;

/** A value as it is kept: checked against the rule, so that a slip of the pen is not a class of its own. */
export const checkedValue = (
  rule: Exclude<LabelRule, { kind: "combination" }>,
  column: Column,
  given: LabelValue,
): LabelValue => {
  if (rule.kind === "threshold" || isNumeric(column)) {
    const number = typeof given === "string" && given.trim() === "" ? Number.NaN : Number(given);
    if (typeof given === "boolean" || !Number.isFinite(number)) {
      throw new InputError("label", toldTexts.number(column.name));
    }
    if (rule.kind === "values" && !rule.classes.includes(String(number))) {
      throw new InputError("label", toldTexts.value(column.name, undefined, rule.classes));
    }
    return number;
  }
  const text = String(given);
  const known = rule.kind === "values" ? rule.classes : [...new Set([...valuesIn(column), rule.value])];
  if (known.includes(text)) return asKept(column, text);
  // Of one class against the rest, the rest may still have values that nobody has told.
  const near = nearestName(text, known);
  const open = rule.kind === "value" && known.length < 2;
  const slip = text.trim() === "" || near?.toLowerCase() === text.trim().toLowerCase();
  // Written to a file and read again, it would be gone.
  if (open && DEFAULT_MISSING.includes(text.trim())) {
    throw new InputError("label", toldTexts.missing(column.name));
  }
  if (open && !slip) return asKept(column, text);
  throw new InputError("label", toldTexts.value(column.name, near, known));
};

/** What may be told for a column: one of some values, or any number. */
export type TellableValues =
  | {
      readonly kind: "choice";
      /** As they stand in the column. */
      readonly values: readonly LabelValue[];
      /** Whether a value that is not among them may be told too: so far there is one of one class only. */
      readonly others: boolean;
    }
  | { readonly kind: "number" };

/** More different numbers than this are typed and not chosen from. */
const MOST_CHOICES = 10;

/** What `checkedValue` takes, for whoever asks. */
export const tellableValues = (
  rule: Exclude<LabelRule, { kind: "combination" }>,
  column: Column,
): TellableValues => {
  if (rule.kind === "threshold") return { kind: "number" };
  const values = rule.kind === "values" ? rule.classes : [...new Set([...valuesIn(column), rule.value])];
  if (isNumeric(column)) {
    const isFew = rule.kind === "values" || (values.length > 1 && values.length <= MOST_CHOICES);
    return isFew ? { kind: "choice", values: values.map(Number), others: false } : { kind: "number" };
  }
  return {
    kind: "choice",
    values: values.map((text) => asKept(column, text)),
    others: rule.kind === "value" && values.length < 2,
  };
};

/** The class of one row by a rule; -1 where a value that the rule needs is missing. */
export const classOfRow = (rule: LabelRule, table: Table, row: number, told: LabelValues): number => {
  const columns = [...new Set(columnsOfRule(rule))].map((name): Column => {
    const column = columnNamed(table, name);
    const value = Object.hasOwn(told, name) ? told[name] : undefined;
    if (value !== undefined) {
      return typeof value === "number"
        ? columnOfNumbers(name, [value])
        : columnOfTexts(name, [String(value)]);
    }
    return column.kind === "numeric"
      ? columnOfNumbers(name, [column.values[row]])
      : columnOfTexts(name, [column.codes[row] < 0 ? undefined : column.levels[column.codes[row]]]);
  });
  return applyRule(rule, tableOfColumns(columns))[0];
};
