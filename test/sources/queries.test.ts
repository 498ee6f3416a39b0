/** A query reads, in one statement, what was named, and gives the same rows in the same order everywhere. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { queryTexts } from "../../src/sources/query-relation.js";
import { readTable } from "../../src/sources/source.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { contents, temporaryFolder } from "./files.js";

needsDist();
const { at, file } = temporaryFolder();

const duckdb = async (path: string, ...statements: string[]) => {
  const instance = await DuckDBInstance.create(path, { threads: "1" });
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  const last = await connection.runAndReadAll("SELECT 1");
  connection.closeSync();
  instance.closeSync();
  return last;
};

describe("a query", () => {
  test("is one SELECT and nothing else, on a file and on a database", async () => {
    const table = file("people.csv", "age,sex\n30,F\n41,M\n");
    await duckdb(at("people.duckdb"), `CREATE TABLE data AS SELECT 30 AS age, 'F' AS sex`);
    const before = [readFileSync(table), readFileSync(at("people.duckdb"))];
    const files = readdirSync(at("."));
    for (const query of [
      "SELECT 1 AS a; SELECT 2 AS a",
      "SELECT 1 AS a; DROP TABLE data",
      "DROP TABLE data",
      `COPY (SELECT 1) TO '${at("written.csv")}'`,
      `ATTACH '${at("attached.duckdb")}'`,
      "CREATE TABLE more AS SELECT 1 AS a",
      "INSERT INTO data VALUES (1, 'x') RETURNING *",
      "WITH a AS (SELECT 1) DELETE FROM data",
      "SET enable_external_access = true",
      "INSTALL httpfs",
      "CALL pragma_version()",
      "",
      ";",
    ]) {
      for (const path of [table, at("people.duckdb")]) {
        const failure = await readTable(path, { query }).catch((error: unknown) => error);
        expect(failure, query).toBeInstanceOf(InputError);
        expect(String(failure), query).toContain(queryTexts.oneSelect);
      }
    }
    expect([readFileSync(table), readFileSync(at("people.duckdb"))]).toEqual(before);
    expect(readdirSync(at("."))).toEqual(files);
    for (const query of [
      "WITH old AS (SELECT * FROM data) SELECT age FROM old WHERE sex = 'F' ; -- those only",
      "FROM data SELECT age LIMIT 1;;",
      "/* ; */ SELECT age FROM data WHERE sex <> ';M' AND sex = 'F'",
    ]) {
      expect(contents(await readTable(table, { query })), query).toEqual({ age: [30] });
      expect(contents(await readTable(at("people.duckdb"), { query })), query).toEqual({ age: [30] });
    }
  });

  test("reads no other file, nor does a view in a database that somebody sent", async () => {
    const secret = file("secret.csv", "name\nMeier\n");
    const table = file("other.csv", "age\n30\n");
    await duckdb(at("sent.duckdb"), `CREATE VIEW data AS SELECT * FROM read_csv('${secret}')`);
    for (const query of [
      `SELECT * FROM read_csv('${secret}')`,
      `SELECT * FROM '${secret}'`,
      `SELECT content FROM read_text('${secret}')`,
      `SELECT * FROM glob('${at("*")}')`,
      "SELECT * FROM read_csv('https://localhost:9/x.csv')",
      `SELECT * FROM query('SELECT * FROM read_csv(''${secret}'')')`,
    ]) {
      for (const path of [table, at("sent.duckdb")]) {
        const failure = await readTable(path, { query }).catch((error: unknown) => error);
        expect(failure, query).toBeInstanceOf(InputError);
        expect(String(failure), query).toContain(queryTexts.otherFiles(path));
      }
    }
    await expect(readTable(at("sent.duckdb"))).rejects.toThrow(
      new InputError("query", queryTexts.otherFiles(at("sent.duckdb"))),
    );
    expect(existsSync(secret)).toBe(true);
  });

  test("cannot take one column for another whose name differs only in case", async () => {
    const csv = file("case.csv", "sex,Sex\nF,1\nM,2\n");
    const json = file("case.jsonl", '{"sex": "F", "Sex": 1}\n{"sex": "M", "Sex": 2, "age_1": 3}\n');
    // DuckDB writes no such file: the second name is put into it by hand.
    await duckdb(":memory:", `COPY (SELECT 'F' AS sex, 1 AS Sxx, {'a': 1} AS s) TO '${at("case.parquet")}'`);
    const bytes = readFileSync(at("case.parquet"));
    const parquet = file(
      "cases.parquet",
      Buffer.from(bytes.toString("latin1").replaceAll("Sxx", "Sex"), "latin1"),
    );
    expect(contents(await readTable(csv))).toEqual({ sex: ["F", "M"], Sex: [1, 2] });
    expect(contents(await readTable(json))).toEqual({ sex: ["F", "M"], Sex: [1, 2], age_1: [null, 3] });
    expect(contents(await readTable(parquet, { columns: ["Sex", "sex"] }))).toEqual({ Sex: [1], sex: ["F"] });
    for (const path of [csv, json, parquet]) {
      await expect(readTable(path, { query: "SELECT Sex FROM data" })).rejects.toThrow(
        new InputError("query", queryTexts.sameName("sex", "Sex")),
      );
    }
  });

  test("gives the same rows in the same order on any number of cores", async () => {
    await duckdb(
      ":memory:",
      `COPY (SELECT (range * 7919) % 10007 AS a, range % 13 AS b, sin(range) AS c FROM range(600000)) TO '${at("many.parquet")}'`,
    );
    for (const query of [
      "SELECT a, b, sum(c) AS c FROM data GROUP BY a, b",
      "SELECT DISTINCT a, b FROM data",
      "SELECT a, b, c FROM data ORDER BY b",
      "SELECT avg(c) AS c FROM data",
    ]) {
      const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
      const connection = await instance.connect();
      await connection.run(
        `CREATE VIEW data AS SELECT a::DOUBLE AS a, b::DOUBLE AS b, c FROM '${at("many.parquet")}'`,
      );
      const alone = (await connection.runAndReadAll(query)).getColumnsObject();
      connection.closeSync();
      instance.closeSync();
      const table = await readTable(at("many.parquet"), { query });
      for (const column of table.columns) {
        if (column.kind !== "numeric") throw new Error("not numeric");
        expect(
          Buffer.from(column.values.buffer).equals(
            Buffer.from(Float64Array.from(alone[column.name] as number[]).buffer),
          ),
          `${query}: ${column.name}`,
        ).toBe(true);
      }
    }
    // As the file has them, where the query asks for no other order.
    const file = await readTable(at("many.parquet"), { query: "SELECT a FROM data WHERE b = 3" });
    const expected = Array.from({ length: 600_000 }, (_, row) => row).filter((row) => row % 13 === 3);
    expect(contents(file)).toEqual({ a: expected.map((row) => (row * 7919) % 10007) });
  });
});

