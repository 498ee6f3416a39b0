/**
 * Campaigns in the browser's own database, for pages without a server.
 *
 * A transaction that writes is the only one, in whatever tab, until it is on disk. What is erased is gone from the
 * database at once; when its bytes leave the disk is the browser's affair.
 */
import { EnvironmentError, FairbedError } from "../core/errors.js";
import { erasedEvent, erasedItem } from "./chain.js";
import { EMPTY_LOG, headOf, type LogEvent, type LogHead, type StoredItem } from "./events.js";
import {
  type CampaignStore,
  requireName,
  type StoredCampaign,
  type StoredDocument,
  StoreUnavailable,
  storeTexts,
  takenName,
  unknownCampaign,
} from "./store.js";
import { requireDocument, requireFollowing, requireItems } from "./stored-log.js";

export const indexedDbTexts = {
  missing:
    "campaigns in this browser need IndexedDB, which it does not have or does not allow here: use another browser, or a window that is not private",
  blocked: "another tab has an older version of it open",
  /** Not the id itself, which may be about a person. */
  twice: "an event with this id is in the log already",
};

const VERSION = 1;
const STORES = ["campaigns", "events", "items", "documents"] as const;
type StoreName = (typeof STORES)[number];

type KeptEvent = LogEvent & { readonly campaign: string };
type KeptItem = StoredItem & { readonly campaign: string };

/** Keeps campaigns in the browser, in the IndexedDB database of this name. */
export const indexedDbStore = (name = "fairbed"): CampaignStore => {
  let opening: Promise<IDBDatabase> | undefined;
  const database = (): Promise<IDBDatabase> => {
    if (opening !== undefined) return opening;
    const forget = () => {
      if (opening === opened) opening = undefined;
    };
    const opened: Promise<IDBDatabase> = openDatabase(name, forget);
    opening = opened;
    opened.catch(forget);
    return opened;
  };

  /** All that `work` asks for is one transaction: it is there when this resolves, or none of it. */
  const transaction = async <Result>(
    mode: IDBTransactionMode,
    names: readonly StoreName[],
    work: (store: (name: StoreName) => IDBObjectStore) => Promise<Result>,
  ): Promise<Result> => {
    let thrown: { readonly error: unknown } | undefined;
    try {
      const db = await database();
      const running = db.transaction(names, mode, { durability: "strict" });
      const ended = new Promise<void>((resolve, reject) => {
        running.oncomplete = () => resolve();
        running.onabort = () => reject(running.error ?? new DOMException("aborted", "AbortError"));
      });
      // Whoever waits for it hears of it below.
      ended.catch(() => {});
      let result: Result;
      try {
        result = await work((each) => running.objectStore(each));
      } catch (error) {
        thrown = { error };
        try {
          running.abort();
        } catch {
          // It has ended already, by what went wrong.
        }
        await ended.catch(() => {});
        throw error;
      }
      await ended;
      return result;
    } catch (error) {
      // What a caller's function threw is handed on as it is, and so is what this store refuses.
      if (thrown !== undefined && !(thrown.error instanceof DOMException)) throw thrown.error;
      throw inWords(error, name);
    }
  };

  const writing = <Result>(
    work: (store: (name: StoreName) => IDBObjectStore) => Promise<Result>,
    names: readonly StoreName[] = STORES,
  ) => transaction("readwrite", names, work);

  return {
    description: `IndexedDB ${name}`,
    list: () =>
      transaction("readonly", ["campaigns"], (store) =>
        answer<StoredCampaign[]>(store("campaigns").getAll()),
      ),

    async create(campaign, items, log) {
      requireName(campaign);
      requireItems(items);
      requireFollowing(EMPTY_LOG, log);
      await writing(async (store) => {
        if ((await answer(store("campaigns").getKey(campaign))) !== undefined) throw takenName(campaign);
        putCampaign(store("campaigns"), campaign, log, EMPTY_LOG);
        for (const item of items) store("items").add({ ...item, campaign } satisfies KeptItem);
        await addEvents(store("events"), campaign, log);
      });
    },

    delete: (campaign) =>
      writing(async (store) => {
        await findHead(store("campaigns"), campaign);
        store("campaigns").delete(campaign);
        for (const each of ["events", "items"] as const) store(each).delete(rowsOf(campaign));
        for (const key of await answer(store("documents").index("key").getAllKeys(campaign))) {
          store("documents").delete(key);
        }
      }),

    items: (campaign) =>
      transaction("readonly", ["campaigns", "items"], async (store) => {
        await findHead(store("campaigns"), campaign);
        const found = await answer<KeptItem[]>(store("items").getAll(rowsOf(campaign)));
        return found.map(({ campaign: _, ...item }) => item);
      }),

    read: (campaign, after, limit = Number.POSITIVE_INFINITY) =>
      transaction("readonly", ["campaigns", "events"], async (store) => {
        await findHead(store("campaigns"), campaign);
        // Nought means all of them to the browser.
        if (limit < 1) return [];
        return readEvents(store("events"), campaign, after, limit);
      }),

    transact: (campaign, after, decide) =>
      writing(
        async (store) => {
          const head = await findHead(store("campaigns"), campaign);
          const news = await readEvents(store("events"), campaign, after);
          const { append, erase } = decide({ head, news });
          requireFollowing(head, append);
          if (erase !== undefined) {
            const events = store("events");
            const kept = await answer<KeptEvent[]>(events.index("subject").getAll([campaign, erase.subject]));
            for (const event of kept) events.put({ ...erasedEvent(event), campaign } satisfies KeptEvent);
            const key = erase.item === undefined ? undefined : [campaign, erase.item];
            const item = key && (await answer<KeptItem | undefined>(store("items").get(key)));
            if (item !== undefined) store("items").put({ ...erasedItem(item), campaign } satisfies KeptItem);
          }
          if (append.length === 0) return;
          putCampaign(store("campaigns"), campaign, append, head);
          await addEvents(store("events"), campaign, append);
        },
        ["campaigns", "events", "items"],
      ),

    async getDocument(kind, key) {
      requireDocument(kind, key);
      const found = await transaction("readonly", ["documents"], (store) =>
        answer<StoredDocument | undefined>(store("documents").get([kind, key])),
      );
      return found?.body;
    },

    async listDocuments(kind, prefix = "") {
      requireDocument(kind, prefix);
      const found = await transaction("readonly", ["documents"], (store) =>
        // Lists come after all texts.
        answer<StoredDocument[]>(store("documents").getAll(IDBKeyRange.bound([kind, prefix], [kind, []]))),
      );
      return found.filter(({ key }) => key.startsWith(prefix));
    },

    async putDocument(kind, key, body) {
      requireDocument(kind, key, body);
      await writing(
        (store) => answer(store("documents").put({ kind, key, body } satisfies StoredDocument)),
        ["documents"],
      );
    },

    async deleteDocument(kind, key) {
      requireDocument(kind, key);
      await writing((store) => answer(store("documents").delete([kind, key])), ["documents"]);
    },

    async close() {
      const opened = opening;
      opening = undefined;
      (await opened?.catch(() => undefined))?.close();
    },
  };
};

