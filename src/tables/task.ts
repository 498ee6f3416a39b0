/** What is to be learnt from a table: the target, the sensitive attributes, and the features. */
import { InputError } from "../core/errors.js";
import type { LeftOutGroup } from "../core/left-out.js";
import { commonOf, countClasses, rareTexts } from "../core/rare-values.js";
import { type ColumnTypes, withColumnTypes } from "./column-types.js";
import {
  chooseLabel,
  columnsOfRule,
  combineLabels,
  type Label,
  type LabelChoice,
  type LabelOptions,
  labelTexts,
} from "./label.js";
import { fitNumberCode } from "./number-code.js";
import { isProvenance } from "./provenance.js";
import { leastRowsOfLevel, rareLevelTexts } from "./rare-levels.js";
import { repeatedIds, repeatedIdTexts } from "./repeated-ids.js";
import { numbersRows } from "./row-numbers.js";
import { type GroupSizes, type SizedLabel, withGroupSizes } from "./small-groups.js";
import { type Column, columnNamed, columnNames, someOf, type Table } from "./table.js";
import { tellingNotes } from "./telling-columns.js";
import { uselessColumn } from "./useless-columns.js";

export interface TaskSettings extends GroupSizes, ColumnTypes {
  /** `"income=50000+."` picks the positive class; `"grade"` takes a class for each value; `"age>=40"` a threshold. */
  readonly target: LabelChoice;
  readonly sensitive: readonly LabelChoice[];
  /** Exactly these; all columns but the target, the sensitive ones, weights and ids unless given. */
  readonly features?: readonly string[] | undefined;
  /** Left out of the features. */
  readonly exclude?: readonly string[] | undefined;
  /** Features though nearly every row has a text of its own there, as in a column of names. */
  readonly keep?: readonly string[] | undefined;
  /** Values of categorical features that fewer rows have are taken as one; of more than 100 values those of fewer than 10 rows unless given. */
  readonly minLevel?: number | undefined;
  /** The sensitive group that others are held against; none unless given. */
  readonly referenceGroup?: string | undefined;
  readonly weights?: string | undefined;
  readonly id?: string | undefined;
  /** The sensitive attributes together as one, a class for each combination that occurs. */
  readonly combineSensitive?: boolean | undefined;
}

export interface Task {
  readonly table: Table;
  readonly target: Label;
  readonly sensitive: readonly Label[];
  /** Names of columns, in the order of the table. */
  readonly features: readonly string[];
  /** [rows], none negative; absent where every row counts the same. */
  readonly weights?: Float64Array | undefined;
  /** The column that names the rows. */
  readonly id?: string | undefined;
  /** Rows that a value of a categorical feature must have to stand for itself, where that was asked for. */
  readonly minLevel?: number | undefined;
  /** Columns that are taken otherwise than they were read. */
  readonly types?: ColumnTypes | undefined;
  /** The least size of a group that was asked for, for groups that are made of these. */
  readonly groupSizes: GroupSizes;
  /** The group that others are held against, of whichever attribute has it. */
  readonly referenceGroup?: string | undefined;
  /** Groups of the sensitive attributes that were left out, because they are smaller. */
  readonly leftOut: readonly LeftOutGroup[];
  /** What was left out, and why: one sentence each. */
  readonly notes: readonly string[];
}

export const taskTexts = {
  targetIsFeature: (column: string) =>
    `the column "${column}" is the target and cannot be a feature too: leave it out of the features.`,
  targetIsSensitive: (column: string) =>
    `the column "${column}" is both the target and sensitive: name two different columns.`,
  unlabelled: (rows: number, name: string) =>
    `${rows} row${rows === 1 ? " has" : "s have"} no value of ${name} and cannot be learnt from or tested on`,
  noFeatures: (table: string) =>
    `${table} has no features left: every column is the target, sensitive, excluded, constant or missing.`,
  noSensitive: 'no sensitive column is given: name at least one, as in sensitive: ["sex"].',
  constant: (column: string) => `"${column}" is left out: it has the same value in every row`,
  empty: (column: string) => `"${column}" is left out: all its values are missing`,
  provenance:
    "columns in which fairbed campaign export says how each row came to its label are left out (--keep keeps them)",
  /** `different` of so many known values. */
  rowsOfTheirOwn: (column: string, different: number, known: number) =>
    `"${column}" is left out: ${different === known ? "every row has a text of its own" : `${different} of ${known} texts are different, so it nearly names the row`} (--keep "${column}" keeps it)`,
  numbersOfTheirOwn: (column: string) =>
    `"${column}" has a different whole number in every row and is learnt from: if it names the rows, say so with --id "${column}"`,
  notExact: (column: string) =>
    `"${column}" holds numbers of such different sizes that some which differ are taken as equal: give it in another unit, or in two columns`,
  /** `groups` are those that may be named. */
  noGroup: (given: string, groups: readonly string[]) =>
    `there is no sensitive group "${given}" to hold others against: give one of ${someOf(groups)} (${rareTexts.notNamed("group")}).`,
  weightsAreText: (column: string) =>
    `the column "${column}" cannot be the weights because it holds text: name a column of numbers.`,
  weightValue: (column: string, row: number) =>
    `the weight in row ${row + 1} of the column "${column}" is missing or negative: give every row a weight of at least 0.`,
  noWeight: (column: string) =>
    `all weights in the column "${column}" are 0: give at least one row a weight.`,
  idMissing: (column: string, row: number) =>
    `row ${row + 1} has no id in the column "${column}": give every row one.`,
  idTwice: (column: string, first: number, second: number) =>
    `rows ${first + 1} and ${second + 1} have the same id in the column "${column}": make the ids different or name another column.`,
};

