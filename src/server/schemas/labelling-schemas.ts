/** Who somebody is to the server, and what whoever labels has to know. */
import { z } from "@hono/zod-openapi";
import { SCOPES } from "../scope.js";

export const meSchema = z
  .strictObject({
    scope: z.enum(SCOPES),
    campaign: z.string().nullable().openapi({ description: "The only one that it is for; null for all." }),
    annotator: z
      .string()
      .nullable()
      .openapi({ description: "The name that it asks and answers under; null for any." }),
    tellsSensitive: z.boolean().openapi({ description: "Whether it may tell sensitive values." }),
    tokensNeeded: z
      .boolean()
      .openapi({ description: "Whether requests need a token; false as long as there is none here." }),
    expiresAt: z
      .string()
      .nullable()
      .openapi({ description: "When the token ends, as ISO 8601; null where none is needed." }),
    version: z.string().openapi({ description: "Of the server." }),
  })
  .openapi("Me");

const answer = z
  .union([
    z.strictObject({
      kind: z.literal("choice"),
      values: z
        .array(z.union([z.string(), z.number(), z.boolean()]))
        .openapi({ description: "As they stand in the column." }),
      others: z.boolean().openapi({
        description: "Another value may be told too: so far the values of one class only are known.",
      }),
    }),
    z.strictObject({ kind: z.literal("number") }),
  ])
  .openapi("TellableValues");

export const labellingSchema = z
  .union([
    z.strictObject({
      kind: z.literal("pool"),
      target: z
        .string()
        .openapi({ description: "What is asked, as the campaign names it.", example: "hired=yes" }),
      column: z.string(),
      answer,
      opinions: z.int().openapi({ description: "How many annotators answer an item." }),
      sensitive: z.array(z.strictObject({ column: z.string(), answer })).openapi({
        description: "Sensitive columns that may be told too; none where the token may not.",
      }),
    }),
    z.strictObject({
      kind: z.literal("design"),
      target: z.string().openapi({ description: "The model whose outcomes are observed." }),
      outcomes: z.array(z.string()).openapi({ description: "What they are called; each is a number." }),
      observations: z.int().openapi({ description: "How many a participant makes." }),
    }),
  ])
  .openapi("Labelling");
