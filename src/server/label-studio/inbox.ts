/**
 * Webhooks of Label Studio: it waits a second for an answer and never tries again, so that what comes is stored, answered,
 * and only then worked off, one after the other in the order in which it came. What a crash interrupts is worked off
 * after the next start; taken in twice, it counts once.
 */
import { randomBytes } from "node:crypto";
import type { Campaign } from "../../campaign/campaign.js";
import type { CampaignStore, StoredDocument } from "../../campaign/store.js";
import { InputError } from "../../core/errors.js";
import { backOff, type Pause, pause as pauseFor } from "../pause.js";
import { type Applied, applyAnnotation, knownAnnotations, retractAnnotation } from "./annotation-log.js";
import type { TaskReading } from "./connection.js";
import { dropLettersOfWithdrawn, keepDeadLetter } from "./dead-letters.js";
import { type LabelStudioNews, newsIn } from "./payload.js";

const KIND = "label-studio-inbox";
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** How a campaign reads what comes, and of which project. */
export interface InboxReading extends TaskReading {
  /** Any where none is given. */
  readonly project?: number | undefined;
}

/** Since this process began; annotations, not webhooks. */
export type InboxCounts = Readonly<Record<Applied | "notUnderstood", number>>;

export interface LabelStudioInbox {
  /** Stores what came; resolves once it is safe. Working it off begins by itself. */
  accept(campaign: string, payload: string): Promise<void>;
  /** Begins to work off what is stored, of one campaign or of all. */
  wake(campaign?: string): Promise<void>;
  /** Resolves once nothing is left that can be worked off now. */
  settle(): Promise<void>;
  counts(campaign: string): InboxCounts;
  waiting(campaign: string): Promise<number>;
  /** Lets go of what came for a campaign that was deleted. */
  forget(campaign: string): Promise<void>;
  close(): Promise<void>;
}

export interface InboxOptions {
  readonly store: CampaignStore;
  readonly open: (campaign: string) => Promise<Campaign>;
  readonly readingOf: (campaign: string) => Promise<InboxReading>;
  readonly clock?: (() => number) | undefined;
  readonly pause?: Pause | undefined;
}

export const inboxTexts = {
  otherProject: "it is about another project than the one that the campaign is connected to",
};

const NONE: InboxCounts = {
  told: 0,
  corrected: 0,
  skipped: 0,
  retracted: 0,
  unchanged: 0,
  unknown: 0,
  notUnderstood: 0,
};

const campaignOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** Takes one payload in; throws where not all of it could be. */
const takeIn = async (
  campaign: Campaign,
  payload: string,
  reading: InboxReading,
  count: (applied: Applied) => void,
): Promise<void> => {
  const news: LabelStudioNews = newsIn(payload, reading);
  if (news.kind === "nothing") return;
  const project = news.project ?? String(reading.project ?? 0);
  if (reading.project !== undefined && project !== String(reading.project)) {
    throw new InputError("project", inboxTexts.otherProject);
  }
  let failure: unknown;
  if (news.kind === "annotated") {
    for (const fact of news.facts) {
      try {
        count(await applyAnnotation(campaign, project, fact));
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return;
  }
  const gone = new Set(news.ids);
  for (const known of knownAnnotations(campaign.now, project).values()) {
    if (!gone.has(news.kind === "tasks-deleted" ? known.task : known.annotation)) continue;
    count(await retractAnnotation(campaign, project, known));
  }
};

export const labelStudioInbox = (options: InboxOptions): LabelStudioInbox => {
  const { store, open, readingOf, clock = Date.now, pause = pauseFor } = options;
  const counts = new Map<string, Record<keyof InboxCounts, number>>();
  const running = new Map<string, Promise<void>>();
  /** Those that something came for while they were being worked off. */
  const again = new Set<string>();
  const watched = new WeakSet<Campaign>();
  const closing = new AbortController();
  let arrivals = 0;

  const countsOf = (campaign: string): Record<keyof InboxCounts, number> => {
    const own = counts.get(campaign) ?? { ...NONE };
    counts.set(campaign, own);
    return own;
  };
  const watch = (campaign: Campaign): void => {
    if (watched.has(campaign)) return;
    watched.add(campaign);
    campaign.listen((news) => {
      if (news.type !== "event" || news.kind !== "withdrawn") return;
      // Once the campaign has forgotten them itself.
      void campaign
        .sync()
        .then(async () => dropLettersOfWithdrawn(campaign, await readingOf(campaign.name)))
        .catch(() => {});
    });
  };
  const handle = async ({ key, body }: StoredDocument, campaign: Campaign, reading: InboxReading) => {
    const own = countsOf(campaign.name);
    try {
      await takeIn(campaign, body, reading, (applied) => {
        own[applied] += 1;
      });
    } catch (error) {
      // Anything else passes: the store is away, say.
      if (!(error instanceof InputError)) throw error;
      own.notUnderstood += 1;
      const id = key.slice(campaign.name.length + 1);
      await keepDeadLetter(store, campaign.name, id, { reason: error.message, at: clock(), payload: body });
    }
    await store.deleteDocument(KIND, key);
  };
  const isGone = async (name: string): Promise<boolean> =>
    (await store.list()).every((stored) => stored.name !== name);
  const workOff = async (name: string): Promise<void> => {
    const documents = await store.listDocuments(KIND, `${name}/`);
    if (documents.length === 0) return;
    if (await isGone(name)) {
      for (const { key } of documents) await store.deleteDocument(KIND, key);
      return;
    }
    const campaign = await open(name);
    watch(campaign);
    await campaign.sync();
    const reading = await readingOf(name);
    for (const document of documents) {
      if (closing.signal.aborted) return;
      await handle(document, campaign, reading);
    }
  };
  const run = async (name: string): Promise<void> => {
    for (let failures = 0; !closing.signal.aborted; ) {
      again.delete(name);
      try {
        await workOff(name);
        failures = 0;
        if (!again.has(name)) return;
      } catch {
        failures += 1;
        await pause(backOff(failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS), closing.signal);
      }
    }
  };
  const begin = (name: string): void => {
    again.add(name);
    if (running.has(name)) return;
    const work = run(name).finally(() => {
      running.delete(name);
      if (again.has(name) && !closing.signal.aborted) begin(name);
    });
    running.set(name, work);
  };
  return {
    async accept(campaign, payload) {
      arrivals += 1;
      const order = `${String(clock()).padStart(15, "0")}-${String(arrivals).padStart(9, "0")}`;
      const key = `${campaign}/${order}-${randomBytes(6).toString("hex")}`;
      await store.putDocument(KIND, key, payload);
      if (!closing.signal.aborted) begin(campaign);
    },
    async wake(campaign) {
      if (campaign !== undefined) return begin(campaign);
      const names = new Set((await store.listDocuments(KIND)).map(({ key }) => campaignOf(key)));
      for (const name of names) begin(name);
    },
    async settle() {
      while (running.size > 0) await Promise.all(running.values());
    },
    counts: (campaign) => ({ ...countsOf(campaign) }),
    waiting: async (campaign) => (await store.listDocuments(KIND, `${campaign}/`)).length,
    async forget(campaign) {
      counts.delete(campaign);
      for (const { key } of await store.listDocuments(KIND, `${campaign}/`))
        await store.deleteDocument(KIND, key);
    },
    async close() {
      closing.abort();
      await Promise.all(running.values());
    },
  };
};
