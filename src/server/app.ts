/** The whole of the server but its socket: `app.request("/health")` answers without one. */

import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { routePath } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import { type AllowedAddresses, requireAddress } from "./addresses.js";
import { type Authentication, authentication, type Principal } from "./authentication.js";
import { eventFeeds } from "./event-feeds.js";
import { type Integrations, mountIntegrations } from "./integrations.js";
import { failureFields, type Log } from "./log.js";
import { createMetrics } from "./metrics.js";
import type { OpenCampaigns } from "./open-campaigns.js";
import { Problem, problemBody, problemOf, problemTexts } from "./problem.js";
import { type Rate, type RateLimit, rateLimit } from "./rate-limit.js";
import { BODY_LIMITS, type BodyLimits } from "./request-body.js";
import { analysisRoutes } from "./routes/analysis-routes.js";
import { answerRoutes } from "./routes/answer-routes.js";
import { campaignRoutes } from "./routes/campaign-routes.js";
import { copyRoutes } from "./routes/copy-routes.js";
import { eventRoutes } from "./routes/event-routes.js";
import { labellingRoutes } from "./routes/labelling-routes.js";
import { questionRoutes } from "./routes/question-routes.js";
import { serviceRoutes } from "./routes/service-routes.js";
import { studioRoutes } from "./routes/studio-routes.js";
import { tokenRoutes } from "./routes/token-routes.js";
import type { Scope } from "./scope.js";
import { type AppEnv, newApp, type ServerApp, type ServerContext } from "./server-context.js";
import { RATE } from "./server-defaults.js";
import { sharedComputations } from "./shared-computations.js";
import { studioFiles } from "./studio-files.js";
import type { Tokens } from "./tokens.js";

export interface AppOptions {
  /** Nobody but this machine reaches the server: without any token everybody is admin (false). */
  readonly openWithoutTokens?: boolean | undefined;
  /** Names that the server may be called by, beside those of this machine; any unless given. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of pages that may ask, as in https://example.org (none). */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly rate?: Rate | undefined;
  readonly limits?: Partial<BodyLimits> | undefined;
  /** Milliseconds between two looks at what other processes wrote, while somebody listens to events. */
  readonly pollMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  /** Ends streams of events. */
  readonly closing?: AbortSignal | undefined;
  /** The folder with the build of the page; that of this package unless given. */
  readonly studio?: string | undefined;
  readonly clock?: (() => number) | undefined;
}

/** What mounted routes check their requests with. */
export interface MountGuard extends Authentication {
  /**
   * As a middleware: who asks must have the scope for the campaign in the path's parameter `campaign`, and no more
   * requests than others. Tokens are read from `Authorization: Bearer`, `Token` or `Basic` (as the password) and from
   * `X-Fairbed-Token`.
   */
  guard(scope: Scope): MiddlewareHandler;
}

export interface AppParts {
  readonly campaigns: OpenCampaigns;
  readonly tokens: Tokens;
  readonly log: Log;
  /** Label Studio and webhooks to others; none unless given. */
  readonly integrations?: Integrations | undefined;
  readonly options?: AppOptions | undefined;
}

const POLICY = "Content-Security-Policy";
const NOTHING_ALLOWED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const NOWHERE = "(none)";
/** Patterns are counted and logged, and not addresses, which may be about somebody. */
const routeOf = (c: Context): string => {
  const path = routePath(c, -1);
  return path.endsWith("*") ? NOWHERE : path;
};

const addressOf = (c: Context<AppEnv>): string => c.env?.incoming?.socket.remoteAddress ?? "local";

const HONO_PROBLEMS: Readonly<Record<number, Problem>> = {
  400: new Problem(400, "body", problemTexts.json),
  415: new Problem(415, "media-type", problemTexts.mediaType("application/json")),
};

const asProblem = (error: unknown): Problem =>
  error instanceof HTTPException && HONO_PROBLEMS[error.status] !== undefined
    ? HONO_PROBLEMS[error.status]
    : problemOf(error);

const problemResponse = (c: Context, problem: Problem): Response =>
  c.json(problemBody(problem), problem.status, { "Cache-Control": "no-store", ...problem.headers });

/** Everybody has a bucket: by token where it is good, by address else, so that guessing tokens empties one. */
const identified = async (
  c: Context<AppEnv>,
  identify: Authentication["identify"],
  rate: RateLimit,
): Promise<Principal> => {
  const address = `address ${addressOf(c)}`;
  rate.require(address);
  try {
    const principal = await identify(c.req.raw);
    rate.take(principal.token === undefined ? address : `token ${principal.token.id}`);
    return principal;
  } catch (error) {
    if (error instanceof Problem) rate.take(address);
    throw error;
  }
};

