/** Campaigns: which there are, where one stands, and to begin, change and delete one. */
import { createRoute, z } from "@hono/zod-openapi";
import { changeableSettings } from "../../campaign/changeable-settings.js";
import { cursorOf, placeOf } from "../cursor.js";
import { isSeen, requireHead, tagOf, wantedHeads } from "../head-tags.js";
import { newCampaign } from "../new-campaign.js";
import {
  campaignParams,
  campaignSummarySchema,
  changeableSettingsSchema,
  newCampaignSchema,
  settingsChangeSchema,
  statusSchema,
} from "../schemas/campaign-schemas.js";
import { BODY_PROBLEMS, nextSchema, pageQuery, problems } from "../schemas/problem-schema.js";
import {
  largeBody,
  needs,
  newApp,
  principalOf,
  type ServerApp,
  type ServerContext,
  usualBody,
} from "../server-context.js";

const tags = ["Campaigns"];

const etag = {
  ETag: { schema: { type: "string" as const }, description: "The hash at the end of the log." },
};
const ifMatch = z.object({
  "if-match": z.string().max(2000).optional().openapi({
    description: "The ETag of the status that the change was decided on, or *.",
  }),
});
const status = {
  200: {
    description: "Where the campaign stands.",
    headers: etag,
    content: { "application/json": { schema: statusSchema } },
  },
};

export const campaignRoutes = (context: ServerContext): ServerApp => {
  const { campaigns } = context;
  const app = newApp();

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns",
      tags,
      summary: "List campaigns",
      description: "In the order of their names. A token for one campaign sees that one. Scope: read.",
      middleware: needs("read", "campaign"),
      request: { query: pageQuery },
      responses: {
        200: {
          description: "Some of them, and where the next ones are.",
          content: {
            "application/json": {
              schema: z
                .strictObject({ campaigns: z.array(campaignSummarySchema), next: nextSchema })
                .openapi("CampaignList"),
            },
          },
        },
        ...problems(),
      },
    }),
    async (c) => {
      const { limit, cursor } = c.req.valid("query");
      const after = cursor === undefined ? "" : placeOf(cursor);
      const only = principalOf(c).token?.campaign;
      const left = (await campaigns.list()).filter(
        ({ name }) => name > after && (only === undefined || name === only),
      );
      const shown = left.slice(0, limit);
      return c.json(
        {
          campaigns: shown.map(({ name, head }) => ({
            name,
            events: head.seq,
            lastEventAt: new Date(head.at).toISOString(),
            hash: head.hash,
          })),
          next: left.length > limit ? cursorOf(shown[shown.length - 1].name) : null,
        },
        200,
      );
    },
  );

  app.openapi(
    createRoute({
      method: "post",
      path: "/campaigns",
      tags,
      summary: "Begin a campaign",
      description:
        "About a pool, `{ name, pool, target, ... }`, or of designs, `{ name, policy }`. Whatever cannot work is said now. Scope: admin, for all campaigns.",
      middleware: [needs("admin", "all"), largeBody(context)],
      request: { body: { required: true, content: { "application/json": { schema: newCampaignSchema } } } },
      responses: {
        201: {
          description: "It has begun.",
          headers: { ...etag, Location: { schema: { type: "string" as const } } },
          content: { "application/json": { schema: statusSchema } },
        },
        ...problems(...BODY_PROBLEMS),
      },
    }),
    async (c) => {
      const body = c.req.valid("json");
      const campaign = await campaigns.create(body.name, await newCampaign(body));
      return c.json(campaign.status(), 201, {
        ETag: tagOf(campaign.head.hash),
        Location: `/api/v1/campaigns/${campaign.name}`,
      });
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}",
      tags,
      summary: "Where a campaign stands",
      description: "Counts and shares, and nothing of anybody. Scope: read.",
      middleware: needs("read"),
      request: {
        params: campaignParams,
        headers: z.object({ "if-none-match": z.string().max(2000).optional() }),
      },
      responses: {
        ...status,
        304: { description: "Nothing has happened since.", headers: etag },
        ...problems(),
      },
    }),
    async (c) => {
      const campaign = await campaigns.now(c.req.valid("param").name);
      const { hash } = campaign.head;
      const headers = { ETag: tagOf(hash) };
      if (isSeen(c.req.valid("header")["if-none-match"], hash)) return c.body(null, 304, headers);
      return c.json(campaign.status(), 200, headers);
    },
  );

  app.openapi(
    createRoute({
      method: "patch",
      path: "/campaigns/{name}",
      tags,
      summary: "Change settings",
      description: "From now on; what was asked stays as it was. Scope: admin.",
      middleware: [needs("admin"), usualBody(context)],
      request: {
        params: campaignParams,
        headers: ifMatch,
        body: { required: true, content: { "application/json": { schema: settingsChangeSchema } } },
      },
      responses: { ...status, ...problems(...BODY_PROBLEMS, 412, 428) },
    }),
    async (c) => {
      const heads = wantedHeads(c.req.valid("header")["if-match"]);
      const campaign = await campaigns.now(c.req.valid("param").name);
      await campaign.configure(c.req.valid("json"), ({ hash }) => requireHead(heads, hash));
      return c.json(campaign.status(), 200, { ETag: tagOf(campaign.head.hash) });
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/settings",
      tags,
      summary: "Settings that can be changed",
      description: "What holds now of all that a change may name. Scope: read.",
      middleware: needs("read"),
      request: { params: campaignParams },
      responses: {
        200: {
          description: "The settings.",
          content: { "application/json": { schema: changeableSettingsSchema } },
        },
        ...problems(),
      },
    }),
    async (c) => {
      const { now } = await campaigns.now(c.req.valid("param").name);
      return c.json(changeableSettings(now), 200);
    },
  );

  app.openapi(
    createRoute({
      method: "delete",
      path: "/campaigns/{name}",
      tags,
      summary: "Delete a campaign",
      description: "All of it, gone for good. Scope: admin.",
      middleware: needs("admin"),
      request: { params: campaignParams, headers: ifMatch },
      responses: { 204: { description: "It is gone." }, ...problems(412, 428) },
    }),
    async (c) => {
      const heads = wantedHeads(c.req.valid("header")["if-match"]);
      const { name } = c.req.valid("param");
      if (heads !== undefined) requireHead(heads, (await campaigns.now(name)).head.hash);
      await campaigns.delete(name);
      return c.body(null, 204);
    },
  );

  return app;
};
