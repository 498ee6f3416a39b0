/** `fairbed campaign list`: which campaigns a store has. */
import { defineCommand } from "../../command.js";
import { rightAligned } from "../../text-table.js";
import { atMinute } from "./campaign-words.js";
import { storeOption, withStore } from "./store-option.js";

export const list = defineCommand({
  name: "campaign list",
  group: "Campaigns",
  summary: "which campaigns there are",
  examples: [{ line: "campaign list", description: "with what happened last" }],
  arguments: {},
  options: { store: storeOption },
  run: ({ options }) =>
    withStore(options.store, async (store) => ({
      store: store.description,
      campaigns: (await store.list()).map(({ name, head }) => ({
        name,
        events: head.seq,
        lastEventAt: new Date(head.at).toISOString(),
        hash: head.hash,
      })),
    })),
  print: ({ store, campaigns }) =>
    campaigns.length === 0
      ? `${store} has no campaigns: begin one with fairbed campaign create.`
      : rightAligned([
          ["campaign", "events", "last event"],
          ...campaigns.map(({ name, events, lastEventAt }) => [name, String(events), atMinute(lastEventAt)]),
        ]).join("\n"),
});
