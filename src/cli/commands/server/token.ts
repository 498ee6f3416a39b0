/** `fairbed token`: who may do what on the server. */
import { unknownCampaign } from "../../../campaign/store.js";
import { SCOPES, type Scope } from "../../../server/scope.js";
import type { Token } from "../../../server/tokens.js";
import { defineCommand } from "../../command.js";
import { argument, choice, flag, text } from "../../options.js";
import { rightAligned } from "../../text-table.js";
import { atMinute } from "../campaign/campaign-words.js";
import { duration } from "../campaign/duration-option.js";
import { storeOption, withStore } from "../campaign/store-option.js";

const DAY = 86_400;

const createToken = defineCommand({
  name: "token create",
  group: "Page and server",
  summary: "make a token for the server, which is shown once",
  examples: [
    { line: "token create --scope admin", description: "may do everything" },
    {
      line: "token create --scope label --campaign hiring --annotator ann --expires 30d",
      description: "ann may answer questions of one campaign",
    },
  ],
  arguments: {},
  options: {
    scope: choice<Scope>(
      "--scope <what>",
      "what it may do: everything; ask and answer and export; answer alone; see counts alone",
      SCOPES,
      "read",
    ),
    campaign: text("--campaign <name>", "only for this campaign"),
    annotator: text("--annotator <name>", "asks and answers under this name and no other"),
    tellSensitive: flag("--tell-sensitive", "a labeller may tell sensitive values too"),
    expires: duration("--expires <time>", "how long it is good for: 12h, 30d (90d)"),
    name: text("--name <text>", "who uses it, and what for; the annotator or the scope unless given"),
    store: storeOption,
  },
  run: ({ options: { scope, campaign, annotator, tellSensitive, expires, name, store: address } }) =>
    withStore(
      address,
      async (store) => {
        const { tokensOf } = await import("../../../server/tokens.js");
        if (campaign !== undefined && !(await store.list()).some((each) => each.name === campaign)) {
          throw unknownCampaign(campaign);
        }
        const { token, secret } = await tokensOf(store).create({
          name: name ?? annotator ?? scope,
          scope,
          campaign,
          annotator,
          sensitive: tellSensitive,
          days: expires === undefined ? undefined : expires / DAY,
        });
        return { ...token, token: secret };
      },
      { makes: true },
    ),
  print: ({ token, ...made }) =>
    [
      token,
      "",
      `This is the only time that it is shown: ${wordsOf(made)}, until ${atMinute(made.expiresAt)}.`,
      `Programs send it as "Authorization: Bearer ${token.slice(0, 8)}…"; fairbed token revoke ${made.id} ends it.`,
    ].join("\n"),
});

const wordsOf = ({ scope, campaign, annotator }: Pick<Token, "scope" | "campaign" | "annotator">): string =>
  [
    `scope ${scope}`,
    campaign === undefined ? "all campaigns" : `campaign ${campaign}`,
    ...(annotator === undefined ? [] : [`annotator ${annotator}`]),
  ].join(", ");

const listTokens = defineCommand({
  name: "token list",
  group: "Page and server",
  summary: "which tokens there are, and when they end",
  examples: [{ line: "token list", description: "with when they end" }],
  arguments: {},
  options: { store: storeOption },
  run: ({ options }) =>
    withStore(options.store, async (store) => {
      const { tokensOf } = await import("../../../server/tokens.js");
      return { tokens: await tokensOf(store).list() };
    }),
  print: ({ tokens }) =>
    tokens.length === 0
      ? "There are no tokens: make one with fairbed token create."
      : rightAligned([
          ["id", "scope", "campaign", "annotator", "expires", "name"],
          ...tokens.map(({ id, scope, campaign, annotator, expiresAt, name }) => [
            id,
            scope,
            campaign ?? "all",
            annotator ?? "-",
            Date.parse(expiresAt) < Date.now() ? "has expired" : atMinute(expiresAt),
            name,
          ]),
        ]).join("\n"),
});

const revokeToken = defineCommand({
  name: "token revoke",
  group: "Page and server",
  summary: "end a token at once",
  examples: [{ line: "token revoke 3f2a9c1b7d4e5f60", description: "by its id, which token list shows" }],
  arguments: { id: argument("the token's id") },
  options: { store: storeOption },
  run: ({ arguments: { id }, options }) =>
    withStore(options.store, async (store) => {
      const { tokensOf } = await import("../../../server/tokens.js");
      await tokensOf(store).revoke(id);
      return { revoked: id };
    }),
  print: ({ revoked }) => `The token ${revoked} opens nothing any more.`,
});

export const tokenCommands = [createToken, listTokens, revokeToken];
