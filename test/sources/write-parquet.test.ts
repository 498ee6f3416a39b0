/** Tables written as Parquet and read back by this project's own reader. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { rowsOf, withDatabase } from "../../src/sources/duckdb.js";
import { readTable } from "../../src/sources/source.js";
import { parquetBytes, parquetTexts, writeParquet } from "../../src/sources/write-parquet.js";
import { columnNames, columnOfNumbers, columnOfTexts, tableOfColumns } from "../../src/tables/table.js";
import { tableOf, toRecords } from "../../src/tables/table-of.js";

const folder = await mkdtemp(join(tmpdir(), "fairbed-write-parquet-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, "table.parquet");

describe("Parquet", () => {
  test("numbers, texts, dates and what is missing come back, with types that others see", async () => {
    const table = tableOf([
      { id: "007", whole: 1, part: 0.1, when: new Date("2026-01-05T12:00:00.250Z"), none: null },
      { id: "8", whole: null, part: -1e300, when: null, none: null },
      { id: "é漢 \u{1f600}\n'\"", whole: -9007199254740991, part: null, when: new Date(-1), none: null },
    ]);
    await writeParquet(table, path);
    const back = await readTable(path);
    expect(toRecords(back)).toEqual(toRecords(table));
    const types = await withDatabase((connection) =>
      rowsOf(connection, `SELECT column_type FROM (DESCRIBE SELECT * FROM read_parquet('${path}'))`),
    );
    expect(types.flat()).toEqual(["VARCHAR", "BIGINT", "DOUBLE", "TIMESTAMP", "DOUBLE"]);
    expect(await readdir(folder)).toEqual(["table.parquet"]);
  });

  test("names with quotes, or that are numbers, stay as they are", async () => {
    const names = ["sex", 'a "b"', "2", "1", "__proto__", "naïve name; DROP TABLE filled"];
    const table = tableOfColumns(names.map((name, at) => columnOfNumbers(name, [at, at + 0.5])));
    await writeFile(path, await parquetBytes(table));
    const back = await readTable(path);
    expect(columnNames(back)).toEqual(names);
    expect(back.columns.map((column) => column.kind === "numeric" && [...column.values])).toEqual(
      names.map((_, at) => [at, at + 0.5]),
    );
  });

  test("whatever the numbers and texts are", async () => {
    const number = fc.oneof(fc.double({ noDefaultInfinity: true }), fc.integer(), fc.constant(Number.NaN));
    // Spaces around a text are no part of it to a reader, and some texts stand for nothing.
    const text = fc.option(
      fc.string({ unit: "grapheme", minLength: 1 }).map((own) => `x${own.replaceAll("\0", "")}x`),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(number, text), { minLength: 1, maxLength: 40 }), async (rows) => {
        const table = tableOfColumns([
          columnOfNumbers(
            "n",
            rows.map(([each]) => each),
          ),
          columnOfTexts(
            "t",
            rows.map(([, each]) => each),
          ),
        ]);
        await writeFile(path, await parquetBytes(table));
        expect(toRecords(await readTable(path))).toEqual(toRecords(table));
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test("more rows than a chunk holds", async () => {
    const table = tableOfColumns([
      columnOfNumbers(
        "n",
        Float64Array.from({ length: 5001 }, (_, i) => i / 2),
      ),
    ]);
    await writeFile(path, await parquetBytes(table));
    const [column] = (await readTable(path)).columns;
    expect(column.kind === "numeric" && column.values.reduce((sum, each) => sum + each, 0)).toBe(
      (5000 * 5001) / 4,
    );
  });

  test("no columns, names that are alike, and no folder", async () => {
    await expect(parquetBytes(tableOfColumns([]))).rejects.toThrow(
      new InputError("no-columns", parquetTexts.noColumns),
    );
    const alike = tableOf([{ sex: 1, Sex: 2 }]);
    await expect(parquetBytes(alike)).rejects.toThrow(parquetTexts.sameName("sex", "Sex"));
    const nowhere = join(folder, "nowhere", "table.parquet");
    await expect(writeParquet(tableOf([{ a: 1 }]), nowhere)).rejects.toThrow(parquetTexts.failed(nowhere));
  });
});
