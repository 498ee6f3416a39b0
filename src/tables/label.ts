/** How the values of a column become classes: the target and the sensitive attributes. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { commonOf, rareTexts } from "../core/rare-values.js";
import { roundThreshold } from "./round-threshold.js";
import { type Column, columnNamed, columnNames, someOf, type Table } from "./table.js";

export type Comparison = ">=" | "<=" | ">" | "<";

/** A rule is plain data: saved with a task, it labels another table in the same way. */
export type LabelRule =
  /** Class 1 is this value, class 0 every other. */
  | {
      readonly kind: "value";
      readonly column: string;
      readonly value: string;
      readonly classes: readonly string[];
    }
  /** Class 1 where the comparison holds. */
  | {
      readonly kind: "threshold";
      readonly column: string;
      readonly comparison: Comparison;
      readonly value: number;
      readonly classes: readonly string[];
    }
  /** One class for each value, in order; with `others` the last class is that of every other value. */
  | {
      readonly kind: "values";
      readonly column: string;
      readonly classes: readonly string[];
      readonly others?: true | undefined;
    }
  /** One class for each combination of classes that occurs; `parts` are never combinations themselves. */
  | {
      readonly kind: "combination";
      readonly parts: readonly LabelRule[];
      readonly classes: readonly string[];
      readonly others?: true | undefined;
    };

export interface Label {
  /** As a person names it: `income=50000+.`, `sex`, `sex and race`. */
  readonly name: string;
  readonly rule: LabelRule;
  /** At least two; those of two classes have the positive one at 1. */
  readonly classes: readonly string[];
  /** [rows], places in `classes`, -1 where the label is missing. */
  readonly labels: Int32Array;
}

/** `"COL"`, `"COL=VALUE"`, `"COL>=NUMBER"`, or the same in parts. */
export type LabelChoice =
  | string
  | { readonly column: string; readonly positive?: string | number | undefined };

/** More different numbers than this are a quantity, not classes. */
export const MOST_NUMERIC_CLASSES = 10;
export const MOST_CLASSES = 100;

export const labelTexts = {
  allMissing: (column: string) =>
    `the column "${column}" has no values, all are missing: choose another column or mend the file.`,
  oneClass: (name: string) =>
    `"${name}" has one class only, so there is nothing to learn: choose another column, value or threshold.`,
  openClasses: (name: string) =>
    `"${name}" has fewer than two values so far, so its classes are not known: name the positive one, as in "${name}=yes", or give a row of each class.`,
  manyNumbers: (column: string, count: number, threshold: number) =>
    `the column "${column}" has ${count} different numbers: give a threshold such as "${column}>=${threshold}", or one value.`,
  manyLevels: (column: string, count: number) =>
    `the column "${column}" has ${count} different values: pick the positive one with "${column}=VALUE".`,
  /** `values` are those that may be named; `all` is how many there are with the rare ones. */
  noValue: (
    column: string,
    value: string,
    suggestion: string | undefined,
    values: readonly string[],
    all: number,
  ) => {
    const none = `the column "${column}" has no value "${value}"`;
    if (suggestion !== undefined) return `${none}; did you mean "${suggestion}"?`;
    if (values.length === 0)
      return `${none}: choose one of its ${all} values (${rareTexts.notNamed("value")}).`;
    const rare = values.length < all ? ` (${rareTexts.notNamed("value")})` : "";
    return `${none}: its values are ${someOf(values)}${rare}.`;
  },
  noNumberColumn: (column: string, given: string) =>
    `"${given}" compares the column "${column}", which holds text: give a value instead, as in "${column}=VALUE".`,
  noNumber: (given: string) => `"${given}" does not end in a number: write a threshold such as "age>=40".`,
  twice: (name: string) => `"${name}" is given twice: name every sensitive column once.`,
};

export interface LabelOptions {
  /**
   * Most labels are still to come: the positive value need not have been seen, nor two classes, and a column may be
   * empty. False unless given.
   */
  readonly open?: boolean | undefined;
}

/** The labels of a table by a choice; throws where the choice does not fit the table. */
export const chooseLabel = (
  table: Table,
  choice: LabelChoice,
  { open = false }: LabelOptions = {},
): Label => {
  const { name, rule } = ruleOf(table, choice, open);
  if (!open) return labelled(name, rule, table);
  if (rule.classes.length < 2) throw new InputError("one-class", labelTexts.openClasses(name));
  return { name, rule, classes: rule.classes, labels: applyRule(rule, table) };
};

