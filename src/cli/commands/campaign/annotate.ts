/** `fairbed campaign skip`, `retract` and `adjudicate`: what annotators do beside answering. */
import type { Campaign } from "../../../campaign/campaign.js";
import { InputError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { text } from "../../options.js";
import { givenId } from "./given-id.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";
import { renewRanking } from "./renew-ranking.js";

export const annotateTexts = {
  noId: "say which item with --id, such as --id 007",
  noLabel: "say what its label is with --label, such as --label yes",
};

const options = {
  id: text("--id <id>", "the item's id"),
  annotator: text("--annotator <name>", "who; nobody by name unless given"),
  event: text("--event <id>", "what this is called: said again under the same name, it counts once"),
  ...campaignOptions,
};

const requireId = (campaign: Campaign, id: string | undefined): string => {
  if (id === undefined) throw new InputError("no-id", annotateTexts.noId);
  return givenId(campaign, id);
};

export const skip = defineCommand({
  name: "campaign skip",
  group: "Campaigns",
  summary: "pass a question on to somebody else",
  examples: [
    { line: "campaign skip hiring --id 007 --annotator ann", description: "ann does not get it again" },
  ],
  arguments: campaignArguments,
  options,
  run: ({ arguments: { name }, options: given }) =>
    withCampaign(name, given, async (campaign) => {
      const id = requireId(campaign, given.id);
      await campaign.skip(id, given.annotator, given.event);
      return { campaign: name, skipped: id };
    }),
  print: ({ skipped }) => `${skipped} is passed on: somebody else may get it at once.`,
});

export const retract = defineCommand({
  name: "campaign retract",
  group: "Campaigns",
  summary: "take an answer back, so that it is asked again",
  examples: [{ line: "campaign retract hiring --id 007", description: "the item is open again" }],
  arguments: campaignArguments,
  options,
  reportsProgress: true,
  run: ({ arguments: { name }, options: given, context }) =>
    withCampaign(name, given, async (campaign) => {
      const id = requireId(campaign, given.id);
      await campaign.retract(id, given.annotator, given.event);
      return { campaign: name, retracted: id, notes: await renewRanking(campaign, context) };
    }),
  print: ({ retracted, notes }) =>
    [
      `The answer for ${retracted} is taken back: the item may be asked again.`,
      ...notes.map((note) => `Note: ${note}.`),
    ].join("\n"),
});

export const adjudicate = defineCommand({
  name: "campaign adjudicate",
  group: "Campaigns",
  summary: "settle a label on which annotators disagree",
  examples: [{ line: "campaign adjudicate hiring --id 007 --label yes", description: "whatever they say" }],
  arguments: campaignArguments,
  options: { ...options, label: text("--label <value>", "what the label is, as it stands in the column") },
  reportsProgress: true,
  run: ({ arguments: { name }, options: given, context }) =>
    withCampaign(name, given, async (campaign) => {
      const id = requireId(campaign, given.id);
      if (given.label === undefined) throw new InputError("no-label", annotateTexts.noLabel);
      await campaign.adjudicate(id, given.label, given.annotator, given.event);
      return {
        campaign: name,
        settled: id,
        label: given.label,
        notes: await renewRanking(campaign, context),
      };
    }),
  print: ({ settled, label, notes }) =>
    [`The label of ${settled} is ${label} from now on.`, ...notes.map((note) => `Note: ${note}.`)].join("\n"),
});
