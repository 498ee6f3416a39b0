/** Parquet read without a database, held against what DuckDB reads from the same file. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import type { Progress } from "../../src/core/options.js";
import { sqlText, withDatabase } from "../../src/sources/duckdb.js";
import { type ReadOptions, readTable } from "../../src/sources/source.js";
import { parquetBytes } from "../../src/sources/write-parquet.js";
import { parquetReadTexts, readParquet } from "../../src/tables/parquet.js";
import { readTableFile, tableFileTexts } from "../../src/tables/read-table-file.js";
import { columnNamed, columnOfNumbers, columnOfTexts, tableOfColumns } from "../../src/tables/table.js";
import { tableOf, toRecords } from "../../src/tables/table-of.js";
import { textRowsTexts } from "../../src/tables/text-rows.js";

const folder = await mkdtemp(join(tmpdir(), "fairbed-read-parquet-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, "table.parquet");

/** What a query answers, as a file. */
const write = async (query: string, options = ""): Promise<void> => {
  await withDatabase((connection) =>
    connection.run(`COPY (${query}) TO ${sqlText(path)} (FORMAT parquet${options})`),
  );
};

const bytes = async (): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await readFile(path));

/** The file by both readers, the same in all but the order of what is left out when undefined. */
const expectSame = async (options: ReadOptions = {}) => {
  const { buffer } = await bytes();
  const read = await readParquet(buffer, { ...options, name: path });
  expect(read).toEqual(await readTable(path, options));
  return read;
};

const COLUMNS: Readonly<Record<string, string>> = {
  tiny: "i::TINYINT",
  small: "-i::SMALLINT",
  whole: "i * 1000",
  unsigned: "(4294967295 - i)::UINTEGER",
  long: "(i * 1000000007)::BIGINT",
  account: "9007199254740993 + i",
  huge: "18446744073709551615::UBIGINT - i::UBIGINT",
  single: "(i / 3)::FLOAT",
  double: "i / 7",
  infinite: "CASE WHEN i = 2 THEN 'inf'::DOUBLE WHEN i = 3 THEN 'nan'::DOUBLE ELSE i END",
  price: "(i * 0.37)::DECIMAL(9, 2)",
  exact: "(i * 1.000000000001)::DECIMAL(18, 12)",
  wide: "(i * 12345678901234567890.5)::DECIMAL(38, 3)",
  count: "i::DECIMAL(12, 0)",
  yes: "i % 2 = 0",
  day: "DATE '1969-12-20' + i::INTEGER",
  micros: "TIMESTAMP '1969-12-31 23:59:30.25' + to_microseconds(i * 1234567)",
  millis: "(TIMESTAMP '2001-02-03 04:05:06.789' + to_days(i::INTEGER))::TIMESTAMP_MS",
  nanos: "(TIMESTAMP '2020-01-01' + to_microseconds(i))::TIMESTAMP_NS",
  zoned: "(TIMESTAMP '2020-01-01' + to_hours(i))::TIMESTAMPTZ",
  clock: "TIME '23:00:00.5' + to_seconds(i)",
  word: "['a ', 'b', 'NA', '', 'é漢'][i % 5 + 1]",
  own: "'person ' || i",
  level: "(['low', 'high'][i % 2 + 1])::ENUM('low', 'high')",
  uuid: "('123e4567-e89b-12d3-a456-4266141740' || lpad(i::VARCHAR, 2, '0'))::UUID",
  bytes: "encode('it''s ' || chr(200 + i::INTEGER))",
  none: "NULL::VARCHAR",
  list: "[i, NULL, i + 1]",
  record: "{'a': i, 'b': 'x'}",
};

