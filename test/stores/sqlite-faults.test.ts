/** What a store in a file says and keeps when the file, its disk or another process is in the way. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import Database from "libsql";
import { afterAll, describe, expect, test } from "vitest";
import { checkEvents, sealItem } from "../../src/campaign/chain.js";
import { EMPTY_LOG, headOf, type LogEvent } from "../../src/campaign/events.js";
import { type CampaignStore, StoreUnavailable, storeTexts } from "../../src/campaign/store.js";
import { openStore, openStoreTexts } from "../../src/stores/open-store.js";
import { sqliteStoreTexts } from "../../src/stores/sqlite-dialect.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { canMount, withDisk } from "../setup/small-disk.js";
import { itemsOf, logOf, numbered, skipped } from "./sample-log.js";

needsDist();

const folder = mkdtempSync(join(tmpdir(), "fairbed-faults-"));
afterAll(() => rmSync(folder, { recursive: true }));
const newPath = () => join(folder, `${randomUUID()}.db`);

const append = (store: CampaignStore, id: string): Promise<void> =>
  store.transact("c", 0, ({ head }) => ({ append: [skipped(head, id, id, "x".repeat(2000))] }));

const endings = new WeakMap<ChildProcess, Promise<unknown>>();

/** A program beside this one; resolves once it has said something. */
const beside = async (script: string): Promise<ChildProcess> => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "inherit"],
  });
  // From the start: on a busy machine it may be over before anybody waits for it.
  endings.set(child, new Promise((resolve) => child.once("close", resolve)));
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
};
const ended = (child: ChildProcess) => endings.get(child);

/** Holds the file's lock until its input ends. */
const lockHolder = (path: string): Promise<ChildProcess> =>
  beside(`
    import Database from "libsql";
    const database = new Database(${JSON.stringify(path)});
    database.exec("begin immediate");
    console.log("held");
    process.stdin.on("end", () => { database.exec("rollback"); process.exit(); }).resume();`);

describe("addresses", () => {
  test.each([
    "",
    "sqlite:",
    "sqlite::memory:",
    "sqlite://host/x.db",
    "mysql://u:pass-word@h/x",
    "campaigns",
    "memory",
  ])("%s is refused without being repeated", async (address) => {
    await expect(openStore(address)).rejects.toMatchObject({
      code: "store-address",
      message: openStoreTexts.address,
    });
  });

  test("a path is enough, and missing folders are made", async () => {
    const path = join(folder, "new", "folders", "my campaigns?.sqlite");
    const store = await openStore(path);
    await store.create("c", [], logOf(["one"]));
    await store.close();
    const again = await openStore(`sqlite:${path}`);
    expect(again.description).toBe(path);
    expect(await again.list()).toHaveLength(1);
    await again.close();
    // Nobody else may read it, nor what is beside it.
    const open = await openStore(path);
    await open.putDocument("k", "k", "1");
    for (const end of ["", "-wal", "-shm"]) expect(statSync(path + end).mode & 0o777).toBe(0o600);
    await open.close();
  });

  test("memory: is a store of its own each time", async () => {
    const store = await openStore("memory:");
    await store.create("c", [], logOf(["one"]));
    expect(await (await openStore("memory:")).list()).toEqual([]);
  });
});

describe("a file that is no store", () => {
  const damaged = (path: string) => ({ code: "store-damaged", message: storeTexts.damaged(path) });

  test("is refused and left as it is", async () => {
    const path = newPath();
    writeFileSync(path, "id,name\n".repeat(2000));
    await expect(openStore(path)).rejects.toMatchObject(damaged(path));
    expect(readFileSync(path, "utf8")).toBe("id,name\n".repeat(2000));
  });

  test("but a database of another program too", async () => {
    const path = newPath();
    const other = new Database(path);
    other.exec("create table people (name text)");
    other.close();
    await expect(openStore(path)).rejects.toMatchObject(damaged(path));
    const tables = new Database(path).prepare("select name from sqlite_master").all();
    expect(tables).toEqual([{ name: "people" }]);
  });

  test("or one that lost a table", async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.create("c", itemsOf(1), logOf(["one"]));
    new Database(path).exec("drop table events");
    await expect(store.read("c", 0)).rejects.toMatchObject(damaged(path));
    await store.close();
  });

  test("or whose pages were overwritten", async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.create("c", itemsOf(5000), logOf(numbered(2000)));
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 8192, bytes.length - 4096);
    writeFileSync(path, bytes);
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
    const use = async () => {
      const opened = await openStore(path);
      try {
        await opened.read("c", 0);
        await opened.items("c");
      } finally {
        await opened.close();
      }
    };
    await expect(use()).rejects.toMatchObject(damaged(path));
  });

  test("nor a folder", async () => {
    const path = newPath();
    mkdirSync(path);
    await expect(openStore(path)).rejects.toMatchObject({
      code: "store-read-only",
      message: storeTexts.readOnly(path),
    });
  });

  test("nor in a folder that cannot be made", async () => {
    const file = newPath();
    writeFileSync(file, "");
    const path = join(file, "below", "x.db");
    await expect(openStore(path)).rejects.toMatchObject({
      code: "store-folder",
      message: sqliteStoreTexts.folder(path, join(file, "below"), "ENOTDIR"),
    });
  });
});

