/** Tables as Parquet files, written by DuckDB. */
import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { EnvironmentError, InputError } from "../core/errors.js";
import { DATE_UNIT } from "../tables/cell-type.js";
import { type Column, columnCell, type Table } from "../tables/table.js";
import { loadDuckdb, sqlName, sqlText, withDatabase } from "./duckdb.js";

export const parquetTexts = {
  noColumns: "the table has no columns, which a Parquet file cannot be without: give it at least one",
  sameName: (first: string, second: string) =>
    `the columns "${first}" and "${second}" differ in capital letters alone, which the writer of Parquet files cannot keep apart: rename one of them, or write CSV or JSON lines`,
  failed: (path: string) =>
    `${path} could not be written: name a file in a folder that is there and can be written to, on a disk with room`,
};

const MS_PER_DAY = 86_400_000;
const MICROS_PER_MS = 1000;
/** Rows that are handed to the database at a time: what one of its chunks holds. */
const CHUNK = 2048;

type StoredType = "BIGINT" | "DOUBLE" | "TIMESTAMP" | "VARCHAR";

/** Whole numbers stay whole for those who read the file with something else; a float holds them all the same. */
const storedTypeOf = (column: Column): StoredType => {
  if (column.kind === "categorical") return "VARCHAR";
  if (column.unit === DATE_UNIT) return "TIMESTAMP";
  const known = column.values.filter((value) => !Number.isNaN(value));
  const isWhole = known.every((value) => Number.isSafeInteger(value) && !Object.is(value, -0));
  return known.length > 0 && isWhole ? "BIGINT" : "DOUBLE";
};

type Duckdb = Awaited<ReturnType<typeof loadDuckdb>>;

const valueReader = (
  column: Column,
  type: StoredType,
  { DuckDBTimestampValue }: Duckdb,
): ((row: number) => DuckDBValue) => {
  const cell = columnCell(column);
  return (row) => {
    const value = cell(row);
    if (value === undefined) return null;
    if (type === "BIGINT") return BigInt(value);
    if (type === "TIMESTAMP") {
      return new DuckDBTimestampValue(BigInt(Math.round(Number(value) * MS_PER_DAY * MICROS_PER_MS)));
    }
    return value;
  };
};

/** The database takes `sex` and `Sex` for one name and would call the second one `Sex_1`. */
const requireNames = ({ columns }: Table): void => {
  if (columns.length === 0) throw new InputError("no-columns", parquetTexts.noColumns);
  const seen = new Map<string, string>();
  for (const { name } of columns) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined) throw new InputError("same-name", parquetTexts.sameName(other, name));
    seen.set(name.toLowerCase(), name);
  }
};

/** Columns have numbers for names in the database, whatever theirs are; the file gets its names when it is written. */
const fillTable = async (connection: DuckDBConnection, { rows, columns }: Table): Promise<void> => {
  const duckdb = await loadDuckdb();
  const types = columns.map(storedTypeOf);
  await connection.run(`CREATE TABLE filled (${types.map((type, at) => `c${at} ${type}`).join(", ")})`);
  const read = columns.map((column, at) => valueReader(column, types[at], duckdb));
  const appender = await connection.createAppender("filled");
  const chunkTypes = types.map((type) => duckdb[type]);
  for (let start = 0; start < rows; start += CHUNK) {
    const length = Math.min(CHUNK, rows - start);
    const chunk = duckdb.DuckDBDataChunk.create(chunkTypes, length);
    chunk.setColumns(read.map((valueAt) => Array.from({ length }, (_, i) => valueAt(start + i))));
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
};

const copyTo = async (table: Table, path: string): Promise<void> => {
  requireNames(table);
  await withDatabase(async (connection) => {
    await fillTable(connection, table);
    const named = table.columns.map(({ name }, at) => `c${at} AS ${sqlName(name)}`).join(", ");
    await connection.run(
      `COPY (SELECT ${named} FROM filled) TO ${sqlText(path)} (FORMAT parquet, COMPRESSION zstd)`,
    );
  });
};

/** A folder of its own, so that the file appears whole or not at all. */
const inTemporary = async <Result>(
  parent: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> => {
  const folder = await mkdtemp(join(parent, "fairbed-parquet-"));
  try {
    return await use(join(folder, "table.parquet"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * The bytes of a Parquet file with the table in it: whole numbers, numbers, texts and, where a column counts days, moments
 * in UTC; nothing where a value is missing. Needs the package @duckdb/node-api.
 */
export const parquetBytes = (table: Table): Promise<Uint8Array> =>
  inTemporary(tmpdir(), async (path) => {
    await copyTo(table, path);
    return new Uint8Array(await readFile(path));
  });

/** {@link parquetBytes} as a file, which appears whole or not at all. */
export const writeParquet = async (table: Table, path: string): Promise<void> => {
  try {
    await inTemporary(dirname(path), async (part) => {
      await copyTo(table, part);
      await rename(part, path);
    });
  } catch (error) {
    if (error instanceof InputError || error instanceof EnvironmentError) throw error;
    // Without its cause, which may repeat cells.
    throw new EnvironmentError("write-parquet", parquetTexts.failed(path));
  }
};