describe("Parquet without a database", () => {
  test("has the columns that DuckDB reads, whatever their types", async () => {
    const list = Object.entries(COLUMNS).flatMap(([name, sql]) => [
      `${sql} AS "${name}"`,
      `CASE WHEN i % 3 = 1 THEN NULL ELSE ${sql} END AS "${name} or none"`,
    ]);
    await write(`SELECT ${list.join(", ")} FROM range(20) t(i)`);
    const table = await expectSame();
    expect(columnNamed(table, "day")).toMatchObject({ unit: "days since 1970-01-01" });
    expect(columnNamed(table, "account")).toMatchObject({ kind: "categorical" });
    expect(columnNamed(table, "yes")).toMatchObject({ levels: ["false", "true"] });
  });

  test("takes columns as text where that is asked for, as DuckDB does", async () => {
    const names = [
      "whole",
      "unsigned",
      "single",
      "double",
      "price",
      "count",
      "day",
      "micros",
      "millis",
      "nanos",
    ];
    const asText = [...names, "zoned", "clock", "yes"];
    const list = asText.map((name) => `${COLUMNS[name]} AS "${name}"`);
    await write(`SELECT ${list.join(", ")} FROM range(20) t(i)`);
    await expectSame({ asText });
  });

  test.each(["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"])(
    "reads what is compressed by %s, in several groups of rows",
    async (codec) => {
      await write(
        "SELECT i AS id, 'town ' || (i % 70) AS town, CASE WHEN i % 11 = 0 THEN NULL ELSE i / 8 END AS score FROM range(9000) t(i)",
        `, COMPRESSION ${codec}, ROW_GROUP_SIZE 2048`,
      );
      await expectSame();
    },
  );

  test("both versions of the format", async () => {
    const list = Object.entries(COLUMNS).map(([name, sql]) => `${sql} AS "${name}"`);
    const rows = "(SELECT i % 40 AS i FROM range(300) s(i))";
    await write(`SELECT ${list.join(", ")} FROM ${rows}`, ", PARQUET_VERSION v2");
    await expectSame();
  });

  test("chooses columns, and says which there are", async () => {
    await write("SELECT 1 AS sex, 2 AS \" age \", '-9' AS mark, -9 AS number");
    const table = await expectSame({ columns: ["age", "sex"] });
    expect(table.columns.map(({ name }) => name)).toEqual(["age", "sex"]);
    await expectSame({ missing: ["-9"] });
    await expect(readParquet((await bytes()).buffer, { columns: ["sx"] })).rejects.toThrow(
      'did you mean "sex"?',
    );
  });

  test("names with dots, or that objects have of their own", async () => {
    await write(`SELECT 1 AS "__proto__", 'x' AS "constructor", 2 AS "a.b", 3 AS "a"`);
    await expectSame();
  });

  test("whatever the numbers and texts are", async () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.constant(Number.NaN));
    const text = fc.option(fc.string({ unit: "grapheme" }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(number, text), { minLength: 1, maxLength: 40 }), async (rows) => {
        const table = tableOfColumns([
          columnOfNumbers(
            "n",
            rows.map(([each]) => (Number.isFinite(each) ? each : Number.NaN)),
          ),
          columnOfTexts(
            "t",
            rows.map(([, each]) => (each === undefined ? undefined : `x${each.replaceAll("\0", "")}x`)),
          ),
        ]);
        const written = new Uint8Array(await parquetBytes(table));
        expect(toRecords(await readParquet(written.buffer))).toEqual(toRecords(table));
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test("as a file that was dropped on a page, with progress in bytes, and stopped", async () => {
    await write(
      "SELECT i, i % 7 AS k, hash(i) AS h, 'row ' || i AS t FROM range(200000) t(i)",
      ", ROW_GROUP_SIZE 20480",
    );
    const file = new File([await bytes()], "people.parquet");
    const seen: Progress[] = [];
    const table = await readTableFile(file, { onProgress: (progress) => seen.push(progress) });
    expect({ name: table.name, rows: table.rows }).toEqual({ name: "people.parquet", rows: 200_000 });
    expect(columnNamed(table, "h").kind).toBe("categorical");
    expect(seen.length).toBeGreaterThan(1);
    for (const [at, { done, total }] of seen.entries()) {
      expect(done).toBeGreaterThan(at === 0 ? 0 : seen[at - 1].done);
      expect(done).toBeLessThanOrEqual(total);
    }
    const stop = new AbortController();
    const stopped = readTableFile(file, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(stopped).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  }, 60_000);

  test("that is broken is refused in one sentence, wherever it is cut or changed", async () => {
    const whole = new Uint8Array(
      await parquetBytes(
        tableOf([
          { a: 1, b: "x" },
          { a: 2.5, b: "secret" },
        ]),
      ),
    );
    for (const length of [4, 8, 12, whole.length >> 1, whole.length - 1]) {
      const error = await readTableFile(new File([whole.subarray(0, length)], "cut.parquet")).catch(
        (caught: unknown) => caught,
      );
      expect(error).toBeInstanceOf(InputError);
      expect((error as InputError).message).toContain("cut.parquet could not be read as a Parquet file (");
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = whole.slice();
        changed[at] ^= change;
        const read = await readParquet(changed.buffer).catch((caught: unknown) => caught);
        if (read instanceof Error) expect(read).toBeInstanceOf(InputError);
      }),
      { numRuns: 200 },
    );
  });

  test("that has no rows, or can no longer be read", async () => {
    await write("SELECT 1 AS a WHERE false");
    await expect(readParquet((await bytes()).buffer, { name: "none" })).rejects.toThrow(
      textRowsTexts.noRows("none"),
    );
    await write("SELECT 1 AS a");
    const blob = new Blob([await bytes()]);
    let reads = 0;
    const gone = {
      size: blob.size,
      name: "gone.parquet",
      slice: (start: number, end: number) => {
        reads += 1;
        if (reads > 1) throw new DOMException("gone", "NotReadableError");
        return blob.slice(start, end);
      },
    };
    await expect(readTableFile(gone)).rejects.toThrow(
      tableFileTexts.unreadable("gone.parquet", "NotReadableError"),
    );
  });

  test("without its packages says how to get them", async () => {
    vi.resetModules();
    vi.doMock("hyparquet", () => {
      throw new Error("Cannot find package 'hyparquet'");
    });
    try {
      const without = await import("../../src/tables/parquet.js");
      const error = await without.readParquet(new ArrayBuffer(8)).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name: EnvironmentError.name, message: parquetReadTexts.packages });
    } finally {
      vi.doUnmock("hyparquet");
      vi.resetModules();
    }
  });
});