const disk = join(folder, "disk");
const mounts = canMount(disk);

describe(`a small disk${mounts ? "" : " (skipped: no disk of a few kilobytes can be mounted here)"}`, () => {
  test.runIf(mounts)("that is full: what was acknowledged stays, and it goes on once there is room", () =>
    withDisk(disk, "512k", async ({ remount }) => {
      const path = join(disk, "x.db");
      const store = await openStore(path);
      await store.create("c", itemsOf(3), logOf(["first"]));
      let acknowledged = 1;
      const fill = async () => {
        for (; acknowledged < 2000; acknowledged++) await append(store, `e${acknowledged}`);
      };
      const failure = await fill().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreUnavailable);
      expect(failure).toMatchObject({ code: "store-full", message: storeTexts.full(path) });
      expect((await store.read("c", 0)).length).toBe(acknowledged);
      remount("size=8m");
      await append(store, `e${acknowledged}`);
      await store.close();
      const again = await openStore(path);
      const log = await again.read("c", 0);
      expect(checkEvents(log)).toBeUndefined();
      expect(log.map(({ id }) => id)).toEqual(["first", ...numbered(acknowledged + 1).slice(1)]);
      await again.close();
    }),
  );

  test.runIf(mounts)("that is full from the beginning", () =>
    withDisk(disk, "64k", async () => {
      writeFileSync(join(disk, "filler"), Buffer.alloc(60 * 1024));
      const path = join(disk, "x.db");
      await expect(openStore(path)).rejects.toMatchObject({
        code: "store-full",
        message: storeTexts.full(path),
      });
    }),
  );

  test.runIf(mounts)("that is read-only", () =>
    withDisk(disk, "4m", async ({ remount }) => {
      const path = join(disk, "x.db");
      // By a process that is gone: a file that is open for writing keeps the disk from being made read-only.
      const child = await beside(`
        const { openStore } = await import(${JSON.stringify(`${ROOT}dist/stores/open-store.js`)});
        const store = await openStore(${JSON.stringify(path)});
        await store.close();
        console.log("done");`);
      await ended(child);
      remount("ro");
      for (const file of [path, join(disk, "other.db")]) {
        await expect(openStore(file)).rejects.toMatchObject({
          code: "store-read-only",
          message: storeTexts.readOnly(file),
        });
      }
      const below = join(disk, "below", "x.db");
      await expect(openStore(below)).rejects.toMatchObject({ code: "store-folder" });
    }),
  );
});

describe("another process", () => {
  test("that holds the lock for too long is named, and reading goes on", async () => {
    const path = newPath();
    const store = await openStore(path, { lockSeconds: 0.5 });
    await store.create("c", [], logOf(["one"]));
    const holder = await lockHolder(path);
    let ticks = 0;
    const clock = setInterval(() => ticks++, 10);
    const writing = append(store, "two").catch((error: unknown) => error);
    expect((await store.read("c", 0)).length).toBe(1);
    const failure = await writing;
    clearInterval(clock);
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(failure).toMatchObject({ code: "store-busy", message: storeTexts.busy(path, 0.5) });
    // The thread was free meanwhile.
    expect(ticks).toBeGreaterThan(5);
    holder.stdin?.end();
    await ended(holder);
    await append(store, "two");
    expect((await store.read("c", 0)).map(({ id }) => id)).toEqual(["one", "two"]);
    await store.close();
  });

  test("that gives the lock back in time is waited for, and calls do not get between each other", async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.create("c", [], logOf(["one"]));
    const holder = await lockHolder(path);
    const all = Promise.all([
      append(store, "a"),
      append(store, "b"),
      store.putDocument("k", "k", "1"),
      append(store, "c"),
    ]);
    setTimeout(() => holder.stdin?.end(), 300);
    await all;
    expect((await store.read("c", 1)).map(({ id }) => id).sort()).toEqual(["a", "b", "c"]);
    // Nothing that met the lock is left open, which would keep the log of changes from being emptied.
    await store.transact("c", 0, () => ({ append: [], erase: { subject: "a" } }));
    expect(statSync(`${path}-wal`).size).toBe(0);
    await store.close();
  });

  test("may write at the same time", async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.create("c", [], logOf(["one"]));
    const writer = (tag: string) =>
      beside(`
        const { openStore } = await import(${JSON.stringify(`${ROOT}dist/stores/open-store.js`)});
        const { sealEvent } = await import(${JSON.stringify(`${ROOT}dist/campaign/chain.js`)});
        const store = await openStore(${JSON.stringify(path)});
        console.log("ready");
        for (let i = 0; i < 40; i++) await store.transact("c", 0, ({ head }) => ({
          append: [sealEvent(head, { kind: "skipped", id: "${tag}" + i, body: { annotator: "a" } }, Date.now())],
        }));
        await store.close();`);
    const children = await Promise.all(["x", "y"].map(writer));
    await Promise.all([...children.map(ended), ...numbered(40).map((id) => append(store, id))]);
    const log = await store.read("c", 0);
    expect(checkEvents(log)).toBeUndefined();
    expect(new Set(log.map(({ id }) => id)).size).toBe(121);
    await store.close();
  });

  test("that is killed loses nothing that was acknowledged", async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.create("c", [], logOf(["one"]));
    const child = await beside(`
      const { openStore } = await import(${JSON.stringify(`${ROOT}dist/stores/open-store.js`)});
      const { sealEvent } = await import(${JSON.stringify(`${ROOT}dist/campaign/chain.js`)});
      import { writeSync } from "node:fs";
      const store = await openStore(${JSON.stringify(path)});
      for (let i = 0; ; i++) {
        await store.transact("c", 0, ({ head }) => ({
          append: [sealEvent(head, { kind: "skipped", id: "e" + i, body: { annotator: "a" } }, Date.now())],
        }));
        writeSync(1, "e" + i + "\\n");
      }`);
    let said = "e0\n";
    child.stdout?.on("data", (part) => {
      said += part;
      if (said.length > 200) child.kill("SIGKILL");
    });
    await ended(child);
    const log = await store.read("c", 1);
    expect(checkEvents(await store.read("c", 0))).toBeUndefined();
    // The first line may have had more than the first of them in it.
    const acknowledged = Math.max(
      ...said
        .split("\n")
        .slice(0, -1)
        .map((id) => Number(id.slice(1))),
    );
    expect(log.length).toBeGreaterThan(acknowledged);
    await append(store, "after");
    await store.close();
  });
});

