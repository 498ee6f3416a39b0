/** What happens in a campaign, as server-sent events. */
import { createRoute, z } from "@hono/zod-openapi";
import { streamSSE } from "hono/streaming";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { problems } from "../schemas/problem-schema.js";
import { needs, newApp, principalOf, type ServerApp, type ServerContext } from "../server-context.js";

/** Milliseconds after which a browser comes back. */
const RETRY_MS = 3000;

export const eventRoutes = ({ campaigns, feeds }: ServerContext): ServerApp => {
  const app = newApp();
  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/events",
      tags: ["Events"],
      summary: "What happens, as it happens",
      description:
        'Server-sent events: "ready" with the number of the last event, "event" with number, kind and time of each new one, "ranking" when a new ranking is there, "progress" of long computations, "end". Never what an event says. Whoever comes back with Last-Event-ID gets what came since. Scope: read.',
      middleware: needs("read"),
      request: {
        params: campaignParams,
        headers: z.object({
          "last-event-id": z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
        }),
      },
      responses: {
        200: { description: "A stream.", content: { "text/event-stream": { schema: z.string() } } },
        ...problems(),
      },
    }),
    async (c) => {
      const campaign = await campaigns.now(c.req.valid("param").name);
      const after = c.req.valid("header")["last-event-id"];
      const principal = principalOf(c);
      // Nobody keeps what is only true now.
      c.header("X-Accel-Buffering", "no");
      const response = streamSSE(c, async (stream) => {
        const left = new AbortController();
        stream.onAbort(() => left.abort());
        await stream.write(`retry: ${RETRY_MS}\n\n`);
        await feeds.follow(
          campaign,
          principal,
          { after, left: left.signal },
          {
            send: ({ event, id, data }) =>
              stream.writeSSE({ event, data: JSON.stringify(data), ...(id === undefined ? {} : { id }) }),
            heartbeat: async () => {
              await stream.write(": still here\n\n");
            },
          },
        );
      });
      response.headers.set("Cache-Control", "no-store");
      return response;
    },
  );
  return app;
};
