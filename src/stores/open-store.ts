/** A store by its address. */

import { memoryStore } from "../campaign/memory-store.js";
import type { CampaignStore } from "../campaign/store.js";
import { optionalPackage } from "../sources/optional-package.js";
import { isPostgres } from "../sources/postgres-relation.js";
import { refusedAddress, type StoreSettings } from "./sql-dialect.js";

export const openStoreTexts = {
  /** Does not repeat what was given: a password may stand anywhere in it. */
  address:
    "the store that was named has no address of a known kind: write sqlite:campaigns.db, postgres://user@host:5432/database, or memory: for one that is gone with the process",
};

/**
 * `sqlite:PATH`, or a path that ends in .db or .sqlite; `postgres://user@host:5432/database`; `memory:`. Files and
 * tables are made where there are none, and brought to the newest version where they are older.
 */
export const openStore = async (address: string, settings: StoreSettings = {}): Promise<CampaignStore> => {
  if (address === "memory:") return memoryStore();
  const path = sqlitePath(address);
  if (path === undefined && !isPostgres(address)) throw refusedAddress(openStoreTexts.address);
  // Both dialects and the store are built on it.
  const all = `kysely ${path === undefined ? "pg" : "libsql"}`;
  await optionalPackage(() => import("kysely"), "a store", "kysely", undefined, all);
  const { sqlStore } = await import("./sql-store.js");
  if (path !== undefined) {
    const { sqliteDialect } = await import("./sqlite-dialect.js");
    return sqlStore(await sqliteDialect(path, settings));
  }
  const { postgresDialect } = await import("./postgres-dialect.js");
  return sqlStore(await postgresDialect(address, settings));
};

/** The file of an address; undefined where it is of something else. */
export const sqlitePath = (address: string): string | undefined => {
  const [, named] = /^sqlite:(.+)$/is.exec(address) ?? [];
  // Neither a host, nor the name that SQLite has for no file at all.
  if (named !== undefined) return /^\/\/(?!\/)|^:/.test(named) ? undefined : named;
  return /^[^:]+\.(db|sqlite)$|^[a-z]:[\\/].*\.(db|sqlite)$/is.test(address) ? address : undefined;
};
