/** What the labels are worth, what more would bring, and whether a log is what was written. */
import { createRoute } from "@hono/zod-openapi";
import type { CampaignAgreement } from "../../campaign/agreement.js";
import type { Campaign } from "../../campaign/campaign.js";
import { replayCampaign } from "../../campaign/replay.js";
import { verifyCampaign } from "../../campaign/verify.js";
import type { Progress } from "../../core/options.js";
import type { ForecastChoice } from "../../workflows/acquisition-ranking.js";
import {
  agreementSchema,
  estimateSchema,
  forecastChoiceSchema,
  forecastSchema,
  replaySchema,
  verificationSchema,
} from "../schemas/analysis-schemas.js";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { BODY_PROBLEMS, problems } from "../schemas/problem-schema.js";
import { needs, newApp, type ServerApp, type ServerContext, usualBody } from "../server-context.js";

const tags = ["Analysis"];

export const analysisRoutes = (context: ServerContext): ServerApp => {
  const { campaigns, computations, feeds } = context;
  const app = newApp();
  const progressOf = (name: string, computation: string) => (progress: Progress) =>
    feeds.progress(name, computation, progress);

  /** Its interval takes a thousand resamples: made once for a head, however many look. */
  const agreements = new WeakMap<Campaign, { readonly hash: string; readonly found: CampaignAgreement }>();
  const agreementOf = (campaign: Campaign): CampaignAgreement => {
    const { hash } = campaign.head;
    const known = agreements.get(campaign);
    if (known?.hash === hash) return known.found;
    const found = campaign.agreement();
    agreements.set(campaign, { hash, found });
    return found;
  };
  const forecast = async (name: string, choice: ForecastChoice, left: AbortSignal) => {
    const campaign = await campaigns.now(name);
    const key = `forecast ${name} ${campaign.head.hash} ${JSON.stringify(choice)}`;
    return computations.run(key, left, (run) =>
      campaign.forecast(choice, { ...run, onProgress: progressOf(name, "forecast") }),
    );
  };
  const forecastResponses = {
    200: { description: "The forecast.", content: { "application/json": { schema: forecastSchema } } },
  };

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/estimate",
      tags,
      summary: "What a model of the labels is worth on the whole pool",
      description:
        "From the labels that were drawn at random. May take a while: see the events. Scope: read.",
      middleware: needs("read"),
      request: { params: campaignParams },
      responses: {
        200: { description: "The estimate.", content: { "application/json": { schema: estimateSchema } } },
        ...problems(409, 422),
      },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      const campaign = await campaigns.now(name);
      const estimate = await computations.run(
        `estimate ${name} ${campaign.head.hash}`,
        c.req.raw.signal,
        (run) => campaign.estimate({ ...run, onProgress: progressOf(name, "estimate") }),
      );
      return c.json(estimate, 200);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/forecast",
      tags,
      summary: "What further labels are expected to bring",
      description: "With the campaign's own budget, cost and requirement. Scope: read.",
      middleware: needs("read"),
      request: { params: campaignParams },
      responses: { ...forecastResponses, ...problems(409, 422) },
    }),
    async (c) => c.json(await forecast(c.req.valid("param").name, {}, c.req.raw.signal), 200),
  );

  app.openapi(
    createRoute({
      method: "post",
      path: "/campaigns/{name}/forecast",
      tags,
      summary: "The same for another budget, cost or requirement",
      description: "Changes nothing. Scope: read.",
      middleware: [needs("read"), usualBody(context)],
      request: {
        params: campaignParams,
        body: { required: true, content: { "application/json": { schema: forecastChoiceSchema } } },
      },
      responses: { ...forecastResponses, ...problems(...BODY_PROBLEMS) },
    }),
    async (c) =>
      c.json(await forecast(c.req.valid("param").name, c.req.valid("json"), c.req.raw.signal), 200),
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/agreement",
      tags,
      summary: "How far annotators agree",
      description:
        "Krippendorff's alpha of the items that two or more answered, and how often each annotator, by name, differs from what became the label. Scope: collect.",
      middleware: needs("collect"),
      request: { params: campaignParams },
      responses: {
        200: {
          description: "The agreement.",
          content: { "application/json": { schema: agreementSchema } },
        },
        ...problems(422),
      },
    }),
    async (c) => c.json(agreementOf(await campaigns.now(c.req.valid("param").name)), 200),
  );

  app.openapi(
    createRoute({
      method: "post",
      path: "/campaigns/{name}/replay",
      tags,
      summary: "Compute every decision again",
      description: "From the log and the seed, and hold it against what was asked. Scope: collect.",
      middleware: needs("collect"),
      request: { params: campaignParams },
      responses: {
        200: {
          description: "What agrees, and what differs.",
          content: { "application/json": { schema: replaySchema } },
        },
        ...problems(409, 422),
      },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      const { head } = await campaigns.now(name);
      const replay = await computations.run(`replay ${name} ${head.hash}`, c.req.raw.signal, async (run) => {
        const models = campaigns.models();
        try {
          const onProgress = progressOf(name, "replay");
          return await replayCampaign(campaigns.store, name, { ...run, models, onProgress });
        } finally {
          await models.close();
        }
      });
      return c.json(replay, 200);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/verification",
      tags,
      summary: "Whether the log is what was written",
      description: "Checks the whole chain. Scope: read.",
      middleware: needs("read"),
      request: { params: campaignParams },
      responses: {
        200: {
          description: "What was found.",
          content: { "application/json": { schema: verificationSchema } },
        },
        ...problems(),
      },
    }),
    async (c) => c.json(await verifyCampaign(campaigns.store, c.req.valid("param").name), 200),
  );

  return app;
};
