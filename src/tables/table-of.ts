/** Tables from plain objects, and back. */
import { InputError } from "../core/errors.js";
import { DATE_UNIT } from "./cell-type.js";
import { type Column, columnCell, columnOfTexts, type Table, tableOfColumns } from "./table.js";

/** What a cell of a record may be. */
export type RecordValue = string | number | bigint | boolean | Date | null | undefined;
export type TableRecord = Readonly<Record<string, RecordValue>>;

export const tableOfTexts = {
  noRows: "the table has no rows: give at least one record.",
  value: (column: string, row: number) =>
    `record ${row + 1} has neither a number, a text, true, false, a date nor nothing in "${column}": give one of these.`,
};

const MS_PER_DAY = 86_400_000;

/**
 * A table of records, one for each row: numbers become a numeric column, texts and booleans (as `true` and `false`) a
 * categorical one, dates count days; a column that mixes them is text. Null, undefined, NaN and empty texts are
 * missing, and so is what a record lacks. Columns are in the order in which the records first name them.
 *
 * @example
 * ```ts
 * import { tableOf } from "fairbed";
 *
 * const table = tableOf([
 *   { id: "007", age: 31, member: true },
 *   { id: "8", age: null, member: false },
 * ]);
 * console.log(table.columns.map(({ name, kind }) => `${name}: ${kind}`).join(", "));
 * // id: categorical, age: numeric, member: categorical
 * ```
 */
export const tableOf = (
  records: readonly TableRecord[],
  options: { readonly name?: string | undefined; readonly notes?: readonly string[] | undefined } = {},
): Table => {
  if (records.length === 0) throw new InputError("empty-table", tableOfTexts.noRows);
  const names = new Set<string>();
  for (const record of records) for (const name of Object.keys(record)) names.add(name);
  return tableOfColumns(
    Array.from(names, (name) => columnOfValues(name, records)),
    options,
  );
};

type Kind = "number" | "date" | "text";

const columnOfValues = (name: string, records: readonly TableRecord[]): Column => {
  const kinds = new Set<Kind>();
  for (const [row, record] of records.entries()) {
    const kind = kindOf(own(record, name), name, row);
    if (kind !== undefined) kinds.add(kind);
  }
  const [kind = "number"] = kinds;
  if (kinds.size > 1 || kind === "text") {
    return columnOfTexts(
      name,
      records.map((record) => textOf(own(record, name))),
    );
  }
  const values = Float64Array.from(records, (record) => {
    const value = own(record, name);
    if (value instanceof Date) return value.getTime() / MS_PER_DAY;
    const number = typeof value === "number" || typeof value === "bigint" ? Number(value) : Number.NaN;
    return Number.isFinite(number) ? number : Number.NaN;
  });
  return { kind: "numeric", name, values, ...(kind === "date" ? { unit: DATE_UNIT } : {}) };
};

const own = (record: TableRecord, name: string): RecordValue =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Undefined where it is missing. */
const kindOf = (value: unknown, column: string, row: number): Kind | undefined => {
  if (value === null || value === undefined) return undefined;
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? "number" : undefined;
    case "bigint":
      // What float64 does not hold is an identifier.
      return value === BigInt(Number(value)) && Number.isSafeInteger(Number(value)) ? "number" : "text";
    case "string":
      return value.trim() === "" ? undefined : "text";
    case "boolean":
      return "text";
    default:
      if (!(value instanceof Date)) throw new InputError("record-value", tableOfTexts.value(column, row));
      return Number.isNaN(value.getTime()) ? undefined : "date";
  }
};

const textOf = (value: RecordValue): string | undefined => {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "number" && !Number.isFinite(value)) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  const text = String(value).trim();
  return text === "" ? undefined : text;
};

/**
 * The rows of a table as records: numbers, texts and dates, null where missing. `tableOf` makes the same table of them.
 *
 * @example
 * ```ts
 * import { parseTable, toRecords } from "fairbed/tables";
 *
 * const table = await parseTable("name,age\nAda,36\nBob,?\n");
 * console.log(JSON.stringify(toRecords(table))); // [{"name":"Ada","age":36},{"name":"Bob","age":null}]
 * ```
 */
export const toRecords = (table: Table): Record<string, string | number | Date | null>[] => {
  const cells = table.columns.map((column) => {
    const cell = columnCell(column);
    const isDate = column.kind === "numeric" && column.unit === DATE_UNIT;
    return [
      column.name,
      (row: number) => {
        const value = cell(row) ?? null;
        return isDate && typeof value === "number" ? new Date(Math.round(value * MS_PER_DAY)) : value;
      },
    ] as const;
  });
  return Array.from({ length: table.rows }, (_, row) =>
    Object.fromEntries(cells.map(([name, cell]) => [name, cell(row)])),
  );
};
