/** What differs between the databases that keep campaigns. */
import type { Dialect, Kysely, RawBuilder } from "kysely";
import { type EnvironmentError, InputError } from "../core/errors.js";
import type { StoreTables } from "./sql-tables.js";

export interface StoreSettings {
  /** Seconds to wait while another process writes. */
  readonly lockSeconds?: number | undefined;
  /** Seconds to wait for a server that is away. */
  readonly retrySeconds?: number | undefined;
}

export const DEFAULT_LOCK_SECONDS = 30;
export const DEFAULT_RETRY_SECONDS = 10;

/** What went wrong, in words, and for how long it may be tried again. */
export interface Failure {
  readonly error: unknown;
  /** Since the first try; 0 where another try would not help. */
  readonly retrySeconds: number;
}

/** The tables, by a connection or by any of them. */
export type StoreDatabase = Kysely<StoreTables>;

export interface SqlDialect {
  /** For people, without a password. */
  readonly description: string;
  readonly connections: Dialect;
  /** All tables are in it; none in a file of its own. */
  readonly schema: string | undefined;
  readonly begin: RawBuilder<unknown>;
  /** Whether a row of `campaigns` has to be locked once a transaction has begun. */
  readonly locksRows: boolean;
  /** Whether there are tables of a store. Throws where there is something else in their place. */
  hasTables(db: StoreDatabase): Promise<boolean>;
  /** Within the transaction that makes or changes the tables: nobody else does so at the same time. */
  prepareTables(db: StoreDatabase): Promise<void>;
  explain(error: unknown): Failure;
  /** After something was erased: its bytes go too. Whether that was possible now; never throws. */
  sweep(db: StoreDatabase): Promise<boolean>;
}

export const sqlStoreTexts = {
  refused: (store: string, reason: string) =>
    `the store ${store} refused a statement (${reason}): check that this user may create and change tables there`,
};

export const final = (error: EnvironmentError | InputError | Error): Failure => ({ error, retrySeconds: 0 });

/** Of an error of a database or the system; empty where there is none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** A row that breaks a rule of its table, which whoever calls a store must see to; its values are not repeated. */
export const brokenRule = (code: string): Error =>
  new Error(`an event, an item or a document is in the store already, or refers to nothing (${code})`);

export const refusedAddress = (message: string): InputError => new InputError("store-address", message);
