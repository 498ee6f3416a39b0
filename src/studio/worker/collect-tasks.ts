/** Tasks of the collect screen: campaigns of this browser, or of the server that the page comes from. */
import type { SettingsChange } from "../../campaign/settings.js";
import type { AskChoice, CampaignClient, NewCampaign, Place, Saying } from "../campaigns/campaign-client.js";
import { localCampaigns } from "../campaigns/local-campaigns.js";
import { remoteCampaigns } from "../campaigns/remote-campaigns.js";
import type { TaskRun } from "./task.js";

let local: CampaignClient | undefined;

const clientAt = (place: Place): CampaignClient => {
  if (place.kind === "remote") return remoteCampaigns(place);
  local ??= localCampaigns();
  return local;
};

interface At {
  readonly place: Place;
}
interface Of extends At {
  readonly name: string;
}

export const collectTasks = {
  rights: ({ place }: At) => clientAt(place).rights(),
  list: ({ place }: At) => clientAt(place).list(),
  begin: async ({ place, given }: At & { readonly given: NewCampaign }, run: TaskRun) =>
    clientAt(place).begin(await run.table(), given),
  status: ({ place, name }: Of) => clientAt(place).status(name),
  labelling: ({ place, name }: Of) => clientAt(place).labelling(name),
  ask: ({ place, name, choice }: Of & { readonly choice: AskChoice }) => clientAt(place).ask(name, choice),
  say: ({ place, name, saying }: Of & { readonly saying: Saying }) => clientAt(place).say(name, saying),
  forecast: ({ place, name }: Of, run: TaskRun) =>
    clientAt(place).forecast(name, { signal: run.signal, onProgress: run.emit }),
  agreement: ({ place, name }: Of) => clientAt(place).agreement(name),
  disputes: ({ place, name, from }: Of & { readonly from?: string | undefined }) =>
    clientAt(place).disputes(name, from),
  settings: ({ place, name }: Of) => clientAt(place).settings(name),
  configure: ({ place, name, change }: Of & { readonly change: SettingsChange }) =>
    clientAt(place).configure(name, change),
  backup: ({ place, name }: Of) => clientAt(place).backup(name),
  restore: ({ place, text, name }: At & { readonly text: string; readonly name?: string | undefined }) =>
    clientAt(place).restore(text, name),
  delete: ({ place, name }: Of) => clientAt(place).delete(name),
};
