/** Sources whose columns have declared types, and SQL on any source. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { InputError } from "../core/errors.js";
import { DATE_UNIT } from "../tables/cell-type.js";
import { cellSql, dateSql, finiteSql, type Relation, type RelationColumn } from "./csv-relation.js";
import { rowsOf, sqlName } from "./duckdb.js";

export interface TextSettings {
  readonly missing: readonly string[];
  readonly asText: readonly string[];
}

export const queryTexts = {
  /** `reason` is the database's own first line. */
  wrong: (reason: string) =>
    `the query cannot be answered (${reason}): mend its SQL; a file is the table "data" in it.`,
};

/** `from` is anything that can stand after FROM. */
export const typedRelation = async (
  connection: DuckDBConnection,
  from: string,
  { missing, asText }: TextSettings,
): Promise<Relation> => {
  const described = await rowsOf(connection, `DESCRIBE SELECT * FROM ${from}`);
  const columns = described.map(([name, type]) =>
    typedColumn(
      String(name).trim(),
      sqlName(String(name)),
      String(type),
      asText.includes(String(name).trim()),
    ),
  );
  return { from, columns, missing, notes: [] };
};

const NUMBER = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*)$/;
const DAY = /^(DATE|TIMESTAMP.*)$/;

/** Whole numbers that float64 may not hold. */
const LONG_INTEGER = /^(U?(BIG|HUGE)INT|DECIMAL\(\d+,0\))$/;

const FRACTIONAL = /^(DOUBLE|FLOAT|DECIMAL\(\d+,[1-9]\d*\))$/;

/** A number as text, 7 and not 7.0: an identifier is the same whatever the type of its column. */
const shortNumber = (column: string): string =>
  `CASE WHEN ${column} = trunc(${column}) AND abs(${column}) <= ${Number.MAX_SAFE_INTEGER} THEN CAST(CAST(${column} AS BIGINT) AS VARCHAR) ELSE CAST(${column} AS VARCHAR) END`;

/** `column` in SQL, and its type as DuckDB calls it. */
export const typedColumn = (name: string, column: string, type: string, asText: boolean): RelationColumn => {
  const text = type === "VARCHAR" ? column : `CAST(${column} AS VARCHAR)`;
  const otherwise: RelationColumn = { name, kind: "categorical", sql: text };
  if (asText) return FRACTIONAL.test(type) ? { ...otherwise, sql: shortNumber(column) } : otherwise;
  if (DAY.test(type)) {
    return { name, kind: "numeric", sql: dateSql(`CAST(${column} AS TIMESTAMP)`), unit: DATE_UNIT };
  }
  if (!NUMBER.test(type)) return otherwise;
  const number: RelationColumn = { name, kind: "numeric", sql: `CAST(${column} AS DOUBLE)` };
  if (!LONG_INTEGER.test(type)) return number;
  // As an identifier it is better kept as text.
  const misfit = type.startsWith("U")
    ? `${column} > ${Number.MAX_SAFE_INTEGER}`
    : `${column} NOT BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  return { ...number, guess: { otherwise, misfit } };
};

/** The answer of a query, kept while it is read: it is asked once, whatever it costs. */
export const answerOf = async (
  connection: DuckDBConnection,
  query: string,
  settings: TextSettings,
): Promise<Relation> => {
  try {
    await connection.run(`CREATE TEMP TABLE fairbed_answer AS ${query.trim().replace(/;+$/, "")}`);
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : "").split("\n");
    if (!/^(Parser|Binder|Catalog) Error:/.test(reason)) throw error;
    throw new InputError("query", queryTexts.wrong(reason.replace(/[:.!]+$/, "")), { cause: error });
  }
  return typedRelation(connection, "temp.fairbed_answer", settings);
};

/** SQL on a file, whose types must be settled; it is the table `data` in the query. */
export const queryRelation = async (
  connection: DuckDBConnection,
  { from, columns, missing, notes }: Relation,
  query: string,
  settings: TextSettings,
): Promise<Relation> => {
  const list = columns
    .map(
      ({ name, kind, sql }) =>
        `${kind === "numeric" ? finiteSql(sql, missing) : cellSql(sql, missing)} AS ${sqlName(name)}`,
    )
    .join(", ");
  await connection.run(`CREATE TEMP VIEW data AS SELECT ${list} FROM ${from}`);
  return { ...(await answerOf(connection, query, settings)), notes };
};
