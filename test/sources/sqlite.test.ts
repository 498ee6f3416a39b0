import { chmodSync, copyFileSync, readdirSync, readFileSync } from "node:fs";
import Database from "libsql";
import { describe, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { databaseTexts } from "../../src/sources/database-relation.js";
import { loadedTexts } from "../../src/sources/loaded-relation.js";
import { packageTexts } from "../../src/sources/optional-package.js";
import { queryTexts } from "../../src/sources/query-relation.js";
import { readTable, sourceTexts, streamTable } from "../../src/sources/source.js";
import { sqliteTexts } from "../../src/sources/sqlite-relation.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { cells, contents, temporaryFolder, unpacked } from "./files.js";

const { at, file } = temporaryFolder();

const made = (name: string, sql: string): string => {
  const database = new Database(at(name));
  database.exec(sql);
  database.close();
  return at(name);
};

/** CREATE TABLE people(age int, sex text), three rows, written by SQLite itself. */
const SQLITE =
  "H4sIAAAAAAACAwsO9MksSVVIyy/KTSxRMGZgYmBkZHBQUGBgADIhGAYYgZgFjU8IMDHoJTPyghQzHmAAolFAZWDHyCYuKckYWZKYlJNakJpfACOZnINcHUNcFUIcnXxcFSBiGonpqQqZeSU6CsWpFQolqRUlmqC4YWZ8w8D4k/ETkBoFwxiwMDMz8LuxMjEz8mv6sjICKTk3AAIBwT4ABAAA";

describe("a SQLite file", () => {
  test("that SQLite wrote", async () => {
    expect(contents(await readTable(file("people.sqlite", unpacked(SQLITE))))).toEqual({
      age: [30, 41, null],
      sex: ["F", "M", "F"],
    });
  });

  test("has the types that its cells have", async () => {
    const path = made(
      "types.db",
      `CREATE TABLE types (age INT, sex TEXT, share REAL, day TEXT, at DATETIME, id INT, code TEXT, mixed, marked,
         large REAL, void TEXT, photo BLOB, late);
       INSERT INTO types VALUES
         (30, 'F', 1.5, '1970-01-03', '2000-01-01 12:00:00', 9007199254740993, '007', 1, 4, 1e17, NULL, x'00ff', '2000-01-01'),
         (NULL, ' M ', 9e999, NULL, NULL, NULL, '8', 'x', '?', -2.5e-7, '', NULL, '2000-13-01'),
         (41, NULL, 2, '1969-12-31', '1969-12-31T18:00:00', 9007199254740995, NULL, 2.5, NULL, 3, 'NA', NULL, NULL)`,
    );
    const table = await readTable(path, { missing: ["?", "NA"] });
    expect(contents(table)).toEqual({
      age: [30, null, 41],
      sex: ["F", "M", null],
      share: [1.5, null, 2],
      day: [2, null, -1],
      at: [10957.5, null, -0.25],
      id: ["9007199254740993", null, "9007199254740995"],
      code: ["007", "8", null],
      mixed: ["1", "x", "2.5"],
      marked: [4, null, null],
      large: [1e17, -2.5e-7, 3],
      void: [null, null, null],
      photo: [null, null, null],
      // No day: then it is no column of days.
      late: ["2000-01-01", "2000-13-01", null],
    });
    expect(table.notes).toEqual([loadedTexts.bytes("photo")]);
    expect(table.columns[3]).toMatchObject({ unit: "days since 1970-01-01" });
    const asText = await readTable(path, { columns: ["age"], asText: ["age"] });
    expect(contents(asText)).toEqual({ age: ["30", null, "41"] });
  });

  test("is asked a query; several tables need one", async () => {
    const path = made(
      "two.sqlite",
      `CREATE TABLE people (name, "2019", "2020"); INSERT INTO people VALUES ('a', 1, 2), ('b', 3, 4);
       CREATE TABLE "other people" (n)`,
    );
    const table = await readTable(path, {
      query: "SELECT *, \"2019\" * 2 AS name FROM people WHERE name = 'b';",
    });
    expect(Object.entries(contents(table))).toEqual(
      expect.arrayContaining([
        ["name", ["b"]],
        ["name_2", [6]],
      ]),
    );
    // In the query's order, which an object would not keep.
    expect(table.columns.map(({ name }) => name)).toEqual(["name", "2019", "2020", "name_2"]);
    expect(table.notes).toEqual([dialectTexts.headerNamed("name", "name_2")]);
    const names = ["other people", "people"];
    await expect(readTable(path)).rejects.toThrow(databaseTexts.whichTable(path, names));
    expect(databaseTexts.whichTable(path, names)).toContain(`--query 'SELECT * FROM "other people"'`);
    const unknown = readTable(path, { query: "SELECT * FROM peple" });
    await expect(unknown).rejects.toThrow(
      new InputError("broken-table", databaseTexts.refused(path, "no such table: peple")),
    );
    const none = readTable(path, { query: "SELECT * FROM people WHERE name = 'c'" });
    await expect(none).rejects.toThrow(sourceTexts.noRows(path));
    const noAnswer = readTable(path, { query: "DELETE FROM people" });
    await expect(noAnswer).rejects.toThrow(new InputError("query", queryTexts.oneSelect));
    const empty = made("empty.db", "CREATE TABLE a (b); DROP TABLE a");
    await expect(readTable(empty)).rejects.toThrow(databaseTexts.whichTable(empty, []));
  });

  test("comes in parts", async () => {
    const path = made(
      "parts.db",
      `CREATE TABLE rows AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5000)
         SELECT n, 'level ' || (n % 3) AS level FROM r`,
    );
    const numbers: unknown[] = [];
    const sizes: number[] = [];
    for await (const part of streamTable(path, { chunkRows: 1999 })) {
      sizes.push(part.rows);
      const [n, level] = part.columns;
      numbers.push(...cells(n));
      expect(cells(level)).toEqual(cells(n).map((each) => `level ${Number(each) % 3}`));
    }
    expect(sizes).toEqual([1999, 1999, 1002]);
    expect(numbers).toEqual(Array.from({ length: 5000 }, (_, row) => row + 1));
  });

  test("is not changed, whatever its name and its query", async () => {
    const path = made("odd name?%#.db", "CREATE TABLE a (b); INSERT INTO a VALUES (1)");
    const before = readFileSync(path);
    const files = readdirSync(at("."));
    chmodSync(path, 0o444);
    expect(contents(await readTable(path))).toEqual({ b: [1] });
    for (const query of [
      "DELETE FROM a RETURNING b",
      "PRAGMA user_version = 7",
      "SELECT 1 AS x; DELETE FROM a",
    ]) {
      await readTable(path, { query }).catch((error: unknown) => expect(error).toBeInstanceOf(InputError));
    }
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(at("."))).toEqual(files);
  });

  test("with text in another encoding is read exactly or refused", async () => {
    const utf16 = made(
      "utf16.db",
      "PRAGMA encoding = 'UTF-16le'; CREATE TABLE a (b, \"ü\"); INSERT INTO a VALUES ('Zoë', 1), ('𝄞', 2)",
    );
    expect(contents(await readTable(utf16))).toEqual({ b: ["Zoë", "𝄞"], ü: [1, 2] });
    const latin1 = made(
      "latin1.db",
      "CREATE TABLE a (n, b); INSERT INTO a VALUES (1, 'Zoe'), (2, CAST(x'5a6feb' AS TEXT))",
    );
    const failure = await readTable(latin1).catch((error: unknown) => error);
    expect(failure).toEqual(new InputError("not-utf8", sqliteTexts.encoding(latin1, "b")));
    const some = await readTable(latin1, { query: "SELECT n, hex(b) AS b FROM a" });
    expect(contents(some)).toEqual({ n: [1, 2], b: ["5A6F65", "5A6FEB"] });
    const nul = made("nul.db", "CREATE TABLE a (b); INSERT INTO a VALUES (CAST(x'610062' AS TEXT)), ('')");
    expect(contents(await readTable(nul))).toEqual({ b: ["a\0b", null] });
  });

  test("is asked one SELECT, whose order stays", async () => {
    const path = made(
      "order.db",
      "CREATE TABLE a (b, c); INSERT INTO a VALUES (2, 'x;y'), (1, 'z'), (3, 'w')",
    );
    const files = readdirSync(at("."));
    for (const query of [
      "SELECT 1 AS a; SELECT 2 AS a",
      `ATTACH '${at("other.db")}' AS other`,
      `VACUUM INTO '${at("copy.db")}'`,
      "PRAGMA table_info(a)",
      "EXPLAIN SELECT 1",
      "",
    ]) {
      const failure = await readTable(path, { query }).catch((error: unknown) => error);
      expect(failure, query).toEqual(new InputError("query", queryTexts.oneSelect));
    }
    for (const [word, query] of [
      ["load_extension", `SELECT load_extension('${at("x.so")}') AS a`],
      ["writefile", `SELECT "writefile"('${at("written")}', b) AS a FROM a`],
      ["READFILE", "SELECT hex(READFILE('/etc/hostname')) AS a"],
      ["fsdir", `SELECT name FROM 'fsdir'('${at(".")}')`],
    ]) {
      const failure = await readTable(path, { query }).catch((error: unknown) => error);
      expect(failure).toEqual(new InputError("query", sqliteTexts.acts(word)));
    }
    const sent = made(
      "sent.db",
      `CREATE VIEW v AS SELECT writefile('${at("written")}', 'x') AS a, readfile('/etc/hostname') AS b`,
    );
    files.push("sent.db");
    await expect(readTable(sent)).rejects.toThrow(InputError);
    expect(readdirSync(at("."))).toEqual(files.sort());
    const ordered = await readTable(path, {
      query: "SELECT b FROM a WHERE c <> 'q;' ORDER BY b DESC; -- done",
    });
    expect(contents(ordered)).toEqual({ b: [3, 2, 1] });
    expect(contents(await readTable(path))).toEqual({ b: [2, 1, 3], c: ["x;y", "z", "w"] });
  });

  test("that is broken gives one sentence", async () => {
    const path = file("broken.db", "SQLite format 3\0 and nothing behind it");
    await expect(readTable(path)).rejects.toThrow(InputError);
    copyFileSync(made("cut.db", `CREATE TABLE a AS SELECT '${"x".repeat(20_000)}' AS b`), at("whole.db"));
    const cut = file("cut.db", readFileSync(at("whole.db")).subarray(0, 9000));
    await expect(readTable(cut)).rejects.toThrow(InputError);
  });
});

