/** Events and items to store, valid and small. */
import { sealEvent, sealItem } from "../../src/campaign/chain.js";
import {
  EMPTY_LOG,
  headOf,
  type LogEvent,
  type LogHead,
  type StoredItem,
} from "../../src/campaign/events.js";

/** The next event: that a person passes a question on. */
export const skipped = (head: LogHead, id: string, subject?: string, annotator = "ann"): LogEvent =>
  sealEvent(head, { kind: "skipped", id, subject, body: { annotator } }, 1_700_000_000_000 + head.seq);

/** One event for each id. */
export const logOf = (ids: readonly string[], head: LogHead = EMPTY_LOG): LogEvent[] => {
  const log: LogEvent[] = [];
  let last = head;
  for (const id of ids) {
    const event = skipped(last, id, `subject of ${id}`);
    log.push(event);
    last = headOf(event);
  }
  return log;
};

export const numbered = (count: number, prefix = "e"): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

export const itemsOf = (count: number): StoredItem[] =>
  Array.from({ length: count }, (_, index) =>
    sealItem(index, `row ${index}`, JSON.stringify([index, "x", null])),
  );