/** The intersection of several attributes as one: a class for each combination that occurs. */
export const combineLabels = (table: Table, labels: readonly Label[]): Label => {
  const seen = new Set<string>();
  for (let row = 0; row < table.rows; row++) {
    const name = combinationAt(labels, row);
    if (name !== undefined) seen.add(name);
  }
  // In the order of the parts' classes, not of the rows.
  const classes = labels
    .map(({ classes }) => classes)
    .reduce<string[]>((names, next) => names.flatMap((name) => next.map((each) => join(name, each))), [""])
    .filter((name) => seen.has(name));
  const parts = labels.map(({ rule }) => rule);
  return labelled(
    labels.map(({ name }) => name).join(" and "),
    { kind: "combination", parts, classes },
    table,
  );
};

const join = (first: string, second: string): string => (first === "" ? second : `${first} and ${second}`);

const combinationAt = (
  labels: readonly Pick<Label, "classes" | "labels">[],
  row: number,
): string | undefined => {
  let name = "";
  for (const { labels: codes, classes } of labels) {
    if (codes[row] < 0) return undefined;
    name = join(name, classes[codes[row]]);
  }
  return name;
};

const labelled = (name: string, rule: LabelRule, table: Table): Label => {
  const labels = applyRule(rule, table);
  const seen = new Set(labels);
  seen.delete(-1);
  if (seen.size < 2) throw new InputError("one-class", labelTexts.oneClass(name));
  return { name, rule, classes: rule.classes, labels };
};

/** The columns that a rule looks at. */
export const columnsOfRule = (rule: LabelRule): readonly string[] =>
  rule.kind === "combination" ? rule.parts.flatMap(columnsOfRule) : [rule.column];

/** Labels [rows] of any table that has the columns; -1 where missing, or where a value is none of the classes. */
export const applyRule = (rule: LabelRule, table: Table): Int32Array => {
  if (rule.kind === "combination") {
    const parts = rule.parts.map((part) => ({ classes: part.classes, labels: applyRule(part, table) }));
    const placeOf = placesOf(rule);
    const labels = new Int32Array(table.rows);
    for (let row = 0; row < table.rows; row++) {
      const name = combinationAt(parts, row);
      labels[row] = name === undefined ? -1 : placeOf(name);
    }
    return labels;
  }
  const column = columnNamed(table, rule.column);
  const classOf = classifier(rule);
  if (column.kind === "numeric") {
    return Int32Array.from(column.values, (value) => (Number.isNaN(value) ? -1 : classOf(String(value))));
  }
  const classes = Int32Array.from(column.levels, classOf);
  return Int32Array.from(column.codes, (code) => (code < 0 ? -1 : classes[code]));
};

/** From a value as text to its class. */
const classifier = (rule: Exclude<LabelRule, { kind: "combination" }>): ((value: string) => number) => {
  switch (rule.kind) {
    case "value":
      return (value) => (value === rule.value ? 1 : 0);
    case "threshold":
      return (value) => {
        const number = Number(value);
        return Number.isNaN(number) ? -1 : Number(holds(number, rule.comparison, rule.value));
      };
    case "values":
      return placesOf(rule);
  }
};

/** The place of a class by its name; of every other, the last one's or none. */
const placesOf = ({
  classes,
  others,
}: Extract<LabelRule, { kind: "values" | "combination" }>): ((name: string) => number) => {
  const place = new Map(classes.map((name, at) => [name, at]));
  const other = others === true ? classes.length - 1 : -1;
  return (name) => place.get(name) ?? other;
};

/** Whether a rule merges groups, which versions before it do not read. */
export const mergesGroups = (rule: LabelRule): boolean =>
  (rule.kind === "values" || rule.kind === "combination") &&
  (rule.others === true || (rule.kind === "combination" && rule.parts.some(mergesGroups)));

const holds = (value: number, comparison: Comparison, bound: number): boolean => {
  switch (comparison) {
    case ">=":
      return value >= bound;
    case "<=":
      return value <= bound;
    case ">":
      return value > bound;
    case "<":
      return value < bound;
  }
};

