/** Time of every reader of typed files grows with the file: four times the rows do not take sixteen times as long. */
import { DuckDBInstance } from "@duckdb/node-api";
import * as arrow from "apache-arrow";
import Database from "libsql";
import { expect, test } from "vitest";
import { readTable } from "../../src/sources/source.js";
import { needsDist } from "../setup/dist.js";
import { temporaryFolder } from "./files.js";

needsDist();
const { at, file } = temporaryFolder();

const duckdb = async (path: string, sql: string): Promise<void> => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
};

const ROWS = (rows: number) => `SELECT range AS n, 'text ' || range AS text FROM range(${rows})`;

const MADE: Readonly<Record<string, (rows: number) => Promise<string>>> = {
  Parquet: async (rows) => {
    await duckdb(":memory:", `COPY (${ROWS(rows)}) TO '${at(`${rows}.parquet`)}'`);
    return at(`${rows}.parquet`);
  },
  DuckDB: async (rows) => {
    await duckdb(at(`${rows}.duckdb`), `CREATE TABLE t AS ${ROWS(rows)}`);
    return at(`${rows}.duckdb`);
  },
  SQLite: async (rows) => {
    const database = new Database(at(`${rows}.sqlite`));
    database.exec(
      `CREATE TABLE t AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${rows})
       SELECT n, 'text ' || n AS text FROM r`,
    );
    database.close();
    return at(`${rows}.sqlite`);
  },
  Arrow: async (rows) => {
    const table = new arrow.Table({
      n: arrow.vectorFromArray(Float64Array.from({ length: rows }, (_, row) => row)),
      text: arrow.vectorFromArray(
        Array.from({ length: rows }, (_, row) => `text ${row}`),
        new arrow.Utf8(),
      ),
    });
    return file(`${rows}.arrow`, arrow.tableToIPC(table));
  },
};

const SMALL = 50_000;
/** To start takes as long: under this nothing can be said. */
const NOTICEABLE = 4;
/** For 200,000 rows, which take a second or two. */
const SECONDS = 40;

const seconds = async (path: string, rows: number): Promise<number> => {
  const start = performance.now();
  expect((await readTable(path)).rows).toBe(rows);
  return (performance.now() - start) / 1000;
};

test.each(Object.entries(MADE))("%s", async (_, made) => {
  const slow = await seconds(await made(4 * SMALL), 4 * SMALL);
  expect(slow).toBeLessThan(SECONDS);
  if (slow < NOTICEABLE) return;
  expect(slow).toBeLessThan(10 * Math.max(NOTICEABLE / 4, await seconds(await made(SMALL), SMALL)));
});
