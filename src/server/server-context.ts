/** What the routes stand on, and what every request carries. */
import type { HttpBindings } from "@hono/node-server";
import { type OpenAPIHono, OpenAPIHono as OpenApiApp } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { type Authentication, type Principal, requireScope } from "./authentication.js";
import type { EventFeeds } from "./event-feeds.js";
import type { Log } from "./log.js";
import type { Metrics } from "./metrics.js";
import type { OpenCampaigns } from "./open-campaigns.js";
import { Problem, problemTexts } from "./problem.js";
import type { BodyLimits } from "./request-body.js";
import { limitBody } from "./request-body.js";
import type { Scope } from "./scope.js";
import type { SharedComputations } from "./shared-computations.js";
import type { Tokens } from "./tokens.js";

export interface AppEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { principal: Principal; requestId: string };
}

export type ServerApp = OpenAPIHono<AppEnv>;

export interface ServerContext {
  readonly campaigns: OpenCampaigns;
  readonly tokens: Tokens;
  readonly authentication: Authentication;
  readonly metrics: Metrics;
  readonly feeds: EventFeeds;
  readonly computations: SharedComputations;
  readonly log: Log;
  readonly limits: BodyLimits;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** The name of a field, as a person would write it. */
const pathText = (path: readonly PropertyKey[]): string => path.map(String).join(".").slice(0, 200);

/** A set of routes whose bodies and parameters are checked: what does not fit is a problem, and said in a sentence. */
export const newApp = (): ServerApp =>
  new OpenApiApp<AppEnv>({
    defaultHook: (result) => {
      if (result.success) return;
      const [issue] = result.error.issues;
      throw new Problem(
        400,
        "request",
        problemTexts.field(pathText(issue?.path ?? []), issue?.message ?? ""),
      );
    },
  });

/** Only for those whose token is good for it: for this campaign, or for all of them. */
export const needs =
  (scope: Scope, about: "campaign" | "all" = "campaign"): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    requireScope(c.var.principal, scope, about === "all" ? null : c.req.param("name"));
    await next();
  };

export const usualBody = ({ limits }: ServerContext): MiddlewareHandler<AppEnv> =>
  limitBody(limits.body, limits.seconds);
export const largeBody = ({ limits }: ServerContext): MiddlewareHandler<AppEnv> =>
  limitBody(limits.upload, limits.seconds);

export const principalOf = (c: Context<AppEnv>): Principal => c.var.principal;
