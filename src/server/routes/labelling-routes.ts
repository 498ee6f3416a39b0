/** What a page has to know before it shows anything: who asks, and what may be told. */
import { createRoute } from "@hono/zod-openapi";
import { labellingOf } from "../../campaign/labelling.js";
import { VERSION } from "../../core/version.js";
import { tellsSensitive } from "../labeller.js";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { labellingSchema, meSchema } from "../schemas/labelling-schemas.js";
import { problems } from "../schemas/problem-schema.js";
import { needs, newApp, principalOf, type ServerApp, type ServerContext } from "../server-context.js";

export const labellingRoutes = ({ campaigns }: ServerContext): ServerApp => {
  const app = newApp();

  app.openapi(
    createRoute({
      method: "get",
      path: "/me",
      tags: ["Tokens"],
      summary: "What the token is for",
      description: "Whoever asks learns what they may do here. Scope: any.",
      responses: {
        200: { description: "What it may do.", content: { "application/json": { schema: meSchema } } },
        ...problems(),
      },
    }),
    (c) => {
      const principal = principalOf(c);
      const { scope, token } = principal;
      return c.json(
        {
          scope,
          campaign: token?.campaign ?? null,
          annotator: token?.annotator ?? null,
          tellsSensitive: tellsSensitive(principal),
          tokensNeeded: token !== undefined,
          expiresAt: token?.expiresAt ?? null,
          version: VERSION,
        },
        200,
      );
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/labelling",
      tags: ["Questions"],
      summary: "What is asked, and what may be told",
      description: "The labels that can be given, and nothing of anybody. Scope: label.",
      middleware: needs("label"),
      request: { params: campaignParams },
      responses: {
        200: {
          description: "What whoever answers has to know.",
          content: { "application/json": { schema: labellingSchema } },
        },
        ...problems(409),
      },
    }),
    async (c) => {
      const { now } = await campaigns.now(c.req.valid("param").name);
      return c.json(labellingOf(now, { tellsSensitive: tellsSensitive(principalOf(c)) }), 200);
    },
  );

  return app;
};
