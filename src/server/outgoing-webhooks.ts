/**
 * Webhooks to others: whoever is registered is told that something happened in a campaign, and nothing of anybody.
 *
 * Deliveries follow the log, from a place that is stored: at least once, in their order, one at a time for each webhook,
 * across restarts. A webhook that fails for days is given up: it keeps its place, and goes on from there once it is
 * resumed. Two processes that serve one store each deliver; a receiver tells repeats by `fairbed-delivery`.
 */
import { randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { EVENT_KINDS, type EventKind, type LogEvent } from "../campaign/events.js";
import { InputError } from "../core/errors.js";
import type { OpenCampaigns } from "./open-campaigns.js";
import { backOff, type Pause, pause as pauseFor } from "./pause.js";
import { requireWebAddress } from "./web-address.js";
import { DELIVERY_HEADER, SIGNATURE_HEADER, signWebhook } from "./webhook-signature.js";

/** What an administrator registers. */
export const webhookSchema = z.strictObject({
  url: z.string().max(2048),
  /** Deliveries are signed with it. */
  secret: z.string().min(16).max(200),
  /** Which kinds of events; all unless given. */
  events: z.array(z.enum(EVENT_KINDS)).min(1).optional(),
});
export type WebhookChoice = z.output<typeof webhookSchema>;

const registeredSchema = z.object({
  id: z.string(),
  url: z.string(),
  secret: z.string(),
  events: z.array(z.enum(EVENT_KINDS)),
  createdAt: z.string(),
  /** The event that was the last one when it was registered. */
  from: z.int(),
});
type Registered = z.output<typeof registeredSchema>;

const placeSchema = z.object({
  /** The last event that was delivered, or that it did not ask for. */
  seq: z.int(),
  /** Tries of the next one that failed, and since when, in milliseconds since 1970. */
  failures: z.int(),
  failingSince: z.number().nullable(),
  givenUp: z.boolean(),
});
type Place = z.output<typeof placeSchema>;

/** A webhook and how it goes; without the secret. */
export interface WebhookStatus {
  readonly id: string;
  readonly url: string;
  readonly events: readonly EventKind[];
  readonly createdAt: string;
  readonly delivered: number;
  readonly failures: number;
  readonly failingSince: string | null;
  readonly givenUp: boolean;
}

/** What is sent. */
export interface WebhookBody {
  readonly campaign: string;
  readonly seq: number;
  readonly kind: EventKind;
  /** ISO 8601. */
  readonly at: string;
  /** The event's hash in the log, which is salted: it names the event and says nothing of what is in it. */
  readonly event: string;
}

export interface OutgoingWebhooks {
  register(campaign: string, choice: WebhookChoice): Promise<WebhookStatus>;
  list(campaign: string): Promise<readonly WebhookStatus[]>;
  remove(campaign: string, id: string): Promise<void>;
  /** Goes on with one that was given up, from where it stopped. */
  resume(campaign: string, id: string): Promise<WebhookStatus>;
  /** Ends all of a campaign that was deleted. */
  forget(campaign: string): Promise<void>;
  /** Begins to deliver whatever waits. */
  start(): Promise<void>;
  /** Looks for events now. */
  wake(campaign?: string): void;
  close(): Promise<void>;
}

export interface OutgoingOptions {
  readonly campaigns: OpenCampaigns;
  readonly clock?: (() => number) | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly pause?: Pause | undefined;
  /** Days of failures after which a webhook is given up (7). */
  readonly giveUpDays?: number | undefined;
  /** Seconds between two looks at the log: other processes write to it too (10). */
  readonly pollSeconds?: number | undefined;
  /** Milliseconds for one request (10 000). */
  readonly timeoutMs?: number | undefined;
}

export const webhookTexts = {
  unknown: "the campaign has no webhook of that id: the list of its webhooks has the ids",
  many: (most: number) => `the campaign has ${most} webhooks already: remove one first`,
};

const REGISTERED = "webhook";
const PLACE = "webhook-place";
const MOST_PER_CAMPAIGN = 20;
const READ_AT_ONCE = 200;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const webhookBody = (campaign: string, { seq, kind, at, hash }: LogEvent): WebhookBody => ({
  campaign,
  seq,
  kind,
  at: new Date(at).toISOString(),
  event: hash,
});

const placeKey = (campaign: string, id: string): string => `${campaign}/${id}`;

export const outgoingWebhooks = (options: OutgoingOptions): OutgoingWebhooks => {
  const { campaigns, clock = Date.now, fetch: send = fetch, pause = pauseFor } = options;
  const { giveUpDays = 7, pollSeconds = 10, timeoutMs = 10_000 } = options;
  const { store } = campaigns;
  const closing = new AbortController();
  const running = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  /** Ends the wait of all that look at a campaign's log. */
  const wakers = new Map<string, Set<() => void>>();
  /** How often something was new in a campaign: nothing is missed between a look at its log and the wait after it. */
  const newsCounts = new Map<string, number>();
  /** Registrations are changed one after the other. */
  let changing: Promise<unknown> = Promise.resolve();

  const registered = async (campaign: string): Promise<readonly Registered[]> => {
    const body = await store.getDocument(REGISTERED, campaign);
    return body === undefined ? [] : z.array(registeredSchema).parse(JSON.parse(body));
  };
  const change = <Result>(
    campaign: string,
    decide: (own: readonly Registered[]) => { readonly own: readonly Registered[]; readonly result: Result },
  ): Promise<Result> => {
    const next = changing.then(async () => {
      const { own, result } = decide(await registered(campaign));
      if (own.length === 0) await store.deleteDocument(REGISTERED, campaign);
      else await store.putDocument(REGISTERED, campaign, JSON.stringify(own));
      return result;
    });
    changing = next.catch(() => {});
    return next;
  };
  const placeOf = async (campaign: string, { id, from }: Registered): Promise<Place> => {
    const body = await store.getDocument(PLACE, placeKey(campaign, id));
    if (body !== undefined) return placeSchema.parse(JSON.parse(body));
    return { seq: from, failures: 0, failingSince: null, givenUp: false };
  };
  const keepPlace = (campaign: string, id: string, place: Place): Promise<void> =>
    store.putDocument(PLACE, placeKey(campaign, id), JSON.stringify(place));
  const statusOf = async (campaign: string, hook: Registered): Promise<WebhookStatus> => {
    const { seq, failures, failingSince, givenUp } = await placeOf(campaign, hook);
    return {
      id: hook.id,
      url: hook.url,
      events: hook.events,
      createdAt: hook.createdAt,
      delivered: seq,
      failures,
      failingSince: failingSince === null ? null : new Date(failingSince).toISOString(),
      givenUp,
    };
  };

  const deliver = async (campaign: string, hook: Registered, event: LogEvent, signal: AbortSignal) => {
    const body = JSON.stringify(webhookBody(campaign, event));
    try {
      const response = await send(hook.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          [SIGNATURE_HEADER]: signWebhook(hook.secret, Math.floor(clock() / 1000), body),
          [DELIVERY_HEADER]: `${hook.id}-${event.seq}`,
        },
        body,
        redirect: "manual",
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]),
      });
      void response.body?.cancel().catch(() => {});
      return response.ok;
    } catch {
      return false;
    }
  };
  /** Delivers what there is; returns how long to wait before the next try, where one failed. */
  const deliverAll = async (
    campaign: string,
    hook: Registered,
    signal: AbortSignal,
  ): Promise<number | undefined> => {
    let place = await placeOf(campaign, hook);
    if (place.givenUp) return undefined;
    for (;;) {
      const events = await store.read(campaign, place.seq, READ_AT_ONCE);
      if (events.length === 0) return undefined;
      for (const event of events) {
        if (signal.aborted) return undefined;
        const isWanted = hook.events.includes(event.kind);
        if (isWanted && !(await deliver(campaign, hook, event, signal))) {
          if (signal.aborted) return undefined;
          const since = place.failingSince ?? clock();
          const failures = place.failures + 1;
          const givenUp = clock() - since > giveUpDays * DAY_MS;
          await keepPlace(campaign, hook.id, { ...place, failures, failingSince: since, givenUp });
          return givenUp ? undefined : backOff(failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        }
        place = { seq: event.seq, failures: 0, failingSince: null, givenUp: false };
        if (isWanted) await keepPlace(campaign, hook.id, place);
      }
      await keepPlace(campaign, hook.id, place);
    }
  };
  const countOf = (campaign: string): number => newsCounts.get(campaign) ?? 0;
  const news = async (
    campaign: string,
    known: number,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<void> => {
    if (countOf(campaign) > known) return;
    const woken = new AbortController();
    const own = wakers.get(campaign) ?? new Set();
    wakers.set(campaign, own);
    const wake = () => woken.abort();
    own.add(wake);
    return pause(milliseconds, AbortSignal.any([woken.signal, signal])).finally(() => own.delete(wake));
  };
  const follow = async (campaign: string, hook: Registered, signal: AbortSignal): Promise<void> => {
    for (let troubles = 0; !signal.aborted; ) {
      try {
        const known = countOf(campaign);
        const wait = await deliverAll(campaign, hook, signal);
        troubles = 0;
        // New events do not shorten the wait after a failure.
        if (wait === undefined) await news(campaign, known, 1000 * pollSeconds, signal);
        else await pause(wait, signal);
      } catch (error) {
        if (error instanceof InputError && error.code === "no-campaign") return;
        troubles += 1;
        await pause(backOff(troubles, FIRST_PAUSE_MS, 60_000), signal);
      }
    }
  };
  const begin = (campaign: string, hook: Registered): void => {
    const key = placeKey(campaign, hook.id);
    if (running.has(key) || closing.signal.aborted) return;
    const stop = new AbortController();
    const done = follow(campaign, hook, AbortSignal.any([stop.signal, closing.signal])).finally(() =>
      running.delete(key),
    );
    running.set(key, { stop, done });
  };
  const end = async (campaign: string, id: string): Promise<void> => {
    const own = running.get(placeKey(campaign, id));
    own?.stop.abort();
    await own?.done;
  };
  const wake = (campaign?: string): void => {
    const names = campaign === undefined ? [...wakers.keys()] : [campaign];
    for (const name of names) for (const each of [...(wakers.get(name) ?? [])]) each();
  };
  const find = async (campaign: string, id: string): Promise<Registered> => {
    const hook = (await registered(campaign)).find((each) => each.id === id);
    if (hook === undefined) throw new InputError("no-webhook", webhookTexts.unknown);
    return hook;
  };
  const watch = (campaign: { readonly name: string; listen(listener: () => void): unknown }): void => {
    campaign.listen(() => {
      newsCounts.set(campaign.name, countOf(campaign.name) + 1);
      wake(campaign.name);
    });
  };

  return {
    async register(name, choice) {
      const campaign = await campaigns.get(name);
      await campaign.sync();
      const hook: Registered = {
        id: randomBytes(8).toString("hex"),
        url: requireWebAddress(choice.url),
        secret: choice.secret,
        events: [...new Set(choice.events ?? EVENT_KINDS)],
        createdAt: new Date(clock()).toISOString(),
        from: campaign.head.seq,
      };
      await change(name, (own) => {
        if (own.length >= MOST_PER_CAMPAIGN) {
          throw new InputError("webhooks", webhookTexts.many(MOST_PER_CAMPAIGN));
        }
        return { own: [...own, hook], result: undefined };
      });
      begin(name, hook);
      return statusOf(name, hook);
    },
    list: async (campaign) =>
      Promise.all((await registered(campaign)).map((hook) => statusOf(campaign, hook))),
    async remove(campaign, id) {
      await find(campaign, id);
      await change(campaign, (own) => ({ own: own.filter((each) => each.id !== id), result: undefined }));
      await end(campaign, id);
      await store.deleteDocument(PLACE, placeKey(campaign, id));
    },
    async resume(campaign, id) {
      const hook = await find(campaign, id);
      await end(campaign, id);
      const { seq } = await placeOf(campaign, hook);
      await keepPlace(campaign, id, { seq, failures: 0, failingSince: null, givenUp: false });
      begin(campaign, hook);
      return statusOf(campaign, hook);
    },
    async forget(campaign) {
      const prefix = `${campaign}/`;
      const ids = [...running.keys()].filter((key) => key.startsWith(prefix));
      await Promise.all(ids.map((key) => end(campaign, key.slice(prefix.length))));
      for (const { key } of await store.listDocuments(PLACE, prefix)) await store.deleteDocument(PLACE, key);
    },
    async start() {
      campaigns.onOpen(watch);
      for (const campaign of campaigns.opened()) watch(campaign);
      const names = new Set((await store.list()).map(({ name }) => name));
      const live = new Set<string>();
      for (const name of names) {
        for (const hook of await registered(name)) {
          live.add(placeKey(name, hook.id));
          begin(name, hook);
        }
      }
      // Of campaigns and webhooks that are gone.
      for (const { key } of await store.listDocuments(PLACE)) {
        if (!live.has(key)) await store.deleteDocument(PLACE, key);
      }
    },
    wake,
    async close() {
      closing.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
};
