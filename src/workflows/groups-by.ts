/** The group of every row, for quotas. */
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
