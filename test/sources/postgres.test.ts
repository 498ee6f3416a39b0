import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import pg from "pg";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { databaseTexts } from "../../src/sources/database-relation.js";
import { loadedTexts } from "../../src/sources/loaded-relation.js";
import { packageTexts } from "../../src/sources/optional-package.js";
import { postgresTexts } from "../../src/sources/postgres-relation.js";
import { readTable, sourceTexts, streamTable } from "../../src/sources/source.js";
import { withoutPassword } from "../../src/sources/without-password.js";
import { describeWithPostgres } from "../setup/postgres.js";
import { contents } from "./files.js";

/** All that a person might see of an error. */
const told = (error: unknown): string =>
  error instanceof Error
    ? [error.message, error.stack, JSON.stringify(error), told(error.cause)].join("\n")
    : String(error);

const failureOf = async (path: string, query?: string): Promise<Error> => {
  const failure = await readTable(path, query === undefined ? {} : { query }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error("it was read");
  return failure;
};

describeWithPostgres("PostgreSQL", (server) => {
  const shown = () => server().address.replace(server().password, "…");
  const run = async (sql: string) => {
    const client = new pg.Client(server().address);
    await client.connect();
    await client.query(sql);
    await client.end();
  };

  beforeAll(async () => {
    await run(`
      CREATE TYPE size AS ENUM ('small', 'large');
      CREATE TABLE people (
        age int, sex text, share double precision, member boolean, day date, at timestamp,
        seen timestamptz, price numeric(8, 2), mean numeric, id bigint, account numeric(20, 0), few bigint,
        code char(4), kind size, tags int[], photo bytea, real real
      );
      INSERT INTO people VALUES
        (30, 'F', 1.5, true, '1970-01-03', '2000-01-01 12:00', '2000-01-01 12:00+02', 12.34, 0.1,
         9007199254740993, 12345678901234567890, 7, 'ab', 'small', '{1,2}', '\\x00ff', 0.1),
        (NULL, ' M ', 'NaN', false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (41, NULL, 2, NULL, 'infinity', '1969-12-31 18:00:00.000001', '1970-01-02 00:00-06', -0.05, 'NaN',
         9007199254740995, 7, -8, 'x', 'large', '{}', NULL, -2.5)`);
  });

  test("its only table, with its types", async () => {
    const table = await readTable(server().address);
    // A table on a server has no order: rows are sorted by all columns.
    expect(contents(table)).toEqual({
      age: [30, 41, null],
      sex: ["F", null, "M"],
      share: [1.5, 2, null],
      member: ["true", null, "false"],
      day: [2, null, null],
      at: [10957.5, -0.25 + 1e-6 / 86400, null],
      // 12:00 two hours east of Greenwich is 10:00 there, midnight six hours west of it 6:00.
      seen: [10957 + 10 / 24, 1.25, null],
      price: [12.34, -0.05, null],
      mean: [0.1, null, null],
      id: ["9007199254740993", "9007199254740995", null],
      account: ["12345678901234567890", "7", null],
      few: [7, -8, null],
      code: ["ab", "x", null],
      kind: ["small", "large", null],
      tags: ["{1,2}", "{}", null],
      photo: [null, null, null],
      // As the server writes a number of four bytes, which is shorter than the number of eight that is nearest to it.
      real: [0.1, -2.5, null],
    });
    expect(table.notes).toEqual([loadedTexts.bytes("photo")]);
    expect(table.name).toBe(shown());
    const day = table.columns.find(({ name }) => name === "day");
    expect(day).toMatchObject({ kind: "numeric", unit: "days since 1970-01-01" });
  });

  test("a query, some columns, and identifiers that stay text", async () => {
    const query =
      'SELECT sex, age * 2 AS double, age AS "Age", few AS sex FROM people WHERE age > 1 ORDER BY age DESC;';
    const table = await readTable(server().address, { query });
    expect(contents(table)).toEqual({ sex: [null, "F"], double: [82, 60], Age: [41, 30], sex_2: [-8, 7] });
    const some = await readTable(server().address, { query, columns: ["Age"], asText: ["Age"] });
    expect(contents(some)).toEqual({ Age: ["41", "30"] });
  });

  test("more rows than are fetched at a time, in parts", async () => {
    const query = "SELECT n, 'level ' || n % 3 AS level FROM generate_series(1, 20000) AS n ORDER BY n";
    const sizes: number[] = [];
    let total = 0;
    for await (const part of streamTable(server().address, { query, chunkRows: 9000 })) {
      sizes.push(part.rows);
      const [n, level] = part.columns;
      if (n.kind !== "numeric" || level.kind !== "categorical") throw new Error("unexpected types");
      expect(level.levels).toEqual(["level 0", "level 1", "level 2"]);
      for (const [row, value] of n.values.entries()) {
        total += value;
        if (level.codes[row] !== value % 3) throw new Error(`row ${row} has another's level`);
      }
    }
    expect(sizes).toEqual([9000, 9000, 2000]);
    expect(total).toBe((20000 * 20001) / 2);
  });

  test("without an order, rows are sorted by all columns; with one, they stay in it", async () => {
    const rows =
      "(VALUES (2, 'b', json '{}'), (1, 'z', NULL), (2, 'a', NULL), (1, 'z', NULL)) AS t(n, level, other)";
    const sorted = { n: [1, 1, 2, 2], level: ["z", "z", "a", "b"] };
    for (const query of [
      `SELECT n, level FROM ${rows}`,
      `SELECT n, level FROM (SELECT * FROM ${rows} ORDER BY n DESC) AS inner_rows`,
      `SELECT n, level /* ORDER BY n */ FROM ${rows} WHERE level <> 'ORDER BY' -- ORDER BY n`,
    ]) {
      expect(contents(await readTable(server().address, { query })), query).toEqual(sorted);
    }
    const query = `SELECT n, level, other FROM ${rows} ORDER  BY level DESC, n`;
    expect(contents(await readTable(server().address, { query }))).toEqual({
      n: [1, 1, 2, 2],
      level: ["z", "z", "b", "a"],
      other: [null, null, "{}", null],
    });
  });

  test("nothing can be changed", async () => {
    for (const query of [
      "DELETE FROM people",
      "SELECT 1; DELETE FROM people",
      "SELECT 1; COMMIT; DELETE FROM people",
      "SELECT setval('counter', 5)",
    ]) {
      await run("CREATE SEQUENCE IF NOT EXISTS counter");
      await expect(readTable(server().address, { query }), query).rejects.toThrow(InputError);
    }
    expect((await readTable(server().address)).rows).toBe(3);
  });

  test("mistakes are told in one sentence, without the password or a person's values", async () => {
    const { address, password, user, port } = server();
    const wrong = await failureOf(address, "SELECT * FROM peple");
    expect(wrong).toEqual(
      new InputError("broken-table", databaseTexts.refused(shown(), 'relation "peple" does not exist')),
    );
    const cast = await failureOf(address, "SELECT sex::int FROM people WHERE sex = 'F'");
    expect(cast.message).toBe(databaseTexts.refused(shown(), 'invalid input syntax for type integer: "…"'));
    const quoted = await failureOf(address, `SELECT ('Mei"er' || sex)::int FROM people WHERE sex = 'F'`);
    expect(told(quoted)).not.toMatch(/Mei|er"?F/);
    const empty = await failureOf(address, "SELECT * FROM people WHERE age > 100");
    expect(empty.message).toBe(sourceTexts.noRows(shown()));
    const login = await failureOf(address.replace(password, "not-it"));
    expect(login).toEqual(new InputError("database-login", postgresTexts.login(shown())));
    const nothing = await failureOf(address.replace(`:${password}`, ""));
    expect(nothing.message).toBe(postgresTexts.login(address.replace(`:${password}`, "")));
    const database = await failureOf(`postgresql://${user}:${password}@127.0.0.1:${port}/nowhere`);
    expect(database.message).toContain('database "nowhere" does not exist');
    await run("CREATE SCHEMA shop; CREATE TABLE shop.orders(n int)");
    const several = await failureOf(address);
    expect(several.message).toBe(databaseTexts.whichTable(shown(), ["people", "shop.orders"]));
    await run("DROP SCHEMA shop CASCADE");
    for (const error of [wrong, cast, empty, login, database, several]) {
      expect(told(error)).not.toContain(password);
      expect(told(error)).not.toContain("not-it");
    }
    expect(told(cast)).not.toMatch(/"F"/);
  });
});

describe("without a server", () => {
  test("one sentence says so, without the password", async () => {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const silent = await failureOf(`postgres://me:hush-hush@127.0.0.1:${port}/db`);
    expect(silent).toEqual(
      new EnvironmentError(
        "unreachable-database",
        postgresTexts.unreachable(`postgres://me:…@127.0.0.1:${port}/db`, "ECONNREFUSED"),
      ),
    );
    const broken = await failureOf("postgres://me:hush@hush@[nowhere:x/db");
    expect(broken).toEqual(
      new InputError("database-address", postgresTexts.address("postgres://me:…@[nowhere:x/db")),
    );
    expect(told(silent) + told(broken)).not.toContain("hush");
  });

  test.each([
    ["N", "The server does not support SSL connections"],
    ["E", "There was an error establishing an SSL connection"],
  ])("one that answers a wish for TLS with %s is not called away", async (answer, reason) => {
    const server = createServer((socket) => socket.once("data", () => socket.end(answer)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const error = await failureOf(`postgres://me:hush@127.0.0.1:${port}/db?sslmode=verify-full`);
    await new Promise((resolve) => server.close(resolve));
    expect(told(error)).toContain(`could not be reached (${reason}): the address asks for TLS`);
    expect(told(error)).not.toContain("hush");
  });

  test("no address shows its password", () => {
    for (const [given, shown] of [
      ["postgres://me:hush@host/db", "postgres://me:…@host/db"],
      ["PostgreSQL://me:hu/s@h?#@host/db", "PostgreSQL://me:…@host/db"],
      ["postgres://me:hu sh:h@sh@host/db", "postgres://me:…@host/db"],
      ["postgres://m/e:hush@host/db", "postgres://m/e:…@host/db"],
      ["postgres://:hush@host/db", "postgres://:…@host/db"],
      ["fetch of http://me:hush@host/x failed", "fetch of http://me:…@host/x failed"],
      ["postgres://me@host/db?password=hush&x=1", "postgres://me@host/db?password=…&x=1"],
      ["postgres://me@host/db?sslpassword=hush", "postgres://me@host/db?sslpassword=…"],
      ["https://me:hush@host/x.csv", "https://me:…@host/x.csv"],
      ["postgres://host:5432/db", "postgres://host:5432/db"],
      ["C:\\tables\\a@b.csv", "C:\\tables\\a@b.csv"],
    ]) {
      expect(withoutPassword(given)).toBe(shown);
    }
  });
});

test("without the package it says which command installs it", async () => {
  vi.resetModules();
  vi.doMock("pg", () => {
    throw new Error("Cannot find package 'pg'");
  });
  const { readTable: fresh } = await import("../../src/sources/source.js");
  await expect(fresh("postgres://me:hush@host/db")).rejects.toThrow(
    packageTexts.missing("reading PostgreSQL", "pg"),
  );
  vi.doUnmock("pg");
});
