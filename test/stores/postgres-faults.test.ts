/** What a store in PostgreSQL says and keeps when the server or the connection is in the way. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import pg from "pg";
import { expect, test } from "vitest";
import { checkEvents } from "../../src/campaign/chain.js";
import { EMPTY_LOG, type LogEvent } from "../../src/campaign/events.js";
import { type CampaignStore, StoreUnavailable, storeTexts } from "../../src/campaign/store.js";
import { postgresTexts } from "../../src/sources/postgres-relation.js";
import { withoutPassword } from "../../src/sources/without-password.js";
import { openStore } from "../../src/stores/open-store.js";
import { postgresStoreTexts, SCHEMA } from "../../src/stores/postgres-dialect.js";
import { sqlStoreTexts } from "../../src/stores/sql-dialect.js";
import { describeWithPostgres, emptyDatabase } from "../setup/postgres.js";
import { itemsOf, logOf, numbered, skipped } from "./sample-log.js";

/** Once, however often it is decided: as a campaign does it. */
const appendOnce = (store: CampaignStore, id: string): Promise<void> =>
  store.transact("c", 0, ({ head, news }) => ({
    append: news.some((event) => event.id === id) ? [] : [skipped(head, id)],
  }));

const idsOf = (log: readonly LogEvent[]) => log.map(({ id }) => id);

