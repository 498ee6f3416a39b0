/**
 * Where campaigns are kept: one interface for memory, IndexedDB, SQLite and PostgreSQL, and one contract test for all
 * (test/stores/store-contract.ts).
 *
 * A store knows nothing of what events mean. It keeps logs, items and small documents, hands out one lock for each
 * campaign, and acknowledges nothing before it would survive a power cut.
 */
import { EnvironmentError, InputError } from "../core/errors.js";
import type { LogEvent, LogHead, StoredItem } from "./events.js";

export interface StoredCampaign {
  readonly name: string;
  readonly head: LogHead;
}

/** A note beside the logs: a ranking that was computed, a token, where a delivery stands. Plain JSON data. */
export interface StoredDocument {
  readonly kind: string;
  readonly key: string;
  readonly body: string;
}

/** What a lock lends: the log as it is now. */
export interface LockedLog {
  readonly head: LogHead;
  /** Events after the one that was named, in their order. */
  readonly news: readonly LogEvent[];
}

/** What is to be written before the lock is given back; all of it, or nothing. */
export interface LogChange {
  /** They follow the head, in their order. */
  readonly append: readonly LogEvent[];
  /** The content of this subject's earlier events, and of this item, is erased in the same step. */
  readonly erase?: { readonly subject: string; readonly item?: number | undefined } | undefined;
}

export interface CampaignStore {
  /** For people: what it is and where, without a password. */
  readonly description: string;
  /** In the order of their names. */
  list(): Promise<readonly StoredCampaign[]>;
  /** Refuses a name that is taken. `log` is a whole log from its first event on: one event, or one that is imported. */
  create(name: string, items: readonly StoredItem[], log: readonly LogEvent[]): Promise<void>;
  /** All of a campaign, gone for good, with the documents whose key is its name. */
  delete(name: string): Promise<void>;
  /** In their order. */
  items(name: string): Promise<readonly StoredItem[]>;
  /** At most `limit` events after the event `after`; as many as there are unless given. */
  read(name: string, after: number, limit?: number): Promise<readonly LogEvent[]>;
  /**
   * Takes the campaign's lock, lets `decide` see what has come after the event `after`, and writes what it returns.
   * Nobody else writes to the campaign in between, in whatever process. `decide` is synchronous and may be called again
   * where the database asks for it. Resolves once everything is on disk. Events that do not follow the head, or have the
   * id of another one, are a mistake of the caller; ids, subjects and keys have at most 1000 bytes.
   */
  transact(name: string, after: number, decide: (log: LockedLog) => LogChange): Promise<void>;
  getDocument(kind: string, key: string): Promise<string | undefined>;
  /** In the order of their keys; of a kind, or of those whose key begins with a text. */
  listDocuments(kind: string, prefix?: string): Promise<readonly StoredDocument[]>;
  putDocument(kind: string, key: string, body: string): Promise<void>;
  deleteDocument(kind: string, key: string): Promise<void>;
  close(): Promise<void>;
}

export const storeTexts = {
  taken: (name: string) => `there is a campaign "${name}" already: choose another name, or delete that one`,
  unknown: (name: string) => `there is no campaign "${name}" in this store: see fairbed campaign list`,
  name: (name: string) =>
    `"${name}" is no name for a campaign: use letters, digits, - and _, at most 64, beginning with a letter or a digit`,
  away: (store: string, reason: string) =>
    `the store ${store} does not answer (${reason}): nothing was acknowledged that is not stored; try again once it is back`,
  full: (store: string) =>
    `the disk of the store ${store} is full: nothing was acknowledged that is not stored; make room and try again`,
  readOnly: (store: string) =>
    `the store ${store} cannot be written to: give this user the right to write to the file and its folder`,
  busy: (store: string, seconds: number) =>
    `the store ${store} was locked by another process for ${seconds} seconds: try again, or see what holds it`,
  damaged: (store: string) =>
    `the store ${store} is damaged or no store of fairbed: restore a backup with fairbed campaign restore`,
  newer: (store: string, found: number, known: number) =>
    `the store ${store} has version ${found} and this program knows ${known}: use the newer program`,
};

/** The store cannot be reached or written to now, and may be soon. */
export class StoreUnavailable extends EnvironmentError {}

export const unknownCampaign = (name: string): InputError =>
  new InputError("no-campaign", storeTexts.unknown(name));
export const takenName = (name: string): InputError => new InputError("name-taken", storeTexts.taken(name));

/** Names stand in addresses, files and command lines. */
export const requireName = (name: string): string => {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) throw new InputError("name", storeTexts.name(name));
  return name;
};
