/** `fairbed campaign configure`: settings from now on. */
import type { SettingsChange } from "../../../campaign/settings.js";
import { InputError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { choice, grouped } from "../../options.js";
import { compositionOptions, methodOptions, parseShares } from "../active/method-options.js";
import {
  batchOption,
  leaseOption,
  limitedInteger,
  limitedReal,
  limitOf,
  opinionOptions,
} from "./asking-options.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";
import { renewRanking } from "./renew-ranking.js";
import { statusLines } from "./status.js";

export const configureTexts = {
  nothing: "say what is to change, such as --budget 200 or --lease 2h: see fairbed campaign configure --help",
};

const { method, beta } = methodOptions;

export const configure = defineCommand({
  name: "campaign configure",
  group: "Campaigns",
  summary: "change settings of a campaign from now on",
  examples: [
    { line: "campaign configure hiring --budget 200 --lease 2h", description: "what was asked before stays" },
    { line: "campaign configure hiring --budget none", description: "without a limit" },
  ],
  arguments: campaignArguments,
  options: {
    budget: limitedInteger("--budget <number>", "labels to collect in all, or none for no limit", { min: 1 }),
    lease: leaseOption,
    costPerLabel: limitedReal("--cost-per-label <amount>", "what an answer costs, or none", { min: 0 }),
    costBudget: limitedReal("--cost-budget <amount>", "what all answers may cost, or none", { min: 0 }),
    parity: limitedReal("--parity <ratio>", "the ratio of selection rates to reach, or none", {
      above: 0,
      max: 1,
    }),
    ...opinionOptions,
    ...grouped("Whom to ask", {
      method,
      beta,
      shares: compositionOptions.shares,
      randomPart: compositionOptions.randomPart,
      reweigh: choice("--reweigh <whether>", "learn from reweighed rows", ["yes", "no"], "no"),
      batch: batchOption,
    }),
    ...campaignOptions,
  },
  reportsProgress: true,
  run({ arguments: { name }, options: own, given, context }) {
    const acquisition: SettingsChange["acquisition"] = {
      ...(given.has("method") ? { method: own.method } : {}),
      ...(own.beta === undefined ? {} : { beta: own.beta }),
      ...(own.shares === undefined ? {} : { shares: parseShares(own.shares) }),
      ...(own.randomPart === undefined ? {} : { randomPart: own.randomPart }),
      ...(given.has("reweigh") ? { reweigh: own.reweigh === "yes" } : {}),
      ...(own.batch === undefined ? {} : { batch: own.batch }),
    };
    const { lease, opinions, opinionsPart } = own;
    const level = limitOf(own.parity);
    const change: SettingsChange = {
      ...{ lease, opinions, opinionsPart },
      budget: limitOf(own.budget),
      costPerLabel: limitOf(own.costPerLabel),
      costBudget: limitOf(own.costBudget),
      requirement: level == null ? level : { metric: "dp", level },
      acquisition: Object.keys(acquisition).length === 0 ? undefined : acquisition,
    };
    if (Object.values(change).every((each) => each === undefined)) {
      throw new InputError("nothing", configureTexts.nothing);
    }
    return withCampaign(name, own, async (campaign) => {
      const settings = await campaign.configure(change);
      const notes = await renewRanking(campaign, context);
      const { columns: _, policy: __, ...shown } = settings;
      return { ...campaign.status(), configuration: shown, notes };
    });
  },
  print: ({ notes, configuration: _, ...status }) =>
    [...statusLines(status), ...notes.map((note) => `Note: ${note}.`)].join("\n"),
});
