/** Questions: to get some, and which wait for an answer. */
import { createRoute, z } from "@hono/zod-openapi";
import { outstandingQuestions } from "../../campaign/outstanding-questions.js";
import { cursorOf, numberAt } from "../cursor.js";
import { askingOptions, shownAsked } from "../labeller.js";
import { askedSchema, askSchema, questionSchema } from "../schemas/answer-schemas.js";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { BODY_PROBLEMS, nextSchema, pageQuery, problems } from "../schemas/problem-schema.js";
import {
  needs,
  newApp,
  principalOf,
  type ServerApp,
  type ServerContext,
  usualBody,
} from "../server-context.js";

const tags = ["Questions"];

export const questionRoutes = (context: ServerContext): ServerApp => {
  const { campaigns, clock, metrics } = context;
  const app = newApp();

  app.openapi(
    createRoute({
      method: "post",
      path: "/campaigns/{name}/questions",
      tags,
      summary: "Ask for questions",
      description:
        "Whom to ask next, at most `count`. Each is kept for whoever got it until its time is over. Scope: label.",
      middleware: [needs("label"), usualBody(context)],
      request: {
        params: campaignParams,
        body: { required: true, content: { "application/json": { schema: askSchema } } },
      },
      responses: {
        200: { description: "The questions.", content: { "application/json": { schema: askedSchema } } },
        ...problems(...BODY_PROBLEMS),
      },
    }),
    async (c) => {
      const principal = principalOf(c);
      const body = c.req.valid("json");
      const options = askingOptions(principal, body);
      const campaign = await campaigns.get(c.req.valid("param").name);
      const asked = await campaign.ask(body.count ?? 1, options);
      metrics.asked.add({}, asked.questions.length);
      return c.json(shownAsked(principal, asked), 200);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/questions",
      tags,
      summary: "Questions that wait for an answer",
      description: "In the order in which they were asked. Scope: collect.",
      middleware: needs("collect"),
      request: { params: campaignParams, query: pageQuery },
      responses: {
        200: {
          description: "Some of them, and where the next ones are.",
          content: {
            "application/json": {
              schema: z
                .strictObject({ questions: z.array(questionSchema), next: nextSchema })
                .openapi("OutstandingQuestions"),
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
      const found = outstandingQuestions(campaign.now, clock(), { after, limit: limit + 1 });
      const shown = found.slice(0, limit);
      return c.json(
        {
          questions: shown.map(({ seq: _, ...question }) => question),
          next: found.length > limit ? cursorOf(shown[shown.length - 1].seq) : null,
        },
        200,
      );
    },
  );

  return app;
};
