import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { databaseTexts } from "../../src/sources/database-relation.js";
import { duckdbTexts } from "../../src/sources/duckdb.js";
import { fileTexts } from "../../src/sources/file-kind.js";
import { readTable, sourceTexts, streamTable } from "../../src/sources/source.js";
import { nodeReadsSqlite } from "../../src/sources/sqlite-relation.js";
import { webTexts } from "../../src/sources/web-file.js";
import { xlsxTexts } from "../../src/sources/xlsx.js";
import { describeTable } from "../../src/tables/describe-table.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { nearlyNumericTexts } from "../../src/tables/nearly-numeric.js";
import { columnNames, tableTexts } from "../../src/tables/table.js";
import { cells, contents, temporaryFolder } from "./files.js";

const { at, file } = temporaryFolder();

const duckdb = async (path: string, ...statements: string[]) => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
};

const PEOPLE = { age: [30, null, 41], sex: ["F", "M", null] };

describe("CSV in any dialect", () => {
  test.each([
    ["commas", "age,sex\n30,F\n,M\n41,\n"],
    ["semicolons", "age;sex\n30;F\n;M\n41;\n"],
    ["tabs", "age\tsex\n30\tF\n\tM\n41\t\n"],
    ["bars", "age|sex\n30|F\n|M\n41|\n"],
    ["a byte order mark", "\ufeffage,sex\n30,F\n,M\n41,\n"],
    ["carriage returns", "age,sex\r\n30,F\r\n,M\r\n41,\r\n"],
    ["no last line end", "age,sex\n30,F\n,M\n41,"],
    ["quotes", '"age","sex"\n"30","F"\n"","M"\n"41",""\n'],
    ["single quotes", "'age','sex'\n'30','F'\n,'M'\n'41',\n"],
    ["spaces around", " age , sex \n 30 , F \n  , M\n41 ,  \n"],
    ["tabs in the header", "age\t,sex\t\n30,F\n,M\n41,\n"],
    ["the usual marks of nothing", "age,sex\n30,F\nNA,M\n41,null\n"],
    ["empty lines", "age,sex\n\n30,F\n,M\n\n41,\n\n"],
  ])("with %s", async (_, text) => {
    expect(contents(await readTable(file("dialect.csv", text)))).toEqual(PEOPLE);
    expect(contents(await readTable(file("dialect.csv.gz", gzipSync(text))))).toEqual(PEOPLE);
    // Known by what is in it, not by its name.
    expect(contents(await readTable(file("dialect.txt", gzipSync(text))))).toEqual(PEOPLE);
  });

  test("with separators, quotes and line ends inside quotes", async () => {
    const path = file("quoted.csv", 'id,note\n1,"a, ""b"""\n2,"two\nlines"\n3,plain\n');
    expect(contents(await readTable(path))).toEqual({
      id: [1, 2, 3],
      note: ['a, "b"', "two\nlines", "plain"],
    });
    const spaced = file("spaced.csv", 'id, note, last\n1, "a, b", x\n2, "c", y\n');
    expect(contents(await readTable(spaced))).toEqual({ id: [1, 2], note: ["a, b", "c"], last: ["x", "y"] });
    const escaped = file("escaped.csv", 'id,note\n1,"a \\"b\\", c"\n2,"d"\n');
    expect(contents(await readTable(escaped))).toEqual({ id: [1, 2], note: ['a "b", c', "d"] });
  });

  test("without a header: names are made up, numbers in the first line are the sign", async () => {
    const path = file("plain.csv", "39, State-gov, ?\n50, Private, x\n");
    const table = await readTable(path, { missing: ["?"] });
    expect(contents(table)).toEqual({
      column1: [39, 50],
      column2: ["State-gov", "Private"],
      column3: [null, "x"],
    });
    const words = file("words.csv", "yes,no\nno,yes\n");
    expect(contents(await readTable(words))).toEqual({ yes: ["no"], no: ["yes"] });
    expect(contents(await readTable(words, { header: false }))).toEqual({
      column1: ["yes", "no"],
      column2: ["no", "yes"],
    });
    // Years as names stand above numbers, but so does a word.
    const years = file("years.csv", "name,2019,2020,total\na,1,2,3\nb,4,5,9\n");
    expect(columnNames(await readTable(years))).toEqual(["name", "2019", "2020", "total"]);
  });

  test("separated by spaces, and by what is told", async () => {
    const spaces = file("spaces.data", "A11 6 1169\nA12 48 5951\n");
    expect(contents(await readTable(spaces))).toEqual({
      column1: ["A11", "A12"],
      column2: [6, 48],
      column3: [1169, 5951],
    });
    const told = file("told.csv", "a:b\n1:x\n2:y\n");
    expect(contents(await readTable(told, { delimiter: ":" }))).toEqual({ a: [1, 2], b: ["x", "y"] });
  });

  test("one column only, and lines that are not part of the table", async () => {
    expect(contents(await readTable(file("one.csv", "age\n3\n4\n")))).toEqual({ age: [3, 4] });
    const remark = file("remark.csv", "|1x3 Cross validator\n25, a\n38, b\n");
    expect(contents(await readTable(remark, { skipLines: 1 }))).toEqual({
      column1: [25, 38],
      column2: ["a", "b"],
    });
  });

  test("names that are there twice or not at all are made different, and it says so", async () => {
    const table = await readTable(file("names.csv", "a,a,,a_2\n1,2,3,4\n"));
    expect(Object.keys(contents(table))).toEqual(["a", "a_3", "column3", "a_2"]);
    expect(table.notes).toEqual([dialectTexts.headerNamed("a", "a_3")]);
  });

  test("numbers: decimal commas, dates, infinities, marks, identifiers", async () => {
    const commas = await readTable(file("commas.csv", "a;b\n1,5;x\n-2,25;y\n3;z\n"));
    expect(cells(commas.columns[0])).toEqual([1.5, -2.25, 3]);
    const dates = await readTable(file("dates.csv", "day\n1970-01-02\n2000-01-01 12:00:00\n"));
    expect(dates.columns[0]).toMatchObject({ kind: "numeric", unit: "days since 1970-01-01" });
    expect(cells(dates.columns[0])).toEqual([1, 10957.5]);
    const odd = await readTable(
      file("odd.csv", "a,b,c\n1e3,-9,90071992547409931\n inf,2,90071992547409932\n"),
      {
        missing: ["-9"],
      },
    );
    expect(contents(odd)).toEqual({
      a: [1000, null],
      b: [null, 2],
      c: ["90071992547409931", "90071992547409932"],
    });
    const asText = await readTable(file("ids.csv", "id\n007\n08\n"), { asText: ["id"] });
    expect(contents(asText)).toEqual({ id: ["007", "08"] });
  });

  test("a type that the first rows suggest is given up when a later row speaks against it", async () => {
    const rows = Array.from({ length: 3000 }, (_, row) => `${row},${row}`);
    const path = file("late.csv", `a,b\n${rows.join("\n")}\nlate,?\n`);
    const table = await readTable(path, { missing: ["?"] });
    expect(table.columns.map(({ kind }) => kind)).toEqual(["categorical", "numeric"]);
    expect(cells(table.columns[0]).slice(-2)).toEqual(["2999", "late"]);
    expect(cells(table.columns[1]).slice(-2)).toEqual([2999, null]);
  });

  test("what is written is read, whatever the dialect", async () => {
    const word = fc.stringMatching(/^[a-zäß][a-zäß ,;|"'\t]{0,6}[a-zäß]$/);
    const table = fc.record({
      delimiter: fc.constantFrom(",", ";", "\t", "|"),
      end: fc.constantFrom("\n", "\r\n"),
      rows: fc.array(
        fc.tuple(
          fc.option(fc.integer({ min: -1e6, max: 1e6 })),
          fc.option(word),
          fc.double({ min: -1, max: 1, noNaN: true }).map((x) => x + 0), // no -0
        ),
        { minLength: 2, maxLength: 8 },
      ),
    });
    const quoted = (cell: string | number | null) =>
      cell === null ? "" : `"${String(cell).replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(table, async ({ delimiter, end, rows }) => {
        const known = rows.filter(([number]) => number !== null);
        fc.pre(known.length > 0 && rows.some(([, text]) => text !== null));
        const lines = [["count", "word", "share"], ...rows].map((row) => row.map(quoted).join(delimiter));
        const read = await readTable(file("property.csv", lines.join(end) + end));
        expect(contents(read)).toEqual({
          count: rows.map(([number]) => number),
          word: rows.map(([, text]) => text),
          share: rows.map(([, , share]) => share),
        });
      }),
      { numRuns: 15 },
    );
  });
});

describe("other sources", () => {
  const sql =
    "SELECT * FROM (VALUES (30::BIGINT, 'F', 1.5::DOUBLE, true, DATE '1970-01-03'), (NULL, ' M ', 'nan', false, NULL), (41, NULL, 2, NULL, DATE '1970-01-02')) t(age, sex, share, member, day)";
  const expected = {
    age: [30, null, 41],
    sex: ["F", "M", null],
    share: [1.5, null, 2],
    member: ["true", "false", null],
    day: [2, null, 1],
  };

  test("Parquet", async () => {
    await duckdb(":memory:", `COPY (${sql}) TO '${at("people.parquet")}'`);
    expect(contents(await readTable(at("people.parquet")))).toEqual(expected);
    const some = await readTable(at("people.parquet"), { columns: ["sex", "age"] });
    expect(Object.keys(contents(some))).toEqual(["sex", "age"]);
  });

  test("whole numbers that are too long for a number of eight bytes stay text", async () => {
    const values = "(9007199254740993, 1, 18446744073709551615::UBIGINT), (-9, -9007199254740991, NULL)";
    await duckdb(":memory:", `COPY (SELECT * FROM (VALUES ${values}) t(a, b, c)) TO '${at("ids.parquet")}'`);
    expect(contents(await readTable(at("ids.parquet")))).toEqual({
      a: ["9007199254740993", "-9"],
      b: [1, -9007199254740991],
      c: ["18446744073709551615", null],
    });
  });

  test("JSON lines, gzipped too, and a JSON list", async () => {
    const lines = '{"age": 30, "sex": "F"}\n{"age": null, "sex": "M"}\n{"age": 41}\n';
    expect(contents(await readTable(file("people.jsonl", lines)))).toEqual(PEOPLE);
    expect(contents(await readTable(file("people.json.gz", gzipSync(lines))))).toEqual(PEOPLE);
    const list = '[{"age": 30, "sex": "F"}, {"age": null, "sex": "M"}, {"age": 41, "sex": null}]';
    expect(contents(await readTable(file("people.json", list)))).toEqual(PEOPLE);
  });

  test("a DuckDB file: its only table, or a query", async () => {
    const path = at("people.duckdb");
    await duckdb(path, `CREATE TABLE people AS ${sql}`);
    expect(contents(await readTable(path))).toEqual(expected);
    const query = "SELECT sex, age * 2 AS double FROM people WHERE age IS NOT NULL ORDER BY age DESC;";
    expect(contents(await readTable(path, { query }))).toEqual({ sex: [null, "F"], double: [82, 60] });
    await duckdb(path, "CREATE TABLE other(a INT)");
    await expect(readTable(path)).rejects.toThrow(databaseTexts.whichTable(path, ["other", "people"]));
    await expect(readTable(path, { query: "SELECT * FROM peple" })).rejects.toThrow(InputError);
  });

  test("a query on a file, which is called data and has its types settled", async () => {
    const path = file("query.csv", "age,sex\n30, F\n?,M\n41,F\n");
    const query = "SELECT sex, sum(age) AS years FROM data GROUP BY sex ORDER BY sex";
    const table = await readTable(path, { query, missing: ["?"] });
    expect(contents(table)).toEqual({ sex: ["F", "M"], years: [71, null] });
  });
});

describe("a web address", () => {
  let server: Server;
  let address = "";
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === "/people.csv") response.end("age,sex\n30,F\n,M\n41,\n");
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test("is read like a file", async () => {
    expect(contents(await readTable(`${address}/people.csv`))).toEqual(PEOPLE);
  });

  test("that is wrong or silent gives one sentence", async () => {
    await expect(readTable(`${address}/other.csv`)).rejects.toThrow(
      new InputError("web-refused", webTexts.refused(`${address}/other.csv`, 404)),
    );
    const silent = "http://127.0.0.1:9/x.csv";
    await expect(readTable(silent)).rejects.toThrow(EnvironmentError);
  });
});

describe("a table in parts", () => {
  test("has every row once, in order, with the same levels in every part", async () => {
    const rows = Array.from({ length: 5000 }, (_, row) => `${row},${["b", "a", "c"][row % 3]}`);
    const path = file("parts.csv", `row,level\n${rows.join("\n")}\n`);
    const numbers: number[] = [];
    const sizes: number[] = [];
    for await (const part of streamTable(path, { chunkRows: 1999 })) {
      sizes.push(part.rows);
      const [row, level] = part.columns;
      if (row.kind !== "numeric" || level.kind !== "categorical") throw new Error("unexpected types");
      expect(level.levels).toEqual(["a", "b", "c"]);
      for (const [at, value] of row.values.entries()) {
        numbers.push(value);
        expect(level.levels[level.codes[at]]).toBe(["b", "a", "c"][value % 3]);
      }
    }
    expect(sizes).toEqual([1999, 1999, 1002]);
    expect(numbers).toEqual(Array.from({ length: 5000 }, (_, row) => row));
  });

  test("may be left early, and fails like a whole one", async () => {
    const path = file("early.csv", `a\n${"1\n".repeat(1000)}`);
    let rows = 0;
    for await (const part of streamTable(path, { chunkRows: 10 })) {
      rows += part.rows;
      if (rows >= 30) break;
    }
    expect(rows).toBe(30);
    const drain = async (name: string, chunkRows: number) => {
      for await (const part of streamTable(name, { chunkRows })) rows += part.rows;
    };
    await expect(drain(at("nowhere.csv"), 10)).rejects.toThrow(fileTexts.missing(at("nowhere.csv")));
    await expect(drain(path, 0)).rejects.toThrow(sourceTexts.chunkRows(0));
  });
});

describe("bad input is refused in one sentence", () => {
  test.each<[string, string | Uint8Array, (path: string) => string]>([
    ["an empty file", "", fileTexts.empty],
    ["an empty gzip", gzipSync(""), fileTexts.empty],
    ["white space only", " \n\n", dialectTexts.empty],
    ["quotes with nothing between them", '""\n""\n', dialectTexts.empty],
    ["a header alone", "a,b\n", sourceTexts.noRows],
    ["a row that is too short", "a,b\n1,2\n3\n4,5\n", (path) => dialectTexts.ragged(path, 3, 1, 2)],
    ["a row that is too long", "a,b\n1,2\n4,5\n3,4,5\n", (path) => dialectTexts.ragged(path, 4, 3, 2)],
    [
      "a long row far down",
      `a,b\n${"1,2\n".repeat(2000)}3,4,5\n`,
      (path) => dialectTexts.ragged(path, 2002, 3, 2),
    ],
    [
      "a picture",
      Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"),
      (path) => fileTexts.noTable(path, "a picture"),
    ],
    ["half a zip archive", Buffer.from("PK\x03\x04\0\0", "latin1"), xlsxTexts.broken],
    ["a web page", "<!DOCTYPE html><html></html>", (path) => fileTexts.noTable(path, "a web page or XML")],
    [
      "the first Feather format",
      Buffer.from("FEA1\0\0\0\0", "latin1"),
      (path) =>
        fileTexts.noTable(
          path,
          "the first Feather format, which is no longer written: save it again as Feather 2 or Parquet",
        ),
    ],
    ["other bytes", Buffer.from([1, 2, 0, 4, 5]), (path) => fileTexts.noTable(path, "binary data")],
    ["half a gzip", gzipSync("a,b\n1,2\n".repeat(50)).subarray(0, 20), fileTexts.brokenGzip],
  ])("%s", async (_, bytes, text) => {
    const path = file("bad.csv", bytes);
    await expect(readTable(path)).rejects.toThrow(InputError);
    await expect(readTable(path)).rejects.toThrow(text(path));
  });

  test("no such file, a folder, a column that does not exist", async () => {
    await expect(readTable(at("none.csv"))).rejects.toThrow(fileTexts.missing(at("none.csv")));
    await expect(readTable(at("."))).rejects.toThrow(fileTexts.folder(at(".")));
    const path = file("known.csv", "age,sex\n1,F\n");
    await expect(readTable(path, { columns: ["agee"] })).rejects.toThrow(
      tableTexts.noColumn(path, "agee", "age", ["age", "sex"]),
    );
  });

  test("an error never repeats what a row holds", async () => {
    const path = file("secret.csv", `name,ill\n${"x,no\n".repeat(600)}Jane Doe,yes,extra\n`);
    await expect(readTable(path)).rejects.not.toThrow(/Jane/);
    const query = "SELECT CAST(name AS INT) FROM data";
    const text = file("text.csv", "name,ill\nJane,yes\nJoe,no\n");
    await expect(readTable(text, { query })).rejects.toThrow(InputError);
    await expect(readTable(text, { query })).rejects.not.toThrow(/Jane/);
  });

  test("a damaged Parquet file says what to do", async () => {
    const path = file("damaged.parquet", `PAR1${"?".repeat(200)}PAR1`);
    const reason = "what stands in it is damaged or of another kind";
    await expect(readTable(path)).rejects.toThrow(sourceTexts.broken(path, reason));
    expect(sourceTexts.broken(path, reason)).toContain("): get it again");
  });

  test("ten thousand columns work", async () => {
    const names = Array.from({ length: 10_000 }, (_, column) => `c${column}`);
    const row = (at: number) => names.map((_, column) => (column % 10 === 0 ? column * at : `v${at}`)).join();
    const path = file("wide.csv", `${names.join()}\n${row(1)}\n${row(2)}\n`);
    const table = await readTable(path);
    expect(table.columns).toHaveLength(10_000);
    expect(cells(table.columns[9990])).toEqual([9990, 19980]);
    expect(cells(table.columns[9999])).toEqual(["v1", "v2"]);
  });
});

test("without DuckDB it says which command installs it", async () => {
  vi.resetModules();
  vi.doMock("@duckdb/node-api", () => {
    throw new Error("Cannot find package '@duckdb/node-api'");
  });
  const { readTable: fresh } = await import("../../src/sources/source.js");
  await expect(fresh(file("any.jsonl", '{"a": 1}\n'))).rejects.toThrow(duckdbTexts.missing());
  expect(duckdbTexts.missing()).toMatch(/: run npm install @duckdb\/node-api\.$/);
  // With what such a table needs beside it, so that the next attempt does not ask for more.
  const sqlite = file("any.sqlite", "SQLite format 3\0");
  await expect(fresh(sqlite)).rejects.toThrow(duckdbTexts.missing(nodeReadsSqlite() ? [] : ["libsql"]));
  await expect(fresh(file("any.arrow", "ARROW1\0\0"))).rejects.toThrow(duckdbTexts.missing(["apache-arrow"]));
  await expect(fresh("postgres://host/db")).rejects.toThrow(duckdbTexts.missing(["pg"]));
  expect(duckdbTexts.missing(["pg"])).toMatch(/: run npm install @duckdb\/node-api pg\.$/);
  expect(["20.20.2", "22.15.0", "22.16.0", "23.11.1", "24.0.0"].filter(nodeReadsSqlite)).toEqual([
    "22.16.0",
    "24.0.0",
  ]);

  // Text is read without it.
  expect(contents(await fresh(file("any.csv", "a\n1\n")))).toEqual({ a: [1] });
  vi.doUnmock("@duckdb/node-api");
});

describe("a description", () => {
  test("has types, counts and levels, and no value that only few rows have", async () => {
    const lines = Array.from({ length: 12 }, (_, row) => `${row},${row % 2 === 0 ? "F" : "M"},name${row},`);
    const table = await readTable(file("describe.csv", `age,sex,name,nothing\n${lines.join("\n")}\n`));
    expect(describeTable(table).columns).toEqual([
      { name: "age", type: "number", distinct: 12, missing: 0, example: "0 to 11" },
      { name: "sex", type: "category", distinct: 2, missing: 0, example: "F, M" },
      { name: "name", type: "category", distinct: 12, missing: 0, example: "(rare values, not shown)" },
      { name: "nothing", type: "number", distinct: 0, missing: 12, example: "" },
    ]);
  });
});

describe("cells that keep a column from being numeric", () => {
  const ages = (mark: string, every: number) =>
    `age,name\n${Array.from({ length: 600 }, (_, row) => `${row % every === 3 ? mark : 20 + (row % 50)},n`).join("\n")}\n`;

  test("a question mark is missing unless other marks are given", async () => {
    const { columns, notes } = await readTable(file("question.csv", ages("?", 10)));
    expect(columns[0].kind).toBe("numeric");
    expect(cells(columns[0]).filter((cell) => cell === null || Number.isNaN(cell))).toHaveLength(60);
    expect(notes).toEqual([]);
    const given = await readTable(file("question.csv", ages("?", 10)), { missing: ["NA"] });
    expect(given.columns[0].kind).toBe("categorical");
    expect(given.notes).toEqual([nearlyNumericTexts.note("age", 60, "?")]);
  });

  test("are noted with their count, and named where many rows have them", async () => {
    const often = await readTable(file("often.csv", ages("unknown", 20)));
    expect(often.notes).toEqual([nearlyNumericTexts.note("age", 30, "unknown")]);
    const rare = await readTable(file("rare.csv", ages("SECRET", 200)));
    expect(rare.notes).toEqual([nearlyNumericTexts.note("age", 3, undefined)]);
    expect(rare.notes[0]).not.toContain("SECRET");
    const words = await readTable(file("words.csv", ages("unknown", 5)));
    expect(words.notes).toEqual([]);
    const asked = await readTable(file("often.csv", ages("unknown", 20)), { asText: ["age"] });
    expect(asked.notes).toEqual([]);
  });
});
