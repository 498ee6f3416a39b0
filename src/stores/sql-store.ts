/** Campaigns in a database: one implementation for all of them; what differs is in their dialects. */
import { Kysely, sql } from "kysely";
import { EMPTY_LOG, headOf, type LogEvent, type LogHead } from "../campaign/events.js";
import {
  type CampaignStore,
  type LockedLog,
  type LogChange,
  requireName,
  takenName,
  unknownCampaign,
} from "../campaign/store.js";
import { requireDocument, requireFollowing, requireItems } from "../campaign/stored-log.js";
import { MIGRATIONS, migrate, storeVersion } from "./migrations.js";
import { CallersError, retry } from "./retry.js";
import type { SqlDialect, StoreDatabase } from "./sql-dialect.js";
import type { EventRow, ItemRow, StoreTables } from "./sql-tables.js";

/** Of one statement: what SQLite takes, and less than PostgreSQL does. */
const PARAMETERS = 32_766;

const EVENT_COLUMNS = ["seq", "at", "kind", "id", "subject", "body", "salt", "digest", "hash"] as const;
const ITEM_COLUMNS = ["item", "id", "cells", "salt", "digest"] as const;

/** The store with its tables, which are made or brought to the newest version first. */
export const sqlStore = async (dialect: SqlDialect): Promise<CampaignStore> => {
  const { description, schema } = dialect;
  const all = new Kysely<StoreTables>({ dialect: dialect.connections });
  const scoped = (db: StoreDatabase): StoreDatabase => (schema === undefined ? db : db.withSchema(schema));
  const tables = scoped(all);

  const ask = <Result>(query: (db: StoreDatabase, attempt: number) => Promise<Result>): Promise<Result> =>
    retry(dialect.explain, (attempt) => query(tables, attempt));

  /** All of it or nothing, on a connection of its own. */
  const transaction = <Result>(
    work: (db: StoreDatabase, attempt: number) => Promise<Result>,
  ): Promise<Result> =>
    retry(dialect.explain, (attempt) =>
      all.connection().execute(async (connection) => {
        await dialect.begin.execute(connection);
        try {
          const result = await work(scoped(connection), attempt);
          await sql`commit`.execute(connection);
          return result;
        } catch (error) {
          // It may have been ended already by what went wrong.
          await sql`rollback`.execute(connection).catch(() => {});
          throw error;
        }
      }),
    );

  /** Whether bytes of what was erased may still be there. */
  let unswept = false;
  const sweep = async () => {
    unswept = !(await dialect.sweep(tables));
  };

  const close = () => all.destroy();
  try {
    const version = await ask((db) => storeVersion(db, dialect));
    if (version < MIGRATIONS.length) await transaction((db) => migrate(db, dialect));
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }

  return {
    description,
    list: () =>
      ask(async (db) =>
        // By name; databases have orders of their own.
        (await db.selectFrom("campaigns").selectAll().execute())
          .map(({ name, seq, at, hash }) => ({ name, head: { seq, at, hash } }))
          .sort((a, b) => byText(a.name, b.name)),
      ),

    async create(name, items, log) {
      requireName(name);
      requireItems(items);
      requireFollowing(EMPTY_LOG, log);
      const last = log.at(-1);
      const head = last === undefined ? EMPTY_LOG : headOf(last);
      await transaction(async (db, attempt) => {
        const { numInsertedOrUpdatedRows } = await db
          .insertInto("campaigns")
          .values({ name, ...head })
          .onConflict((conflict) => conflict.column("name").doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows === 0n) {
          // A connection that broke while it was being acknowledged: it may be this very campaign.
          if (attempt > 0 && (await hasEvent(db, name, head))) return;
          throw takenName(name);
        }
        await insertItems(
          db,
          items.map((item) => ({ campaign: name, ...pickItem(item) })),
        );
        await insertEvents(db, name, log);
      });
    },

    async delete(name) {
      requireKnownName(name);
      await transaction(async (db, attempt) => {
        const { numDeletedRows } = await db
          .deleteFrom("campaigns")
          .where("name", "=", name)
          .executeTakeFirstOrThrow();
        // An earlier attempt may have been the one.
        if (numDeletedRows === 0n && attempt === 0) throw unknownCampaign(name);
        await db.deleteFrom("documents").where("key", "=", name).execute();
      });
      await sweep();
    },

    items: (name) =>
      ask(async (db) => {
        requireKnownName(name);
        const items = await db
          .selectFrom("items")
          .select(ITEM_COLUMNS)
          .where("campaign", "=", name)
          .orderBy("item")
          .execute();
        if (items.length === 0) await findHead(db, name);
        return items;
      }),

    read: (name, after, limit) =>
      ask(async (db) => {
        requireKnownName(name);
        const events = await selectEvents(db, name, after, limit);
        if (events.length === 0) await findHead(db, name);
        return events;
      }),

    async transact(name, after, decide) {
      requireKnownName(name);
      const erases = await transaction(async (db) => {
        const head = await findHead(db, name, dialect.locksRows);
        const news = await selectEvents(db, name, after);
        const { append, erase } = decided(decide, { head, news });
        if (erase !== undefined) await eraseSubject(db, name, erase);
        const last = append.at(-1);
        if (last !== undefined) {
          await insertEvents(db, name, append);
          await db.updateTable("campaigns").set(headOf(last)).where("name", "=", name).execute();
        }
        return erase !== undefined;
      });
      if (erases || unswept) await sweep();
    },

    getDocument: (kind, key) =>
      ask(async (db) => {
        requireDocument(kind, key);
        const found = await db
          .selectFrom("documents")
          .select("body")
          .where("kind", "=", kind)
          .where("key", "=", key)
          .executeTakeFirst();
        return found?.body;
      }),

    listDocuments: (kind, prefix = "") =>
      ask(async (db) => {
        requireDocument(kind, prefix);
        const found = await db
          .selectFrom("documents")
          .select(["kind", "key", "body"])
          .where("kind", "=", kind)
          .where(sql<boolean>`substr(key, 1, length(${prefix})) = ${prefix}`)
          .execute();
        return found.sort((a, b) => byText(a.key, b.key));
      }),

    async putDocument(kind, key, body) {
      requireDocument(kind, key, body);
      await transaction((db) =>
        db
          .insertInto("documents")
          .values({ kind, key, body })
          .onConflict((conflict) => conflict.columns(["kind", "key"]).doUpdateSet({ body }))
          .execute(),
      );
    },

    async deleteDocument(kind, key) {
      requireDocument(kind, key);
      await transaction((db) =>
        db.deleteFrom("documents").where("kind", "=", kind).where("key", "=", key).execute(),
      );
    },

    close,
  };
};

