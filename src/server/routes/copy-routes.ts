/** A campaign as a file: backups and back, exports, and its data card. */
import { createRoute, z } from "@hono/zod-openapi";
import { backupLines, restoreCampaign } from "../../campaign/backup.js";
import { completeDataCard } from "../../campaign/data-card.js";
import { dataCardMarkdown } from "../../campaign/data-card-text.js";
import { exportTable, exportText } from "../../campaign/export.js";
import { parquetBytes } from "../../sources/write-parquet.js";
import { Problem, problemTexts } from "../problem.js";
import { restoredSchema } from "../schemas/analysis-schemas.js";
import { campaignParams, nameSchema } from "../schemas/campaign-schemas.js";
import { BODY_PROBLEMS, problems } from "../schemas/problem-schema.js";
import { largeBody, needs, newApp, type ServerApp, type ServerContext } from "../server-context.js";

const tags = ["Copies"];
const JSON_LINES = "application/x-ndjson";
const PARQUET = "application/vnd.apache.parquet";
const MARKDOWN = "text/markdown";

/** A name that a browser saves under; campaigns have none that would need quoting. */
const saveAs = (file: string) => ({ "Content-Disposition": `attachment; filename="${file}"` });

/** Text line by line, as fast as it is taken. */
const streamOf = (lines: AsyncGenerator<string>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
};

/** The first line is waited for: whatever is wrong is said before anything is sent. */
async function* begun(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

const text = z.string();
const exportQuery = z.object({
  format: z.enum(["csv", "jsonl", "parquet"]).default("csv"),
  rows: z.enum(["acquired", "all"]).default("acquired"),
  sensitive: z.enum(["true", "false"]).default("true").openapi({
    description: "Whether the columns of the sensitive attributes are part of it.",
  }),
});

export const copyRoutes = (context: ServerContext): ServerApp => {
  const { campaigns, computations } = context;
  const app = newApp();

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/backup",
      tags,
      summary: "A whole campaign as text",
      description: "JSON lines: what it is, the items, the events. Scope: admin.",
      middleware: needs("admin"),
      request: { params: campaignParams },
      responses: {
        200: { description: "The backup.", content: { [JSON_LINES]: { schema: text } } },
        ...problems(),
      },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      const lines = backupLines(campaigns.store, name);
      const first = await lines.next();
      return c.body(streamOf(begun(first, lines)), 200, {
        "Content-Type": JSON_LINES,
        ...saveAs(`${name}.backup.jsonl`),
      });
    },
  );

  app.openapi(
    createRoute({
      method: "post",
      path: "/restore",
      tags,
      summary: "Take a backup in",
      description: "Refuses what does not check, and a name that is taken. Scope: admin, for all campaigns.",
      middleware: [needs("admin", "all"), largeBody(context)],
      request: {
        query: z.object({
          name: nameSchema.optional().openapi({ description: "Another name than the backup has." }),
        }),
        body: { required: true, content: { [JSON_LINES]: { schema: text } } },
      },
      responses: {
        201: {
          description: "It is there.",
          content: {
            "application/json": { schema: restoredSchema },
          },
        },
        ...problems(...BODY_PROBLEMS),
      },
    }),
    async (c) => {
      const kind = (c.req.header("content-type") ?? "").split(";")[0].trim().toLowerCase();
      if (kind !== JSON_LINES) throw new Problem(415, "media-type", problemTexts.mediaType(JSON_LINES));
      const restored = await restoreCampaign(campaigns.store, await c.req.text(), c.req.valid("query").name);
      return c.json(restored, 201);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/export",
      tags,
      summary: "What was acquired, as a table",
      description: "With all labels filled in, and how each row came to its label. Scope: collect.",
      middleware: needs("collect"),
      request: { params: campaignParams, query: exportQuery },
      responses: {
        200: {
          description: "The table.",
          content: {
            "text/csv": { schema: text },
            [JSON_LINES]: { schema: text },
            [PARQUET]: { schema: z.string().openapi({ format: "binary" }) },
          },
        },
        ...problems(409, 422, 501),
      },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      const { format, rows, sensitive } = c.req.valid("query");
      const campaign = await campaigns.now(name);
      const table = exportTable(campaign, { rows, withoutSensitive: sensitive === "false" });
      if (format === "parquet") {
        const bytes = new Uint8Array(await parquetBytes(table));
        return c.body(bytes, 200, { "Content-Type": PARQUET, ...saveAs(`${name}.parquet`) });
      }
      return c.body(exportText(table, format), 200, {
        "Content-Type": format === "csv" ? "text/csv; charset=utf-8" : JSON_LINES,
        ...saveAs(`${name}.${format}`),
      });
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path: "/campaigns/{name}/card",
      tags,
      summary: "The data card",
      description:
        "Who was asked and how, for whoever uses the data: Markdown, or JSON with `format=json`. Scope: collect.",
      middleware: needs("collect"),
      request: {
        params: campaignParams,
        query: z.object({ format: z.enum(["markdown", "json"]).default("markdown") }),
      },
      responses: {
        200: {
          description: "The card.",
          content: {
            [MARKDOWN]: { schema: text },
            "application/json": { schema: z.record(z.string(), z.unknown()).openapi("CampaignCard") },
          },
        },
        ...problems(409, 422),
      },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      const campaign = await campaigns.now(name);
      const card = await computations.run(`card ${name} ${campaign.head.hash}`, c.req.raw.signal, (run) =>
        completeDataCard(campaign, run),
      );
      if (c.req.valid("query").format === "json") return c.json(card, 200);
      return c.body(dataCardMarkdown(card), 200, {
        "Content-Type": `${MARKDOWN}; charset=utf-8`,
        ...saveAs(`${name}.card.md`),
      });
    },
  );

  return app;
};
