/** The pool between its two forms: a table, and the items that a store keeps one by one. */
import { InputError } from "../core/errors.js";
import { idReader } from "../tables/ids.js";
import {
  columnCell,
  columnNamed,
  columnOfNumbers,
  columnOfTexts,
  type Table,
  tableOfColumns,
} from "../tables/table.js";
import { sealItem } from "./chain.js";
import type { StoredItem } from "./events.js";
import type { PoolColumn } from "./settings.js";

export const poolTexts = {
  noId: (row: number, column: string) =>
    `row ${row} of the pool has no id in the column "${column}": give every row one, or leave out the id`,
  sameId: (first: number, second: number, column: string) =>
    `rows ${first} and ${second} of the pool have the same id in the column "${column}": give every row one of its own`,
};

export const columnsOf = (table: Table): readonly PoolColumn[] =>
  table.columns.map((column) => ({
    name: column.name,
    kind: column.kind,
    ...(column.kind === "numeric" && column.unit !== undefined ? { unit: column.unit } : {}),
  }));

/** Ids are the texts of the id column, else the numbers of the rows. */
export const itemsOf = (table: Table, id: string | undefined): readonly StoredItem[] => {
  const cells = table.columns.map(columnCell);
  const idOf = id === undefined ? (row: number) => String(row) : idReader(columnNamed(table, id));
  const seen = new Map<string, number>();
  return Array.from({ length: table.rows }, (_, row) => {
    const own = idOf(row);
    if (own === undefined || own === "") throw new InputError("id", poolTexts.noId(row, id ?? ""));
    const other = seen.get(own);
    if (other !== undefined) throw new InputError("id", poolTexts.sameId(other, row, id ?? ""));
    seen.set(own, row);
    return sealItem(row, own, JSON.stringify(cells.map((cell) => cell(row) ?? null)));
  });
};

type Cells = readonly (string | number | null)[];

/** The table of the items that are left, row by row; `itemOf` says which item a row is. */
export const tableOfItems = (
  columns: readonly PoolColumn[],
  items: readonly StoredItem[],
): { readonly table: Table; readonly itemOf: Int32Array; readonly rowOf: Int32Array } => {
  const kept = items.filter(({ cells }) => cells !== null);
  const rows = kept.map(({ cells }) => JSON.parse(cells ?? "[]") as Cells);
  const itemOf = Int32Array.from(kept, ({ item }) => item);
  const rowOf = new Int32Array(items.length).fill(-1);
  itemOf.forEach((item, row) => {
    rowOf[item] = row;
  });
  const table = tableOfColumns(
    columns.map(({ name, kind, unit }, c) =>
      kind === "numeric"
        ? {
            ...columnOfNumbers(
              name,
              Float64Array.from(rows, (cells) => (cells[c] as number | null) ?? Number.NaN),
            ),
            ...(unit === undefined ? {} : { unit }),
          }
        : columnOfTexts(
            name,
            rows.map((cells) => {
              const cell = cells[c];
              return cell === null || cell === undefined ? undefined : String(cell);
            }),
          ),
    ),
    { name: "the pool" },
  );
  return { table, itemOf, rowOf };
};
