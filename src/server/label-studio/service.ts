/** All that a server does for campaigns in Label Studio: their inboxes, their connections, and a loop for each. */
import { FairbedError } from "../../core/errors.js";
import type { OpenCampaigns } from "../open-campaigns.js";
import type { Pause } from "../pause.js";
import {
  CONNECTION_DEFAULTS,
  connectedCampaigns,
  deleteConnection,
  type LabelStudioConnection,
  type ShownConnection,
  storeConnection,
  storedConnection,
  withoutToken,
} from "./connection.js";
import { deadLetters, dropDeadLetters, dropLettersWithout } from "./dead-letters.js";
import { type InboxCounts, type InboxReading, type LabelStudioInbox, labelStudioInbox } from "./inbox.js";
import { labelStudioClient } from "./label-studio-client.js";
import { labelStudioSync, type SyncRound } from "./sync.js";

/** A connection and how it goes; without the token. */
export interface ConnectionStatus extends ShownConnection {
  /** What webhooks brought since the server began. */
  readonly webhooks: InboxCounts;
  /** Webhooks that are not worked off yet, and those that could not be understood. */
  readonly waiting: number;
  readonly deadLetters: number;
  readonly lastRound: SyncRound | null;
  /** What went wrong in the last round, in a sentence. */
  readonly trouble: string | null;
}

export interface LabelStudioService {
  readonly inbox: LabelStudioInbox;
  readingOf(campaign: string): Promise<InboxReading>;
  /** Works off what a crash has left, and goes on with all connections. */
  start(): Promise<void>;
  connect(campaign: string, connection: LabelStudioConnection): Promise<void>;
  disconnect(campaign: string): Promise<void>;
  /** Lets go of all that is left of a campaign that was deleted. */
  forget(campaign: string): Promise<void>;
  status(campaign: string): Promise<ConnectionStatus | undefined>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly campaigns: OpenCampaigns;
  readonly clock?: (() => number) | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly pause?: Pause | undefined;
}

interface Loop {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  lastRound: SyncRound | null;
  trouble: string | null;
}

const OTHER_TROUBLE = "the round failed, and the next one is tried";

export const labelStudioService = ({
  campaigns,
  clock,
  fetch,
  pause,
}: ServiceOptions): LabelStudioService => {
  const { store } = campaigns;
  const loops = new Map<string, Loop>();
  const readingOf = async (campaign: string): Promise<InboxReading> =>
    (await storedConnection(store, campaign)) ?? CONNECTION_DEFAULTS;
  const inbox = labelStudioInbox({ store, open: campaigns.get, readingOf, clock, pause });

  const stop = async (campaign: string): Promise<void> => {
    const loop = loops.get(campaign);
    loops.delete(campaign);
    loop?.stop.abort();
    await loop?.done;
  };
  const begin = (name: string, connection: LabelStudioConnection): void => {
    const stopping = new AbortController();
    const run = async (): Promise<void> => {
      const campaign = await campaigns.get(name);
      await labelStudioSync({
        campaign,
        client: labelStudioClient(connection, { fetch, pause }),
        batch: connection.batch,
        intervalSeconds: connection.intervalSeconds,
        signal: stopping.signal,
        clock,
        pause,
        onRound: (round) => {
          loop.lastRound = round;
          loop.trouble = null;
        },
        onTrouble: (error) => {
          // Another process has deleted it.
          if (error instanceof FairbedError && error.code === "no-campaign") stopping.abort();
          loop.trouble = error instanceof FairbedError ? error.message : OTHER_TROUBLE;
        },
      });
    };
    const loop: Loop = {
      stop: stopping,
      lastRound: null,
      trouble: null,
      done: Promise.resolve()
        .then(run)
        .catch((error: unknown) => {
          loop.trouble = error instanceof FairbedError ? error.message : OTHER_TROUBLE;
        }),
    };
    loops.set(name, loop);
  };
  return {
    inbox,
    readingOf,
    async start() {
      const names = new Set((await store.list()).map(({ name }) => name));
      for (const name of await connectedCampaigns(store)) {
        const connection = names.has(name) ? await storedConnection(store, name) : undefined;
        if (connection !== undefined && !loops.has(name)) begin(name, connection);
      }
      await dropLettersWithout(store, names);
      await inbox.wake();
    },
    async connect(campaign, connection) {
      await campaigns.get(campaign);
      const stored = await storeConnection(store, campaign, connection);
      await stop(campaign);
      begin(campaign, stored);
    },
    async disconnect(campaign) {
      await stop(campaign);
      await deleteConnection(store, campaign);
      await dropDeadLetters(store, campaign);
    },
    async forget(campaign) {
      await stop(campaign);
      await inbox.forget(campaign);
      await dropDeadLetters(store, campaign);
    },
    async status(campaign) {
      const connection = await storedConnection(store, campaign);
      if (connection === undefined) return undefined;
      return {
        ...withoutToken(connection),
        webhooks: inbox.counts(campaign),
        waiting: await inbox.waiting(campaign),
        deadLetters: (await deadLetters(store, campaign)).length,
        lastRound: loops.get(campaign)?.lastRound ?? null,
        trouble: loops.get(campaign)?.trouble ?? null,
      };
    },
    async close() {
      await Promise.all([...loops.keys()].map(stop));
      await inbox.close();
    },
  };
};
