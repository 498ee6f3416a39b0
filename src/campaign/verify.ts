/** Whether a campaign's log and its items are what was written, and where not. */
import { type ChainFault, checkEvents, checkItems } from "./chain.js";
import { type CreatedBody, EMPTY_LOG, headOf, type LogEvent, type StoredItem } from "./events.js";
import { type CampaignStore, unknownCampaign } from "./store.js";

export interface Verification {
  readonly events: number;
  readonly items: number;
  /** Events and items whose content was erased when somebody withdrew. */
  readonly erased: number;
  /** The hash at the end: written down elsewhere, it shows whether the end of a log was cut off. */
  readonly hash: string;
  /** The first fault; null where there is none. */
  readonly fault: ChainFault | null;
  /** The fault in a sentence; null where there is none. */
  readonly reason: string | null;
}

const PROBLEMS: Readonly<Record<ChainFault["problem"], string>> = {
  missing: "is missing",
  order: "is out of order",
  time: "is dated before the one in front of it",
  content: "is not what was written",
  link: "does not follow from the one in front of it",
  erased: "was erased in part",
  count: "are more or fewer than there were",
};

export const verifyTexts = {
  fault: ({ where, problem }: ChainFault): string => {
    const what =
      where === "items" ? "the items" : "seq" in where ? `event ${where.seq}` : `item ${where.item}`;
    return `${what} ${PROBLEMS[problem]}: the campaign was damaged or tampered with; restore it from a backup`;
  },
};

/** Checks a log from its first event on, and the items that it speaks of. */
export const verifyLog = (events: readonly LogEvent[], items: readonly StoredItem[]): Verification => {
  const isErased = ({ salt }: { readonly salt: string | null }): boolean => salt === null;
  const first: ChainFault | undefined =
    events.length === 0 || events[0].kind !== "created" || events[0].body === null
      ? { where: { seq: 1 }, problem: "missing" }
      : undefined;
  const fault =
    first ??
    checkEvents(events) ??
    checkItems(items, JSON.parse(events[0].body ?? "{}") as CreatedBody) ??
    null;
  return {
    events: events.length,
    items: items.length,
    erased: events.filter(isErased).length + items.filter(isErased).length,
    hash: (events.length === 0 ? EMPTY_LOG : headOf(events[events.length - 1])).hash,
    fault,
    reason: fault === null ? null : verifyTexts.fault(fault),
  };
};

/** Checks that a log is whole: every event in its place, its hash right, and linked to the one before it. */
export const verifyCampaign = async (store: CampaignStore, name: string): Promise<Verification> => {
  const known = (await store.list()).find((each) => each.name === name);
  if (known === undefined) throw unknownCampaign(name);
  const [events, items] = [await store.read(name, 0), await store.items(name)];
  const checked = verifyLog(events, items);
  // The store keeps the head beside the log: what was cut off at the end shows there.
  if (checked.fault !== null || known.head.seq <= checked.events) return checked;
  const fault: ChainFault = { where: { seq: checked.events + 1 }, problem: "missing" };
  return { ...checked, fault, reason: verifyTexts.fault(fault) };
};