const ruleOf = (
  table: Table,
  choice: LabelChoice,
  open: boolean,
): { readonly name: string; readonly rule: LabelRule } => {
  if (typeof choice !== "string") {
    const { column, positive } = choice;
    if (positive === undefined) return { name: column, rule: valuesRule(columnNamed(table, column), open) };
    const rule = valueRule(columnNamed(table, column), String(positive).trim(), open);
    return { name: `${column}=${positive}`, rule };
  }
  const given = choice.trim();
  const names = new Set(columnNames(table));
  if (names.has(given)) return { name: given, rule: valuesRule(columnNamed(table, given), open) };
  const { column: text, operator, value } = splitChoice(given, names);
  const column = columnNamed(table, text);
  if (operator === undefined) return { name: given, rule: valuesRule(column, open) };
  const rule =
    operator === "="
      ? valueRule(column, value, open)
      : thresholdRule(column, operator, { given: value, choice: given, open });
  return { name: given, rule };
};

/** At every place where one begins: of `<b>=ja` the last letter of a name may be the first of `>=`. */
const OPERATOR = /(?=(>=|<=|==|=|>|<))/g;

/** A column's name may hold an operator itself: the first operator after a known name counts. */
const splitChoice = (given: string, names: ReadonlySet<string>) => {
  const places = [...given.matchAll(OPERATOR)].map(({ 1: operator, index }) => ({
    column: given.slice(0, index).trim(),
    operator: (operator === "==" ? "=" : operator) as "=" | Comparison,
    value: given.slice(index + operator.length).trim(),
  }));
  return (
    places.find(({ column }) => names.has(column)) ??
    places[0] ?? { column: given, operator: undefined, value: "" }
  );
};

/** The column that a choice in words is about, among columns of these names. */
export const columnOfChoice = (choice: string, names: ReadonlySet<string>): string =>
  names.has(choice.trim()) ? choice.trim() : splitChoice(choice.trim(), names).column;

const valuesRule = (column: Column, open: boolean): LabelRule => {
  const { values } = valuesOf(column, open);
  const { name } = column;
  if (column.kind === "numeric" && values.length > MOST_NUMERIC_CLASSES) {
    const threshold = roundThreshold(column.values);
    throw new InputError("many-numbers", labelTexts.manyNumbers(name, values.length, threshold));
  }
  if (values.length > MOST_CLASSES) {
    throw new InputError("many-levels", labelTexts.manyLevels(name, values.length));
  }
  return { kind: "values", column: name, classes: values };
};

const valueRule = (column: Column, given: string, open: boolean): LabelRule => {
  const { values, counts } = valuesOf(column, open);
  // 1 and 1.0 are the same number; an empty column may be one of texts or of numbers.
  const numeric =
    column.kind === "numeric" && given !== "" && (values.length > 0 || !Number.isNaN(Number(given)));
  const value = numeric ? String(Number(given)) : given;
  if (!values.includes(value) && (!open || value === "" || (numeric && value === "NaN"))) {
    const named = commonOf(values, counts);
    const text = labelTexts.noValue(column.name, given, nearestName(given, named), named, values.length);
    throw new InputError("unknown-value", text);
  }
  const others = values.filter((each) => each !== value);
  const other = others.length === 1 ? others[0] : `not ${value}`;
  return { kind: "value", column: column.name, value, classes: [other, value] };
};

const thresholdRule = (
  column: Column,
  comparison: Comparison,
  { given, choice, open }: { readonly given: string; readonly choice: string; readonly open: boolean },
): LabelRule => {
  if (column.kind !== "numeric") {
    throw new InputError("no-number", labelTexts.noNumberColumn(column.name, choice));
  }
  const value = given === "" ? Number.NaN : Number(given);
  if (!Number.isFinite(value)) throw new InputError("no-number", labelTexts.noNumber(choice));
  valuesOf(column, open);
  const positive = `${comparison}${value}`;
  const classes = [`not ${positive}`, positive];
  return { kind: "threshold", column: column.name, comparison, value, classes };
};

/** The different values that occur, in order, as texts, and how many rows have each. */
export const valuesOf = (
  column: Column,
  open: boolean,
): { readonly values: readonly string[]; readonly counts: readonly number[] } => {
  const cells = column.kind === "numeric" ? column.values : column.codes;
  const rows = new Map<number, number>();
  for (const cell of cells) {
    if (column.kind === "numeric" ? !Number.isNaN(cell) : cell >= 0)
      rows.set(cell, (rows.get(cell) ?? 0) + 1);
  }
  if (rows.size === 0 && !open) throw new InputError("all-missing", labelTexts.allMissing(column.name));
  const ordered = [...rows].sort(([a], [b]) => a - b);
  return {
    values: ordered.map(([cell]) => (column.kind === "numeric" ? String(cell) : column.levels[cell])),
    counts: ordered.map(([, count]) => count),
  };
};
