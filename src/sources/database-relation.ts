/** Tables and queries of a DuckDB file, and what all databases have to say. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { InputError } from "../core/errors.js";
import { someOf } from "../tables/table.js";
import type { AnswerPlace } from "./answer-place.js";
import { limitAccess, rowsOf, sqlName, sqlText } from "./duckdb.js";
import { answerOf, type TextSettings } from "./query-relation.js";
import type { Relation } from "./relation.js";

export const databaseTexts = {
  whichTable: (database: string, tables: readonly string[]) =>
    tables.length === 0
      ? `${database} has no tables: give a database that has one.`
      : `${database} has several tables (${someOf(tables)}): say which with --query ${asQuery(tables[0])}.`,
  refused: (database: string, reason: string) =>
    `${database} could not answer (${reason}): check the query and the names in it.`,
};

/** For a command line: a name that is none in plain SQL needs quotes inside quotes. */
const asQuery = (table: string): string =>
  /^[a-z_][a-z0-9_.]*$/i.test(table) ? `"SELECT * FROM ${table}"` : `'SELECT * FROM ${sqlName(table)}'`;

export const duckdbRelation = async (
  connection: DuckDBConnection,
  path: string,
  name: string,
  query: string | undefined,
  settings: TextSettings,
  place: AnswerPlace,
): Promise<Relation> => {
  await connection.run(`ATTACH ${sqlText(path)} AS source (READ_ONLY)`);
  // After this: the database opens files beside its own, and a view in it must not.
  await limitAccess(connection, []);
  await connection.run("USE source");
  return answerOf(connection, query ?? (await onlyTable(connection, name)), name, settings, place);
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
