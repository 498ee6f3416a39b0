/**
 * What was said and is not known to be stored yet, and which questions are held: in this browser's database, so that a
 * reload, a closed tab or a server that went away loses nothing. What a question says is never kept, only its name.
 */
import type { Saying } from "./campaign-client.js";

/** Whose answers they are: a place, a campaign in it, and who answers. */
export interface Desk {
  readonly place: string;
  readonly campaign: string;
  readonly annotator: string;
}

export type OutgoingSaying = Saying & {
  readonly place: string;
  readonly campaign: string;
  /** They are sent in this order. */
  readonly order: number;
  /** Why it cannot be taken, now and later; it stays here until somebody has read that. */
  readonly problem?: string | undefined;
};

/** A question that somebody holds, by the name of the request that got it. */
export interface HeldQuestion extends Desk {
  readonly request: string;
  readonly order: number;
}

const DATABASE = "fairbed-outbox";
const SAYINGS = "sayings";
const HELD = "held";

const opened = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(SAYINGS, { keyPath: "event" });
      request.result.createObjectStore(HELD, { keyPath: "request" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let database: Promise<IDBDatabase> | undefined;

const within = async <Result>(
  mode: IDBTransactionMode,
  act: (store: (name: typeof SAYINGS | typeof HELD) => IDBObjectStore) => IDBRequest<Result> | undefined,
): Promise<Result | undefined> => {
  database ??= opened();
  const transaction = (await database).transaction([SAYINGS, HELD], mode, { durability: "strict" });
  const request = act((name) => transaction.objectStore(name));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onabort = () => reject(transaction.error);
  });
};

/** Keeps what was said, and in the same step lets go of the question that it is about. */
export const keepSaying = (saying: OutgoingSaying, request: string | undefined): Promise<unknown> =>
  within("readwrite", (store) => {
    if (request !== undefined) store(HELD).delete(request);
    return store(SAYINGS).put(saying);
  });

export const dropSaying = (event: string): Promise<unknown> =>
  within("readwrite", (store) => store(SAYINGS).delete(event) as IDBRequest<undefined>);

/** Of one campaign, whoever said it, in the order in which it was said. */
export const sayingsOf = async (place: string, campaign: string): Promise<readonly OutgoingSaying[]> => {
  const all = await within<OutgoingSaying[]>("readonly", (store) => store(SAYINGS).getAll());
  return (all ?? [])
    .filter((each) => each.place === place && each.campaign === campaign)
    .sort((a, b) => a.order - b.order);
};

export const keepHeld = (held: HeldQuestion): Promise<unknown> =>
  within("readwrite", (store) => store(HELD).put(held));

export const dropHeld = (request: string): Promise<unknown> =>
  within("readwrite", (store) => store(HELD).delete(request) as IDBRequest<undefined>);

export const heldAt = async ({ place, campaign, annotator }: Desk): Promise<readonly HeldQuestion[]> => {
  const all = await within<HeldQuestion[]>("readonly", (store) => store(HELD).getAll());
  return (all ?? [])
    .filter((each) => each.place === place && each.campaign === campaign && each.annotator === annotator)
    .sort((a, b) => a.order - b.order);
};

/** All of a campaign that is gone. */
export const forgetCampaign = (place: string, campaign: string): Promise<unknown> =>
  within("readwrite", (store) => {
    for (const name of [SAYINGS, HELD] as const) {
      const cursor = store(name).openCursor();
      cursor.onsuccess = () => {
        const found = cursor.result;
        if (found === null) return;
        const { place: where, campaign: of } = found.value as Pick<Desk, "place" | "campaign">;
        if (where === place && of === campaign) found.delete();
        found.continue();
      };
    }
    return undefined;
  });
