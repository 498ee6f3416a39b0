/** The group of every row, for quotas. */
import type { Quota } from "../active/quotas.js";
import { InputError } from "../core/errors.js";
import { asCategorical, columnNamed, type Table } from "../tables/table.js";

export interface GroupValues {
  readonly column: string;
  /** Rows with the i-th of these values are the group i. */
  readonly values: readonly string[];
}

/** [rows], -1 where the value is none of them. */
export const groupsBy = (table: Table, { column, values }: GroupValues): Int32Array => {
  const { codes, levels } = asCategorical(columnNamed(table, column));
  const groupOfLevel = levels.map((level) => values.indexOf(level));
  return Int32Array.from(codes, (code) => (code < 0 ? -1 : groupOfLevel[code]));
};

/** At least and at most so many of what is chosen, by the values of a column. */
export interface ColumnQuotas {
  readonly column: string;
  readonly quotas: readonly {
    readonly value: string;
    readonly atLeast?: number | undefined;
    readonly atMost?: number | undefined;
  }[];
}

export const columnQuotaTexts = {
  room: (least: number, chosen: number) =>
    `the quotas ask for at least ${least} rows and ${chosen} are to be chosen: ask for fewer, or choose more`,
  value: (column: string, value: string) =>
    `the column "${column}" has no value "${value}": a quota is on one that it has`,
};

/** The values that have a quota: each is a group. */
export const groupValuesOf = ({ column, quotas }: ColumnQuotas): GroupValues => ({
  column,
  values: quotas.map(({ value }) => value),
});

/** The quotas by the groups of `groupValuesOf`. */
export const quotasByGroup = ({ quotas }: ColumnQuotas): Quota[] =>
  quotas.map(({ value: _, ...bounds }, group) => ({ group, ...bounds }));

/** Fails where the quotas ask for more than is chosen. */
export const requireRoom = ({ quotas }: ColumnQuotas, chosen: number): void => {
  const least = quotas.reduce((sum, { atLeast = 0 }) => sum + atLeast, 0);
  if (least > chosen) throw new InputError("quota", columnQuotaTexts.room(least, chosen));
};

/** The group of every row and the quotas by group; fails where a quota is on a value that the column does not have. */
export const quotaGroups = (
  table: Table,
  given: ColumnQuotas,
): { readonly groups: Int32Array; readonly quotas: readonly Quota[] } => {
  const { levels } = asCategorical(columnNamed(table, given.column));
  const unknown = given.quotas.find(({ value }) => !levels.includes(value));
  if (unknown !== undefined) {
    throw new InputError("quota", columnQuotaTexts.value(given.column, unknown.value));
  }
  return { groups: groupsBy(table, groupValuesOf(given)), quotas: quotasByGroup(given) };
};
