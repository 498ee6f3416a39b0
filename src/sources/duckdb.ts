/** The database that reads tables: an optional package, loaded when the first table is read. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { EnvironmentError } from "../core/errors.js";

export const duckdbTexts = {
  /** `also` are other packages that the table needs, so that one command installs what would be missed next. */
  missing: (also: readonly string[] = []) =>
    `this table or query needs DuckDB, which is not installed here: run npm install ${["@duckdb/node-api", ...also].join(" ")}.`,
};

/**
 * Runs `use` with a database of its own, in memory, which is gone afterwards. `also` are packages that `use` needs beside
 * the database.
 */
export const withDatabase = async <Result>(
  use: (connection: DuckDBConnection) => Promise<Result>,
  also: readonly string[] = [],
): Promise<Result> => {
  const { instance, connection } = await openDatabase(also);
  try {
    return await use(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};

export const openDatabase = async (also: readonly string[] = []) => {
  const { DuckDBInstance } = await loadDuckdb(also);
  const instance = await DuckDBInstance.create(":memory:", {
    // What does not fit goes here, and not into the folder that the user happens to be in.
    temp_directory: join(tmpdir(), `fairbed-duckdb-${process.pid}`),
    // Nothing is downloaded: a machine without a network must not wait for one.
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  const connection = await instance.connect();
  // Moments are written and cut into days the same way on every machine.
  await connection.run("SET TimeZone = 'UTC'");
  return { instance, connection };
};

/**
 * From here on the database reads these files and no others, writes none, loads nothing and cannot be told otherwise:
 * neither by a query nor by what stands in a file. Only what reading itself sets stays open.
 */
export const limitAccess = async (connection: DuckDBConnection, files: readonly string[]): Promise<void> => {
  await connection.run(`SET allowed_paths = [${files.map(sqlText).join(", ")}]`);
  await connection.run("SET enable_external_access = false");
  await connection.run("SET allowed_configs = ['threads', 'disabled_optimizers']");
  await connection.run("SET lock_configuration = true");
};

/** A Parquet file as it is: the names of its folders are not columns. */
export const parquetSql = (path: string, options = ""): string =>
  `read_parquet(${sqlText(path)}, hive_partitioning = false${options})`;

export const loadDuckdb = async (
  also: readonly string[] = [],
): Promise<typeof import("@duckdb/node-api")> => {
  try {
    return await import("@duckdb/node-api");
  } catch (error) {
    throw new EnvironmentError("no-duckdb", duckdbTexts.missing(also), { cause: error });
  }
};

/** A text as SQL. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as SQL. */
export const sqlName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The rows of a small answer, as texts, numbers and lists. */
export const rowsOf = async (connection: DuckDBConnection, sql: string) =>
  (await connection.runAndReadAll(sql)).getRowsJson();
