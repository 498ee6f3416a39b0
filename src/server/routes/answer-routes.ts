/** Answers: told, passed on, taken back, settled, erased, and listed. Ids stand in bodies and never in addresses. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Answer } from "../../campaign/campaign.js";
import { disputesOf } from "../../campaign/disputes.js";
import { loggedAnswers } from "../../campaign/logged-answers.js";
import { cursorOf, numberAt } from "../cursor.js";
import { annotatorFor, answersFor, requireAskedOf, retractFor, shownTaken } from "../labeller.js";
import {
  adjudicationSchema,
  disputeSchema,
  loggedAnswerSchema,
  retractionSchema,
  skipSchema,
  takenSchema,
  tellSchema,
  withdrawalSchema,
  withdrawnSchema,
} from "../schemas/answer-schemas.js";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { BODY_PROBLEMS, nextSchema, pageQuery, problems } from "../schemas/problem-schema.js";
import type { Scope } from "../scope.js";
import {
  needs,
  newApp,
  principalOf,
  type ServerApp,
  type ServerContext,
  usualBody,
} from "../server-context.js";

const tags = ["Answers"];

export const answerRoutes = (context: ServerContext): ServerApp => {
  const { campaigns, metrics } = context;
  const app = newApp();

  const posted = <Path extends string, Body extends z.ZodType>(
    path: Path,
    body: Body,
    {
      scope,
      summary,
      description,
    }: { readonly scope: Scope; readonly summary: string; readonly description: string },
  ) => ({
    method: "post" as const,
    path: `/campaigns/{name}/${path}` as const,
    tags,
    summary,
    description: `${description} Scope: ${scope}.`,
    middleware: [needs(scope), usualBody(context)],
    request: {
      params: campaignParams,
      body: { required: true, content: { "application/json": { schema: body } } },
    },
  });
  const done = { 204: { description: "It is done and stored." }, ...problems(...BODY_PROBLEMS) };

  app.openapi(
    createRoute({
      ...posted("answers", tellSchema, {
        scope: "label",
        summary: "Tell answers",
        description:
          "One or many: all of them are taken, or none and the reason. An answer that is sent again under the same `event` counts once.",
      }),
      responses: {
        200: {
          description: "They are stored; what became of each.",
          content: {
            "application/json": { schema: z.strictObject({ taken: z.array(takenSchema) }).openapi("Taken") },
          },
        },
        ...problems(...BODY_PROBLEMS),
      },
    }),
    async (c) => {
      const principal = principalOf(c);
      const { name } = c.req.valid("param");
      // What a labeller was asked may be known to another process only.
      const campaign = await (principal.scope === "label" ? campaigns.now(name) : campaigns.get(name));
      const answers = answersFor(principal, campaign, c.req.valid("json").answers as readonly Answer[]);
      const taken = await campaign.tell(answers);
      for (const { status } of taken) metrics.told.add({ status });
      return c.json({ taken: shownTaken(principal, taken) }, 200);
    },
  );

  app.openapi(
    createRoute({
      ...posted("skips", skipSchema, {
        scope: "label",
        summary: "Pass a question on",
        description: "Somebody else may get it at once, and this annotator does not get it again.",
      }),
      responses: done,
    }),
    async (c) => {
      const principal = principalOf(c);
      const { id, annotator: given, event } = c.req.valid("json");
      const campaign = await campaigns.now(c.req.valid("param").name);
      const annotator = annotatorFor(principal, given);
      requireAskedOf(principal, campaign, id, annotator);
      await campaign.skip(id, annotator, event);
      return c.body(null, 204);
    },
  );

  app.openapi(
    createRoute({
      ...posted("retractions", retractionSchema, {
        scope: "label",
        summary: "Take an answer back",
        description:
          "The item may be asked again. With a token for label, an answer of its own annotator alone.",
      }),
      responses: done,
    }),
    async (c) => {
      const { id, ...rest } = c.req.valid("json");
      const campaign = await campaigns.now(c.req.valid("param").name);
      await retractFor(principalOf(c), campaign, id, rest);
      return c.body(null, 204);
    },
  );

  app.openapi(
    createRoute({
      ...posted("adjudications", adjudicationSchema, {
        scope: "collect",
        summary: "Settle a label",
        description: "Whatever annotators say.",
      }),
      responses: done,
    }),
    async (c) => {
      const { id, label, annotator, event } = c.req.valid("json");
      const campaign = await campaigns.get(c.req.valid("param").name);
      await campaign.adjudicate(id, label, annotatorFor(principalOf(c), annotator), event);
      return c.body(null, 204);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/disputes",
      tags,
      summary: "What annotators disagree about",
      description:
        "What is known of each item and who said what, in the order of the pool; nothing sensitive. Changes nothing. Scope: collect.",
      middleware: needs("collect"),
      request: { params: campaignParams, query: pageQuery },
      responses: {
        200: {
          description: "Some of them, and where the next ones are.",
          content: {
            "application/json": {
              schema: z
                .strictObject({ disputes: z.array(disputeSchema), next: nextSchema })
                .openapi("Disputes"),
            },
          },
        },
        ...problems(422),
      },
    }),
    async (c) => {
      const { limit, cursor } = c.req.valid("query");
      const from = numberAt(cursor);
      const campaign = await campaigns.now(c.req.valid("param").name);
      const { disputes, next } = disputesOf(campaign.now, { from, limit });
      return c.json({ disputes, next: next === null ? null : cursorOf(next) }, 200);
    },
  );

  app.openapi(
    createRoute({
      ...posted("withdrawals", withdrawalSchema, {
        scope: "collect",
        summary: "Erase everything about somebody",
        description: "From the campaign, from the store and from all exports to come. It cannot be undone.",
      }),
      responses: {
        200: { description: "It is erased.", content: { "application/json": { schema: withdrawnSchema } } },
        ...problems(...BODY_PROBLEMS),
      },
    }),
    async (c) => {
      const campaign = await campaigns.get(c.req.valid("param").name);
      return c.json(await campaign.withdraw(c.req.valid("json").id), 200);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/answers",
      tags,
      summary: "What was answered",
      description:
        "Event by event, a correction after what it corrects; nothing of those who withdrew. Scope: collect.",
      middleware: needs("collect"),
      request: { params: campaignParams, query: pageQuery },
      responses: {
        200: {
          description: "Some of them, and where the next ones are.",
          content: {
            "application/json": {
              schema: z
                .strictObject({ answers: z.array(loggedAnswerSchema), next: nextSchema })
                .openapi("LoggedAnswers"),
            },
          },
        },
        ...problems(),
      },
    }),
    async (c) => {
      const { limit, cursor } = c.req.valid("query");
      const after = numberAt(cursor);
      const campaign = await campaigns.now(c.req.valid("param").name);
      const { answers, next } = await loggedAnswers(campaigns.store, campaign.now, { after, limit });
      return c.json({ answers, next: next === null ? null : cursorOf(next) }, 200);
    },
  );

  return app;
};
