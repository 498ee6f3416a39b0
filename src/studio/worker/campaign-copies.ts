/** A campaign as files, from this browser or from the server that the page comes from. */
import { Campaign } from "../../campaign/campaign.js";
import { type CampaignCard, completeDataCard } from "../../campaign/data-card.js";
import { dataCardMarkdown } from "../../campaign/data-card-text.js";
import { exportTable, exportText } from "../../campaign/export.js";
import { indexedDbStore } from "../../campaign/indexeddb-store.js";
import type { RunOptions } from "../../core/options.js";
import { dataCardHtml } from "../../report/data-card-page.js";
import type { Place } from "../campaigns/campaign-client.js";
import { localCampaigns } from "../campaigns/local-campaigns.js";
import { RemoteProblem, remoteCampaigns, remoteTexts } from "../campaigns/remote-campaigns.js";
import { campaignFileNames } from "../exported.js";
import type { ExportFile } from "./export-files.js";

export const campaignCopyTexts = {
  data: (name: string) =>
    `What the campaign ${name} acquired: every label, and how each person came to be asked.`,
  card: (name: string) =>
    `The data card of ${name}: how the labels came about, who is in them and what they give away.`,
  markdown: (name: string) => `The data card of ${name} as Markdown, for a repository.`,
  backup: (name: string) =>
    `All of ${name}, with what people told: keep it as safe as the campaign itself. fairbed campaign restore takes it.`,
  noCampaign: (name: string, reason: string) => `The campaign ${name} is not among these files: ${reason}`,
  noBackup: (name: string, reason: string) => `There is no backup of ${name} here: ${reason}`,
};

export type CampaignPart = "data" | "card" | "backup";

interface Copies {
  data(): Promise<string>;
  card(run: RunOptions): Promise<CampaignCard>;
  backup(): Promise<string>;
}

const withLocal = async <Result>(
  name: string,
  use: (campaign: Campaign) => Promise<Result>,
): Promise<Result> => {
  const campaign = await Campaign.open(indexedDbStore(), name);
  try {
    return await use(campaign);
  } finally {
    await campaign.close();
  }
};

const localCopies = (name: string): Copies => ({
  data: () => withLocal(name, async (campaign) => exportText(exportTable(campaign), "csv")),
  card: (run) => withLocal(name, (campaign) => completeDataCard(campaign, run)),
  backup: () => localCampaigns().backup(name),
});

const remoteCopies = (place: Place & { readonly kind: "remote" }, name: string): Copies => {
  const { origin, token } = place;
  const get = async (path: string, signal?: AbortSignal): Promise<Response> => {
    const response = await fetch(`${origin}/api/v1/campaigns/${encodeURIComponent(name)}/${path}`, {
      cache: "no-store",
      credentials: "omit",
      headers: token === "" ? {} : { Authorization: `Bearer ${token}` },
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      throw signal?.aborted === true
        ? error
        : new RemoteProblem("away", remoteTexts.away(new URL(origin).host));
    });
    if (response.ok) return response;
    const found = (await response.json().catch(() => undefined)) as
      | { readonly error?: { readonly code?: string; readonly message?: string } }
      | undefined;
    throw new RemoteProblem(
      found?.error?.code ?? String(response.status),
      found?.error?.message ?? remoteTexts.unreadable(response.status),
    );
  };
  return {
    data: async () => (await get("export?format=csv")).text(),
    card: async ({ signal }) => (await get("card?format=json", signal as AbortSignal | undefined)).json(),
    backup: () => remoteCampaigns(place).backup(name),
  };
};

const copiesOf = (place: Place, name: string): Copies =>
  place.kind === "local" ? localCopies(name) : remoteCopies(place, name);

/** Names, in the order of the store. */
export const campaignNames = async (place: Place): Promise<readonly string[]> => {
  const client = place.kind === "local" ? localCampaigns() : remoteCampaigns(place);
  return (await client.list()).map(({ name }) => name);
};

/** The files of one part of a campaign, as the command line and the server write them. */
export const campaignFiles = async (
  place: Place,
  name: string,
  part: CampaignPart,
  run: RunOptions,
): Promise<readonly ExportFile[]> => {
  const copies = copiesOf(place, name);
  const names = campaignFileNames(name);
  if (part === "data")
    return [{ name: names.data, text: await copies.data(), about: campaignCopyTexts.data(name) }];
  if (part === "backup")
    return [{ name: names.backup, text: await copies.backup(), about: campaignCopyTexts.backup(name) }];
  const card = await copies.card(run);
  return [
    { name: names.card, text: await dataCardHtml(card), about: campaignCopyTexts.card(name) },
    { name: names.markdown, text: dataCardMarkdown(card), about: campaignCopyTexts.markdown(name) },
  ];
};
