/** `fairbed campaign replay`: every decision computed again. */
import { defineCommand } from "../../command.js";
import { withProgress } from "../../run-options.js";
import { counted } from "./campaign-words.js";
import { campaignArguments, campaignOptions, modelOfCampaign } from "./open-campaign.js";
import { withStore } from "./store-option.js";

/** More than this are not printed: --json has them all. */
const SHOWN = 10;

export const replay = defineCommand({
  name: "campaign replay",
  group: "Campaigns",
  summary: "compute every question again, and compare",
  examples: [{ line: "campaign replay hiring", description: "from the log and the seed alone" }],
  arguments: campaignArguments,
  options: campaignOptions,
  reportsProgress: true,
  run: ({ arguments: { name }, options, context }) =>
    withStore(options.store, async (store) => {
      const { replayCampaign } = await import("../../../campaign/replay.js");
      const { modelThread } = await import("../../../jobs/model-thread.js");
      const model = await modelOfCampaign(store, name, options);
      const models = modelThread();
      try {
        const replayed = await withProgress(context, "replaying", (run) =>
          replayCampaign(store, name, { models, model, ...run }),
        );
        return { campaign: name, ...replayed };
      } finally {
        await models.close();
      }
    }),
  print: ({ campaign, decisions, agreeing, differing, erased, rankings }) =>
    [
      `${campaign}: ${counted(decisions, "question")}, ${agreeing} computed again with the same outcome${rankings === 0 ? "" : `, from ${counted(rankings, "ranking")} made again`}.`,
      ...(erased === 0
        ? []
        : [
            `${erased} cannot be computed again: asked before somebody withdrew, on data that is erased now.`,
          ]),
      ...(differing.length === 0
        ? []
        : [
            `${differing.length} came out differently, as they do in another version or where the log was changed (fairbed campaign verify):`,
            ...differing.slice(0, SHOWN).map(({ seq, what }) => `  event ${seq}: ${what.join(", ")}`),
            ...(differing.length > SHOWN ? [`  and ${differing.length - SHOWN} more`] : []),
          ]),
    ].join("\n"),
});
