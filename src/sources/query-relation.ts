/** Sources whose columns have declared types, and SQL on any source. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { InputError } from "../core/errors.js";
import { DATE_UNIT } from "../tables/cell-type.js";
import { distinctNames } from "../tables/dialect.js";
import { type AnswerPlace, createTable, nameIn } from "./answer-place.js";
import { rowsOf, sqlName, sqlText } from "./duckdb.js";
import { cellSql, dateSql, finiteSql, type Relation, type RelationColumn } from "./relation.js";

export interface TextSettings {
  readonly missing: readonly string[];
  readonly asText: readonly string[];
}

export const queryTexts = {
  /** `reason` is the database's own first line. */
  wrong: (reason: string) =>
    `the query cannot be answered (${reason}): mend its SQL; a file is the table "data" in it.`,
  oneSelect:
    "a query is one SELECT, and nothing else: leave out further statements and what would write, attach or set something.",
  otherFiles: (source: string) =>
    `${source} may be read and nothing else, but the query, or a view that it uses, asks for another file or address: put all that it needs into one file.`,
  sameName: (one: string, other: string) =>
    `the columns "${one}" and "${other}" differ only in upper and lower case, which SQL takes for one name: rename one of them, or leave out the query.`,
};

/**
 * `from` is anything that can stand after FROM. `namesOf` gives the names in the source where they may differ from
 * those that DuckDB has for them: it tells `sex` and `Sex` apart by calling the second `Sex_1`.
 */
export const typedRelation = async (
  connection: DuckDBConnection,
  from: string,
  { missing, asText }: TextSettings,
  namesOf: (described: readonly string[]) => Promise<readonly string[]> = async (described) => described,
): Promise<Relation> => {
  const described = await rowsOf(connection, `DESCRIBE SELECT * FROM ${from}`);
  const given = await namesOf(described.map(([name]) => String(name)));
  const { names, notes } = distinctNames(given.map((name) => name.trim()));
  const columns = described.map(([column, type], index) =>
    typedColumn(names[index], sqlName(String(column)), String(type), asText.includes(names[index])),
  );
  return { from, columns, missing, notes };
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

/**
 * The answer of a query, kept while it is read: it is asked once, whatever it costs. One thread answers it, so that
 * the order of its rows, what LIMIT keeps and the last digits of sums do not depend on the number of cores.
 */
export const answerOf = async (
  connection: DuckDBConnection,
  query: string,
  source: string,
  settings: TextSettings,
  place: AnswerPlace = "temp",
): Promise<Relation> => {
  await connection.run("SET threads = 1");
  try {
    // This function takes one SELECT and nothing else.
    await connection.run(`${createTable(place, "fairbed_answer")} AS FROM query(${sqlText(query)})`);
  } catch (error) {
    throw queryError(error, source);
  } finally {
    await connection.run("RESET threads");
  }
  return typedRelation(connection, nameIn(place, "fairbed_answer"), settings);
};

const queryError = (error: unknown, source: string): unknown => {
  const [reason] = (error instanceof Error ? error.message : "").split("\n");
  if (/^Parser Error: Expected a single SELECT/.test(reason)) {
    return new InputError("query", queryTexts.oneSelect);
  }
  if (reason.startsWith("Permission Error:")) {
    return new InputError("query", queryTexts.otherFiles(source));
  }
  if (!/^(Parser|Binder|Catalog) Error:/.test(reason)) return error;
  return new InputError("query", queryTexts.wrong(reason.replace(/[:.!]+$/, "")));
};

/** SQL on a file, whose types must be settled; it is the table `data` in the query. */
export const queryRelation = async (
  connection: DuckDBConnection,
  { from, columns, missing, notes }: Relation,
  query: string,
  source: string,
  settings: TextSettings,
): Promise<Relation> => {
  const byLowerCase = new Map<string, string>();
  for (const { name } of columns) {
    const same = byLowerCase.get(name.toLowerCase());
    if (same !== undefined) throw new InputError("query", queryTexts.sameName(same, name));
    byLowerCase.set(name.toLowerCase(), name);
  }
  const list = columns
    .map(
      ({ name, kind, sql }) =>
        `${kind === "numeric" ? finiteSql(sql, missing) : cellSql(sql, missing)} AS ${sqlName(name)}`,
    )
    .join(", ");
  await connection.run(`CREATE TEMP VIEW data AS SELECT ${list} FROM ${from}`);
  const answer = await answerOf(connection, query, source, settings);
  return { ...answer, notes: [...notes, ...answer.notes] };
};
