/** What to look at before a table is used for a task, in plain words, one warning for each column and reason. */
import { fixed } from "../core/number-text.js";
import { countClasses, isRare, rareTexts } from "../core/rare-values.js";
import { columnsOfRule, type Label } from "./label.js";
import { isProvenance } from "./provenance.js";
import { type Column, columnNamed, columnNames, type Table } from "./table.js";
import { defineTask, type Task, type TaskSettings } from "./task.js";
import { type ColumnTells, tellingColumns, tellingTexts } from "./telling-columns.js";
import { uselessColumn } from "./useless-columns.js";

export type TableWarningKind =
  /** A feature that nearly is the target. */
  | "nearly-target"
  /** A feature that nearly is a sensitive attribute. */
  | "nearly-sensitive"
  /** A group, or a class of the target, of few rows. */
  | "small-group"
  /** Many values are missing. */
  | "missing"
  /** The same value in every row, or none. */
  | "one-value"
  /** A feature in which nearly every row has a text of its own. */
  | "free-text";

export interface TableWarning {
  readonly column: string;
  readonly kind: TableWarningKind;
  /** One sentence that says what is the case and what to do. */
  readonly text: string;
}

/** Fewer rows than this say little about a group. */
const SMALL_GROUP = 30;
/** From this share of missing values on there is a warning. */
const MANY_MISSING = 0.2;

export const tableWarningTexts = {
  nearlyTarget: (column: string, target: string, tells: ColumnTells) =>
    `${tellingTexts.predicts(column, target, tells)}: leave it out if it is only known once the outcome is.`,
  nearlySensitive: (column: string, attribute: string, tells: ColumnTells) =>
    `${tellingTexts.says(column, attribute, tells)}: it stands in for the attribute, so leave it out unless it is needed.`,
  smallGroup: (group: string, rows: number) =>
    `only ${rows} rows have ${group}: what is found about them is uncertain, so collect more of them or put small groups together.`,
  rareGroups: (attribute: string, groups: number) =>
    `${attribute} has ${rareTexts.some("group", groups)}: nothing reliable can be said about so few, so put small groups together or leave them out.`,
  smallClass: (group: string, rows: number) =>
    `only ${rows} rows have ${group}: that is little to learn from, so collect more of them.`,
  rareClasses: (target: string, groups: number) =>
    `${target} has ${rareTexts.some("value", groups)}: that is too little to learn from, so collect more of them.`,
  missingTarget: (target: string, missing: number, rows: number) =>
    `${target} is not known in ${missing} of ${rows} rows (${percent(missing / rows)}): only the others can be learnt from.`,
  missingSensitive: (attribute: string, missing: number, rows: number) =>
    `${attribute} is not known in ${missing} of ${rows} rows (${percent(missing / rows)}): they count for no group, so find out whether some people are left out more often.`,
  missingFeature: (column: string, missing: number, rows: number) =>
    `${missing} of ${rows} values of "${column}" are missing (${percent(missing / rows)}): that a value is missing is used as information, so leave the column out if it should not be.`,
  constant: (column: string) =>
    `"${column}" has the same value in every row: it says nothing, and is not used.`,
  empty: (column: string) => `"${column}" has no values: it is not used.`,
  ownTextsUsed: (column: string, different: number, known: number) =>
    `"${column}" has ${different} different texts in ${known} rows, so it nearly names the row: leave it out.`,
  ownTextsLeftOut: (column: string, different: number, known: number) =>
    `"${column}" has ${different} different texts in ${known} rows, so it nearly names the row, and is not used.`,
};

const percent = (share: number): string => `${fixed(100 * share, 0)} %`;

/**
 * Warnings for a task, in the order in which they matter; throws as `defineTask` does where the settings do not fit the
 * table.
 *
 * @example
 * ```ts
 * import { tableOf, tableWarnings } from "fairbed/tables";
 *
 * const people = Array.from({ length: 200 }, (_, i) => ({
 *   score: (7 * i) % 41,
 *   country: "Norway",
 *   race: i < 12 ? "Other" : i % 2 === 0 ? "Black" : "White",
 *   hired: i % 3 === 0 ? "yes" : "no",
 * }));
 * const warnings = tableWarnings(tableOf(people), { target: "hired=yes", sensitive: ["race"] });
 * console.log(warnings.map(({ column, kind }) => `${column}: ${kind}`).join(", "));
 * // race: small-group, country: one-value
 * ```
 */
