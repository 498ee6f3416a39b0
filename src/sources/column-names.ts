/** What columns are called in a file: DuckDB calls the second of `sex` and `Sex` `Sex_1`, and a table must not. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { rowsOf, sqlText } from "./duckdb.js";

const NUMBERED = /^(.*)_\d+$/s;

const isRenamed = (name: string, described: readonly string[]): boolean => {
  const base = NUMBERED.exec(name)?.[1].toLowerCase();
  return base !== undefined && described.some((other) => other !== name && other.toLowerCase() === base);
};

/** Of a Parquet file: its schema is a tree, written depth first, whose root stands first. */
export const parquetNames = async (
  connection: DuckDBConnection,
  path: string,
  described: readonly string[],
): Promise<readonly string[]> => {
  if (!described.some((name) => isRenamed(name, described))) return described;
  const rows = await rowsOf(connection, `SELECT name, num_children FROM parquet_schema(${sqlText(path)})`);
  const names: string[] = [];
  let below = 0;
  for (const [name, children] of rows.slice(1)) {
    if (below === 0) names.push(String(name));
    else below -= 1;
    below += Number(children ?? 0);
  }
  return names.length === described.length ? names : described;
};

/** Of a file of JSON objects, all of which are looked at. */
export const jsonNames = async (
  connection: DuckDBConnection,
  path: string,
  compression: string,
  described: readonly string[],
): Promise<readonly string[]> => {
  if (!described.some((name) => isRenamed(name, described))) return described;
  const from = `read_json_objects(${sqlText(path)}, compression = '${compression}', hive_partitioning = false)`;
  const keys = await rowsOf(connection, `SELECT DISTINCT unnest(json_keys(json)) FROM ${from}`);
  const known = new Set(keys.map(([key]) => String(key)));
  return described.map((name) => {
    const base = NUMBERED.exec(name)?.[1];
    return base !== undefined && !known.has(name) && known.has(base) ? base : name;
  });
};
