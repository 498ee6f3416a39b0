/** `fairbed campaign withdraw`: everything about a person is erased. */
import { InputError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { flag, text } from "../../options.js";
import { counted } from "./campaign-words.js";
import { givenId } from "./given-id.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";
import { renewRanking } from "./renew-ranking.js";

export const withdrawTexts = {
  noId: "say who withdraws with --id, such as --id 007",
  sure: "this erases everything about this person from the campaign for good, and no question asked so far can be replayed afterwards: say --yes if that is meant",
};

export const withdraw = defineCommand({
  name: "campaign withdraw",
  group: "Campaigns",
  summary: "erase everything about a person, for good",
  examples: [
    {
      line: "campaign withdraw hiring --id 007 --yes",
      description: "answers, questions and the row of the pool",
    },
  ],
  arguments: campaignArguments,
  options: {
    id: text("--id <id>", "who withdraws: the id in the pool, or the participant's"),
    yes: flag("--yes", "really erase it"),
    ...campaignOptions,
  },
  reportsProgress: true,
  async run({ arguments: { name }, options, context }) {
    if (options.id === undefined) throw new InputError("no-id", withdrawTexts.noId);
    const { campaignTexts } = await import("../../../campaign/campaign.js");
    const typed = options.id;
    return withCampaign(name, options, async (campaign) => {
      const id = givenId(campaign, typed);
      const { content } = campaign.now;
      const isKnown =
        content.kind === "pool"
          ? content.itemOfId(id) !== undefined
          : content.state.participant(id) !== undefined;
      if (!isKnown) throw new InputError("id", campaignTexts.nobody);
      if (!options.yes) throw new InputError("not-sure", withdrawTexts.sure);
      const { events } = await campaign.withdraw(id);
      context.say(`${counted(events, "event")} erased`);
      return { campaign: name, erased: events, notes: await renewRanking(campaign, context) };
    });
  },
  print: ({ campaign, erased, notes }) =>
    [
      `Erased from ${campaign}: ${counted(erased, "event")} about this person, and the row of the pool. Exports made before still have it.`,
      ...notes.map((note) => `Note: ${note}.`),
    ].join("\n"),
});