export const tableWarnings = (table: Table, settings: TaskSettings): readonly TableWarning[] => {
  // As if labels were still to come: what a task would note of them is worked out below.
  const task = defineTask(table, settings, { open: true, sensitiveElsewhere: true });
  return [
    ...tellingWarnings(task),
    ...groupWarnings(task),
    ...missingWarnings(task),
    ...uselessWarnings(task, settings),
  ];
};

const tellingWarnings = (task: Task): readonly TableWarning[] =>
  tellingColumns(task).map(({ column, about, label, ...tells }) =>
    about === "target"
      ? { column, kind: "nearly-target", text: tableWarningTexts.nearlyTarget(column, label, tells) }
      : { column, kind: "nearly-sensitive", text: tableWarningTexts.nearlySensitive(column, label, tells) },
  );

const groupWarnings = ({ target, sensitive }: Task): readonly TableWarning[] => [
  ...smallGroups(target, tableWarningTexts.smallClass, tableWarningTexts.rareClasses),
  ...sensitive.flatMap((label) =>
    smallGroups(label, tableWarningTexts.smallGroup, tableWarningTexts.rareGroups),
  ),
];

const smallGroups = (
  label: Label,
  one: (group: string, rows: number) => string,
  rare: (name: string, groups: number) => string,
): readonly TableWarning[] => {
  const column = columnsOfRule(label.rule).join(" and ");
  const counts = countClasses(label.labels, label.classes.length);
  const small = label.classes
    .map((name, at) => ({ name, rows: counts[at] }))
    .filter(({ rows }) => rows > 0 && rows < SMALL_GROUP);
  // Groups of very few people are not named: that may say who they are.
  const unnamed = small.filter(({ rows }) => isRare(rows)).length;
  const texts = small
    .filter(({ rows }) => !isRare(rows))
    .map(({ name, rows }) => one(groupText(label, name), rows));
  return [...texts, ...(unnamed === 0 ? [] : [rare(label.name, unnamed)])].map((text) => ({
    column,
    kind: "small-group",
    text,
  }));
};

/** `race = Other`, `age >=40`. */
const groupText = ({ name, rule }: Label, group: string): string => {
  if (rule.kind === "threshold") return `${rule.column} ${group}`;
  return `${rule.kind === "value" ? rule.column : name} = ${group}`;
};

const missingWarnings = ({ table, target, sensitive, features }: Task): readonly TableWarning[] => {
  const { rows } = table;
  const isMany = (missing: number): boolean => missing >= MANY_MISSING * rows;
  const ofLabel = (label: Label, text: typeof tableWarningTexts.missingTarget): readonly TableWarning[] => {
    const missing = label.labels.reduce((count, each) => count + Number(each < 0), 0);
    const column = columnsOfRule(label.rule).join(" and ");
    return isMany(missing) ? [{ column, kind: "missing", text: text(column, missing, rows) }] : [];
  };
  return [
    ...ofLabel(target, tableWarningTexts.missingTarget),
    ...sensitive.flatMap((label) => ofLabel(label, tableWarningTexts.missingSensitive)),
    ...features.flatMap((column): readonly TableWarning[] => {
      const missing = missingIn(columnNamed(table, column));
      const text = tableWarningTexts.missingFeature(column, missing, rows);
      return isMany(missing) ? [{ column, kind: "missing", text }] : [];
    }),
  ];
};

const missingIn = (column: Column): number => {
  let missing = 0;
  if (column.kind === "numeric") for (const value of column.values) missing += Number(Number.isNaN(value));
  else for (const code of column.codes) missing += Number(code < 0);
  return missing;
};

/** Of all columns that are, or would have been, features. */
const uselessWarnings = (
  { table, target, sensitive, features }: Task,
  { id, weights, exclude = [], features: wanted }: TaskSettings,
): readonly TableWarning[] => {
  const reserved = new Set([
    ...[target, ...sensitive].flatMap(({ rule }) => columnsOfRule(rule)),
    ...[id, weights, ...exclude].filter((name) => name !== undefined),
  ]);
  const used = new Set(features);
  return (wanted ?? columnNames(table))
    .filter((name) => !reserved.has(name) && !isProvenance(name))
    .flatMap((column): readonly TableWarning[] => {
      const found = uselessColumn(columnNamed(table, column));
      switch (found?.kind) {
        case "empty":
          return [{ column, kind: "one-value", text: tableWarningTexts.empty(column) }];
        case "constant":
          return [{ column, kind: "one-value", text: tableWarningTexts.constant(column) }];
        case "own-texts": {
          const text = used.has(column) ? tableWarningTexts.ownTextsUsed : tableWarningTexts.ownTextsLeftOut;
          return [{ column, kind: "free-text", text: text(column, found.different, found.known) }];
        }
        default:
          return [];
      }
    });
};
