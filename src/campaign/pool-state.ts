/**
 * What is known of a campaign about a pool: a fold over its events. It depends on the log alone, never on the clock of
 * who reads it: a question has run out where a later event's time says so.
 */
import type { AcquiredSoFar, RecordedRow } from "../workflows/acquisition-ranking.js";
import type { LabelValue, LabelValues } from "../workflows/told-values.js";
import type { AdjudicatedBody, AnnotatorBody, AskedBody, LogEvent, ToldBody } from "./events.js";

/** One question about an item. */
export interface Ask extends AskedBody {
  readonly seq: number;
  readonly at: number;
}

/** What one annotator says of an item by now. */
export interface Opinion {
  readonly annotator: string;
  /** Undefined where it was refused. */
  readonly label: LabelValue | undefined;
  /** Of the first answer and of the last one. */
  readonly first: number;
  readonly seq: number;
}

export interface ItemState {
  readonly asks: readonly Ask[];
  /** By annotator. */
  readonly opinions: ReadonlyMap<string, Opinion>;
  readonly adjudicated: LabelValue | undefined;
  readonly sensitive: LabelValues | undefined;
  /** Annotators who passed it on. */
  readonly skipped: ReadonlySet<string>;
  /** Answers that changed an earlier one. */
  readonly corrections: number;
  /** Somebody answered without being asked. */
  readonly unasked: boolean;
}

interface MutableItem {
  asks: Ask[];
  opinions: Map<string, Opinion>;
  adjudicated: LabelValue | undefined;
  sensitive: LabelValues | undefined;
  skipped: Set<string>;
  corrections: number;
  unasked: boolean;
}

/** What annotators say together: a label that more say than any other, a refusal, or nothing yet. */
export type Outcome =
  | { readonly kind: "label"; readonly label: LabelValue }
  | { readonly kind: "refused" }
  | { readonly kind: "disputed" }
  | { readonly kind: "none" };

export const outcomeOf = ({
  adjudicated,
  opinions,
}: Pick<ItemState, "adjudicated" | "opinions">): Outcome => {
  if (adjudicated !== undefined) return { kind: "label", label: adjudicated };
  if (opinions.size === 0) return { kind: "none" };
  const votes = new Map<LabelValue, number>();
  for (const { label } of opinions.values()) {
    if (label !== undefined) votes.set(label, (votes.get(label) ?? 0) + 1);
  }
  if (votes.size === 0) return { kind: "refused" };
  const most = Math.max(...votes.values());
  const leading = [...votes].filter(([, count]) => count === most);
  return leading.length === 1 ? { kind: "label", label: leading[0][0] } : { kind: "disputed" };
};

/** What a state begins with. */
export interface PoolStart {
  /** How many items there are, erased ones included. */
  readonly items: number;
  /** Whether an item may be asked for: not erased, and without a label from the start. */
  isInPool(item: number): boolean;
}

export interface PoolState {
  /** The item's events so far; nothing has happened to an item that has none. */
  item(item: number): ItemState | undefined;
  /** Items that something has happened to. */
  touched(): Iterable<number>;
  /** Numbers of items that may be asked for in all. */
  readonly size: number;
  readonly items: number;
  /** Whether nobody was asked about it by this time, or in vain, and nobody answered. */
  isOpen(item: number, at: number): boolean;
  openCount(at: number): number;
  /** Questions that wait for an answer at this time. */
  pending(at: number): readonly { readonly item: number; readonly ask: Ask }[];
  /** Items that an annotator was asked about or passed on. */
  seenBy(annotator: string): ReadonlySet<number>;
  /** Items of the pool that somebody answered or refused; and of these the refused ones. */
  readonly answered: ReadonlySet<number>;
  readonly refused: ReadonlySet<number>;
  /** Items on which annotators disagree. */
  readonly disputed: ReadonlySet<number>;
  /** Items that have at least one question or answer, in the order of the first. */
  readonly begun: ReadonlySet<number>;
  /** How many items were asked for so far, each counted once for every time it was asked anew. */
  readonly places: number;
  /** Sequence numbers of events that changed what is known, ascending. */
  readonly changes: readonly number[];
  apply(event: LogEvent): void;
  /** What rankings and estimates start from, by rows of the table; questions that ran out by `at` are left out. */
  soFar(at: number, rowOf: Int32Array): AcquiredSoFar;
}

