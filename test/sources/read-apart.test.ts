/** A file that would bring its reader down, spin or take all memory ends in one sentence. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import * as arrow from "apache-arrow";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { arrowTexts } from "../../src/sources/arrow-relation.js";
import { apartTexts, type Limits, limitsFor, readApart } from "../../src/sources/read-apart.js";
import { readTable } from "../../src/sources/source.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { contents, temporaryFolder } from "./files.js";

needsDist();
const { folder, at, file } = temporaryFolder();

const made = (name: string, sql: string): string => {
  const database = new Database(at(name));
  database.exec(sql);
  database.close();
  return at(name);
};

const ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)";

describe("a reader has limits", () => {
  const small = made("small.db", "CREATE TABLE a (b); INSERT INTO a VALUES (1)");
  const read = (query: string | undefined, limits: Partial<Limits>, path = small) =>
    readApart(
      { kind: "sqlite", path, name: "the file", query, settings: { missing: [], asText: [] }, bytes: 8192 },
      folder,
      { ...limitsFor("sqlite", 8192, query), ...limits },
    );

  test("of time", async () => {
    await expect(read(`${ENDLESS} SELECT max(n) AS n FROM r`, { idleSeconds: 1 })).rejects.toThrow(
      new InputError("broken-table", apartTexts.time("the file", 1)),
    );
    // Rows without an end come on and on, and take time all in all.
    await expect(read(`${ENDLESS} SELECT n FROM r`, { cpuSeconds: 2 })).rejects.toThrow(InputError);
    // A view without an end, in a file that somebody sent.
    const sent = made("view.db", `CREATE VIEW v AS ${ENDLESS} SELECT max(n) AS n FROM r`);
    await expect(read(undefined, { idleSeconds: 1 }, sent)).rejects.toThrow(apartTexts.time("the file", 1));
  });

  test("of memory", async () => {
    const memoryBytes = 300 * 2 ** 20;
    await expect(read("SELECT hex(hex(zeroblob(200000000))) AS a", { memoryBytes })).rejects.toThrow(
      new InputError("broken-table", apartTexts.memory("the file", 300)),
    );
  });

  test("in terms of the file's size, and none of time for a query", () => {
    const [little, large] = [limitsFor("arrow", 1e3, undefined), limitsFor("arrow", 1e9, undefined)];
    expect(little).toEqual({ cpuSeconds: 70, idleSeconds: 6, memoryBytes: 2068 * 2 ** 20 });
    expect(large).toMatchObject({ cpuSeconds: 60 + 10 * 954, idleSeconds: 5 + 954 });
    expect(limitsFor("sqlite", 1e3, "SELECT 1").idleSeconds).toBe(Number.MAX_SAFE_INTEGER);
  });
});

test("a name that ends the reader of SQLite", async () => {
  const path = made("name.db", `CREATE TABLE a ("nam" TEXT); INSERT INTO a VALUES (1)`);
  const bytes = Buffer.from(readFileSync(path).toString("latin1").replaceAll("nam", "n\xebm"), "latin1");
  await expect(readTable(file("latin1-name.db", bytes))).rejects.toThrow(InputError);
});

describe("Arrow files that lie about themselves", () => {
  const table = new arrow.Table({
    n: arrow.vectorFromArray(Float64Array.from({ length: 100 }, (_, row) => row)),
    text: arrow.vectorFromArray(
      Array.from({ length: 100 }, (_, row) => `text ${row}`),
      new arrow.Utf8(),
    ),
  });

  test.each(["file", "stream"] as const)("any byte of a %s that is turned round", async (kind) => {
    const whole = arrow.tableToIPC(table, kind);
    // Where the lengths, offsets and counts stand, and some others: each read takes a moment.
    for (let place = 8; place < whole.length; place += Math.ceil(whole.length / 4)) {
      const turned = Uint8Array.from(whole);
      turned[place] ^= 0xff;
      const read = await readTable(file(`turned.${kind}`, turned)).catch((error: unknown) => error);
      if (read instanceof Error) expect(read, `byte ${place}`).toBeInstanceOf(InputError);
    }
  });

  test("lengths of messages that lead back, where the package goes round for ever", async () => {
    const stream = Buffer.from(arrow.tableToIPC(table, "stream"));
    const length = stream.readInt32LE(4);
    stream.writeInt32LE(-8, 8 + length + 4);
    const path = file("back.arrow", stream);
    await expect(readTable(path)).rejects.toThrow(
      arrowTexts.broken(path, "what stands in it is damaged or of another kind"),
    );
  });

  test("a batch that says it has more rows than it has", async () => {
    const bytes = Buffer.from(arrow.tableToIPC(table, "stream"));
    const hundred = Buffer.alloc(8);
    hundred.writeBigInt64LE(100n);
    for (let at = bytes.indexOf(hundred); at >= 0; at = bytes.indexOf(hundred, at + 1)) {
      bytes.writeBigInt64LE(2_000_000_000n, at);
    }
    await expect(readTable(file("rows.arrow", bytes))).rejects.toThrow(InputError);
  });

  test("text that is no UTF-8", async () => {
    const bytes = Buffer.from(arrow.tableToIPC(table, "file"));
    bytes[bytes.indexOf("text 17")] = 0xeb;
    await expect(readTable(file("latin1.arrow", bytes))).rejects.toThrow(InputError);
    expect(contents(await readTable(file("whole.arrow", arrow.tableToIPC(table)))).n).toHaveLength(100);
  });
});

test("the process that reads does not outlive the one that asked", async () => {
  const path = made("endless.db", "CREATE TABLE a (b)");
  const program = `const { readTable } = await import(${JSON.stringify(`${ROOT}dist/index.js`)});
    await readTable(${JSON.stringify(path)}, { query: ${JSON.stringify(`${ENDLESS} SELECT max(n) AS n FROM r`)} });`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore" });
  const reader = await until(() => childOf(parent));
  parent.kill("SIGKILL");
  await until(() => (isRunning(reader) ? undefined : true));
});

const until = async <Value>(look: () => Value | undefined): Promise<Value> => {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** By what the system says about processes, which this test is for where it does so. */
const childOf = ({ pid }: ChildProcess): number | undefined =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((child) => statusOf(child).includes(`\nPPid:\t${pid}\n`));

const statusOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
};

const isRunning = (pid: number): boolean => /State:\t[^Z]/.test(statusOf(pid));
