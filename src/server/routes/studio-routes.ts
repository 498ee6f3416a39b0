/** The page and its files: no token is needed for them, because they hold nothing of anybody. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { VERSION } from "../../core/version.js";
import { frontPage } from "../docs-page.js";
import { problems } from "../schemas/problem-schema.js";
import { type AppEnv, newApp, type ServerApp } from "../server-context.js";
import { type StudioFiles, studioTexts } from "../studio-files.js";

/** A program that does not take pages. */
const wantsJson = (accept: string | undefined): boolean =>
  accept?.includes("application/json") === true && !accept.includes("text/html");

/** `limit` counts the requests of each address. */
export const studioRoutes = (files: StudioFiles, limit: MiddlewareHandler<AppEnv>): ServerApp => {
  const app = newApp();
  const fileAt = async (c: Context<AppEnv>): Promise<Response | undefined> => {
    const { path } = c.req;
    const found = await files.find(path, {
      acceptEncoding: c.req.header("accept-encoding"),
      ifNoneMatch: c.req.header("if-none-match"),
    });
    return found === undefined
      ? undefined
      : c.newResponse(found.body, { status: found.status, headers: { ...found.headers } });
  };

  app.openapi(
    createRoute({
      method: "get",
      path: "/",
      tags: ["Server"],
      summary: "Where to begin",
      description:
        "The page where people see and steer a collection, or with `Accept: application/json` where programs find what.",
      middleware: limit,
      responses: {
        200: {
          description: "The page.",
          content: {
            "text/html": { schema: z.string() },
            "application/json": {
              schema: z
                .strictObject({
                  name: z.literal("fairbed"),
                  version: z.string(),
                  api: z.string(),
                  docs: z.string(),
                  openapi: z.string(),
                })
                .openapi("Front"),
            },
          },
        },
        304: { description: "It is the one that whoever asks has." },
        ...problems(),
      },
    }),
    async (c) => {
      if (wantsJson(c.req.header("accept"))) {
        const places = { api: "/api/v1", docs: "/docs", openapi: "/openapi.json" };
        return c.json({ name: "fairbed" as const, version: VERSION, ...places }, 200, { Vary: "Accept" });
      }
      const file = await fileAt(c);
      if (file !== undefined) {
        file.headers.append("Vary", "Accept");
        return file;
      }
      const { text, policy } = frontPage(studioTexts.missing);
      return c.html(text, 200, { "Content-Security-Policy": policy });
    },
  );

  for (const pattern of ["/assets/:file{.+}", "/:file{[^/]+\\.[a-z0-9]+}"]) {
    app.get(pattern, limit, async (c, next) => (await fileAt(c)) ?? next());
  }
  return app;
};