const newItem = (): MutableItem => ({
  asks: [],
  opinions: new Map(),
  adjudicated: undefined,
  sensitive: undefined,
  skipped: new Set(),
  corrections: 0,
  unasked: false,
});

const NOTHING: ReadonlySet<number> = new Set();

/** The question that an item's first answer answers: the last one to the same annotator before it, else the last one. */
export const answeredAsk = ({ asks, opinions }: ItemState): Ask | undefined => {
  const first = [...opinions.values()].reduce<Opinion | undefined>(
    (least, each) => (least === undefined || each.first < least.first ? each : least),
    undefined,
  );
  const before = asks.filter(({ seq, place }) => place !== undefined && seq < (first?.first ?? Infinity));
  return before.findLast(({ annotator }) => annotator === first?.annotator) ?? before.at(-1);
};

export const createPoolState = ({ items, isInPool }: PoolStart): PoolState => {
  const states = new Map<number, MutableItem>();
  const seen = new Map<string, Set<number>>();
  const disputed = new Set<number>();
  const refused = new Set<number>();
  const begun = new Set<number>();
  /** Items of the pool with a question that nobody has answered. */
  const waiting = new Set<number>();
  /** Items of the pool with an answer. */
  const answered = new Set<number>();
  const changes: number[] = [];
  let places = 0;
  let size = 0;
  for (let item = 0; item < items; item++) if (isInPool(item)) size += 1;

  const stateOf = (item: number): MutableItem => {
    const known = states.get(item) ?? newItem();
    states.set(item, known);
    return known;
  };
  const see = (annotator: string, item: number): void => {
    const own = seen.get(annotator) ?? new Set<number>();
    own.add(item);
    seen.set(annotator, own);
  };
  const hasAnswer = ({ opinions, adjudicated }: MutableItem): boolean =>
    opinions.size > 0 || adjudicated !== undefined;
  const settle = (item: number, own: MutableItem): void => {
    const { kind } = outcomeOf(own);
    if (kind === "disputed") disputed.add(item);
    else disputed.delete(item);
    if (!isInPool(item)) return;
    if (kind === "refused") refused.add(item);
    else refused.delete(item);
    if (hasAnswer(own)) {
      answered.add(item);
      waiting.delete(item);
    } else {
      answered.delete(item);
      if (own.asks.length > 0) waiting.add(item);
    }
  };
  const untilOf = ({ asks, skipped }: MutableItem): number =>
    asks.reduce(
      (latest, { until, annotator }) => (skipped.has(annotator) ? latest : Math.max(latest, until)),
      Number.NEGATIVE_INFINITY,
    );
  const isLive = (item: number, at: number): boolean => {
    const own = states.get(item);
    return own !== undefined && untilOf(own) >= at;
  };

  const takeAnswer = (item: number, { seq }: LogEvent, body: ToldBody): void => {
    const own = stateOf(item);
    const { annotator, label, refused, sensitive, unasked } = body;
    if (sensitive !== undefined) own.sensitive = { ...own.sensitive, ...sensitive };
    if (label !== undefined || refused === true) {
      const before = own.opinions.get(annotator);
      if (before !== undefined && before.label !== label) own.corrections += 1;
      own.opinions.set(annotator, { annotator, label, first: before?.first ?? seq, seq });
      if (unasked === true) own.unasked = true;
      begun.add(item);
    }
    changes.push(seq);
    settle(item, own);
  };

  return {
    item: (item) => states.get(item),
    touched: () => states.keys(),
    get size() {
      return size;
    },
    items,
    isOpen: (item, at) => isInPool(item) && !answered.has(item) && !isLive(item, at),
    openCount(at) {
      let live = 0;
      for (const item of waiting) if (isLive(item, at)) live += 1;
      return size - answered.size - live;
    },
    pending: (at) =>
      [...waiting].flatMap((item) =>
        (states.get(item)?.asks ?? [])
          .filter(({ until, annotator }) => until >= at && !states.get(item)?.skipped.has(annotator))
          .slice(-1)
          .map((ask) => ({ item, ask })),
      ),
    seenBy: (annotator) => seen.get(annotator) ?? NOTHING,
    answered,
    refused,
    disputed,
    begun,
    get places() {
      return places;
    },
    changes,
    apply(event) {
      const { kind, subject, body } = event;
      // Erased: nothing is known of it any more.
      if (body === null || subject === null) return;
      const item = Number(subject);
      if (kind === "asked") {
        const asked = JSON.parse(body) as AskedBody;
        const own = stateOf(item);
        own.asks.push({ ...asked, seq: event.seq, at: event.at });
        // Asked once more on purpose.
        own.skipped.delete(asked.annotator);
        see(asked.annotator, item);
        begun.add(item);
        if (asked.place !== undefined) places = Math.max(places, asked.place + 1);
        settle(item, own);
      } else if (kind === "told" || kind === "corrected") {
        takeAnswer(item, event, JSON.parse(body) as ToldBody);
      } else if (kind === "skipped") {
        const { annotator } = JSON.parse(body) as AnnotatorBody;
        stateOf(item).skipped.add(annotator);
        see(annotator, item);
      } else if (kind === "retracted") {
        const own = stateOf(item);
        own.opinions.delete((JSON.parse(body) as AnnotatorBody).annotator);
        changes.push(event.seq);
        settle(item, own);
      } else if (kind === "adjudicated") {
        const own = stateOf(item);
        own.adjudicated = (JSON.parse(body) as AdjudicatedBody).label;
        changes.push(event.seq);
        settle(item, own);
      }
    },
    soFar(at, rowOf) {
      const asked: (RecordedRow & { readonly place: number })[] = [];
      const told: AcquiredSoFar["told"][number][] = [];
      for (const item of [...states.keys()].sort((a, b) => a - b)) {
        const own = states.get(item);
        const row = rowOf[item];
        if (own === undefined || row < 0) continue;
        const ask = hasAnswer(own) ? answeredAsk(own) : isLive(item, at) ? own.asks.at(-1) : undefined;
        if (ask?.place !== undefined) asked.push(recordedRow(ask, ask.place, row));
        const outcome = outcomeOf(own);
        const label =
          outcome.kind === "label" ? outcome.label : outcome.kind === "refused" ? "refused" : undefined;
        if (label !== undefined || own.sensitive !== undefined) {
          told.push({ row, label, sensitive: own.sensitive });
        }
      }
      return { asked: asked.sort((a, b) => a.place - b.place), told };
    },
  };
};

const recordedRow = (ask: Ask, place: number, row: number): RecordedRow & { readonly place: number } => ({
  row,
  place,
  rank: place + 1,
  score: ask.score ?? 0,
  target: ask.target ?? 0,
  leakage: ask.leakage ?? 0,
  cost: ask.cost ?? 0,
  ...(ask.drawn === undefined ? {} : { drawn: ask.drawn }),
  ...(ask.probability === undefined ? {} : { probability: ask.probability }),
  ...(ask.group === undefined ? {} : { group: ask.group }),
  ...(ask.basis === undefined ? {} : { ranking: ask.basis }),
  ...(ask.parity === undefined ? {} : { parity: ask.parity }),
  ...(ask.leastLeakage === undefined ? {} : { leastLeakage: ask.leastLeakage }),
});
