/** Campaigns in a PostgreSQL database, by the package pg. */
import { PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from "kysely";
import type { Pool, PoolClient } from "pg";
import { StoreUnavailable, storeTexts } from "../campaign/store.js";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { optionalPackage } from "../sources/optional-package.js";
import { postgresTexts } from "../sources/postgres-relation.js";
import { withoutPassword } from "../sources/without-password.js";
import {
  brokenRule,
  codeOf,
  DEFAULT_LOCK_SECONDS,
  DEFAULT_RETRY_SECONDS,
  type Failure,
  final,
  refusedAddress,
  type SqlDialect,
  type StoreSettings,
  sqlStoreTexts,
} from "./sql-dialect.js";

export const postgresStoreTexts = {
  noDatabase: (store: string) =>
    `the server of the store ${store} has no database of this name: create it there (createdb), or name another`,
  onlyReads: "the server takes no changes now, as one that follows another",
};

/** Everything of a store is in this schema of the database. */
export const SCHEMA = "fairbed_campaigns";

/** Of all who make or change the tables: any number that nothing else in the database is likely to lock. */
const TABLES_LOCK = 7_236_431_902;

const CONNECT_MS = 15_000;
const CONNECTIONS = 8;
/** A server that took a statement and is never heard of again. */
const SILENCE_MS = 60_000;

export const postgresDialect = async (
  address: string,
  { lockSeconds = DEFAULT_LOCK_SECONDS, retrySeconds = DEFAULT_RETRY_SECONDS }: StoreSettings,
): Promise<SqlDialect> => {
  const shown = withoutPassword(address);
  const { default: pg } = await optionalPackage(() => import("pg"), "a store in PostgreSQL", "pg");
  const explain = (error: unknown) => inWords(error, shown, lockSeconds, retrySeconds);
  let pool: Pool;
  try {
    pool = new pg.Pool({
      connectionString: address,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      query_timeout: 1000 * lockSeconds + SILENCE_MS,
      fallback_application_name: "fairbed",
      types: { getTypeParser: (id: number) => (id === BIGINT ? Number : pg.types.getTypeParser(id)) },
    });
  } catch {
    // What it complains about may hold the address, and with it the password: it is no cause to hand on.
    throw refusedAddress(postgresTexts.address(shown));
  }
  // Without listeners, a connection that breaks between two statements ends the process; the next statement will tell.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    description: shown,
    connections: new PostgresDialect({ pool: carefully(pool, settingsOf(lockSeconds)) }),
    schema: SCHEMA,
    begin: sql`begin isolation level read committed`,
    locksRows: true,
    async hasTables(db) {
      const { rows } = await sql<{ found: boolean }>`
        select to_regclass(${`${SCHEMA}.store_version`}) is not null as found`.execute(db);
      return rows.some(({ found }) => found);
    },
    async prepareTables(db) {
      await sql`select pg_advisory_xact_lock(${TABLES_LOCK})`.execute(db);
      await sql`create schema if not exists ${sql.id(SCHEMA)}`.execute(db);
    },
    explain,
    async sweep(db) {
      for (const table of ["events", "items"]) {
        // Rows as they were before; whoever may not do this leaves it to the server, which does so by itself.
        await sql`vacuum ${sql.id(SCHEMA, table)}`.execute(db).catch(() => {});
      }
      return true;
    },
  };
};

/** The number that PostgreSQL has for the type; pg gives texts for it. */
const BIGINT = 20;

/**
 * Of each connection, before anything else: how long it waits for a lock, that the server ends what a process left
 * behind that is gone, and that nothing is acknowledged before it is on disk, which a database may be set to do.
 */
const settingsOf = (lockSeconds: number): string => `
  select set_config('lock_timeout', '${Math.max(1, Math.round(1000 * lockSeconds))}', false),
         set_config('idle_in_transaction_session_timeout', '${SILENCE_MS}', false),
         case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`;

/** Connections that are set up before they are used, and closed once something went wrong on them. */
const carefully = (pool: Pool, settings: string): PostgresPool => {
  const lent = new WeakMap<PoolClient, PostgresPoolClient & { failed: boolean }>();
  return {
    async connect() {
      const client = await pool.connect();
      const known = lent.get(client);
      if (known !== undefined) return known;
      try {
        await client.query(settings);
      } catch (error) {
        client.release(true);
        throw error;
      }
      const careful = {
        failed: false,
        async query(text: string, values: readonly unknown[]) {
          try {
            return await client.query(text, [...values]);
          } catch (error) {
            careful.failed = true;
            throw error;
          }
        },
        release: () => client.release(careful.failed),
      };
      lent.set(client, careful as never);
      return careful as never;
    },
    end: () => pool.end(),
  };
};

/** As one sentence without the password and without contents of the tables, which the server's own words may repeat. */
const inWords = (error: unknown, shown: string, lockSeconds: number, retrySeconds: number): Failure => {
  if (error instanceof FairbedError || !(error instanceof Error)) return { error, retrySeconds: 0 };
  const code = codeOf(error);
  const away = (reason: string): Failure => ({
    error: new StoreUnavailable("store-away", storeTexts.away(shown, reason)),
    retrySeconds,
  });
  if (code === "ERR_INVALID_URL") return final(refusedAddress(postgresTexts.address(shown)));
  if (error.message.startsWith("SASL"))
    return final(new InputError("store-login", postgresTexts.login(shown)));
  if (!("severity" in error)) {
    // Of the connection, or of this program.
    if (error instanceof TypeError || error instanceof RangeError) return final(error);
    return away(code === "" ? withoutPassword(error.message) : code);
  }
  if (code.startsWith("28")) return final(new InputError("store-login", postgresTexts.login(shown)));
  if (code === "3D000") return final(refusedAddress(postgresStoreTexts.noDatabase(shown)));
  if (code === "53100") return final(new StoreUnavailable("store-full", storeTexts.full(shown)));
  // The server has waited for as long as it was told to.
  if (code === "55P03") return final(new StoreUnavailable("store-busy", storeTexts.busy(shown, lockSeconds)));
  if (code === "25006") return away(postgresStoreTexts.onlyReads);
  // The server starts, stops, has too much to do, or ended one of two transactions that waited for each other.
  if (/^(57P0|57014|08|53|40|25P0)/.test(code)) return away(code);
  // No such table or column; or what the server itself calls damaged.
  if (/^(42P01|42703|3F000|XX00[12])/.test(code)) {
    return final(new EnvironmentError("store-damaged", storeTexts.damaged(shown)));
  }
  if (code.startsWith("23")) return final(brokenRule(code));
  return final(new EnvironmentError("store", sqlStoreTexts.refused(shown, code)));
};