/** Passes everything on, but cuts the connection once it has passed on a step that was named and the server has done it. */
const cuttingProxy = async (port: number) => {
  let cuts = 0;
  let done = 0;
  let step = "commit";
  const server: Server = createServer((client: Socket) => {
    const upstream = connect(port, "127.0.0.1");
    let cutting = false;
    client.on("data", (part) => {
      if (cuts > 0 && part.includes(step)) {
        cuts--;
        cutting = true;
      }
      upstream.write(part);
    });
    upstream.on("data", (part) => {
      if (!cutting) {
        client.write(part);
        return;
      }
      done += Number(part.includes("COMMIT"));
      client.destroy();
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on("error", () => {});
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutNext: (count: number, named = "commit\0") => {
      cuts = count;
      step = named;
      done = 0;
    },
    /** Commits that the server did and nobody heard of. */
    unheard: () => done,
    cutsLeft: () => cuts,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

describeWithPostgres("PostgreSQL", (server) => {
  const statement = async (address: string, ...texts: string[]) => {
    const client = new pg.Client(address);
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const text of texts) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  };
  /** A trigger that fails with this code as often as it is told to. */
  const failWith = (address: string, code: string, times: number) =>
    statement(
      address,
      "create sequence failures",
      `create function fail() returns trigger language plpgsql as $$ begin
         if nextval('failures') <= ${times} then raise 'secret cell' using errcode = '${code}'; end if;
         return new; end $$`,
      `create trigger fails before insert on ${SCHEMA}.events execute function fail()`,
    );

  test("a server that goes away and comes back in the middle loses nothing and does nothing twice", async () => {
    const address = await emptyDatabase(server());
    const stores = [
      await openStore(address, { retrySeconds: 40 }),
      await openStore(address, { retrySeconds: 40 }),
    ];
    await stores[0].create("c", [], logOf(["first"]));
    let acknowledged = 0;
    const ids = numbered(400);
    const all = Promise.all(
      ids.map(async (id, index) => {
        await appendOnce(stores[index % 2], id);
        acknowledged++;
      }),
    );
    while (acknowledged < 10) await setTimeout(5);
    await server().halt();
    expect(acknowledged).toBeLessThan(ids.length);
    await setTimeout(300);
    await server().resume();
    await all;
    const log = await stores[1].read("c", 0);
    expect(checkEvents(log)).toBeUndefined();
    expect(idsOf(log).slice(1).sort()).toEqual(ids.sort());
    for (const store of stores) await store.close();
  });

  test("a server that stays away is named without its password, and what was stored is there afterwards", async () => {
    const address = await emptyDatabase(server());
    const shown = withoutPassword(address);
    const store = await openStore(address, { retrySeconds: 0.3 });
    await store.create("c", [], logOf(["first"]));
    await server().halt();
    try {
      for (const action of [
        () => appendOnce(store, "a"),
        () => store.read("c", 0),
        () => openStore(address, { retrySeconds: 0.1 }),
      ]) {
        const failure = await action().then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(failure).toBeInstanceOf(StoreUnavailable);
        expect(failure).toMatchObject({
          code: "store-away",
          message: storeTexts.away(shown, "ECONNREFUSED"),
        });
        expect(inspect(failure)).not.toContain(server().password);
      }
    } finally {
      await server().resume();
    }
    await appendOnce(store, "a");
    expect(idsOf(await store.read("c", 0))).toEqual(["first", "a"]);
    await store.close();
  });

  test("a connection that breaks while a commit is acknowledged: nothing is done twice, nothing is called failed", async () => {
    const address = await emptyDatabase(server());
    const proxy = await cuttingProxy(server().port);
    const store = await openStore(address.replace(`:${server().port}/`, `:${proxy.port}/`));
    try {
      proxy.cutNext(1);
      await store.create("c", itemsOf(3), logOf(["first"]));
      expect(proxy.unheard()).toBe(1);
      expect((await store.items("c")).length).toBe(3);
      // Only one's own: a name that is taken still is.
      proxy.cutNext(1, "begin isolation");
      await expect(store.create("c", [], logOf(["other"]))).rejects.toThrow(storeTexts.taken("c"));
      expect(proxy.cutsLeft()).toBe(0);
      proxy.cutNext(1);
      let calls = 0;
      await store.transact("c", 0, ({ head, news }) => {
        calls++;
        return { append: idsOf(news).includes("x") ? [] : [skipped(head, "x")] };
      });
      expect([proxy.unheard(), calls]).toEqual([1, 2]);
      expect(idsOf(await store.read("c", 0))).toEqual(["first", "x"]);
      proxy.cutNext(1);
      await store.putDocument("k", "c", "1");
      expect(proxy.unheard()).toBe(1);
      proxy.cutNext(1);
      await store.delete("c");
      expect(proxy.unheard()).toBe(1);
      expect(await store.list()).toEqual([]);
      await expect(store.delete("c")).rejects.toThrow(storeTexts.unknown("c"));
    } finally {
      await store.close();
      await proxy.close();
    }
  });

  test("connections that the server ends are replaced", async () => {
    const address = await emptyDatabase(server());
    const store = await openStore(address);
    await store.create("c", [], logOf(["first"]));
    for (const id of ["a", "b", "c"]) {
      const end = statement(
        address,
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      await Promise.all([end, appendOnce(store, id)]);
    }
    expect(idsOf(await store.read("c", 0))).toEqual(["first", "a", "b", "c"]);
    await store.close();
  });

  test("a lock that is held for too long is named; others are not waited for", async () => {
    const address = await emptyDatabase(server());
    const store = await openStore(address, { lockSeconds: 0.3 });
    for (const name of ["c", "d"]) await store.create(name, [], logOf(["first"]));
    const holder = new pg.Client(address);
    await holder.connect();
    await holder.query("begin");
    await holder.query(`select * from ${SCHEMA}.campaigns where name = 'c' for update`);
    await store.transact("d", 0, ({ head }) => ({ append: [skipped(head, "a")] }));
    const failure = await appendOnce(store, "a").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(failure).toMatchObject({
      code: "store-busy",
      message: storeTexts.busy(withoutPassword(address), 0.3),
    });
    expect(idsOf(await store.read("c", 0))).toEqual(["first"]);
    await holder.end();
    await appendOnce(store, "a");
    await store.close();
  });

  test("what the server asks to do again is done again", async () => {
    for (const code of ["40001", "40P01"]) {
      const address = await emptyDatabase(server());
      const store = await openStore(address);
      await store.create("c", [], logOf(["first"]));
      await failWith(address, code, 3);
      let calls = 0;
      await store.transact("c", 0, ({ head }) => {
        calls++;
        return { append: [skipped(head, "a")] };
      });
      expect(calls).toBe(4);
      expect(idsOf(await store.read("c", 0))).toEqual(["first", "a"]);
      await store.close();
    }
  });

  test.each([
    ["53100", "store-full", (shown: string) => storeTexts.full(shown)],
    ["XX001", "store-damaged", (shown: string) => storeTexts.damaged(shown)],
    ["22000", "store", (shown: string) => sqlStoreTexts.refused(shown, "22000")],
  ])("the server's error %s is put into words without contents", async (code, name, message) => {
    const address = await emptyDatabase(server());
    const store = await openStore(address);
    await store.create("c", [], logOf(["first"]));
    await failWith(address, code, 1);
    const failure = await appendOnce(store, "a").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: name, message: message(withoutPassword(address)) });
    expect(inspect(failure)).not.toContain("secret");
    await appendOnce(store, "a");
    expect(idsOf(await store.read("c", 0))).toEqual(["first", "a"]);
    await store.close();
  });

  test("an id that is there already is not repeated in the error", async () => {
    const store = await openStore(await emptyDatabase(server()));
    await store.create("c", [], [skipped(EMPTY_LOG, "secret-id")]);
    const failure = await store
      .transact("c", 0, ({ head }) => ({ append: [skipped(head, "secret-id")] }))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(inspect(failure)).not.toContain("secret-id");
    await store.close();
  });

  test("a wrong password, a missing database, a user without rights, an address that is none", async () => {
    const address = await emptyDatabase(server());
    const wrong = address.replace(server().password, "wr0ng-pass");
    const missing = address.replace(/[^/]*$/, "nowhere");
    await statement(address, "create role poor login password 'p00r-pass'");
    const poor = address.replace(`${server().user}:${server().password}`, "poor:p00r-pass");
    const broken = "postgres://user:br0ken-pass@[host/x";
    for (const [given, code, message] of [
      [wrong, "store-login", postgresTexts.login(withoutPassword(wrong))],
      [missing, "store-address", postgresStoreTexts.noDatabase(withoutPassword(missing))],
      [poor, "store", sqlStoreTexts.refused(withoutPassword(poor), "42501")],
      [broken, "store-address", postgresTexts.address(withoutPassword(broken))],
    ]) {
      const failure = await openStore(given).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code, message });
      expect(inspect(failure)).not.toMatch(/wr0ng|p00r|br0ken|s3cret/);
    }
  });

  test("all is in a schema of its own, bodies are text, and what is erased is swept", async () => {
    const address = await emptyDatabase(server());
    const store = await openStore(address);
    await store.create("c", itemsOf(2), [skipped(EMPTY_LOG, "a", "1")]);
    await store.transact("c", 0, () => ({ append: [], erase: { subject: "1", item: 1 } }));
    const tables = await statement(
      address,
      `select table_schema, column_name, data_type from information_schema.columns
       where table_schema not in ('pg_catalog', 'information_schema') and column_name in ('body', 'cells')`,
    );
    expect(tables).toHaveLength(3);
    for (const table of tables) expect(table).toMatchObject({ table_schema: SCHEMA, data_type: "text" });
    await expect
      .poll(
        () =>
          statement(
            address,
            "select relname, vacuum_count::int as times from pg_stat_user_tables where vacuum_count > 0 order by 1",
          ),
        { timeout: 20_000 },
      )
      .toEqual([
        { relname: "events", times: 1 },
        { relname: "items", times: 1 },
      ]);
    await store.close();
  });

  test("a database that does not wait for its disk is made to", async () => {
    const address = await emptyDatabase(server());
    const name = address.replace(/.*\//, "");
    await statement(address, `alter database ${name} set synchronous_commit = off`);
    const store = await openStore(address);
    await store.create("c", [], logOf(["first"]));
    await statement(
      address,
      "create table seen (setting text)",
      `create function note() returns trigger language plpgsql as $$ begin
         insert into public.seen values (current_setting('synchronous_commit')); return new; end $$`,
      `create trigger notes before insert on ${SCHEMA}.events execute function note()`,
    );
    await appendOnce(store, "a");
    expect(await statement(address, "select setting from seen")).toEqual([{ setting: "on" }]);
    await store.close();
  });
});
