/** `fairbed campaign backup` and `restore`: a whole campaign as a file, and back into any store. */
import { InputError } from "../../../core/errors.js";
import { defineCommand } from "../../command.js";
import { argument, outFile, text } from "../../options.js";
import { readBytes } from "../design/files.js";
import { campaignArguments } from "./open-campaign.js";
import { storeOption, withStore } from "./store-option.js";

export const backupCommandTexts = {
  noFile: "say which file to write with --out, such as --out hiring.jsonl",
};

export const backup = defineCommand({
  name: "campaign backup",
  group: "Campaigns",
  summary: "write a whole campaign to one file",
  examples: [{ line: "campaign backup hiring --out hiring.jsonl", description: "its log and its pool" }],
  arguments: campaignArguments,
  options: {
    out: outFile("--out <file>", "write the backup to this file, one JSON object on each line"),
    store: storeOption,
  },
  async run({ arguments: { name }, options: { out, store: address }, context }) {
    if (out === undefined) throw new InputError("no-file", backupCommandTexts.noFile);
    const { backupLines } = await import("../../../campaign/backup.js");
    const { verifyCampaign } = await import("../../../campaign/verify.js");
    return withStore(
      address,
      async (store) => {
        const { events, items, hash, reason } = await verifyCampaign(store, name);
        await context.writeFile(out, backupLines(store, name));
        return { campaign: name, file: out, events, items, hash, damage: reason };
      },
      { outputs: [out] },
    );
  },
  print: ({ campaign, file, events, items, hash, damage }) =>
    [
      `${file} has all of ${campaign}: ${items} items and ${events} events, with the hash ${hash}.`,
      ...(damage === null ? [] : [`Note: ${damage}.`]),
      "It holds what people told, as the store does: keep it as safe.",
    ].join("\n"),
});

export const restore = defineCommand({
  name: "campaign restore",
  group: "Campaigns",
  summary: "put a backup of a campaign into a store",
  examples: [
    { line: "campaign restore hiring.jsonl", description: "under its own name" },
    {
      line: "campaign restore hiring.jsonl --as copy --store postgres://host/db",
      description: "from a file to a database",
    },
  ],
  arguments: { file: argument("what fairbed campaign backup wrote") },
  options: {
    as: text("--as <name>", "what the campaign is called from now on; its own name unless given"),
    store: storeOption,
  },
  async run({ arguments: { file }, options }) {
    const { restoreCampaign } = await import("../../../campaign/backup.js");
    const content = new TextDecoder().decode(await readBytes(file));
    return withStore(
      options.store,
      async (store) => {
        const { name, events, items, hash } = await restoreCampaign(store, content, options.as);
        return { campaign: name, store: store.description, events, items, hash };
      },
      { makes: true },
    );
  },
  print: ({ campaign, store, events, items, hash }) =>
    `${campaign} is in ${store}: ${items} items and ${events} events, with the hash ${hash}.`,
});
