/**
 * Writing to a campaign's log: whatever wants to write at the same time goes into one transaction, so that two hundred
 * people wait for one flush of the disk and not for two hundred. Nothing is acknowledged before it is stored.
 */
import { sealEvent } from "./chain.js";
import type { EventDraft, LogEvent } from "./events.js";
import { type LoadedCampaign, StateIsStale } from "./loaded-campaign.js";
import type { CampaignStore, LogChange } from "./store.js";

/** What a decision may do, under the campaign's lock. */
export interface Writing {
  /** The state up to the last event, those of decisions before this one included. */
  readonly now: LoadedCampaign;
  /** The time of whatever is written, in milliseconds since 1970. */
  readonly at: number;
  write(draft: EventDraft): LogEvent;
}

export interface LogWriter {
  /** The state as far as it is known here. */
  readonly now: LoadedCampaign;
  /** Decides under the lock. It must check what it was given before it writes: it writes all or throws. */
  commit<Result>(decide: (writing: Writing) => Result): Promise<Result>;
  /** The same alone in its transaction, with somebody's earlier events erased. */
  commitErasure<Result>(
    decide: (writing: Writing) => { readonly result: Result; readonly erase: LogChange["erase"] },
  ): Promise<Result>;
  /** Takes in what others wrote. */
  sync(): Promise<void>;
}

interface Waiting {
  readonly decide: (writing: Writing) => { readonly result: unknown; readonly erase?: LogChange["erase"] };
  readonly alone: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** At most so many decisions in one transaction: an answer is not kept waiting for thousands of others. */
const MOST_AT_ONCE = 256;
/** So often the state is loaded again within one commit before it counts as a fault. */
const TRIES = 5;
/** Events that are read at once. */
const PAGE = 5000;

export interface LogWriterOptions {
  readonly store: CampaignStore;
  readonly name: string;
  /** The campaign up to its first event. */
  readonly load: () => Promise<LoadedCampaign>;
  readonly clock: () => number;
  /** Called after events were taken in, whoever wrote them. */
  readonly onEvents: (events: readonly LogEvent[]) => void;
}

export const createLogWriter = async (options: LogWriterOptions): Promise<LogWriter> => {
  const { store, name, load, clock, onEvents } = options;
  let now = await load();
  /** The state holds what was never stored, or lacks what was erased. */
  let stale = false;
  const waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;

  const takeIn = (events: readonly LogEvent[]): void => {
    for (const event of events) {
      if (event.kind === "withdrawn") throw new StateIsStale();
      now.apply(event);
    }
  };
  const readOn = async (): Promise<void> => {
    for (;;) {
      const events = await store.read(name, now.head.seq, PAGE);
      for (const event of events) now.apply(event);
      if (events.length < PAGE) return;
    }
  };
  const reload = async (): Promise<void> => {
    const before = now.head.seq;
    now = await load();
    await readOn();
    stale = false;
    onEvents(await store.read(name, Math.min(before, now.head.seq)));
  };
  await readOn();

  const flush = async (given: readonly Waiting[]): Promise<void> => {
    let batch = given;
    for (let tries = 1; ; tries++) {
      if (stale) await reload();
      let settle: (() => void)[] = [];
      const spoilt: { by?: Waiting; error?: unknown } = {};
      let taken: LogEvent[] = [];
      try {
        await store.transact(name, now.head.seq, ({ head, news }) => {
          // Called once more by the store: what the first call decided was not written.
          if (stale) throw new StateIsStale();
          takeIn(news);
          taken = [...news];
          if (now.head.hash !== head.hash) throw new StateIsStale();
          const at = Math.max(head.at, Math.trunc(clock()));
          const append: LogEvent[] = [];
          let erase: LogChange["erase"];
          settle = batch.map((each) => {
            const { decide, resolve, reject } = each;
            const before = append.length;
            try {
              const decided = decide({
                now,
                at,
                write(draft) {
                  stale = true;
                  const event = sealEvent(now.head, draft, at);
                  now.apply(event);
                  append.push(event);
                  return event;
                },
              });
              erase ??= decided.erase;
              return () => resolve(decided.result);
            } catch (error) {
              if (append.length === before) return () => reject(error);
              // It had written before it failed: all is decided again without it.
              Object.assign(spoilt, { by: each, error });
              throw new StateIsStale();
            }
          });
          taken.push(...append);
          return { append, erase };
        });
        // What was erased is still in memory.
        stale = batch.some(({ alone }) => alone) && taken.length > 0;
        if (taken.length > 0) onEvents(taken);
        for (const each of settle) each();
        return;
      } catch (error) {
        if (spoilt.by !== undefined) {
          spoilt.by.reject(spoilt.error);
          batch = batch.filter((each) => each !== spoilt.by);
          stale = true;
          tries -= 1;
          if (batch.length === 0) return;
          continue;
        }
        if (error instanceof StateIsStale && tries < TRIES) {
          stale = true;
          continue;
        }
        stale = true;
        throw error;
      }
    }
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const first = waiting[0];
      const count = first.alone ? 1 : waiting.findIndex(({ alone }, i) => alone || i >= MOST_AT_ONCE);
      const batch = waiting.splice(0, count < 0 ? waiting.length : count);
      try {
        await flush(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  };

  const begin = (): void => {
    flushing ??= Promise.resolve()
      .then(run)
      .finally(() => {
        flushing = undefined;
        if (waiting.length > 0) begin();
      });
  };

  const enqueue = (decide: Waiting["decide"], alone: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.push({ decide, alone, resolve, reject });
      begin();
    });

  return {
    get now() {
      return now;
    },
    commit: <Result>(decide: (writing: Writing) => Result) =>
      enqueue((writing) => ({ result: decide(writing) }), false) as Promise<Result>,
    commitErasure: <Result>(
      decide: (writing: Writing) => { readonly result: Result; readonly erase: LogChange["erase"] },
    ) => enqueue(decide, true) as Promise<Result>,
    async sync() {
      // What is being written takes in what came before it.
      if (flushing !== undefined) {
        await flushing;
        if (!stale) return;
      }
      if (stale) return reload();
      const [last, ...events] = await store.read(name, now.head.seq - 1);
      if (flushing !== undefined) return flushing;
      // Deleted since, and created or restored under the same name.
      if (last?.hash !== now.head.hash) return reload();
      if (events.some(({ kind }) => kind === "withdrawn")) return reload();
      const own = events.filter(({ seq }) => seq > now.head.seq);
      for (const event of own) now.apply(event);
      if (own.length > 0) onEvents(own);
    },
  };
};
