/** The hash chain of a log: how an event is sealed, and how a log and its items are checked. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, randomBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { EMPTY_LOG, type EventDraft, type LogEvent, type LogHead, type StoredItem } from "./events.js";

const hashOf = (parts: readonly string[]): string => bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts))));

/** 128 random bits; nothing is ever computed from them but digests. */
export const randomHex = (): string => bytesToHex(randomBytes(16));

const digestOf = (salt: string, id: string, subject: string | null, body: string): string =>
  hashOf([salt, id, subject ?? "", body]);

const linkOf = (
  before: string,
  { seq, at, kind, digest }: Pick<LogEvent, "seq" | "at" | "kind" | "digest">,
): string => hashOf([before, String(seq), String(at), kind, digest]);

/** The next event of a log. Time never goes back in it, whatever the clock does. */
export const sealEvent = (head: LogHead, draft: EventDraft, now: number, salt = randomHex()): LogEvent => {
  const { kind, id, subject = null } = draft;
  const body = JSON.stringify(draft.body);
  const sealed = {
    seq: head.seq + 1,
    at: Math.max(head.at, Math.trunc(now)),
    kind,
    id,
    subject,
    body,
    salt,
    digest: digestOf(salt, id, subject, body),
  };
  return { ...sealed, hash: linkOf(head.hash, sealed) };
};

/** The same event without what is about a person. */
export const erasedEvent = (event: LogEvent): LogEvent => ({
  ...event,
  id: null,
  subject: null,
  body: null,
  salt: null,
});

/** Whether a draft of the same id is the same event once more, or another one. */
export const isSameEvent = ({ salt, digest }: LogEvent, draft: EventDraft): boolean =>
  salt !== null && digest === digestOf(salt, draft.id, draft.subject ?? null, JSON.stringify(draft.body));

export const sealItem = (item: number, id: string, cells: string, salt = randomHex()): StoredItem => ({
  item,
  id,
  cells,
  salt,
  digest: hashOf([salt, id, cells]),
});

export const erasedItem = (item: StoredItem): StoredItem => ({ ...item, id: null, cells: null, salt: null });

/** Over the digests of all items in their order. */
export const itemsDigest = (items: readonly StoredItem[]): string => {
  const hash = sha256.create();
  for (const { digest } of items) hash.update(utf8ToBytes(digest));
  return bytesToHex(hash.digest());
};

/** Where a log or its items are not what was written. */
export interface ChainFault {
  /** The event or the item that is wrong. */
  readonly where: { readonly seq: number } | { readonly item: number } | "items";
  readonly problem: "missing" | "order" | "time" | "content" | "link" | "erased" | "count";
}

/** The first fault of a run of events that follows `head`; undefined where all is as it was written. */
export const checkEvents = (
  events: Iterable<LogEvent>,
  head: LogHead = EMPTY_LOG,
): ChainFault | undefined => {
  let before = head;
  for (const event of events) {
    const { seq } = event;
    const fault = (problem: ChainFault["problem"]): ChainFault => ({ where: { seq }, problem });
    if (seq !== before.seq + 1) {
      return seq <= before.seq ? fault("order") : { where: { seq: before.seq + 1 }, problem: "missing" };
    }
    if (event.at < before.at) return fault("time");
    const parts = [event.id, event.body, event.salt];
    const erased = parts.every((part) => part === null) && event.subject === null;
    if (!erased) {
      const { id, subject, body, salt } = event;
      if (id === null || body === null || salt === null) return fault("erased");
      if (digestOf(salt, id, subject, body) !== event.digest) return fault("content");
    }
    if (linkOf(before.hash, event) !== event.hash) return fault("link");
    before = event;
  }
  return undefined;
};

/** Whether the items are those that the campaign was created with, erased ones apart. */
export const checkItems = (
  items: readonly StoredItem[],
  expected: { readonly items: number; readonly itemsDigest: string },
): ChainFault | undefined => {
  if (items.length !== expected.items) return { where: "items", problem: "count" };
  for (const [at, { item, id, cells, salt, digest }] of items.entries()) {
    const fault = (problem: ChainFault["problem"]): ChainFault => ({ where: { item: at }, problem });
    if (item !== at) return fault("order");
    if (id === null && cells === null && salt === null) continue;
    if (id === null || cells === null || salt === null) return fault("erased");
    if (hashOf([salt, id, cells]) !== digest) return fault("content");
  }
  return itemsDigest(items) === expected.itemsDigest ? undefined : { where: "items", problem: "content" };
};
