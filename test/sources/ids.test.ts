import Database from "libsql";
import { describe, expect, it } from "vitest";
import { withDatabase } from "../../src/sources/duckdb.js";
import { readTableWithIds } from "../../src/sources/read-task.js";
import { idsIn } from "../../src/tables/ids.js";
import { tableOf } from "../../src/tables/table-of.js";
import { temporaryFolder } from "./files.js";

const { at, file } = temporaryFolder();

const csv = (name: string, ids: readonly string[]): string =>
  file(name, `id,x\n${ids.map((id, i) => `${id},${i}`).join("\n")}\n`);

const parquet = async (name: string, type: string, ids: readonly string[]): Promise<string> => {
  const rows = ids.map((id) => `(CAST('${id}' AS ${type}))`).join(", ");
  await withDatabase((connection) =>
    connection.run(`COPY (SELECT * FROM (VALUES ${rows}) AS t(id)) TO '${at(name)}' (FORMAT parquet)`),
  );
  return at(name);
};

const sqlite = (name: string, type: string, ids: readonly string[]): string => {
  const database = new Database(at(name));
  database.exec(
    `CREATE TABLE people (id ${type}); INSERT INTO people VALUES ${ids.map((id) => `(${id})`).join(", ")}`,
  );
  database.close();
  return at(name);
};

const idsOf = async (path: string) => [...idsIn(await readTableWithIds(path, "id"), "id")];

describe("ids are the same wherever they come from", () => {
  const whole = ["7", "42", "1000"];

  it.each([
    ["CSV", async () => csv("whole.csv", whole)],
    ["CSV among texts", async () => csv("mixed.csv", [...whole, "b-1"])],
    ["CSV in quotes, with spaces around", async () => csv("quoted.csv", ['"7"', " 42 ", '" 1000"'])],
    ["JSON lines, as numbers", async () => file("n.jsonl", whole.map((id) => `{"id": ${id}}`).join("\n"))],
    ["JSON lines, as texts", async () => file("t.jsonl", whole.map((id) => `{"id": "${id}"}`).join("\n"))],
    ["Parquet, as integers", () => parquet("i.parquet", "INTEGER", whole)],
    ["Parquet, as 64-bit integers", () => parquet("b.parquet", "BIGINT", whole)],
    ["Parquet, as floating-point numbers", () => parquet("d.parquet", "DOUBLE", whole)],
    ["Parquet, as decimals", () => parquet("m.parquet", "DECIMAL(12,2)", whole)],
    ["Parquet, as texts", () => parquet("v.parquet", "VARCHAR", whole)],
    ["SQLite, as integers", async () => sqlite("i.db", "INTEGER", whole)],
    ["SQLite, as floating-point numbers", async () => sqlite("r.db", "REAL", whole)],
    [
      "SQLite, as texts",
      async () =>
        sqlite(
          "t.db",
          "TEXT",
          whole.map((id) => `'${id}'`),
        ),
    ],
  ])("%s", async (_, path) => {
    expect((await idsOf(await path())).slice(0, 3)).toEqual(whole);
  });

  it("records", () => {
    expect([...idsIn(tableOf([{ id: 7 }, { id: 42 }, { id: 1000 }]), "id")]).toEqual(whole);
    expect([...idsIn(tableOf([{ id: "7" }, { id: 42 }, { id: 1000n }]), "id")]).toEqual(whole);
  });
});

describe("ids that are written differently are different", () => {
  const odd = [
    "007",
    "7",
    "07",
    "1e3",
    "1000",
    "7.0",
    "9007199254740993",
    "9007199254740992",
    "José",
    "Jose\u0301",
    "a b",
    "😀",
  ];

  it("in CSV", async () => {
    expect(await idsOf(csv("odd.csv", odd))).toEqual(odd);
  });

  it("in Parquet and in SQLite, as texts", async () => {
    expect(await idsOf(await parquet("odd.parquet", "VARCHAR", odd))).toEqual(odd);
    expect(
      await idsOf(
        sqlite(
          "odd.db",
          "TEXT",
          odd.map((id) => `'${id}'`),
        ),
      ),
    ).toEqual(odd);
  });

  it("with all digits of 64-bit integers, signed or not", async () => {
    const long = ["9007199254740993", "-9223372036854775808", "9223372036854775807"];
    expect(await idsOf(await parquet("long.parquet", "BIGINT", long))).toEqual(long);
    expect(await idsOf(sqlite("long.db", "INTEGER", long))).toEqual(long);
    expect(await idsOf(csv("long.csv", long))).toEqual(long);
    const unsigned = ["18446744073709551615", "18446744073709551614"];
    expect(await idsOf(await parquet("unsigned.parquet", "UBIGINT", unsigned))).toEqual(unsigned);
  });

  it("and those that are missing are none", async () => {
    expect(await idsOf(csv("gaps.csv", ["1", "NA", "", "2"]))).toEqual(["1", "2"]);
  });
});
