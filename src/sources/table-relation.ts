/** A table that was read here, as one that the database can be asked about. */
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { columnCell, type Table } from "../tables/table.js";
import { type Batch, loadTable } from "./loaded-relation.js";
import type { Relation } from "./relation.js";

const BATCH_ROWS = 8192;

export const tableRelation = async (connection: DuckDBConnection, table: Table): Promise<Relation> => {
  const { DOUBLE, VARCHAR } = await import("@duckdb/node-api");
  const given = table.columns.map(({ name, kind }) =>
    kind === "numeric" ? { name, given: DOUBLE, type: "DOUBLE" } : { name, given: VARCHAR, type: "VARCHAR" },
  );
  const { from, columns } = await loadTable(connection, table.name, given, batchesOf(table));
  return {
    from,
    columns: columns.map(({ sql }, index) => ({
      name: table.columns[index].name,
      kind: table.columns[index].kind,
      sql,
    })),
    missing: [],
    notes: table.notes,
  };
};

function* batchesOf({ rows, columns }: Table): Generator<Batch, void, undefined> {
  const cells = columns.map(columnCell);
  for (let start = 0; start < rows; start += BATCH_ROWS) {
    const length = Math.min(BATCH_ROWS, rows - start);
    yield cells.map((cell) => Array.from({ length }, (_, row): DuckDBValue => cell(start + row) ?? null));
  }
}
