/** Which project of which Label Studio a campaign is connected to. The token is a secret: it is stored, and never shown. */
import { z } from "@hono/zod-openapi";
import type { CampaignStore } from "../../campaign/store.js";
import { requireWebAddress } from "../web-address.js";

export interface LabelStudioConnection {
  /** Where Label Studio answers. */
  readonly url: string;
  readonly token: string;
  /** The project's number. */
  readonly project: number;
  /** The control that the label is chosen with, and what it is about; as in the labelling configuration. */
  readonly fromName: string;
  readonly toName: string;
  /** The field of a task's data that has the item's id. */
  readonly field: string;
  /** Labels by choice, where a choice is called otherwise than the label. */
  readonly values?: Readonly<Record<string, string | number>> | undefined;
  /** How many tasks are kept open, and how often that is looked after. */
  readonly batch: number;
  readonly intervalSeconds: number;
}

/** What may be shown. */
export type ShownConnection = Omit<LabelStudioConnection, "token">;

/** How tasks and choices are read: also where no connection was set. */
export type TaskReading = Pick<LabelStudioConnection, "fromName" | "toName" | "field" | "values">;

export const CONNECTION_DEFAULTS = {
  fromName: "choice",
  toName: "text",
  field: "fairbed_id",
  batch: 20,
  intervalSeconds: 60,
} as const;

const name = z.string().min(1).max(200);

/** As an administrator gives it. */
export const connectionSchema = z.strictObject({
  url: z.string().max(2048),
  token: z.string().min(1).max(4096),
  project: z.int().min(1),
  fromName: name.default(CONNECTION_DEFAULTS.fromName),
  toName: name.default(CONNECTION_DEFAULTS.toName),
  field: name.default(CONNECTION_DEFAULTS.field),
  values: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  batch: z.int().min(1).max(1000).default(CONNECTION_DEFAULTS.batch),
  intervalSeconds: z.number().min(1).max(86_400).default(CONNECTION_DEFAULTS.intervalSeconds),
});

export const withoutToken = ({ token: _, ...shown }: LabelStudioConnection): ShownConnection => shown;

/** The documents are named after their campaign, so that they go with it. */
const KIND = "label-studio";

export const storedConnection = async (
  store: CampaignStore,
  campaign: string,
): Promise<LabelStudioConnection | undefined> => {
  const body = await store.getDocument(KIND, campaign);
  return body === undefined ? undefined : connectionSchema.parse(JSON.parse(body));
};

export const storeConnection = async (
  store: CampaignStore,
  campaign: string,
  given: LabelStudioConnection,
): Promise<LabelStudioConnection> => {
  const connection = { ...given, url: requireWebAddress(given.url) };
  await store.putDocument(KIND, campaign, JSON.stringify(connection));
  return connection;
};

export const deleteConnection = (store: CampaignStore, campaign: string): Promise<void> =>
  store.deleteDocument(KIND, campaign);

/** Names of the campaigns that are connected. */
export const connectedCampaigns = async (store: CampaignStore): Promise<readonly string[]> =>
  (await store.listDocuments(KIND)).map(({ key }) => key);
