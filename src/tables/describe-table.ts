/** What a table was understood to be, shown before it is used. */
import { shortest } from "../core/number-text.js";
import { commonOf, countClasses } from "../core/rare-values.js";
import type { Column, Table } from "./table.js";

export interface ColumnDescription {
  readonly name: string;
  readonly type: "number" | "category";
  /** How many different values there are. */
  readonly distinct: number;
  readonly missing: number;
  /** The range of the numbers, or the first levels: what the column holds, and no single row of it. */
  readonly example: string;
}

export interface TableDescription {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly ColumnDescription[];
  readonly notes: readonly string[];
}

const SHOWN_LEVELS = 4;

/** What the columns of a table are: kinds, levels, ranges, and how much is missing. */
export const describeTable = (table: Table): TableDescription => ({
  name: table.name,
  rows: table.rows,
  columns: table.columns.map(describeColumn),
  notes: table.notes,
});

export const describeColumn = (column: Column): ColumnDescription =>
  column.kind === "numeric" ? describeNumbers(column) : describeLevels(column);

/** Digits that tell what a column holds. */
const DIGITS = 6;
const shown = (value: number): string => (Number.isInteger(value) ? String(value) : shortest(value, DIGITS));

const describeNumbers = ({ name, values, unit }: Column & { kind: "numeric" }): ColumnDescription => {
  let missing = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const distinct = new Set<number>();
  for (const value of values) {
    if (Number.isNaN(value)) {
      missing += 1;
      continue;
    }
    distinct.add(value);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const range =
    distinct.size === 0 ? "" : distinct.size === 1 ? shown(low) : `${shown(low)} to ${shown(high)}`;
  const example = unit === undefined ? range : `${range} ${unit}`.trim();
  return { name, type: "number", distinct: distinct.size, missing, example };
};

const describeLevels = ({ name, codes, levels }: Column & { kind: "categorical" }): ColumnDescription => {
  const counts = countClasses(codes, levels.length);
  const missing = codes.length - counts.reduce((sum, count) => sum + count, 0);
  const used = counts.filter((count) => count > 0).length;
  const shown = commonOf(levels, counts).slice(0, SHOWN_LEVELS);
  const more = used > shown.length ? [shown.length === 0 ? "(rare values, not shown)" : "…"] : [];
  return { name, type: "category", distinct: used, missing, example: [...shown, ...more].join(", ") };
};
