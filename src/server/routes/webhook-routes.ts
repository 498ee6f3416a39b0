/** Webhooks to others: registered, listed, resumed and removed. */
import { createRoute, z } from "@hono/zod-openapi";
import type { OutgoingWebhooks, WebhookStatus } from "../outgoing-webhooks.js";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { newWebhookSchema, webhookParams, webhookStatusSchema } from "../schemas/integration-schemas.js";
import { BODY_PROBLEMS, problems } from "../schemas/problem-schema.js";
import { needs, newApp, type ServerApp, type ServerContext, usualBody } from "../server-context.js";

const tags = ["Webhooks"];
const path = "/campaigns/{name}/webhooks";

const shown = (status: WebhookStatus) => ({ ...status, events: [...status.events] });

const one = (description: string) => ({
  description,
  content: { "application/json": { schema: webhookStatusSchema } },
});

export const webhookRoutes = (context: ServerContext, webhooks: OutgoingWebhooks): ServerApp => {
  const { campaigns } = context;
  const app = newApp();
  const params = campaignParams.extend(webhookParams.shape);

  app.openapi(
    createRoute({
      method: "post",
      path,
      tags,
      summary: "Register a webhook",
      description:
        'Every event from now on is sent to the address, in order and at least once, as `{ campaign, seq, kind, at, event }`: that something happened, and nothing of anybody. The header `fairbed-signature` is `t=<seconds since 1970>,v1=<HMAC-SHA256 of "t.body" with the secret, in hexadecimal>`, and `fairbed-delivery` is the same for every try of a delivery. Scope: admin.',
      middleware: [needs("admin"), usualBody(context)] as const,
      request: {
        params: campaignParams,
        body: { required: true, content: { "application/json": { schema: newWebhookSchema } } },
      },
      responses: { 201: one("It is registered."), ...problems(...BODY_PROBLEMS) },
    }),
    async (c) => c.json(shown(await webhooks.register(c.req.valid("param").name, c.req.valid("json"))), 201),
  );

  app.openapi(
    createRoute({
      method: "get",
      path,
      tags,
      summary: "List webhooks",
      description: "And how each goes, without its secret. Scope: admin.",
      middleware: needs("admin"),
      request: { params: campaignParams },
      responses: {
        200: {
          description: "All of them.",
          content: {
            "application/json": {
              schema: z.strictObject({ webhooks: z.array(webhookStatusSchema) }).openapi("WebhookList"),
            },
          },
        },
        ...problems(),
      },
    }),
    async (c) => {
      const { name } = await campaigns.get(c.req.valid("param").name);
      return c.json({ webhooks: (await webhooks.list(name)).map(shown) }, 200);
    },
  );

  app.openapi(
    createRoute({
      method: "delete",
      path: `${path}/{webhook}`,
      tags,
      summary: "Remove a webhook",
      description: "Nothing more is sent to it. Scope: admin.",
      middleware: needs("admin"),
      request: { params },
      responses: { 204: { description: "It is removed." }, ...problems() },
    }),
    async (c) => {
      const { name, webhook } = c.req.valid("param");
      await campaigns.get(name);
      await webhooks.remove(name, webhook);
      return c.body(null, 204);
    },
  );

  app.openapi(
    createRoute({
      method: "post",
      path: `${path}/{webhook}/resumptions`,
      tags,
      summary: "Go on with a webhook that was given up",
      description: "From where it stopped. Scope: admin.",
      middleware: needs("admin"),
      request: { params },
      responses: { 200: one("It goes on."), ...problems() },
    }),
    async (c) => {
      const { name, webhook } = c.req.valid("param");
      await campaigns.get(name);
      return c.json(shown(await webhooks.resume(name, webhook)), 200);
    },
  );

  return app;
};
