/** Tables and queries of a DuckDB, SQLite or PostgreSQL database. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { EnvironmentError, InputError } from "../core/errors.js";
import type { Relation } from "./csv-relation.js";
import { duckdbTexts, loadExtension, rowsOf, sqlName, sqlText } from "./duckdb.js";
import { answerOf, type TextSettings } from "./query-relation.js";
import { exportSqlite } from "./sqlite-export.js";
import { someOf } from "./table.js";

export const databaseTexts = {
  whichTable: (database: string, tables: readonly string[]) =>
    tables.length === 0
      ? `${database} has no tables: give a database that has one.`
      : `${database} has several tables (${someOf(tables)}): say which with --query "SELECT * FROM ${tables[0]}".`,
  noSqlite: (file: string) =>
    duckdbTexts.extension(
      `reading the SQLite file ${file}`,
      "sqlite",
      "use Node 22.13 or newer, or save the table as CSV or Parquet",
    ),
  noPostgres: duckdbTexts.extension(
    "reading PostgreSQL",
    "postgres",
    "save the table as CSV, for example with psql --csv",
  ),
};

export const databaseRelation = async (
  connection: DuckDBConnection,
  kind: "duckdb" | "sqlite" | "postgres",
  path: string,
  name: string,
  query: string | undefined,
  settings: TextSettings,
): Promise<Relation> => {
  if (kind === "sqlite" && !(await loadExtension(connection, "sqlite"))) {
    return fromNodeSqlite(connection, path, name, query, settings);
  }
  if (kind === "postgres" && !(await loadExtension(connection, "postgres"))) {
    throw new EnvironmentError("no-postgres", databaseTexts.noPostgres);
  }
  const type = kind === "duckdb" ? "" : `TYPE ${kind}, `;
  await connection.run(`ATTACH ${sqlText(path)} AS source (${type}READ_ONLY)`);
  await connection.run("USE source");
  return answerOf(connection, query ?? (await onlyTable(connection, name)), settings);
};

const onlyTable = async (connection: DuckDBConnection, name: string): Promise<string> => {
  const sql =
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source' AND table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY ALL";
  const tables = await rowsOf(connection, sql);
  if (tables.length === 1) {
    return `SELECT * FROM source.${sqlName(String(tables[0][0]))}.${sqlName(String(tables[0][1]))}`;
  }
  const names = tables.map(([, table]) => String(table));
  throw new InputError("which-table", databaseTexts.whichTable(name, names));
};

/** Node's own SQLite, where it has one: its answer passes through a file of JSON lines. */
const fromNodeSqlite = async (
  connection: DuckDBConnection,
  path: string,
  name: string,
  query: string | undefined,
  settings: TextSettings,
): Promise<Relation> => {
  const folder = await mkdtemp(join(tmpdir(), "fairbed-sqlite-"));
  try {
    const answer = join(folder, "answer.jsonl");
    const found = await exportSqlite(path, query, answer);
    if (found === "no sqlite") throw new EnvironmentError("no-sqlite", databaseTexts.noSqlite(name));
    if (found !== "written") throw new InputError("which-table", databaseTexts.whichTable(name, found));
    const all = `SELECT * FROM read_json(${sqlText(answer)}, format = 'newline_delimited', sample_size = -1, maximum_depth = 2)`;
    return await answerOf(connection, all, settings);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
