/**
 * What Label Studio calls, as it expects it: the machine learning backend of a project, and its webhooks. Mounted at
 * `/label-studio`; the address to give there is `/label-studio/<campaign>`.
 */
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { z } from "zod";
import { requireName, unknownCampaign } from "../../campaign/store.js";
import { InputError } from "../../core/errors.js";
import type { OpenCampaigns } from "../open-campaigns.js";
import { pause } from "../pause.js";
import { modelVersion, predictionsFor, type TargetPredictor } from "./predictions.js";
import type { LabelStudioService } from "./service.js";

export interface LabelStudioRoutesOptions {
  readonly campaigns: OpenCampaigns;
  readonly service: LabelStudioService;
  /** Lets nobody in who has no right to the campaign `:campaign`. */
  readonly authenticate?: MiddlewareHandler | undefined;
  /** Lets no body in that is too long. */
  readonly limit?: MiddlewareHandler | undefined;
  /** Shown to annotators before they answer; none unless given. */
  readonly predictTarget?: TargetPredictor | undefined;
}

export const labelStudioRouteTexts = {
  tasks: "the request has no list of tasks: give { tasks: [{ id, data }] }",
};

/** Label Studio waits a second for a webhook's answer. */
const ANSWER_WITHIN_MS = 700;

const predictSchema = z.object({
  tasks: z.array(z.object({ data: z.record(z.string(), z.unknown()).optional().catch(undefined) })),
});

/** Errors are left to the app that this is mounted in. */
export const labelStudioRoutes = (options: LabelStudioRoutesOptions): Hono => {
  const { campaigns, service, predictTarget } = options;
  const app = new Hono();
  const nameIn = (context: Context): string => requireName(context.req.param("campaign") ?? "");
  /** Whether there is such a campaign, without opening it. */
  const requireCampaign = async (name: string): Promise<void> => {
    if (campaigns.opened().some((campaign) => campaign.name === name)) return;
    const [first] = await campaigns.store.read(name, 0, 1);
    if (first === undefined) throw unknownCampaign(name);
  };
  for (const each of [options.authenticate, options.limit]) {
    if (each !== undefined) app.use("/:campaign/*", each);
  }

  app.get("/:campaign/health", async (context) => {
    await requireCampaign(nameIn(context));
    return context.json({ status: "UP", model_class: "FairBED" });
  });

  app.post("/:campaign/setup", async (context) => {
    const campaign = await campaigns.get(nameIn(context));
    // Its answer is not waited for: Label Studio asks for predictions later.
    void campaign.settle().catch(() => {});
    return context.json({ model_version: await modelVersion(campaign) });
  });

  app.post("/:campaign/predict", async (context) => {
    const campaign = await campaigns.get(nameIn(context));
    const body = predictSchema.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) throw new InputError("tasks", labelStudioRouteTexts.tasks);
    const reading = await service.readingOf(campaign.name);
    return context.json(await predictionsFor(campaign, body.data.tasks, reading, predictTarget));
  });

  app.post("/:campaign/webhook", async (context) => {
    const name = nameIn(context);
    const payload = await context.req.text();
    const answered = new AbortController();
    const accepted = requireCampaign(name).then(() => service.inbox.accept(name, payload));
    // Where the store is slow, what came is still being written: 202 does not promise that it is safe.
    const status = await Promise.race([
      accepted.then(() => 201 as const),
      pause(ANSWER_WITHIN_MS, answered.signal).then(() => 202 as const),
    ]).finally(() => answered.abort());
    accepted.catch(() => {});
    return context.json({ status: "ok" }, status);
  });
  return app;
};
