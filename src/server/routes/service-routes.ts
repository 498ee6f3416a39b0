/** What is about the server itself: whether it lives, what it counts, and how it is described. */
import { createRoute, z } from "@hono/zod-openapi";
import { VERSION } from "../../core/version.js";
import { docsPage } from "../docs-page.js";
import { problems } from "../schemas/problem-schema.js";
import { newApp, type ServerApp, type ServerContext } from "../server-context.js";

const tags = ["Server"];
const html = (description: string) => ({
  200: { description, content: { "text/html": { schema: z.string() } } },
});

const DOCUMENT = {
  openapi: "3.1.0",
  info: {
    title: "FairBED",
    version: VERSION,
    description: "Campaigns of data collection: whom to ask next, and what was answered.",
  },
  security: [{ token: [] }, {}],
};

/** `whole` is the app with all routes, which the document is made of. */
export const serviceRoutes = (
  { campaigns, metrics, authentication }: ServerContext,
  whole: () => ServerApp,
): ServerApp => {
  const app = newApp();
  type Document = ReturnType<ServerApp["getOpenAPI31Document"]>;
  let made: { readonly document: Document; readonly page: ReturnType<typeof docsPage> } | undefined;
  const documented = () => {
    if (made === undefined) {
      const document = whole().getOpenAPI31Document(DOCUMENT);
      made = { document, page: docsPage(document) };
    }
    return made;
  };
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description:
      "A token, fbd_…; not needed on a server that only its own machine reaches, as long as there is none.",
  });

  app.openapi(
    createRoute({
      method: "get",
      path: "/health",
      tags,
      summary: "Whether the server lives",
      responses: {
        200: {
          description: "It does.",
          content: {
            "application/json": { schema: z.strictObject({ status: z.literal("ok") }).openapi("Health") },
          },
        },
        ...problems(),
      },
    }),
    (c) => c.json({ status: "ok" as const }, 200),
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/ready",
      tags,
      summary: "Whether the store answers",
      responses: {
        200: {
          description: "It does.",
          content: {
            "application/json": { schema: z.strictObject({ status: z.literal("ready") }).openapi("Ready") },
          },
        },
        ...problems(),
      },
    }),
    async (c) => {
      await campaigns.store.getDocument("ready", "ready");
      return c.json({ status: "ready" as const }, 200);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/metrics",
      tags,
      summary: "What the server counts",
      description: "In the text format of Prometheus. Scope: read, for all campaigns.",
      responses: {
        200: { description: "The counts.", content: { "text/plain": { schema: z.string() } } },
        ...problems(),
      },
    }),
    async (c) => {
      await authentication.authenticate(c.req.raw, "read", null);
      return c.body(metrics.text(), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/openapi.json",
      tags,
      summary: "All of this, for programs",
      responses: {
        200: {
          description: "An OpenAPI 3.1 document.",
          content: { "application/json": { schema: z.record(z.string(), z.unknown()) } },
        },
        ...problems(),
      },
    }),
    (c) => c.json(documented().document, 200),
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/docs",
      tags,
      summary: "All of this, for people",
      responses: { ...html("A page."), ...problems() },
    }),
    (c) => {
      const { text, policy } = documented().page;
      return c.html(text, 200, { "Content-Security-Policy": policy });
    },
  );

  return app;
};
