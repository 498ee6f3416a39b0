/** A table as JSON lines: one object for each row, with its columns in their order. */
import { DATE_UNIT } from "./cell-type.js";
import { columnCell, type Table } from "./table.js";

const MS_PER_DAY = 86_400_000;

/**
 * Numbers, texts and, where a column counts days, dates as ISO 8601; null where missing. Written name by name: an object
 * would put columns whose names are numbers first.
 *
 * @example
 * ```ts
 * import { tableOf, toJsonLines } from "fairbed/tables";
 *
 * const table = tableOf([{ name: "Ada", age: 36 }, { name: "Bob", age: null }]);
 * console.log(JSON.stringify(toJsonLines(table)));
 * // "{\"name\":\"Ada\",\"age\":36}\n{\"name\":\"Bob\",\"age\":null}\n"
 * ```
 */
export const toJsonLines = (table: Table): string => {
  const parts = table.columns.map((column) => {
    const cell = columnCell(column);
    const isDate = column.kind === "numeric" && column.unit === DATE_UNIT;
    const name = JSON.stringify(column.name);
    return (row: number): string => {
      const value = cell(row) ?? null;
      const shown =
        isDate && typeof value === "number" ? new Date(Math.round(value * MS_PER_DAY)).toISOString() : value;
      return `${name}:${JSON.stringify(shown)}`;
    };
  });
  const lines: string[] = [];
  for (let row = 0; row < table.rows; row++) lines.push(`{${parts.map((part) => part(row)).join(",")}}\n`);
  return lines.join("");
};
