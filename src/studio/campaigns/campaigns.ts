/** The page's side of campaigns: every call goes to the worker, for the place that this page's campaigns are kept at. */
import { engine } from "../engine-client.js";
import type { collectTasks } from "../worker/collect-tasks.js";
import { placeNow } from "./place.js";

const collect = () => engine<typeof collectTasks>("collect");

export const campaigns = {
  rights: () => collect().call("rights", { place: placeNow() }),
  list: () => collect().call("list", { place: placeNow() }),
  begin: (given: Parameters<typeof collectTasks.begin>[0]["given"]) =>
    collect().call("begin", { place: placeNow(), given }),
  status: (name: string) => collect().call("status", { place: placeNow(), name }),
  labelling: (name: string) => collect().call("labelling", { place: placeNow(), name }),
  ask: (name: string, choice: Parameters<typeof collectTasks.ask>[0]["choice"]) =>
    collect().call("ask", { place: placeNow(), name, choice }),
  say: (name: string, saying: Parameters<typeof collectTasks.say>[0]["saying"]) =>
    collect().call("say", { place: placeNow(), name, saying }),
  forecast: (name: string, signal: AbortSignal) =>
    collect().call("forecast", { place: placeNow(), name }, { signal }),
  agreement: (name: string) => collect().call("agreement", { place: placeNow(), name }),
  disputes: (name: string, from?: string) => collect().call("disputes", { place: placeNow(), name, from }),
  settings: (name: string) => collect().call("settings", { place: placeNow(), name }),
  configure: (name: string, change: Parameters<typeof collectTasks.configure>[0]["change"]) =>
    collect().call("configure", { place: placeNow(), name, change }),
  backup: (name: string) => collect().call("backup", { place: placeNow(), name }),
  restore: (text: string, name: string | undefined) =>
    collect().call("restore", { place: placeNow(), text, name }),
  delete: (name: string) => collect().call("delete", { place: placeNow(), name }),
};
