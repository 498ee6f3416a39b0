/** What the database reads, as SQL: where from, and what type each column has. */
import { type CellType, DATE_UNIT, isNumber } from "../tables/cell-type.js";
import { sqlText } from "./duckdb.js";

/** One column as SQL. */
export interface RelationColumn {
  readonly name: string;
  readonly kind: "numeric" | "categorical";
  /**
   * DOUBLE for a numeric column, NULL where missing and infinite where a cell is something else; VARCHAR for a
   * categorical one, as it stands in the source: trimming its few levels is faster than trimming every cell.
   */
  readonly sql: string;
  readonly unit?: string | undefined;
  /** Where the type is a guess from the first rows: the column as text, and which cells speak against the guess. */
  readonly guess?: { readonly otherwise: RelationColumn; readonly misfit: string } | undefined;
}

/** What can be read from: `SELECT <sql of columns> FROM <from>`. */
export interface Relation {
  readonly from: string;
  readonly columns: readonly RelationColumn[];
  /** Texts that stand for nothing, besides the empty one. */
  readonly missing: readonly string[];
  readonly notes: readonly string[];
}

const WHITE = "' ' || chr(9) || chr(10) || chr(13) || chr(160)";

/** A text cell as SQL: trimmed, and NULL where it says that it is missing. */
export const cellSql = (column: string, missing: readonly string[]): string => {
  const trimmed = `trim(${column}, ${WHITE})`;
  const marks = ["", ...missing].map(sqlText).join(", ");
  return `CASE WHEN ${trimmed} IN (${marks}) THEN NULL ELSE ${trimmed} END`;
};

/** A number; NULL where it is not finite or a mark of what is missing. */
export const finiteSql = (number: string, missing: readonly string[]): string => {
  const marks = missing.filter(isNumber).map(Number);
  const isMark = marks.length === 0 ? "" : ` AND ${number} NOT IN (${marks.join(", ")})`;
  return `CASE WHEN isfinite(${number})${isMark} THEN ${number} END`;
};

export const dateSql = (timestamp: string): string => `(epoch(${timestamp}) / 86400.0)`;

/** A column of texts, `raw` in SQL, as what its cells seem to be. */
export const textColumn = (
  name: string,
  raw: string,
  type: CellType,
  missing: readonly string[],
): RelationColumn => {
  const otherwise: RelationColumn = { name, kind: "categorical", sql: raw };
  if (type === "text") return otherwise;
  const value = {
    number: `TRY_CAST(${raw} AS DOUBLE)`,
    "decimal comma": `TRY_CAST(replace(${raw}, ',', '.') AS DOUBLE)`,
    date: dateSql(`TRY_CAST(${raw} AS TIMESTAMP)`),
  }[type];
  return {
    name,
    kind: "numeric",
    // No more than this for every cell: to trim and compare each one takes longer than to read the file.
    sql: `CASE WHEN ${value} IS NULL AND ${raw} IS NOT NULL THEN CAST('inf' AS DOUBLE) ELSE ${value} END`,
    guess: {
      otherwise,
      misfit: `CASE WHEN ${value} IS NULL THEN (${cellSql(raw, missing)}) IS NOT NULL ELSE regexp_full_match(trim(${raw}), ${sqlText(LONG_NUMBER_SQL)}) END`,
    },
    ...(type === "date" ? { unit: DATE_UNIT } : {}),
  };
};

const LONG_NUMBER_SQL = "[-+]?[0-9]{16,}";