describe("what is erased", () => {
  const MARK = "Quetzalcoatlus-northropi";
  const bytesOf = (path: string): string =>
    ["", "-wal", "-shm"]
      .filter((end) => existsSync(path + end))
      .map((end) => readFileSync(path + end, "latin1"))
      .join("\n");
  const mark = (subject: number) => `${MARK}-${subject}-`;

  test("is nowhere in the file, nor beside it, whatever was written around it", async () => {
    const path = newPath();
    const store = await openStore(path);
    const subjects = 60;
    const items = Array.from({ length: subjects }, (_, index) =>
      // Some of them are longer than a page of the file.
      sealItem(index, `${mark(index)}id`, JSON.stringify(mark(index).repeat(1 + ((index * 37) % 300)))),
    );
    await store.create("c", items, logOf(["first"]));
    // Ids in no order, so that entries move from page to page in the indexes; no two subjects one after the other.
    for (let round = 0; round < 20; round++) {
      await store.transact("c", 0, ({ head }) => {
        const events: LogEvent[] = [];
        for (let index = 0; index < subjects; index++) {
          const id = `${(index * 7919 + round * 104729) % 1009}-${mark(index)}${round}`;
          const before = events.at(-1);
          const text = mark(index).repeat(1 + ((index * round) % 17));
          events.push(skipped(before === undefined ? head : headOf(before), id, mark(index), text));
        }
        return { append: events };
      });
    }
    for (let index = 0; index < subjects; index++) expect(bytesOf(path)).toContain(mark(index));
    for (let index = 0; index < subjects; index += 3) {
      await store.transact("c", 0, () => ({ append: [], erase: { subject: mark(index), item: index } }));
      expect(bytesOf(path).includes(mark(index))).toBe(false);
    }
    const bytes = bytesOf(path);
    for (let index = 0; index < subjects; index++) expect(bytes.includes(mark(index))).toBe(index % 3 !== 0);
    expect(checkEvents(await store.read("c", 0))).toBeUndefined();
    await store.delete("c");
    expect(bytesOf(path)).not.toContain(MARK);
    await store.close();
  });

  test("is gone once nobody reads an older state any more", async () => {
    const path = newPath();
    const store = await openStore(path);
    await store.create("c", [], [skipped(EMPTY_LOG, "id", "s", MARK)]);
    const reader = new Database(path);
    reader.exec("begin");
    reader.prepare("select * from events").all();
    await store.transact("c", 0, () => ({ append: [], erase: { subject: "s" } }));
    reader.exec("rollback");
    reader.close();
    await store.close();
    expect(bytesOf(path)).not.toContain(MARK);
  });
});

test("no contents are in what goes wrong", async () => {
  const path = newPath();
  const store = await openStore(path);
  await store.create("c", [], [skipped(EMPTY_LOG, "secret-id")]);
  const failure = await store
    .transact("c", 0, ({ head }) => ({
      append: [skipped(head, "secret-id", "secret-subject", "secret-name")],
    }))
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(inspect(failure)).not.toContain("secret");
  await store.close();
});
