/** A path is a path, for every kind of file, and what is certified is what was read. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import * as arrow from "apache-arrow";
import Database from "libsql";
import { describe, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { fileTexts } from "../../src/sources/file-kind.js";
import { openedTexts } from "../../src/sources/opened-file.js";
import { readTable, streamTable } from "../../src/sources/source.js";
import { contents, temporaryFolder } from "./files.js";

const { folder, at, file } = temporaryFolder();

const duckdb = async (path: string, ...statements: string[]) => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
};

/** A table with one cell, as a file of each kind. */
const KINDS: Record<string, (value: number) => Promise<Uint8Array>> = {
  csv: async (value) => Buffer.from(`n\n${value}\n`),
  json: async (value) => Buffer.from(`{"n": ${value}}\n`),
  arrow: async (value) => arrow.tableToIPC(arrow.tableFromArrays({ n: Float64Array.of(value) })),
  parquet: async (value) => {
    await duckdb(":memory:", `COPY (SELECT ${value} AS n) TO '${at(`made${value}.parquet`)}'`);
    return readFileSync(at(`made${value}.parquet`));
  },
  duckdb: async (value) => {
    await duckdb(at(`made${value}.duckdb`), `CREATE TABLE t AS SELECT ${value} AS n`);
    return readFileSync(at(`made${value}.duckdb`));
  },
  sqlite: async (value) => {
    const database = new Database(at(`made${value}.sqlite`));
    database.exec(`CREATE TABLE t (n); INSERT INTO t VALUES (${value})`);
    database.close();
    return readFileSync(at(`made${value}.sqlite`));
  },
};

/** What would be read instead, where a name were a pattern. */
const NAMES: readonly (readonly [string, string])[] = [
  ["wave[2]", "wave2"],
  ["a*", "ab"],
  ["what?", "whats"],
  ["{x,y}", "x"],
  ["[1]/table", "1/table"],
  ["**/table", "deep/table"],
  ["n=7/table", "n=8/table"],
  ["it's", "its"],
  ["two words", "two"],
  ["back\\slash*", "backslash1"],
  ["new\nline[1]", "new\nline1"],
  ["-leading", "leading"],
  ["~", "home"],
  ["file:x", "x1"],
  ['"quoted"', "quoted1"],
];

describe("a name with any character is the name of one file", () => {
  test.each(Object.keys(KINDS))("%s", async (kind) => {
    const [own, other] = [await KINDS[kind](1), await KINDS[kind](2)];
    for (const [name, near] of NAMES) {
      for (const [part, bytes] of [
        [near, other],
        [name, own],
      ] as const) {
        mkdirSync(dirname(at(`${kind}/${part}`)), { recursive: true });
        writeFileSync(at(`${kind}/${part}.${kind}`), bytes);
      }
      const path = at(`${kind}/${name}.${kind}`);
      let sha256 = "";
      const table = await readTable(path, {
        onHash: (hash) => {
          sha256 = hash;
        },
      });
      expect(contents(table), name).toEqual({ n: [1] });
      expect(table.name).toBe(path);
      expect(sha256).toBe(createHash("sha256").update(own).digest("hex"));
      const parts = [];
      for await (const each of streamTable(path)) parts.push(contents(each));
      expect(parts).toEqual([{ n: [1] }]);
    }
  });

  test("below the current folder too, whatever it begins with", async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      for (const name of ["-c.csv", "~.csv", "s3:b.csv", "c[1].csv"]) {
        file(name, "n\n1\n");
        expect(contents(await readTable(name)), name).toEqual({ n: [1] });
      }
    } finally {
      process.chdir(before);
    }
  });

  test("the names of folders are no columns", async () => {
    mkdirSync(at("sex=F/year=2020"), { recursive: true });
    await duckdb(":memory:", `COPY (SELECT 'M' AS sex, 1 AS n) TO '${at("sex=F/year=2020/p.parquet")}'`);
    expect(contents(await readTable(at("sex=F/year=2020/p.parquet")))).toEqual({ sex: ["M"], n: [1] });
    for (const [name, text] of [
      ["p.csv", "sex,n\nM,1\n"],
      ["p.jsonl", '{"sex": "M", "n": 1}\n'],
    ]) {
      expect(contents(await readTable(file(`sex=F/year=2020/${name}`, text)))).toEqual({
        sex: ["M"],
        n: [1],
      });
    }
  });
});

describe("what cannot be a table is refused in one sentence", () => {
  test("no name, a name that is too long, a pipe, a folder for temporary files that is a pattern", async () => {
    await expect(readTable("")).rejects.toThrow(new InputError("no-file", openedTexts.noName));
    const long = at(`${"n".repeat(300)}.csv`);
    await expect(readTable(long)).rejects.toThrow(new InputError("no-file", fileTexts.nameTooLong(long)));
    expect(spawnSync("mkfifo", [at("pipe")]).status).toBe(0);
    await expect(readTable(at("pipe"))).rejects.toThrow(openedTexts.notPlain(at("pipe")));
    await expect(readTable("/dev/zero")).rejects.toThrow(openedTexts.notPlain("/dev/zero"));
    const path = file("plain.csv", "n\n1\n");
    mkdirSync(at("t[m]p"));
    for (const [place, text] of [
      [at("t[m]p"), openedTexts.temporary(at("t[m]p"))],
      [at("nowhere"), openedTexts.noRoom(at("nowhere"), "ENOENT")],
    ]) {
      vi.stubEnv("TMPDIR", place);
      await expect(readTable(path)).rejects.toThrow(new EnvironmentError("temporary-folder", text));
      vi.unstubAllEnvs();
    }
  });

  test("a file that changes while it is read", async () => {
    const rows = `n\n${"1\n".repeat(50_000)}`;
    for (const [name, change] of [
      ["grows.csv", (path: string) => appendFileSync(path, "2\n")],
      ["rewritten.csv", (path: string) => writeFileSync(path, rows.replaceAll("1", "2"))],
      [
        "replaced.csv",
        (path: string) => {
          writeFileSync(`${path}.new`, rows);
          renameSync(`${path}.new`, path);
        },
      ],
    ] as const) {
      const path = file(name, rows);
      const reading = async () => {
        let parts = 0;
        for await (const _ of streamTable(path, { chunkRows: 1000 })) {
          parts += 1;
          if (parts === 1) change(path);
        }
      };
      await expect(reading(), name).rejects.toThrow(
        new InputError("file-changed", openedTexts.changed(path)),
      );
    }
  });
});
