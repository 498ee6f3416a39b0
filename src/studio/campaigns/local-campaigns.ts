/** Campaigns in this browser's own database. Runs in a worker. */
import { backupLines, restoreCampaign } from "../../campaign/backup.js";
import { Campaign } from "../../campaign/campaign.js";
import { changeableSettings } from "../../campaign/changeable-settings.js";
import { disputesOf } from "../../campaign/disputes.js";
import { indexedDbStore } from "../../campaign/indexeddb-store.js";
import { labellingOf } from "../../campaign/labelling.js";
import { forAnnotator } from "../../campaign/question.js";
import type { CampaignStore } from "../../campaign/store.js";
import { InputError } from "../../core/errors.js";
import { readRecipe } from "../../workflows/recipe.js";
import { taskOf } from "../roles.js";
import type { CampaignClient } from "./campaign-client.js";
import { withFewLabels } from "./rehearsal.js";

/** Disputes that are handed over at once. */
const DISPUTES = 50;
const OWNER = { scope: "admin", campaign: null, annotator: null } as const;

export const localCampaigns = (store: CampaignStore = indexedDbStore()): CampaignClient => {
  const opened = new Map<string, Promise<Campaign>>();
  const open = (name: string): Promise<Campaign> => {
    const known = opened.get(name) ?? Campaign.open(store, name);
    opened.set(name, known);
    known.catch(() => opened.delete(name));
    return known;
  };
  const forget = async (name: string): Promise<void> => {
    const known = opened.get(name);
    opened.delete(name);
    await (await known?.catch(() => undefined))?.close();
  };
  /** With all that other tabs wrote; one that another tab deleted, and began anew, is opened anew. */
  const now = async (name: string): Promise<Campaign> => {
    const campaign = await open(name);
    try {
      await campaign.sync();
    } catch (error) {
      if (error instanceof InputError) await forget(name);
      throw error;
    }
    return campaign;
  };
  return {
    rights: async () => OWNER,
    list: async () =>
      (await store.list()).map(({ name, head }) => ({
        name,
        events: head.seq,
        lastEventAt: new Date(head.at).toISOString(),
      })),
    async begin(table, { name, roles, budget, opinions, method, recipe, keepLabels }) {
      const pool = keepLabels === undefined ? table : withFewLabels(table, roles.target, keepLabels);
      await forget(name);
      const campaign = await Campaign.create(store, name, {
        table: pool,
        acquisition: { ...taskOf(roles), method },
        recipe: recipe === undefined ? undefined : readRecipe(recipe),
        budget,
        opinions,
      });
      opened.set(name, Promise.resolve(campaign));
    },
    status: async (name) => (await now(name)).status(),
    labelling: async (name) => labellingOf((await now(name)).now, { tellsSensitive: false }),
    async ask(name, { view, annotator, request, wait }) {
      const campaign = await open(name);
      const asked = await campaign.ask(1, {
        request,
        wait,
        ...(annotator === "" ? {} : { annotator }),
      });
      const [question] = asked.questions;
      return {
        question: question === undefined || view === "owner" ? question : forAnnotator(question),
        notes: asked.notes,
      };
    },
    async say(name, said) {
      const campaign = await open(name);
      const { event, id } = said;
      const annotator = said.annotator === "" ? undefined : said.annotator;
      if (said.kind === "skip") await campaign.skip(id, annotator, event);
      else if (said.kind === "retraction") await campaign.retract(id, annotator, event);
      else if (said.kind === "adjudication") await campaign.adjudicate(id, said.label, annotator, event);
      else if (said.kind === "refusal") await campaign.tell({ id, event, annotator, refused: true });
      else await campaign.tell({ id, event, annotator, label: said.label });
    },
    forecast: async (name, run) => (await now(name)).forecast({}, run),
    agreement: async (name) => (await now(name)).agreement(),
    async disputes(name, from = "0") {
      const found = disputesOf((await now(name)).now, { from: Number(from), limit: DISPUTES });
      return { disputes: found.disputes, next: found.next === null ? null : String(found.next) };
    },
    settings: async (name) => changeableSettings((await now(name)).now),
    async configure(name, change) {
      await (await now(name)).configure(change);
    },
    async backup(name) {
      const lines: string[] = [];
      for await (const line of backupLines(store, name)) lines.push(line);
      return lines.join("");
    },
    restore: async (text, name) => (await restoreCampaign(store, text, name)).name,
    async delete(name) {
      await store.delete(name);
      await forget(name);
    },
  };
};
