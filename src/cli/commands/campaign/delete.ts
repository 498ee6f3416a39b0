/** `fairbed campaign delete`: a whole campaign, gone for good. */
import { InputError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { flag } from "../../options.js";
import { campaignArguments } from "./open-campaign.js";
import { storeOption, withStore } from "./store-option.js";

export const deleteTexts = {
  sure: (name: string) =>
    `this deletes the campaign ${name} with all its answers for good: back it up with fairbed campaign backup, then say --yes`,
};

export const deleteCampaign = defineCommand({
  name: "campaign delete",
  group: "Campaigns",
  summary: "delete a campaign with all its answers",
  examples: [{ line: "campaign delete hiring --yes", description: "there is no way back but a backup" }],
  arguments: campaignArguments,
  options: { yes: flag("--yes", "really delete it"), store: storeOption },
  run: ({ arguments: { name }, options }) =>
    withStore(options.store, async (store) => {
      const known = (await store.list()).find((each) => each.name === name);
      if (known !== undefined && !options.yes) throw new InputError("not-sure", deleteTexts.sure(name));
      await store.delete(name);
      return { deleted: name, events: known?.head.seq ?? 0 };
    }),
  print: ({ deleted, events }) => `The campaign ${deleted} is deleted, with its ${events} events.`,
});