const openDatabase = (name: string, onClosed: () => void): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    if (typeof indexedDB === "undefined") {
      reject(new EnvironmentError("no-indexeddb", indexedDbTexts.missing));
      return;
    }
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      const { result } = request;
      result.createObjectStore("campaigns", { keyPath: "name" });
      const events = result.createObjectStore("events", { keyPath: ["campaign", "seq"] });
      // What is erased is null, which no index has.
      events.createIndex("id", ["campaign", "id"], { unique: true });
      events.createIndex("subject", ["campaign", "subject"]);
      result.createObjectStore("items", { keyPath: ["campaign", "item"] });
      const documents = result.createObjectStore("documents", { keyPath: ["kind", "key"] });
      documents.createIndex("key", "key");
    };
    request.onblocked = () =>
      reject(new StoreUnavailable("store-busy", storeTexts.away(name, indexedDbTexts.blocked)));
    request.onerror = () => newerOr(request.error, name).then(reject, reject);
    request.onsuccess = () => {
      const { result } = request;
      // A newer program in another tab waits for this; the next call says what to do.
      result.onversionchange = () => {
        result.close();
        onClosed();
      };
      // The browser took it away, as when its data is cleared.
      result.onclose = onClosed;
      resolve(result);
    };
  });

/** The error, or what it means that the database has a version which this program does not know. */
const newerOr = async (error: DOMException | null, name: string): Promise<unknown> => {
  if (error?.name !== "VersionError") return error;
  const found = (await indexedDB.databases()).find((each) => each.name === name);
  const message = storeTexts.newer(name, found?.version ?? VERSION + 1, VERSION);
  return new EnvironmentError("store-newer", message);
};

const answer = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Everything whose key begins with the campaign; lists come after all numbers. */
const rowsOf = (campaign: string): IDBKeyRange => IDBKeyRange.bound([campaign], [campaign, []]);

const findHead = async (campaigns: IDBObjectStore, campaign: string): Promise<LogHead> => {
  const found = await answer<StoredCampaign | undefined>(campaigns.get(campaign));
  if (found === undefined) throw unknownCampaign(campaign);
  return found.head;
};

const putCampaign = (
  campaigns: IDBObjectStore,
  name: string,
  log: readonly LogEvent[],
  before: LogHead,
): void => {
  const last = log.at(-1);
  campaigns.put({ name, head: last === undefined ? before : headOf(last) } satisfies StoredCampaign);
};

const readEvents = async (
  events: IDBObjectStore,
  campaign: string,
  after: number,
  limit = Number.POSITIVE_INFINITY,
): Promise<LogEvent[]> => {
  const range = IDBKeyRange.bound([campaign, after], [campaign, []], true);
  const found = await answer<KeptEvent[]>(events.getAll(range, Number.isFinite(limit) ? limit : undefined));
  return found.map(({ campaign: _, ...event }) => event);
};

const addEvents = async (
  events: IDBObjectStore,
  campaign: string,
  log: readonly LogEvent[],
): Promise<void> => {
  const added = log.map((event) => answer(events.add({ ...event, campaign } satisfies KeptEvent)));
  try {
    await Promise.all(added);
  } catch (error) {
    if (error instanceof DOMException && error.name === "ConstraintError")
      throw new Error(indexedDbTexts.twice);
    throw error;
  }
};

const inWords = (error: unknown, name: string): unknown => {
  if (error instanceof FairbedError || !(error instanceof DOMException)) return error;
  if (error.name === "QuotaExceededError") return new StoreUnavailable("store-full", storeTexts.full(name));
  if (["SecurityError", "InvalidAccessError"].includes(error.name)) {
    return new EnvironmentError("no-indexeddb", indexedDbTexts.missing);
  }
  // A name of an error tells of no contents, unlike its message.
  return new StoreUnavailable("store-away", storeTexts.away(name, error.name));
};