test("a moment with a zone is the same in every zone", async () => {
  const path = at("moments.parquet");
  await duckdb(
    ":memory:",
    "SET TimeZone = 'UTC'",
    `COPY (SELECT TIMESTAMPTZ '2020-03-08 23:30:00+00' AS seen, 1 AS n) TO '${path}'`,
  );
  const database = at("moments.duckdb");
  await duckdb(database, `CREATE TABLE data AS FROM '${path}'`);
  const program = `
    const { readTable } = await import(${JSON.stringify(`${ROOT}dist/index.js`)});
    const path = ${JSON.stringify(path)};
    const tables = [
      await readTable(path),
      await readTable(path, { asText: ["seen"] }),
      await readTable(${JSON.stringify(database)}, { query: "SELECT CAST(seen AS DATE) AS day, CAST(seen AS VARCHAR) AS text, hour(seen) AS hour FROM data" }),
    ];
    console.log(JSON.stringify(tables.map(({ columns }) => columns.map(({ values, levels }) => levels ?? [...values]))));`;
  const answers = ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati"].map((TZ) => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      env: { ...process.env, TZ },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return JSON.parse(stdout) as unknown;
  });
  const day = Date.UTC(2020, 2, 8) / 86_400_000;
  expect(answers[0]).toEqual([
    [[day + 23.5 / 24], [1]],
    [["2020-03-08 23:30:00+00"], [1]],
    [[day], ["2020-03-08 23:30:00+00"], [23]],
  ]);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});