export interface TaskOptions extends LabelOptions {
  /** The sensitive attribute is learnt from elsewhere, and none need be named. */
  readonly sensitiveElsewhere?: boolean | undefined;
}

/**
 * Throws one sentence where the settings do not fit the table. A task without a sensitive attribute has to be asked
 * for: then the attribute is learnt from elsewhere.
 */
export const defineTask = (
  given: Table,
  settings: TaskSettings,
  { sensitiveElsewhere = false, open = false }: TaskOptions = {},
): Task => {
  const { categorical, numeric, minLevel } = settings;
  if (minLevel !== undefined && !(Number.isInteger(minLevel) && minLevel >= 1))
    throw new InputError("min-level", rareLevelTexts.minLevel(minLevel));
  const types: ColumnTypes = { categorical, numeric };
  const { table, notes: typeNotes } = withColumnTypes(given, types);
  const { target: targetChoice, weights, id, combineSensitive = false } = settings;
  const target = chooseLabel(table, targetChoice, { open });
  const single = settings.sensitive.map((choice) => chooseLabel(table, choice, { open }));
  if (single.length === 0 && !sensitiveElsewhere) {
    throw new InputError("no-sensitive", taskTexts.noSensitive);
  }
  requireApart(target, single, settings.features);
  const seen = new Set<string>();
  for (const { name } of single) {
    if (seen.has(name)) throw new InputError("sensitive-twice", labelTexts.twice(name));
    seen.add(name);
  }
  const whole = combineSensitive && single.length > 1 ? [combineLabels(table, single)] : single;
  const { minGroup, smallGroups } = settings;
  const groupSizes: GroupSizes = { minGroup, smallGroups };
  const sized = whole.map((label) => withGroupSizes(label, table, groupSizes));
  const sensitive = sized.map(({ label }) => label);
  if (id !== undefined) {
    const { conflicting } = repeatedIds(table, id, target.labels);
    if (conflicting > 0)
      throw new InputError("id-conflict", repeatedIdTexts.conflict(id, conflicting, target.name));
    requireIds(columnNamed(table, id));
  }
  const { referenceGroup } = settings;
  if (referenceGroup !== undefined) requireGroup(referenceGroup, sensitive);
  const rowWeights = weights === undefined ? undefined : weightsOf(columnNamed(table, weights));
  const { features, notes } = chooseFeatures(table, settings, [
    ...[target, ...sensitive].flatMap(({ rule }) => columnsOfRule(rule)),
    ...(weights === undefined ? [] : [weights]),
    ...(id === undefined ? [] : [id]),
  ]);
  return {
    table,
    target,
    sensitive,
    features,
    groupSizes,
    referenceGroup,
    leftOut: sized.flatMap(({ leftOut }) => leftOut),
    notes: [
      ...typeNotes,
      ...notes,
      ...(id === undefined ? unnamedIdNotes(table, features, settings) : []),
      ...features.flatMap((name) => encodingNotes(columnNamed(table, name), minLevel)),
      ...(open ? [] : tellingNotes({ table, features, target, sensitive })),
      ...(open ? [] : [target, ...whole].flatMap(withoutValue)),
      ...sized.flatMap((each) => each.notes),
    ],
    weights: rowWeights,
    minLevel,
    types: categorical === undefined && numeric === undefined ? undefined : types,
    id,
  };
};

/** All sensitive attributes of a task as one, where there are several: with groups of the size that was asked for. */
export const intersectionOf = ({
  table,
  sensitive,
  groupSizes,
}: Pick<Task, "table" | "sensitive" | "groupSizes">): SizedLabel | undefined =>
  sensitive.length < 2 ? undefined : withGroupSizes(combineLabels(table, sensitive), table, groupSizes);