export const createApp = ({ campaigns, tokens, log, integrations, options = {} }: AppParts): ServerApp => {
  const { clock = Date.now, allowedOrigins = [], allowedHosts, openWithoutTokens = false } = options;
  const addresses: AllowedAddresses = { hosts: allowedHosts, origins: allowedOrigins };
  const auth = authentication(tokens, { openWithoutTokens });
  const rate = rateLimit(options.rate ?? RATE, clock);
  const feeds = eventFeeds(campaigns, options);
  const metrics = createMetrics({
    openCampaigns: () => campaigns.opened().length,
    streams: feeds.count,
    rankingAges: () =>
      campaigns.opened().flatMap((campaign) => {
        const { ranking } = campaign.status();
        return ranking === null ? [] : [{ campaign: campaign.name, seconds: ranking.seconds }];
      }),
  });
  campaigns.onOpen((campaign) =>
    campaign.listen((news) => {
      if (news.type === "event") metrics.events.add({ kind: news.kind });
    }),
  );
  campaigns.onRanked((seconds) => metrics.ranking.observe(seconds));
  const context: ServerContext = {
    campaigns,
    tokens,
    authentication: auth,
    metrics,
    feeds,
    computations: sharedComputations(),
    log,
    limits: { ...BODY_LIMITS, ...options.limits },
    clock,
  };

  const app = newApp();
  app.use(async (c, next) => {
    const start = performance.now();
    const requestId = randomUUID();
    c.set("requestId", requestId);
    c.header("X-Request-Id", requestId);
    await next();
    const seconds = (performance.now() - start) / 1000;
    const route = routeOf(c);
    const { method } = c.req;
    const { status } = c.res;
    metrics.requests.add({ method, route, status: String(status) });
    metrics.latency.observe(seconds, { method, route });
    const token = c.var.principal?.token?.id.slice(0, 8);
    log.info("request", { method, route, status, ms: Math.round(seconds * 1e4) / 10, requestId, token });
  });
  app.use(
    secureHeaders({
      referrerPolicy: "no-referrer",
      // Up to the proxy that speaks TLS, which knows about the other names of its domain.
      strictTransportSecurity: false,
      xFrameOptions: "DENY",
    }),
  );
  app.use(async (c, next) => {
    await next();
    // Pages have one of their own.
    if (!c.res.headers.has(POLICY)) c.header(POLICY, NOTHING_ALLOWED);
  });
  app.use(async (c, next) => {
    requireAddress(c.req.raw.headers, addresses);
    await next();
  });
  if (allowedOrigins.length > 0) {
    app.use(
      cors({
        origin: [...allowedOrigins],
        allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
        allowHeaders: ["Authorization", "Content-Type", "If-Match", "If-None-Match", "Last-Event-ID"],
        exposeHeaders: ["ETag", "Location", "Retry-After", "X-Request-Id"],
        maxAge: 600,
      }),
    );
  }
  app.use("/api/*", async (c, next) => {
    c.set("principal", await identified(c, auth.identify, rate));
    await next();
    // All of it is about people, or about what is known of them.
    c.header("Cache-Control", "no-store");
  });
  app.onError((error, c) => {
    const problem = asProblem(error);
    const { requestId } = c.var;
    if (c.req.raw.signal.aborted) log.debug("left", { requestId, route: routeOf(c) });
    else if (problem.status === 500)
      log.error("failure", { requestId, route: routeOf(c), ...failureFields(error) });
    else if (problem.status === 503) log.warn("away", { requestId, route: routeOf(c), code: problem.code });
    return problemResponse(c, problem);
  });
  app.notFound((c) => problemResponse(c, new Problem(404, "not-found", problemTexts.notFound)));

  for (const routes of [
    campaignRoutes,
    labellingRoutes,
    questionRoutes,
    answerRoutes,
    analysisRoutes,
    copyRoutes,
    eventRoutes,
    tokenRoutes,
  ]) {
    app.route("/api/v1", routes(context));
  }
  app.route(
    "/",
    serviceRoutes(context, () => app),
  );
  app.route(
    "/",
    studioRoutes(studioFiles({ folder: options.studio, mode: "server" }), async (c, next) => {
      rate.take(`address ${addressOf(c)}`);
      await next();
    }),
  );
  const mountGuard: MountGuard = {
    ...auth,
    guard: (scope) => async (c, next) => {
      const principal = await identified(
        c,
        (request) => auth.authenticate(request, scope, c.req.param("campaign") ?? null),
        rate,
      );
      c.set("principal", principal);
      await next();
    },
  };
  if (integrations !== undefined) mountIntegrations(app, context, mountGuard, integrations);
  return app;
};