/** By code units, as everywhere else. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What is no name is no campaign's. */
const requireKnownName = (name: string): void => {
  try {
    requireName(name);
  } catch {
    throw unknownCampaign(name);
  }
};

const decided = (decide: (log: LockedLog) => LogChange, log: LockedLog): LogChange => {
  try {
    const change = decide(log);
    requireFollowing(log.head, change.append);
    return change;
  } catch (error) {
    throw new CallersError(error);
  }
};

const findHead = async (db: StoreDatabase, name: string, locks = false): Promise<LogHead> => {
  const query = db.selectFrom("campaigns").select(["seq", "at", "hash"]).where("name", "=", name);
  const head = await (locks ? query.forUpdate() : query).executeTakeFirst();
  if (head === undefined) throw unknownCampaign(name);
  return head;
};

const hasEvent = async (db: StoreDatabase, name: string, { seq, hash }: LogHead): Promise<boolean> =>
  (await selectEvents(db, name, seq - 1, 1)).some((event) => event.hash === hash);

const selectEvents = (
  db: StoreDatabase,
  name: string,
  after: number,
  limit = Number.POSITIVE_INFINITY,
): Promise<LogEvent[]> => {
  const query = db
    .selectFrom("events")
    .select(EVENT_COLUMNS)
    .where("campaign", "=", name)
    .where("seq", ">", after)
    .orderBy("seq");
  return (Number.isFinite(limit) ? query.limit(limit) : query).execute();
};

const pickItem = ({ item, id, cells, salt, digest }: Omit<ItemRow, "campaign">) => ({
  ...{ item, id, cells, salt, digest },
});

const insertItems = async (db: StoreDatabase, rows: readonly ItemRow[]): Promise<void> => {
  for (const part of parts(rows, ITEM_COLUMNS.length + 1))
    await db.insertInto("items").values(part).execute();
};

const insertEvents = async (db: StoreDatabase, name: string, events: readonly LogEvent[]): Promise<void> => {
  const rows = events.map(
    ({ seq, at, kind, id, subject, body, salt, digest, hash }): EventRow => ({
      ...{ campaign: name, seq, at, kind, id, subject, body, salt, digest, hash },
    }),
  );
  for (const part of parts(rows, EVENT_COLUMNS.length + 1))
    await db.insertInto("events").values(part).execute();
};

function* parts<Row>(rows: readonly Row[], columns: number): Generator<readonly Row[]> {
  const size = Math.floor(PARAMETERS / columns);
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}

const eraseSubject = async (
  db: StoreDatabase,
  name: string,
  { subject, item }: NonNullable<LogChange["erase"]>,
): Promise<void> => {
  await db
    .updateTable("events")
    .set({ id: null, subject: null, body: null, salt: null })
    .where("campaign", "=", name)
    .where("subject", "=", subject)
    .execute();
  if (item === undefined) return;
  await db
    .updateTable("items")
    .set({ id: null, cells: null, salt: null })
    .where("campaign", "=", name)
    .where("item", "=", item)
    .execute();
};