const requireGroup = (given: string, sensitive: readonly Label[]): void => {
  if (sensitive.some(({ classes }) => classes.includes(given))) return;
  const named = sensitive.flatMap(({ classes, labels }) =>
    commonOf(classes, countClasses(labels, classes.length)),
  );
  throw new InputError("reference-group", taskTexts.noGroup(given, named));
};

const requireApart = (
  target: Label,
  sensitive: readonly Label[],
  features: readonly string[] | undefined,
): void => {
  for (const column of columnsOfRule(target.rule)) {
    if (features?.includes(column)) {
      throw new InputError("target-feature", taskTexts.targetIsFeature(column));
    }
    if (sensitive.some(({ rule }) => columnsOfRule(rule).includes(column))) {
      throw new InputError("target-sensitive", taskTexts.targetIsSensitive(column));
    }
  }
};

/** A note where rows lack a label. */
const withoutValue = ({ name, labels }: Label): string[] => {
  const missing = labels.reduce((count, label) => count + (label < 0 ? 1 : 0), 0);
  return missing === 0 ? [] : [taskTexts.unlabelled(missing, name)];
};

const chooseFeatures = (table: Table, settings: TaskSettings, reserved: readonly string[]) => {
  const excluded = new Set((settings.exclude ?? []).map((name) => columnNamed(table, name).name));
  const wanted = new Set(settings.features?.map((name) => columnNamed(table, name).name));
  const kept = new Set((settings.keep ?? []).map((name) => columnNamed(table, name).name));
  const taken = new Set(reserved);
  const candidates = columnNames(table).filter((name) =>
    settings.features === undefined ? !taken.has(name) : wanted.has(name),
  );
  const notes: string[] = [];
  const isNote = (name: string) => settings.features === undefined && isProvenance(name) && !kept.has(name);
  if (candidates.some((name) => isNote(name) && !excluded.has(name))) notes.push(taskTexts.provenance);
  const features = candidates.filter((name) => {
    if (excluded.has(name) || isNote(name)) return false;
    const reason = uselessness(columnNamed(table, name), kept.has(name));
    if (reason !== undefined) notes.push(reason);
    return reason === undefined;
  });
  if (features.length === 0) throw new InputError("no-features", taskTexts.noFeatures(table.name));
  return { features, notes };
};

/** Why a column cannot help to predict anything, if so. */
const uselessness = (column: Column, isKept: boolean): string | undefined => {
  const found = uselessColumn(column);
  switch (found?.kind) {
    case "empty":
      return taskTexts.empty(column.name);
    case "constant":
      return taskTexts.constant(column.name);
    case "own-texts":
      return isKept ? undefined : taskTexts.rowsOfTheirOwn(column.name, found.different, found.known);
    default:
      return undefined;
  }
};

/** Of features that nobody asked for, those that may be what the rows are called. */
const unnamedIdNotes = (
  table: Table,
  features: readonly string[],
  { features: wanted = [], keep = [] }: TaskSettings,
): readonly string[] => {
  const asked = new Set([...wanted, ...keep].map((name) => columnNamed(table, name).name));
  return features
    .filter((name) => !asked.has(name) && numbersRows(columnNamed(table, name)))
    .map(taskTexts.numbersOfTheirOwn);
};

/** What of a feature is not kept as it is. */
const encodingNotes = (column: Column, minLevel: number | undefined): readonly string[] => {
  const { name } = column;
  if (column.kind === "numeric") {
    const { isExact } = fitNumberCode(column.values.filter((value) => !Number.isNaN(value)));
    return isExact ? [] : [taskTexts.notExact(name)];
  }
  const counts = countClasses(column.codes, column.levels.length);
  const least = leastRowsOfLevel(counts, minLevel);
  const used = counts.filter((count) => count > 0);
  const rare = used.filter((count) => count < least).length;
  return rare === 0 ? [] : [rareLevelTexts.grouped(name, used.length, rare, least)];
};

const requireIds = (column: Column): void => {
  const values = column.kind === "numeric" ? column.values : column.codes;
  const rowOf = new Map<number, number>();
  for (const [row, value] of values.entries()) {
    if (column.kind === "numeric" ? Number.isNaN(value) : value < 0) {
      throw new InputError("id-missing", taskTexts.idMissing(column.name, row));
    }
    const before = rowOf.get(value);
    if (before !== undefined) throw new InputError("id-twice", taskTexts.idTwice(column.name, before, row));
    rowOf.set(value, row);
  }
};

const weightsOf = (column: Column): Float64Array => {
  if (column.kind !== "numeric") throw new InputError("weights", taskTexts.weightsAreText(column.name));
  let sum = 0;
  for (const [row, value] of column.values.entries()) {
    if (!(value >= 0)) throw new InputError("weights", taskTexts.weightValue(column.name, row));
    sum += value;
  }
  if (sum === 0) throw new InputError("weights", taskTexts.noWeight(column.name));
  return column.values;
};
