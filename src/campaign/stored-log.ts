/** What every store makes sure of before it writes. */
import { checkEvents } from "./chain.js";
import type { LogEvent, LogHead, StoredItem } from "./events.js";
import { requireKey, requireStorable } from "./storable-text.js";

/** Events that do not follow the head are a mistake of the program, whatever the user did. */
export const requireFollowing = (head: LogHead, events: readonly LogEvent[]): void => {
  const fault = checkEvents(events, head);
  if (fault !== undefined) {
    throw new Error(`events to store do not follow the log: ${JSON.stringify(fault)} after ${head.seq}`);
  }
  for (const { id, subject, body } of events) {
    if (id !== null) requireKey("the id of an event", id);
    if (subject !== null) requireKey("the subject of an event", subject);
    if (body !== null) requireStorable("the body of an event", body);
  }
};

export const requireItems = (items: readonly StoredItem[]): void => {
  for (const { id, cells } of items) {
    if (id !== null) requireStorable("the id of an item", id);
    if (cells !== null) requireStorable("a cell of an item", cells);
  }
};

export const requireDocument = (kind: string, key: string, body?: string): void => {
  requireKey("the kind of a document", kind);
  requireKey("the key of a document", key);
  if (body !== undefined) requireStorable("the body of a document", body);
};
