/** Stores of earlier versions are brought to the newest one with all that is in them; those of later ones are refused. */
import "fake-indexeddb/auto";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { checkEvents } from "../../src/campaign/chain.js";
import { headOf, type LogEvent, type StoredItem } from "../../src/campaign/events.js";
import { indexedDbStore } from "../../src/campaign/indexeddb-store.js";
import { storeTexts } from "../../src/campaign/store.js";
import { MIGRATIONS } from "../../src/stores/migrations.js";
import { openStore } from "../../src/stores/open-store.js";
import { SCHEMA } from "../../src/stores/postgres-dialect.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { describeWithPostgres, emptyDatabase } from "../setup/postgres.js";
import { skipped } from "./sample-log.js";

needsDist();

interface Version {
  readonly log: readonly LogEvent[];
  readonly items: readonly StoredItem[];
  statements(in_: string): readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "fairbed-migrations-"));
afterAll(() => rmSync(folder, { recursive: true }));

const numbers = readdirSync(new URL("./versions", import.meta.url))
  .map((file) => Number.parseInt(file, 10))
  .sort((a, b) => a - b);
const loadVersion = (number: number): Promise<Version> => import(`./versions/${number}.ts`);

/** A kind of database: new ones, statements, and what its tables look like. */
interface Databases {
  create(): Promise<string>;
  run(address: string, statements: readonly string[]): Promise<void>;
  columns(address: string): Promise<unknown>;
  readonly prefix: string;
}

const migrations = (databases: Databases) => {
  test("there is a store of every version", () => {
    expect(numbers).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  test.each(numbers)("version %i", async (number) => {
    const { log, items, statements } = await loadVersion(number);
    const address = await databases.create();
    await databases.run(address, statements(databases.prefix));
    const store = await openStore(address);
    const [last] = log.slice(-1);
    try {
      expect(await store.list()).toEqual([{ name: "old", head: headOf(last) }]);
      expect(await store.read("old", 0)).toEqual(log);
      expect(checkEvents(await store.read("old", 0))).toBeUndefined();
      expect(await store.items("old")).toEqual(items);
      expect(await store.getDocument("ranking", "old")).toBe('{"order":[1,0]}');
      await store.transact("old", 0, ({ head }) => ({ append: [skipped(head, "new", "0")] }));
      await store.create("another", items, log);
      expect((await store.read("old", 3)).map(({ id }) => id)).toEqual(["new"]);
      await store.delete("old");
      expect((await store.list()).map(({ name }) => name)).toEqual(["another"]);
    } finally {
      await store.close();
    }
    const fresh = await databases.create();
    await (await openStore(fresh)).close();
    expect(await databases.columns(address)).toEqual(await databases.columns(fresh));
  });

  test("a newer version is refused and left as it is", async () => {
    const address = await databases.create();
    await (await openStore(address)).close();
    const before = await databases.columns(address);
    const newer = MIGRATIONS.length + 1;
    await databases.run(address, [`update ${databases.prefix}store_version set version = ${newer}`]);
    const shown = address.replace(/^sqlite:/, "").replace(/:[^:@]*@/, ":…@");
    await expect(openStore(address)).rejects.toMatchObject({
      code: "store-newer",
      message: storeTexts.newer(shown, newer, MIGRATIONS.length),
    });
    expect(await databases.columns(address)).toEqual(before);
  });

  test("many processes that open a new store at once", async () => {
    const address = await databases.create();
    const script = `
      const { openStore } = await import(${JSON.stringify(`${ROOT}dist/stores/open-store.js`)});
      const store = await openStore(${JSON.stringify(address)});
      await store.putDocument("process", String(process.pid), "{}");
      await store.close();`;
    const results = await Promise.all(
      Array.from(
        { length: 4 },
        () =>
          new Promise<string>((resolve) => {
            const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
            let said = "";
            child.stderr.on("data", (part) => {
              said += part;
            });
            child.once("close", (code) => resolve(`${code}${said}`));
          }),
      ),
    );
    expect(results).toEqual(["0", "0", "0", "0"]);
    const store = await openStore(address);
    expect(await store.listDocuments("process")).toHaveLength(4);
    await store.close();
  });
};

describe("SQLite", () => {
  const pathOf = (address: string) => address.replace(/^sqlite:/, "");
  migrations({
    prefix: "",
    create: async () => `sqlite:${join(folder, `${randomUUID()}.db`)}`,
    async run(address, statements) {
      const database = new Database(pathOf(address));
      for (const statement of statements) database.exec(statement);
      database.close();
    },
    async columns(address) {
      const database = new Database(pathOf(address));
      const rows = database
        .prepare(
          `select t.name as "table", c.name, c.type, c."notnull", c.pk from sqlite_master t, pragma_table_info(t.name) c
           where t.type = 'table'
           union all select i.tbl_name, i.name, c.name, 0, 0 from sqlite_master i, pragma_index_info(i.name) c
           where i.type = 'index' order by 1, 2, 3`,
        )
        .all();
      database.close();
      return rows;
    },
  });
});

describeWithPostgres("PostgreSQL", (server) => {
  const asked = async (address: string, statements: readonly string[]) => {
    const client = new pg.Client(address);
    await client.connect();
    try {
      let rows: unknown[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  };
  migrations({
    prefix: `${SCHEMA}.`,
    create: () => emptyDatabase(server()),
    run: async (address, statements) => {
      await asked(address, statements);
    },
    columns: (address) =>
      asked(address, [
        `select table_name, column_name, data_type, is_nullable from information_schema.columns
         where table_schema = '${SCHEMA}'
         union all select tablename, indexname, indexdef, '' from pg_indexes where schemaname = '${SCHEMA}'
         order by 1, 2`,
      ]),
  });
});

describe("IndexedDB", () => {
  test("a newer version is refused", async () => {
    const name = randomUUID();
    await new Promise<void>((resolve) => {
      const request = indexedDB.open(name, 7);
      request.onsuccess = () => {
        request.result.close();
        resolve();
      };
    });
    await expect(indexedDbStore(name).list()).rejects.toMatchObject({
      code: "store-newer",
      message: storeTexts.newer(name, 7, 1),
    });
  });
});
