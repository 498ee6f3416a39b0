/** Campaigns in a SQLite file, by the package libsql. */
import { closeSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type SqliteDatabase, SqliteDialect, sql } from "kysely";
import type { Database } from "libsql";
import { StoreUnavailable, storeTexts } from "../campaign/store.js";
import { EnvironmentError, FairbedError } from "../core/errors.js";
import { optionalPackage } from "../sources/optional-package.js";
import { retry } from "./retry.js";
import {
  brokenRule,
  codeOf,
  DEFAULT_LOCK_SECONDS,
  type Failure,
  final,
  type SqlDialect,
  type StoreDatabase,
  type StoreSettings,
  sqlStoreTexts,
} from "./sql-dialect.js";

export const sqliteStoreTexts = {
  folder: (store: string, folder: string, reason: string) =>
    `the folder ${folder} of the store ${store} cannot be made (${reason}): choose another place, or make it yourself`,
  moved: "its file was moved or deleted while it was open",
};

/** Opens the file, which is made with its folders where it is missing, for nobody but its owner. */
export const sqliteDialect = async (
  path: string,
  { lockSeconds = DEFAULT_LOCK_SECONDS }: StoreSettings,
): Promise<SqlDialect> => {
  const { default: Libsql } = await optionalPackage(() => import("libsql"), "a store in a file", "libsql");
  const file = resolve(path);
  const explain = (error: unknown) => inWords(error, path, file, lockSeconds);
  const database = await retry(explain, async () => {
    createFile(path, file);
    const opened = new Libsql(file);
    try {
      // Whoever waits for another process does so without holding this thread (retry.ts).
      opened.pragma("busy_timeout = 0");
      opened.pragma("journal_mode = WAL");
      // Safe from a power cut with each commit, not only from a crash of the program.
      opened.pragma("synchronous = FULL");
      // What is erased is overwritten.
      opened.pragma("secure_delete = ON");
      opened.pragma("foreign_keys = ON");
      opened.pragma("trusted_schema = OFF");
      // What a process left behind that ended before it could.
      opened.pragma("wal_checkpoint(TRUNCATE)");
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  });
  return {
    description: path,
    connections: new SqliteDialect({ database: withoutLeftovers(database, inPlace(path, file)) }),
    schema: undefined,
    // The one lock of a file, taken at once: a transaction that reads first could not be given it later.
    begin: sql`begin immediate`,
    locksRows: false,
    async hasTables(db) {
      const { rows } = await sql<{
        name: string;
      }>`select name from sqlite_master where type = 'table'`.execute(db);
      if (rows.length === 0) return false;
      if (rows.some(({ name }) => name === "store_version")) return true;
      throw damaged(path);
    },
    prepareTables: async () => {},
    explain,
    sweep: emptyLog,
  };
};

const createFile = (path: string, file: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch (error) {
    throw new EnvironmentError("store-folder", sqliteStoreTexts.folder(path, dirname(file), codeOf(error)));
  }
  try {
    closeSync(openSync(file, "ax", 0o600));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
};

/** What is written to a file that was moved or deleted would be gone with the process: checked before every transaction. */
const inPlace = (path: string, file: string): (() => void) => {
  const inode = statSync(file).ino;
  return () => {
    if (statSync(file, { throwIfNoEntry: false })?.ino === inode) return;
    throw new StoreUnavailable("store-away", storeTexts.away(path, sqliteStoreTexts.moved));
  };
};

/**
 * A statement that met a lock stays open in libsql, and with it what it had begun to read. Only the beginning of a
 * transaction meets one, and that is executed as a text, which leaves nothing open.
 */
const withoutLeftovers = (database: Database, requireInPlace: () => void): SqliteDatabase => ({
  prepare(text) {
    if (text.startsWith("begin")) requireInPlace();
    return /^(begin|commit|rollback)\b/.test(text) ? transactionStep(database, text) : database.prepare(text);
  },
  close: () => {
    // All of the store is in the one file then, which SQLite would see to itself if nothing were left open.
    try {
      database.pragma("wal_checkpoint(TRUNCATE)");
    } catch {
      // Somebody else has it open, and will.
    }
    database.close();
  },
});

const transactionStep = (database: Database, text: string): ReturnType<SqliteDatabase["prepare"]> => ({
  reader: false,
  run: () => {
    database.exec(text);
    return { changes: 0, lastInsertRowid: 0 };
  },
  all: () => [],
  iterate: () => [].values(),
});

/** Seconds to wait for readers of an older state, who keep the write-ahead log from being emptied. */
const SWEEP_SECONDS = 1;

/**
 * Pages as they were before something was erased are in the write-ahead log until it is emptied. Where readers do not
 * allow it now, closing the store does it, or opening it the next time.
 */
const emptyLog = async (db: StoreDatabase): Promise<boolean> => {
  const again = (error: unknown): Failure => ({ error, retrySeconds: SWEEP_SECONDS });
  const emptied = retry(again, async () => {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(TRUNCATE)`.execute(db);
    if (rows.some(({ busy }) => busy !== 0)) throw new Error("somebody reads");
  });
  return emptied.then(
    () => true,
    () => false,
  );
};

const damaged = (path: string) => new EnvironmentError("store-damaged", storeTexts.damaged(path));

/** As one sentence without contents of the tables, which SQLite's own messages may repeat. */
const inWords = (error: unknown, path: string, file: string, lockSeconds: number): Failure => {
  if (error instanceof FairbedError || !(error instanceof Error)) return { error, retrySeconds: 0 };
  // An error of opening has no code but SQLite's number at its end.
  const [, number] = /ConnectionFailed\(.*: (\d+)"\)$/s.exec(error.message) ?? [];
  const code = number === undefined ? codeOf(error) : (CODES[Number(number)] ?? `SQLITE_${number}`);
  const unavailable = (name: string, message: string) => final(new StoreUnavailable(name, message));
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) {
    return {
      error: new StoreUnavailable("store-busy", storeTexts.busy(path, lockSeconds)),
      retrySeconds: lockSeconds,
    };
  }
  const isFull =
    /^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code) || (code.startsWith("SQLITE_IOERR") && hasNoRoom(file));
  if (isFull) return unavailable("store-full", storeTexts.full(path));
  if (code === "SQLITE_READONLY_DBMOVED")
    return unavailable("store-away", storeTexts.away(path, sqliteStoreTexts.moved));
  if (/^(SQLITE_(READONLY|CANTOPEN|PERM|AUTH)|EACCES|EPERM|EROFS|EISDIR)/.test(code)) {
    return unavailable("store-read-only", storeTexts.readOnly(path));
  }
  const lacksTables = code === "SQLITE_ERROR" && /^no such (table|column)/.test(error.message);
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(code) || lacksTables) return final(damaged(path));
  if (code.startsWith("SQLITE_CONSTRAINT")) return final(brokenRule(code));
  if (/^SQLITE_(IOERR|NOMEM)/.test(code)) return unavailable("store-away", storeTexts.away(path, code));
  if (code === "") return final(error);
  return final(new EnvironmentError("store", sqlStoreTexts.refused(path, code)));
};

/** Result codes of SQLite that opening a file may give. */
const CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  26: "SQLITE_NOTADB",
};

/** SQLite calls it an input or output error where it could not make room for what its processes share. */
const hasNoRoom = (file: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < 64 * 1024;
  } catch {
    return false;
  }
};
