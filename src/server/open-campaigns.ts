/** The campaigns of a store that this process has open, each with a thread for its models. */
import { Campaign, type DesignCampaign, type PoolCampaign } from "../campaign/campaign.js";
import type { CampaignStore, StoredCampaign } from "../campaign/store.js";
import { modelThread } from "../jobs/model-thread.js";

export interface OpenCampaigns {
  readonly store: CampaignStore;
  list(): Promise<readonly StoredCampaign[]>;
  /** Opened once, however many ask for it; throws where there is none of the name. */
  get(name: string): Promise<Campaign>;
  create(name: string, given: PoolCampaign | DesignCampaign): Promise<Campaign>;
  delete(name: string): Promise<void>;
  /** Those that are open now. */
  opened(): readonly Campaign[];
  /** Called with every campaign as it is opened. */
  onOpen(listener: (campaign: Campaign) => void): void;
  close(): Promise<void>;
}

export const openCampaigns = (
  store: CampaignStore,
  { clock }: { readonly clock?: (() => number) | undefined } = {},
): OpenCampaigns => {
  const opening = new Map<string, Promise<Campaign>>();
  const opened = new Map<string, Campaign>();
  const listeners: ((campaign: Campaign) => void)[] = [];
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
  return {
    store,
    list: () => store.list(),
    get: (name) =>
      opening.get(name) ?? keep(name, Campaign.open(store, name, { models: modelThread(), clock })),
    // Not kept before it is there: two who create the same name are told apart by the store.
    async create(name, given) {
      const campaign = await Campaign.create(store, name, given, { models: modelThread(), clock });
      return keep(name, Promise.resolve(campaign));
    },
    async delete(name) {
      await store.delete(name);
      await forget(name);
    },
    opened: () => [...opened.values()],
    onOpen: (listener) => {
      listeners.push(listener);
    },
    async close() {
      await Promise.all([...opening.keys()].map(forget));
    },
  };
};
