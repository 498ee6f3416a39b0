/** `fairbed campaign verify`: whether a campaign is what was written. */
import { EnvironmentError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { counted } from "./campaign-words.js";
import { campaignArguments } from "./open-campaign.js";
import { storeOption, withStore } from "./store-option.js";

export const verify = defineCommand({
  name: "campaign verify",
  group: "Campaigns",
  summary: "check that nothing was lost or changed",
  examples: [{ line: "campaign verify hiring", description: "exit code 1 where something was" }],
  arguments: campaignArguments,
  options: { store: storeOption },
  async run({ arguments: { name }, options }) {
    const { verifyCampaign } = await import("../../../campaign/verify.js");
    const checked = await withStore(options.store, (store) => verifyCampaign(store, name));
    if (checked.reason !== null) throw new EnvironmentError("damaged", checked.reason);
    return { campaign: name, ...checked };
  },
  print: ({ campaign, events, items, erased, hash }) =>
    [
      `${campaign} checks: all ${counted(events, "event")} and ${counted(items, "item")} are what was written.`,
      ...(erased === 0
        ? []
        : [
            `The content of ${erased} of these events and items was erased when people withdrew, as it should be: their places stay, and status counts only who is left.`,
          ]),
      `The log ends with the hash ${hash}: written down elsewhere, it shows later whether the end was cut off.`,
    ].join("\n"),
});
