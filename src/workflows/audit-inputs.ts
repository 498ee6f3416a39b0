/** A table made ready for an audit: quantities cut into classes, features as numbers, attributes and their intersection. */

import { InputError } from "../core/errors.js";
import type { LeftOutGroup } from "../core/left-out.js";
import { shortest } from "../core/number-text.js";
import { binByCuts, quantileBins } from "../fairness/leakage.js";
import { withColumnTypes } from "../tables/column-types.js";
import { type EncodedMatrix, type Encoder, fitEncoder } from "../tables/encoder.js";
import { applyRule, type Label, type LabelChoice } from "../tables/label.js";
import { columnOfTexts, type Table } from "../tables/table.js";
import { defineTask, intersectionOf, type Task, type TaskSettings } from "../tables/task.js";

/** More different numbers than this are a quantity, which is cut into classes. */
const MOST_NUMERIC_CLASSES = 10;

export const auditInputTexts = {
  binned: (column: string, bins: number) =>
    `"${column}" is a quantity: it was cut at its quantiles into ${bins} classes of about the same size`,
  noTest: (name: string, column: string) =>
    `${name} has no known value of "${column}" that the table has too: give test data with the same columns and values.`,
};

/** Where each quantity was cut, so that another table is cut there too. */
export type Cuts = ReadonlyMap<string, readonly number[]>;

export interface AuditInput {
  readonly task: Task;
  readonly encoder: Encoder;
  readonly encoded: EncodedMatrix;
  /** The sensitive attributes, and last their intersection where there are several. */
  readonly sensitive: readonly Label[];
  readonly cuts: Cuts;
  /** Groups that are smaller than was asked for. */
  readonly leftOut: readonly LeftOutGroup[];
  readonly notes: readonly string[];
}

/** Test rows, labelled and encoded as the table's were. */
export interface AuditTestInput {
  readonly encoded: EncodedMatrix;
  readonly target: Int32Array;
  readonly sensitive: readonly Int32Array[];
}

const columnOf = (choice: LabelChoice): string =>
  typeof choice === "string" ? choice.trim() : choice.column;

const cutTable = (table: Table, sensitive: readonly LabelChoice[], bins: number, given: Cuts | undefined) => {
  const cuts = new Map(given);
  const notes: string[] = [];
  const names = new Set(sensitive.map(columnOf));
  const columns = table.columns.map((column) => {
    if (column.kind !== "numeric" || !names.has(column.name)) return column;
    if (given === undefined) {
      const different = new Set(column.values.filter((value) => !Number.isNaN(value)));
      if (different.size <= MOST_NUMERIC_CLASSES) return column;
      cuts.set(column.name, quantileBins(column.values, bins).cuts);
    }
    const own = cuts.get(column.name);
    if (own === undefined) return column;
    notes.push(auditInputTexts.binned(column.name, own.length + 1));
    const classes = namesOf(own);
    return columnOfTexts(
      column.name,
      Array.from(binByCuts(column.values, own), (bin) => (bin < 0 ? undefined : classes[bin])),
    );
  });
  return { table: { ...table, columns }, cuts, notes };
};

const short = (value: number): string => shortest(value, 6);

/** Numbered, so that they sort as they lie. */
const namesOf = (cuts: readonly number[]): readonly string[] => [
  `1: below ${short(cuts[0])}`,
  ...cuts.slice(1).map((cut, i) => `${i + 2}: ${short(cuts[i])} to below ${short(cut)}`),
  `${cuts.length + 1}: ${short(cuts[cuts.length - 1])} or more`,
];

export const auditInputOf = (
  table: Table,
  roles: TaskSettings,
  bins: number,
  given?: Cuts | undefined,
): AuditInput => {
  const typed = withColumnTypes(table, roles).table;
  const { table: cut, cuts, notes } = cutTable(typed, roles.sensitive, bins, given);
  const task = defineTask(cut, { ...roles, weights: undefined });
  const encoder = fitEncoder(task);
  const intersection = intersectionOf(task);
  const sensitive = [...task.sensitive, ...(intersection === undefined ? [] : [intersection.label])];
  return {
    task,
    encoder,
    encoded: encoder.encode(task.table),
    sensitive,
    cuts,
    leftOut: [...task.leftOut, ...(intersection?.leftOut ?? [])],
    notes: [...notes, ...task.table.notes, ...task.notes, ...(intersection?.notes ?? [])],
  };
};

export const auditTestOf = (
  given: Table,
  of: AuditInput,
  roles: TaskSettings,
  bins: number,
): AuditTestInput => {
  const { table } = cutTable(withColumnTypes(given, roles).table, roles.sensitive, bins, of.cuts);
  const target = applyRule(of.task.target.rule, table);
  const sensitive = of.sensitive.map((label) => {
    const labels = applyRule(label.rule, table);
    if (!labels.some((each) => each >= 0)) {
      throw new InputError("test-labels", auditInputTexts.noTest(given.name, label.name));
    }
    return labels;
  });
  return { encoded: of.encoder.encode(table), target, sensitive };
};
