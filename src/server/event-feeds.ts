/**
 * What happens in campaigns, as it happens: kinds and numbers of events, new rankings, how far long computations are.
 * Never what an event says. What other processes write is looked for every few seconds while somebody listens.
 */
import type { Campaign, CampaignNews } from "../campaign/campaign.js";
import type { Progress } from "../core/options.js";
import type { Principal } from "./authentication.js";
import type { OpenCampaigns } from "./open-campaigns.js";

export interface FeedMessage {
  readonly event: "ready" | "event" | "ranking" | "progress" | "end";
  /** The number of an event of the log: a listener that comes back names the last one that it has. */
  readonly id?: string | undefined;
  readonly data: Readonly<Record<string, string | number | null>>;
}

export interface FeedOptions {
  /** Milliseconds between two looks at what others wrote, and between two signs of life. */
  readonly pollMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  /** Ends all feeds. */
  readonly closing?: AbortSignal | undefined;
}

/** Where a feed is written to. */
export interface FeedWriter {
  send(message: FeedMessage): Promise<void>;
  heartbeat(): Promise<void>;
}

export interface EventFeeds {
  /** How many are followed now. */
  readonly count: () => number;
  progress(campaign: string, computation: string, progress: Progress): void;
  /** Resolves once it is over: the listener has gone, the campaign is deleted, the token ends or the server does. */
  follow(
    campaign: Campaign,
    principal: Principal,
    options: { readonly after: number | undefined; readonly left: AbortSignal },
    writer: FeedWriter,
  ): Promise<void>;
}

/** A listener that is so far behind is better off coming back. */
const MOST_WAITING = 10_000;
/** Events that are read at once for one that comes back. */
const PAGE = 1000;

const messageOf = (news: CampaignNews): FeedMessage =>
  news.type === "event"
    ? { event: "event", id: String(news.seq), data: { seq: news.seq, kind: news.kind, at: news.at } }
    : { event: "ranking", data: { basis: news.basis } };

export const eventFeeds = (
  campaigns: OpenCampaigns,
  { pollMs = 2000, heartbeatMs = 15_000, closing }: FeedOptions = {},
): EventFeeds => {
  const progressListeners = new Map<string, Set<(message: FeedMessage) => void>>();
  let count = 0;

  const follow: EventFeeds["follow"] = async (campaign, principal, { after, left }, writer) => {
    const { name, store } = campaign;
    const queue: FeedMessage[] = [];
    let over = false;
    let wake = (): void => {};
    const push = (message: FeedMessage): void => {
      queue.push(message);
      if (queue.length > MOST_WAITING) over = true;
      wake();
    };
    const end = (): void => {
      over = true;
      wake();
    };
    const waitForNews = (): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve;
        if (over || queue.length > 0) resolve();
      });
    const poll = async (): Promise<void> => {
      // Where the store does not answer, it may do so the next time.
      await campaigns.now(name).catch(() => {});
      // Deleted, or another one of the same name.
      if (!campaigns.opened().includes(campaign)) end();
    };
    const beat = async (): Promise<void> => {
      if (!(await principal.isValid().catch(() => true))) end();
      else await writer.heartbeat();
    };

    const stop = campaign.listen((news) => push(messageOf(news)));
    const own = progressListeners.get(name) ?? new Set();
    progressListeners.set(name, own.add(push));
    const timers = [setInterval(() => void poll(), pollMs), setInterval(() => void beat(), heartbeatMs)];
    for (const timer of timers) timer.unref();
    left.addEventListener("abort", end, { once: true });
    closing?.addEventListener("abort", end, { once: true });
    if (left.aborted || closing?.aborted === true) end();
    count += 1;
    try {
      const { seq } = campaign.head;
      await writer.send({ event: "ready", data: { seq } });
      let last = after ?? seq;
      while (last < seq && !over) {
        const events = await store.read(name, last, PAGE);
        for (const event of events) await writer.send(messageOf({ type: "event", ...event }));
        if (events.length === 0) break;
        last = events[events.length - 1].seq;
      }
      while (!over) {
        for (const message of queue.splice(0)) {
          const place = Number(message.id ?? Number.POSITIVE_INFINITY);
          // Sent already, by what was read.
          if (place <= last) continue;
          if (message.id !== undefined) last = place;
          await writer.send(message);
        }
        await waitForNews();
      }
      if (!left.aborted) await writer.send({ event: "end", data: {} });
    } finally {
      count -= 1;
      stop();
      own.delete(push);
      if (own.size === 0) progressListeners.delete(name);
      for (const timer of timers) clearInterval(timer);
      left.removeEventListener("abort", end);
      closing?.removeEventListener("abort", end);
    }
  };

  return {
    count: () => count,
    progress(campaign, computation, { done, total, label = null }) {
      for (const listener of progressListeners.get(campaign) ?? []) {
        listener({ event: "progress", data: { computation, done, total, label } });
      }
    },
    follow,
  };
};
