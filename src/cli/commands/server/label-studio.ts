/** `fairbed label-studio`: annotators work in Label Studio, without a server of this program. */
import { InputError } from "../../../core/errors.js";
import type { SyncRound } from "../../../server/label-studio/sync.js";
import { optionalPackage } from "../../../sources/optional-package.js";
import { defineCommand } from "../../command.js";
import { argument, flag, grouped, integer, optionalInteger, text } from "../../options.js";
import { counted } from "../campaign/campaign-words.js";
import { duration } from "../campaign/duration-option.js";
import { campaignOptions, withCampaign } from "../campaign/open-campaign.js";

export const labelStudioTexts = {
  noUrl: "say where Label Studio answers with --url, such as --url https://labels.example.org",
  noProject: "say which project it is with --project, by its number in Label Studio's address",
  noToken: (variable: string) =>
    `the environment variable ${variable} has no token: put the access token of Label Studio there, or name another with --token-env`,
  round: ({ told, corrected, skipped, retracted, open, imported, notUnderstood }: SyncRound) =>
    [
      `${counted(told, "new answer")}`,
      ...(corrected === 0 ? [] : [`${corrected} corrected`]),
      ...(retracted === 0 ? [] : [`${retracted} taken back`]),
      ...(skipped === 0 ? [] : [`${skipped} skipped`]),
      ...(notUnderstood === 0 ? [] : [`${notUnderstood} not understood`]),
      `${counted(open, "task")} open, ${imported} added`,
    ].join(", "),
};

const TOKEN_VARIABLE = "LABEL_STUDIO_TOKEN";

export const labelStudio = defineCommand({
  name: "label-studio",
  group: "Page and server",
  summary: "keep tasks open in Label Studio, take answers in",
  examples: [
    {
      line: "label-studio hiring --url https://labels.example.org --project 12",
      description: "round after round, until Ctrl-C",
    },
  ],
  arguments: { campaign: argument("what the campaign is called") },
  options: {
    url: text("--url <address>", "where Label Studio answers"),
    project: optionalInteger("--project <number>", "the project's number", { min: 1 }),
    tokenEnv: text(
      "--token-env <variable>",
      "the environment variable that has the access token",
      TOKEN_VARIABLE,
    ),
    tasks: integer("--tasks <number>", "how many tasks are kept open", 20, { min: 1, max: 1000 }),
    every: duration("--every <time>", "how long between two rounds: 30, 5m (60)"),
    once: flag("--once", "one round, and no more"),
    ...grouped("The labelling configuration", {
      fromName: text("--from-name <name>", "the control that the label is chosen with", "choice"),
      toName: text("--to-name <name>", "what the control is about", "text"),
      field: text("--field <name>", "the field of a task that has the item's id", "fairbed_id"),
    }),
    ...campaignOptions,
  },
  reportsProgress: true,
  async run({ arguments: { campaign: name }, options, context }) {
    const { url, project, tokenEnv, tasks, every = 60, fromName, toName, field } = options;
    if (url === undefined) throw new InputError("url", labelStudioTexts.noUrl);
    if (project === undefined) throw new InputError("project", labelStudioTexts.noProject);
    const token = process.env[tokenEnv] ?? "";
    if (token === "") throw new InputError("token", labelStudioTexts.noToken(tokenEnv));
    await optionalPackage(() => import("zod"), "Label Studio", "zod");
    const { requireWebAddress } = await import("../../../server/web-address.js");
    const { labelStudioClient } = await import("../../../server/label-studio/label-studio-client.js");
    const { labelStudioSync, syncOnce } = await import("../../../server/label-studio/sync.js");
    const client = labelStudioClient({
      ...{ url: requireWebAddress(url), token, project, fromName, toName, field },
      ...{ batch: tasks, intervalSeconds: every },
    });
    const { signal } = context;
    return withCampaign(name, options, async (campaign) => {
      if (options.once) return { campaign: name, ...(await syncOnce(campaign, client, tasks, { signal })) };
      let last: SyncRound | undefined;
      await labelStudioSync({
        ...{ campaign, client, batch: tasks, intervalSeconds: every, signal },
        onRound: (round) => {
          last = round;
          context.say(labelStudioTexts.round(round));
        },
        onTrouble: (error) => context.say(error instanceof Error ? error.message : String(error)),
      });
      return { campaign: name, ...(last ?? (await syncOnce(campaign, client, tasks, { signal }))) };
    });
  },
  print: ({ campaign, ...round }) => `${campaign}: ${labelStudioTexts.round(round)}.`,
});
