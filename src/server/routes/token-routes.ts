/** Tokens: to make, list and revoke them. */
import { createRoute, z } from "@hono/zod-openapi";
import { requireName } from "../../campaign/store.js";
import { cursorOf, placeOf } from "../cursor.js";
import { Problem } from "../problem.js";
import { BODY_PROBLEMS, nextSchema, pageQuery, problems } from "../schemas/problem-schema.js";
import { madeTokenSchema, newTokenSchema, tokenParams, tokenSchema } from "../schemas/token-schemas.js";
import {
  needs,
  newApp,
  principalOf,
  type ServerApp,
  type ServerContext,
  usualBody,
} from "../server-context.js";

const tags = ["Tokens"];

export const tokenRouteTexts = {
  first:
    "this would be the only token, and from then on every request needs one: make one for admin and all campaigns first, or nobody could make another",
};

export const tokenRoutes = (context: ServerContext): ServerApp => {
  const { tokens } = context;
  const app = newApp();

  app.openapi(
    createRoute({
      method: "get",
      path: "/tokens",
      tags,
      summary: "List tokens",
      description: "What they are for, and never a token itself. Scope: admin, for all campaigns.",
      middleware: needs("admin", "all"),
      request: { query: pageQuery },
      responses: {
        200: {
          description: "Some of them, and where the next ones are.",
          content: {
            "application/json": {
              schema: z.strictObject({ tokens: z.array(tokenSchema), next: nextSchema }).openapi("TokenList"),
            },
          },
        },
        ...problems(),
      },
    }),
    async (c) => {
      const { limit, cursor } = c.req.valid("query");
      const after = cursor === undefined ? "" : placeOf(cursor);
      const left = (await tokens.list()).filter(({ id }) => id > after);
      const shown = left.slice(0, limit);
      return c.json(
        { tokens: shown, next: left.length > limit ? cursorOf(shown[shown.length - 1].id) : null },
        200,
      );
    },
  );

  app.openapi(
    createRoute({
      method: "post",
      path: "/tokens",
      tags,
      summary: "Make a token",
      description:
        "The token itself is in the answer, this once. As soon as there is one, every request needs one. Scope: admin, for all campaigns.",
      middleware: [needs("admin", "all"), usualBody(context)],
      request: { body: { required: true, content: { "application/json": { schema: newTokenSchema } } } },
      responses: {
        201: { description: "It is made.", content: { "application/json": { schema: madeTokenSchema } } },
        ...problems(...BODY_PROBLEMS),
      },
    }),
    async (c) => {
      const choice = c.req.valid("json");
      if (choice.campaign !== undefined) requireName(choice.campaign);
      const isWhole = choice.scope === "admin" && choice.campaign === undefined;
      if (principalOf(c).token === undefined && !isWhole) {
        throw new Problem(409, "first-token", tokenRouteTexts.first);
      }
      return c.json(await tokens.create(choice), 201);
    },
  );

  app.openapi(
    createRoute({
      method: "delete",
      path: "/tokens/{token}",
      tags,
      summary: "Revoke a token",
      description: "By its id. It ends at once. Scope: admin, for all campaigns.",
      middleware: needs("admin", "all"),
      request: { params: tokenParams },
      responses: { 204: { description: "It is gone." }, ...problems() },
    }),
    async (c) => {
      await tokens.revoke(c.req.valid("param").token);
      return c.body(null, 204);
    },
  );

  return app;
};
