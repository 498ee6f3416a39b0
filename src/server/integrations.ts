/** Label Studio and webhooks to others, as one part of a server: with routes, and with work of its own beside them. */

import type { MountGuard } from "./app.js";
import { labelStudioRoutes } from "./label-studio/label-studio-routes.js";
import { type LabelStudioService, labelStudioService } from "./label-studio/service.js";
import type { OpenCampaigns } from "./open-campaigns.js";
import { type OutgoingWebhooks, outgoingWebhooks } from "./outgoing-webhooks.js";
import { backOff, pause } from "./pause.js";
import { limitBody } from "./request-body.js";
import { labelStudioConnectionRoutes } from "./routes/label-studio-connection-routes.js";
import { webhookRoutes } from "./routes/webhook-routes.js";
import type { ServerApp, ServerContext } from "./server-context.js";

export interface Integrations {
  readonly labelStudio: LabelStudioService;
  readonly webhooks: OutgoingWebhooks;
  /** Goes on with what was going on when the server ended. */
  start(): void;
  close(): Promise<void>;
}

export const integrationsOf = (
  campaigns: OpenCampaigns,
  { clock }: { readonly clock?: (() => number) | undefined } = {},
): Integrations => {
  const labelStudio = labelStudioService({ campaigns, clock });
  const webhooks = outgoingWebhooks({ campaigns, clock });
  const closing = new AbortController();
  campaigns.onDelete(async (name) => {
    await labelStudio.forget(name);
    await webhooks.forget(name);
  });
  const begin = async (): Promise<void> => {
    for (let failures = 1; !closing.signal.aborted; failures++) {
      try {
        await labelStudio.start();
        await webhooks.start();
        return;
      } catch {
        // The store is away, say: requests are served meanwhile, each with its own words about it.
        await pause(backOff(failures, 1000, 60_000), closing.signal);
      }
    }
  };
  let beginning: Promise<void> | undefined;
  return {
    labelStudio,
    webhooks,
    start() {
      beginning ??= begin();
    },
    async close() {
      closing.abort();
      await beginning;
      await Promise.all([labelStudio.close(), webhooks.close()]);
    },
  };
};

/** What an administrator sets is under /api/v1; what Label Studio calls is under /label-studio. */
export const mountIntegrations = (
  app: ServerApp,
  context: ServerContext,
  { guard }: Pick<MountGuard, "guard">,
  { labelStudio, webhooks }: Integrations,
): void => {
  const { campaigns, limits } = context;
  app.route("/api/v1", labelStudioConnectionRoutes(context, labelStudio));
  app.route("/api/v1", webhookRoutes(context, webhooks));
  app.route(
    "/label-studio",
    labelStudioRoutes({
      campaigns,
      service: labelStudio,
      // Answers come in the names of many annotators.
      authenticate: guard("collect"),
      limit: limitBody(limits.upload, limits.seconds),
    }),
  );
};