test("without the package, and without Node's own, it says which command installs it", async () => {
  vi.resetModules();
  const absent = () => {
    throw new Error("Cannot find it");
  };
  vi.doMock("libsql", absent);
  vi.doMock("node:sqlite", absent);
  // In this process: what is mocked here is not in another.
  const { sqliteRelation } = await import("../../src/sources/sqlite-relation.js");
  const { withDatabase } = await import("../../src/sources/duckdb.js");
  const failure = await withDatabase((connection) =>
    sqliteRelation(connection, at("people.sqlite"), "people", undefined, { missing: [], asText: [] }, {}),
  ).catch((error: unknown) => error);
  if (failure instanceof Error) {
    expect(failure.name).toBe(EnvironmentError.name);
    expect(failure.message).toBe(
      packageTexts.missing("reading a SQLite file", "libsql", "use Node 22.16 or newer"),
    );
  } else expect("setReturnArrays" in (await nodeStatement())).toBe(true);
  vi.doUnmock("libsql");
  vi.doUnmock("node:sqlite");
});

/** Where Node has its own SQLite, no package is needed. */
const nodeStatement = async (): Promise<object> => {
  vi.doUnmock("node:sqlite");
  const name = "node:sqlite";
  const { StatementSync } = (await import(name)) as { StatementSync: { prototype: object } };
  return StatementSync.prototype;
};
