/** Which project of Label Studio a campaign is connected to. The token is taken and never given back. */
import { createRoute } from "@hono/zod-openapi";
import type { LabelStudioService } from "../label-studio/service.js";
import { Problem } from "../problem.js";
import { campaignParams } from "../schemas/campaign-schemas.js";
import { connectionStatusSchema, newConnectionSchema } from "../schemas/integration-schemas.js";
import { BODY_PROBLEMS, problems } from "../schemas/problem-schema.js";
import { needs, newApp, type ServerApp, type ServerContext, usualBody } from "../server-context.js";

const tags = ["Label Studio"];
const path = "/campaigns/{name}/label-studio";

export const connectionRouteTexts = {
  none: "the campaign is not connected to Label Studio: connect it with PUT",
};

const shown = {
  200: {
    description: "The connection and how it goes, without the token.",
    content: { "application/json": { schema: connectionStatusSchema } },
  },
};

export const labelStudioConnectionRoutes = (
  context: ServerContext,
  service: LabelStudioService,
): ServerApp => {
  const { campaigns } = context;
  const app = newApp();
  const statusOf = async (name: string) => {
    await campaigns.get(name);
    const status = await service.status(name);
    if (status === undefined) throw new Problem(404, "no-connection", connectionRouteTexts.none);
    return { ...status, values: status.values === undefined ? undefined : { ...status.values } };
  };

  app.openapi(
    createRoute({
      method: "put",
      path,
      tags,
      summary: "Connect to a project of Label Studio",
      description:
        "From then on the project is kept stocked with the tasks that the campaign wants answered next, and its annotations are taken in. The server sends requests to the address that is given here. Scope: admin.",
      middleware: [needs("admin"), usualBody(context)] as const,
      request: {
        params: campaignParams,
        body: { required: true, content: { "application/json": { schema: newConnectionSchema } } },
      },
      responses: { ...shown, ...problems(...BODY_PROBLEMS) },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      await service.connect(name, c.req.valid("json"));
      return c.json(await statusOf(name), 200);
    },
  );

  app.openapi(
    createRoute({
      method: "get",
      path,
      tags,
      summary: "How the connection goes",
      description: "Without the token. Scope: admin.",
      middleware: needs("admin"),
      request: { params: campaignParams },
      responses: { ...shown, ...problems() },
    }),
    async (c) => c.json(await statusOf(c.req.valid("param").name), 200),
  );

  app.openapi(
    createRoute({
      method: "delete",
      path,
      tags,
      summary: "End the connection",
      description: "Answers stay; what could not be understood is let go. Scope: admin.",
      middleware: needs("admin"),
      request: { params: campaignParams },
      responses: { 204: { description: "It is ended." }, ...problems() },
    }),
    async (c) => {
      const { name } = c.req.valid("param");
      await statusOf(name);
      await service.disconnect(name);
      return c.body(null, 204);
    },
  );

  return app;
};
