/** What was told, in its order, and the table with it filled in. */
import { InputError } from "../core/errors.js";
import { columnsOfRule, type Label, type LabelRule } from "../tables/label.js";
import { columnNamed, type Table } from "../tables/table.js";
import type { AcquisitionPlan } from "./acquisition-plan.js";
import type { RowSession } from "./row-session.js";
import {
  checkedValue,
  classOfRow,
  type LabelValue,
  type LabelValues,
  toldTexts,
  withTold,
} from "./told-values.js";

/** What was told of one row at once. */
export interface Told {
  readonly row: number;
  /** As it stands in the column; "refused" where no answer will come. */
  readonly label?: LabelValue | undefined;
  readonly sensitive?: LabelValues | undefined;
}

export const toldLogTexts = {
  nothing: "neither a label nor a sensitive label was told: give one of them",
  noSensitive: "a sensitive label was told and the acquisition has no sensitive column: leave it out",
};

export type SingleRule = Exclude<LabelRule, { kind: "combination" }>;
/** The rules that a rule is made of. */
export const singleRules = (rule: LabelRule): readonly SingleRule[] =>
  rule.kind === "combination" ? rule.parts.flatMap(singleRules) : [rule];

/** Sensitive values by column, each checked against what its column holds. */
const sensitiveValues = (
  table: Table,
  labels: readonly Label[],
  given: LabelValue | LabelValues,
): LabelValues => {
  const rules = labels.flatMap(({ rule }) => singleRules(rule));
  if (rules.length === 0) throw new InputError("sensitive", toldLogTexts.noSensitive);
  const columns = [...new Set(rules.map(({ column }) => column))];
  const byColumn = typeof given === "object" ? given : columns.length === 1 ? { [columns[0]]: given } : {};
  const names = Object.keys(byColumn);
  if (names.length === 0 || names.some((name) => !columns.includes(name))) {
    throw new InputError("sensitive", toldTexts.columns(columns));
  }
  return Object.fromEntries(
    names.map((name) => {
      const rule = rules.find(({ column }) => column === name) as SingleRule;
      return [name, checkedValue(rule, columnNamed(table, name), byColumn[name])];
    }),
  );
};

/** A column may be called `constructor`, which every object has. */
const toldIn = (values: LabelValues | undefined, name: string): LabelValue | undefined =>
  values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;

/** The column with these rows missing. */
const withoutValues = (column: Table["columns"][number], rows: Int32Array): Table["columns"][number] => {
  if (rows.length === 0) return column;
  if (column.kind === "numeric") {
    const values = column.values.slice();
    for (const row of rows) values[row] = Number.NaN;
    return { ...column, values };
  }
  const codes = column.codes.slice();
  for (const row of rows) codes[row] = -1;
  return { ...column, codes };
};

/** What is told of one row, checked and as it is kept. */
export const checkTold = (
  { table, task, sensitive }: Pick<AcquisitionPlan, "task" | "sensitive"> & { readonly table: Table },
  label: LabelValue | undefined,
  also: LabelValue | LabelValues | undefined,
): Omit<Told, "row"> => {
  if (label === undefined && also === undefined) throw new InputError("label", toldLogTexts.nothing);
  const { rule } = task.target as { rule: SingleRule };
  return {
    label:
      label === undefined || label === "refused"
        ? label
        : checkedValue(rule, columnNamed(table, rule.column), label),
    sensitive: also === undefined ? undefined : sensitiveValues(table, sensitive, also),
  };
};

/** The table with the values of some rows filled in, and the target's of those who are `gone` taken out. */
const filledTable = (
  table: Table,
  target: string,
  values: ReadonlyMap<number, LabelValues>,
  gone: Int32Array,
): Table => {
  const names = new Set([...values.values()].flatMap(Object.keys));
  const toldOf = (name: string): Map<number, LabelValue> =>
    new Map(
      [...values].flatMap(([row, each]) => {
        const value = toldIn(each, name);
        return value === undefined ? [] : [[row, value] as const];
      }),
    );
  const columns = table.columns.map((each) => {
    const kept = each.name === target ? withoutValues(each, gone) : each;
    return names.has(each.name) ? withTold(kept, toldOf(each.name)) : kept;
  });
  return { ...table, columns };
};

/** The table with what is known of each row by now, one entry for a row. */
export const tableWithTold = (table: Table, target: Label, told: readonly Told[]): Table => {
  const { column } = (target as { rule: SingleRule }).rule;
  const values = new Map(
    told.map(({ row, label, sensitive }): [number, LabelValues] => [
      row,
      { ...sensitive, ...(label === undefined || label === "refused" ? {} : { [column]: label }) },
    ]),
  );
  const gone = Int32Array.from(
    told.filter(({ label }) => label === "refused"),
    ({ row }) => row,
  );
  return filledTable(table, column, values, gone);
};

export interface ToldLog {
  /** Checks what a person tells and takes it. */
  tell(row: number, label: LabelValue | undefined, sensitive: LabelValue | LabelValues | undefined): void;
  /** Takes what was checked before. */
  take(one: Told): void;
  readonly entries: readonly Told[];
  /** The table with what was told in it. */
  table(): Table;
}

export const createToldLog = (table: Table, plan: AcquisitionPlan, rows: RowSession): ToldLog => {
  const {
    task,
    sensitive,
    rows: { initial },
  } = plan;
  const entries: Told[] = [];
  /** The last values of each row, by column. */
  const values = new Map<number, LabelValues>();
  const { rule } = task.target as { rule: SingleRule };
  const { column } = rule;
  const take = (one: Told): void => {
    const { row, label } = one;
    entries.push(one);
    const now: LabelValues = { ...values.get(row), ...one.sensitive };
    sensitive.forEach((each, i) => {
      if (!columnsOfRule(each.rule).some((name) => toldIn(one.sensitive, name) !== undefined)) return;
      rows.tellSensitive(row, i, classOfRow(each.rule, table, row, now));
    });
    if (label === "refused") {
      rows.refuse(row);
      const { [column]: _, ...rest } = now;
      values.set(row, rest);
      return;
    }
    if (label !== undefined) rows.tell(row, classOfRow(rule, table, row, { [column]: label }));
    values.set(row, label === undefined ? now : { ...now, [column]: label });
  };
  return {
    entries,
    take,
    tell: (row, label, also) => take({ row, ...checkTold({ table, ...plan }, label, also) }),
    table: () =>
      filledTable(
        table,
        column,
        values,
        initial.filter((row) => rows.isRefused(row)),
      ),
  };
};
