/** What Label Studio said and could not be understood: kept as it came, with the reason, until somebody looks at it. */
import type { Campaign } from "../../campaign/campaign.js";
import type { CampaignStore } from "../../campaign/store.js";
import type { TaskReading } from "./connection.js";
import { itemsNamedIn } from "./payload.js";

const KIND = "label-studio-dead-letter";

export interface DeadLetter {
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly payload: string;
}

export const keepDeadLetter = (
  store: CampaignStore,
  campaign: string,
  id: string,
  letter: DeadLetter,
): Promise<void> => store.putDocument(KIND, `${campaign}/${id}`, JSON.stringify(letter));

export const deadLetters = async (store: CampaignStore, campaign: string): Promise<readonly DeadLetter[]> =>
  (await store.listDocuments(KIND, `${campaign}/`)).map(({ body }) => JSON.parse(body) as DeadLetter);

/** All of a campaign. */
export const dropDeadLetters = async (store: CampaignStore, campaign: string): Promise<void> => {
  for (const { key } of await store.listDocuments(KIND, `${campaign}/`))
    await store.deleteDocument(KIND, key);
};

/** Those of campaigns that are no more. */
export const dropLettersWithout = async (
  store: CampaignStore,
  campaigns: ReadonlySet<string>,
): Promise<void> => {
  for (const { key } of await store.listDocuments(KIND)) {
    if (!campaigns.has(key.slice(0, key.indexOf("/")))) await store.deleteDocument(KIND, key);
  }
};

/** Those that are about somebody who is not in the pool: whoever withdraws leaves nothing behind here either. */
export const dropLettersOfWithdrawn = async (campaign: Campaign, reading: TaskReading): Promise<void> => {
  const { content } = campaign.now;
  if (content.kind !== "pool") return;
  for (const { key, body } of await campaign.store.listDocuments(KIND, `${campaign.name}/`)) {
    const named = itemsNamedIn((JSON.parse(body) as DeadLetter).payload, reading);
    const isGone = named.some((id) => content.itemOfId(id) === undefined);
    if (isGone) await campaign.store.deleteDocument(KIND, key);
  }
};
