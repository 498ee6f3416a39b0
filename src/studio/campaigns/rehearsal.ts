/** A table whose labels are mostly taken away, so that a campaign can be tried out on it. */
import { seededStream } from "../../core/random.js";
import { chooseLabel, columnsOfRule } from "../../tables/label.js";
import { columnCell, columnOfNumbers, columnOfTexts, type Table } from "../../tables/table.js";

/** Rows that keep their label: one of every class, and others drawn at random; the same every time. */
const keptRows = (labels: Int32Array, count: number): ReadonlySet<number> => {
  const order = [...seededStream(0).split("rehearsal").permutation(labels.length)].filter(
    (row) => labels[row] >= 0,
  );
  const seen = new Set<number>();
  const first = order.filter((row) => !seen.has(labels[row]) && seen.add(labels[row]));
  return new Set([...new Set([...first, ...order])].slice(0, Math.max(count, first.length)));
};

/** The table with the labels of so many rows, and nothing in the target's column of the others. */
export const withFewLabels = (table: Table, target: string, count: number): Table => {
  const { rule, labels } = chooseLabel(table, target);
  const targets = columnsOfRule(rule);
  const kept = keptRows(labels, count);
  return {
    ...table,
    columns: table.columns.map((column) => {
      if (!targets.includes(column.name)) return column;
      if (column.kind === "numeric") {
        return {
          ...column,
          ...columnOfNumbers(
            column.name,
            column.values.map((value, row) => (kept.has(row) ? value : Number.NaN)),
          ),
        };
      }
      const cell = columnCell(column);
      return columnOfTexts(
        column.name,
        Array.from({ length: table.rows }, (_, row) => (kept.has(row) ? String(cell(row)) : undefined)),
      );
    }),
  };
};
