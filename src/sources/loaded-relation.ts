/** Tables that reach DuckDB row by row, from a package that reads what DuckDB itself cannot. */
import type { DuckDBConnection, DuckDBType, DuckDBValue } from "@duckdb/node-api";
import { InputError } from "../core/errors.js";
import { distinctNames } from "../tables/dialect.js";
import { type AnswerPlace, createTable, nameIn } from "./answer-place.js";
import { sqlName } from "./duckdb.js";

/** Some rows: a list of equally long lists, one for each column. */
export type Batch = readonly (readonly DuckDBValue[])[];

export interface LoadedColumn {
  readonly name: string;
  /** What the batches hold. */
  readonly given: DuckDBType;
  /** What it becomes, in SQL. */
  readonly type: string;
}

export interface LoadedTable {
  /** What can stand after FROM. */
  readonly from: string;
  readonly columns: readonly { readonly name: string; readonly sql: string; readonly type: string }[];
  readonly notes: readonly string[];
}

export const loadedTexts = {
  noColumns: (source: string) =>
    `${source} gave no columns: give a table, or a query that answers with rows.`,
  bytes: (column: string) =>
    `the column "${column}" holds bytes, which are neither numbers nor text, and is taken as missing`,
};

export interface LoadSettings {
  readonly place?: AnswerPlace | undefined;
  /** By all columns, the first first: where the source gives its rows in no order of its own. */
  readonly sorted?: boolean | undefined;
  /** Called after each batch. */
  readonly onRows?: (() => void) | undefined;
}

/** DuckDB's own vectors are this long. */
const VECTOR_ROWS = 2048;

/** Copies the batches into a table that DuckDB keeps, on disk where it does not fit into memory. */
export const loadTable = async (
  connection: DuckDBConnection,
  source: string,
  columns: readonly LoadedColumn[],
  batches: AsyncIterable<Batch> | Iterable<Batch>,
  { place = "temp", sorted = false, onRows = () => {} }: LoadSettings = {},
): Promise<LoadedTable> => {
  if (columns.length === 0) throw new InputError("empty-table", loadedTexts.noColumns(source));
  const { DuckDBDataChunk } = await import("@duckdb/node-api");
  const { names, notes } = distinctNames(columns.map(({ name }) => name.trim()));
  const typed = columns.map(({ type }, index) => ({ name: names[index], sql: sqlName(`c${index}`), type }));
  const definition = typed.map(({ sql, type }) => `${sql} ${type}`).join(", ");
  await connection.run(`${createTable(place, "fairbed_loaded")} (${definition})`);
  const appender = await connection.createAppender("fairbed_loaded", "main", place);
  try {
    for await (const batch of batches) {
      const rows = batch[0].length;
      for (let start = 0; start < rows; start += VECTOR_ROWS) {
        const end = Math.min(rows, start + VECTOR_ROWS);
        const chunk = DuckDBDataChunk.create(
          columns.map(({ given }) => given),
          end - start,
        );
        for (const [index, values] of batch.entries()) {
          chunk.setColumnValues(index, rows <= VECTOR_ROWS ? values : values.slice(start, end));
        }
        appender.appendDataChunk(chunk);
      }
      onRows();
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
  const loaded = nameIn(place, "fairbed_loaded");
  if (!sorted) return { from: loaded, columns: typed, notes };
  await connection.run(`${createTable(place, "fairbed_sorted")} AS FROM ${loaded} ORDER BY ALL`);
  await connection.run(`DROP TABLE ${loaded}`);
  return { from: nameIn(place, "fairbed_sorted"), columns: typed, notes };
};
