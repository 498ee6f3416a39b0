/**
 * The tables of a store, version by version.
 *
 * A version that was released is never changed: the next one goes at the end, with a store of the version before it in
 * test/stores/versions/.
 */

import { storeTexts } from "../campaign/store.js";
import { EnvironmentError } from "../core/errors.js";
import type { SqlDialect, StoreDatabase } from "./sql-dialect.js";

type Migration = (db: StoreDatabase) => Promise<void>;

const first: Migration = async ({ schema }) => {
  await schema
    .createTable("campaigns")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("seq", "integer", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("events")
    .addColumn("campaign", "text", (column) =>
      column.notNull().references("campaigns.name").onDelete("cascade"),
    )
    .addColumn("seq", "integer", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("id", "text")
    .addColumn("subject", "text")
    .addColumn("body", "text")
    .addColumn("salt", "text")
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("events_in_order", ["campaign", "seq"])
    .execute();
  // Erased ids are null, of which there may be many.
  await schema.createIndex("events_by_id").on("events").columns(["campaign", "id"]).unique().execute();
  await schema.createIndex("events_by_subject").on("events").columns(["campaign", "subject"]).execute();
  await schema
    .createTable("items")
    .addColumn("campaign", "text", (column) =>
      column.notNull().references("campaigns.name").onDelete("cascade"),
    )
    .addColumn("item", "integer", (column) => column.notNull())
    .addColumn("id", "text")
    .addColumn("cells", "text")
    .addColumn("salt", "text")
    .addColumn("digest", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("items_in_order", ["campaign", "item"])
    .execute();
  await schema
    .createTable("documents")
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("body", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("documents_by_key", ["kind", "key"])
    .execute();
};

/** From nothing to version 1, from 1 to 2 and so on. */
export const MIGRATIONS: readonly Migration[] = [first];

/** Brings the tables to the newest version, within a transaction. */
export const migrate = async (db: StoreDatabase, dialect: SqlDialect): Promise<void> => {
  await dialect.prepareTables(db);
  // Somebody else may have done it since this was asked for.
  const version = await storeVersion(db, dialect);
  if (version === 0) {
    await db.schema
      .createTable("store_version")
      .addColumn("version", "integer", (column) => column.notNull())
      .execute();
    await db.insertInto("store_version").values({ version: 0 }).execute();
  }
  for (const migration of MIGRATIONS.slice(version)) await migration(db);
  await db.updateTable("store_version").set({ version: MIGRATIONS.length }).execute();
};

/** 0 where there are no tables yet; a store of a newer program is refused. */
export const storeVersion = async (db: StoreDatabase, dialect: SqlDialect): Promise<number> => {
  if (!(await dialect.hasTables(db))) return 0;
  const found = await db.selectFrom("store_version").select("version").executeTakeFirst();
  const { description } = dialect;
  if (found === undefined) throw new EnvironmentError("store-damaged", storeTexts.damaged(description));
  if (found.version > MIGRATIONS.length) {
    const message = storeTexts.newer(description, found.version, MIGRATIONS.length);
    throw new EnvironmentError("store-newer", message);
  }
  return found.version;
};
