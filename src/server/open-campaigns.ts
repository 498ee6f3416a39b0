/** The campaigns of a store that this process has open, each with a thread for its models. */
import { Campaign, type DesignCampaign, type PoolCampaign } from "../campaign/campaign.js";
import type { PoolModels } from "../campaign/ranking-schedule.js";
import type { CampaignStore, StoredCampaign } from "../campaign/store.js";
import { InputError } from "../core/errors.js";
import { modelThread } from "../jobs/model-thread.js";

export interface OpenCampaigns {
  readonly store: CampaignStore;
  list(): Promise<readonly StoredCampaign[]>;
  /** Opened once, however many ask for it; throws where there is none of the name. */
  get(name: string): Promise<Campaign>;
  /** The same with all that other processes have written by now. */
  now(name: string): Promise<Campaign>;
  create(name: string, given: PoolCampaign | DesignCampaign): Promise<Campaign>;
  delete(name: string): Promise<void>;
  /** Those that are open now. */
  opened(): readonly Campaign[];
  /** Called with every campaign as it is opened. */
  onOpen(listener: (campaign: Campaign) => void): void;
  /** Called with the name of every campaign that is deleted here, and waited for. */
  onDelete(listener: (name: string) => Promise<void>): void;
  /** Models of their own, for a computation beside the campaign's. */
  models(): PoolModels;
  /** Called with the seconds that a ranking took. */
  onRanked(listener: (seconds: number) => void): void;
  close(): Promise<void>;
}

export interface OpenCampaignsOptions {
  readonly clock?: (() => number) | undefined;
  /** Where models are fitted: a thread for each campaign unless given. */
  readonly models?: (() => PoolModels) | undefined;
}

const isUnknown = (error: unknown): boolean => error instanceof InputError && error.code === "no-campaign";

export const openCampaigns = (
  store: CampaignStore,
  { clock, models = modelThread }: OpenCampaignsOptions = {},
): OpenCampaigns => {
  const opening = new Map<string, Promise<Campaign>>();
  const opened = new Map<string, Campaign>();
  const listeners: ((campaign: Campaign) => void)[] = [];
  const deleteListeners: ((name: string) => Promise<void>)[] = [];
  const rankListeners: ((seconds: number) => void)[] = [];
  const timedModels = (): PoolModels => {
    const own = models();
    return {
      ...own,
      async rank(...given) {
        const start = performance.now();
        const ranking = await own.rank(...given);
        for (const listener of rankListeners) listener((performance.now() - start) / 1000);
        return ranking;
      },
    };
  };
  const keep = (name: string, promise: Promise<Campaign>): Promise<Campaign> => {
    opening.set(name, promise);
    promise.then(
      (campaign) => {
        opened.set(name, campaign);
        for (const listener of listeners) listener(campaign);
      },
      () => opening.delete(name),
    );
    return promise;
  };
  const forget = async (name: string): Promise<void> => {
    const campaign = await opening.get(name)?.catch(() => undefined);
    opening.delete(name);
    opened.delete(name);
    await campaign?.close();
  };
  const get = (name: string): Promise<Campaign> =>
    opening.get(name) ?? keep(name, Campaign.open(store, name, { models: timedModels(), clock }));
  return {
    store,
    list: () => store.list(),
    get,
    async now(name) {
      const campaign = await get(name);
      try {
        await campaign.sync();
      } catch (error) {
        // Another process has deleted it.
        if (isUnknown(error)) await forget(name);
        throw error;
      }
      return campaign;
    },
    // Not kept before it is there: two who create the same name are told apart by the store.
    async create(name, given) {
      const campaign = await Campaign.create(store, name, given, { models: timedModels(), clock });
      // One of the same name may have been open that another process has deleted since.
      await forget(name);
      return keep(name, Promise.resolve(campaign));
    },
    async delete(name) {
      await store.delete(name);
      await forget(name);
      await Promise.all(deleteListeners.map((listener) => listener(name)));
    },
    opened: () => [...opened.values()],
    onOpen: (listener) => {
      listeners.push(listener);
    },
    onDelete: (listener) => {
      deleteListeners.push(listener);
    },
    models,
    onRanked: (listener) => {
      rankListeners.push(listener);
    },
    async close() {
      await Promise.all([...opening.keys()].map(forget));
    },
  };
};
