/** Tokens as they are made and listed; the token itself is told once. */
import { z } from "@hono/zod-openapi";
import { SCOPES } from "../scope.js";
import { TOKEN_DAYS } from "../tokens.js";

const text = z.string().min(1).max(200);

export const newTokenSchema = z
  .strictObject({
    name: text.openapi({ description: "Who uses it, and what for." }),
    scope: z.enum(SCOPES),
    campaign: text.optional().openapi({ description: "Nothing beside this campaign." }),
    annotator: text.optional().openapi({ description: "Asks and answers under this name and no other." }),
    sensitive: z
      .boolean()
      .optional()
      .openapi({ description: "A labeller may tell sensitive values too (false)." }),
    days: z
      .number()
      .optional()
      .openapi({ description: `Until it ends (${TOKEN_DAYS}).` }),
  })
  .openapi("NewToken");

export const tokenSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    campaign: z.string().optional(),
    annotator: z.string().optional(),
    sensitive: z.boolean().optional(),
    createdAt: z.string(),
    expiresAt: z.string(),
  })
  .openapi("Token");

export const madeTokenSchema = z
  .strictObject({
    token: tokenSchema,
    secret: z.string().openapi({ description: "The token itself, told this once." }),
  })
  .openapi("MadeToken");

export const tokenParams = z.object({
  token: z
    .string()
    .min(1)
    .max(200)
    .openapi({ param: { name: "token", in: "path" }, description: "The token's id." }),
});
