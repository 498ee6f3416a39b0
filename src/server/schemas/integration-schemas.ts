/** Connections to Label Studio, and webhooks to others. Tokens and secrets are taken and never shown. */
import { z } from "@hono/zod-openapi";
import { EVENT_KINDS } from "../../campaign/events.js";
import { connectionSchema } from "../label-studio/connection.js";
import { webhookSchema } from "../outgoing-webhooks.js";

export const newConnectionSchema = connectionSchema.openapi("NewLabelStudioConnection");

const count = z.int();
const applied = {
  told: count,
  corrected: count,
  skipped: count,
  retracted: count,
  unchanged: count,
  unknown: count.openapi({ description: "About nobody in the pool, or about somebody who withdrew." }),
  notUnderstood: count.openapi({ description: "Kept aside." }),
};

export const connectionStatusSchema = connectionSchema
  .omit({ token: true })
  .extend({
    webhooks: z
      .strictObject(applied)
      .openapi({ description: "What webhooks brought since the server began." }),
    waiting: count.openapi({ description: "Webhooks that are not worked off yet." }),
    deadLetters: count.openapi({ description: "What could not be understood and is kept." }),
    lastRound: z
      .strictObject({ ...applied, tasks: count, open: count, imported: count })
      .nullable()
      .openapi({ description: "What the last comparison with the project brought." }),
    trouble: z.string().nullable().openapi({ description: "What went wrong in the last round." }),
  })
  .openapi("LabelStudioConnection");

export const newWebhookSchema = webhookSchema.openapi("NewWebhook");

export const webhookStatusSchema = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(EVENT_KINDS)),
    createdAt: z.string(),
    delivered: count.openapi({ description: "The last event that is behind it." }),
    failures: count.openapi({ description: "Tries of the next delivery that failed." }),
    failingSince: z.string().nullable(),
    givenUp: z
      .boolean()
      .openapi({ description: "It failed for days; it goes on from its place once resumed." }),
  })
  .openapi("Webhook");

export const webhookParams = z.object({
  webhook: z
    .string()
    .min(1)
    .max(200)
    .openapi({ param: { name: "webhook", in: "path" }, description: "The webhook's id." }),
});
