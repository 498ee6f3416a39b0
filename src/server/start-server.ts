/** The server on a socket: what `fairbed serve` starts. */
import type { IncomingMessage, Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { PoolModels } from "../campaign/ranking-schedule.js";
import type { CampaignStore } from "../campaign/store.js";
import { EnvironmentError, InputError } from "../core/errors.js";
import { isLoopback } from "./addresses.js";
import { createApp } from "./app.js";
import { integrationsOf } from "./integrations.js";
import { jsonLog, type Log } from "./log.js";
import { openCampaigns } from "./open-campaigns.js";
import type { Rate } from "./rate-limit.js";
import { BODY_LIMITS, type BodyLimits } from "./request-body.js";
import { SERVER_DEFAULTS } from "./server-defaults.js";
import { tokensOf } from "./tokens.js";

/**
 * How a server is started:
 *
 *     const store = await openStore("sqlite:campaigns.db");
 *     const server = await startServer({ store, host: "127.0.0.1", port: 8400, log: jsonLog((line) => process.stderr.write(line), "info") });
 *     console.log(server.url);
 *     await server.close(); // on SIGINT or SIGTERM; closes the store as well
 */
export interface StartOptions {
  /** Open; `close` closes it. */
  readonly store: CampaignStore;
  /** An address of this machine (127.0.0.1). Any other one needs a token in the store. */
  readonly host?: string | undefined;
  /** (8400); 0 for any that is free. */
  readonly port?: number | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Names that the server may be called by, such as that of a proxy in front of it; needs a token too. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly rate?: Rate | undefined;
  readonly limits?: Partial<BodyLimits> | undefined;
  /** Lines of JSON to stderr unless given. */
  readonly log?: Log | undefined;
  /** Seconds that requests in flight have at the end (10). */
  readonly graceSeconds?: number | undefined;
  /** Where models are fitted: a thread for each campaign unless given. */
  readonly models?: (() => PoolModels) | undefined;
  readonly clock?: (() => number) | undefined;
  readonly pollMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  /** The folder with the build of the page; that of this package unless given. */
  readonly studio?: string | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Takes no more requests, ends streams, lets requests in flight finish, closes campaigns and the store. */
  close(): Promise<void>;
}

export const startTexts = {
  noTokens: (host: string) =>
    `others than this machine could reach ${host}, and the store has no token yet: make one with fairbed token create --scope admin, or leave out the host`,
  address: (host: string, port: number, reason: string) =>
    `the server cannot listen on ${host}:${port} (${reason}): choose another port (--port) or address (--host)`,
  port: (given: unknown) => `the port was ${String(given)}: give a whole number from 0 to 65535`,
};

/** Until the headers of a request must be here. */
const HEADER_SECONDS = 10;

/** Which requests are being served, and when there is none left. */
const inFlight = (server: Server) => {
  let count = 0;
  let idle = (): void => {};
  server.on("request", (_: IncomingMessage, response) => {
    count += 1;
    response.once("close", () => {
      count -= 1;
      if (count === 0) idle();
    });
  });
  return {
    finished: (milliseconds: number): Promise<void> =>
      new Promise((resolve) => {
        if (count === 0) return resolve();
        const timer = setTimeout(resolve, milliseconds);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
};

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new EnvironmentError("listen", startTexts.address(host, port, error.code ?? "unknown"))),
    );
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });

export const startServer = async (options: StartOptions): Promise<RunningServer> => {
  const { store, clock, limits = {}, allowedHosts = [], models } = options;
  const { host = SERVER_DEFAULTS.host, port = SERVER_DEFAULTS.port } = options;
  const { graceSeconds = SERVER_DEFAULTS.graceSeconds } = options;
  const log = options.log ?? jsonLog((line) => process.stderr.write(line));
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InputError("port", startTexts.port(port));
  }
  const tokens = tokensOf(store, { clock });
  const local = isLoopback(host);
  const isExposed = !local || allowedHosts.some((each) => !isLoopback(each));
  if (isExposed && !(await tokens.any())) throw new InputError("no-tokens", startTexts.noTokens(host));
  const campaigns = openCampaigns(store, { clock, models });
  const integrations = integrationsOf(campaigns, { clock });
  const closing = new AbortController();
  const app = createApp({
    campaigns,
    tokens,
    log,
    integrations,
    options: {
      ...options,
      openWithoutTokens: !isExposed,
      // Whoever binds to an address of a network may be called by any name; tokens keep others out.
      allowedHosts: local || allowedHosts.length > 0 ? [host, ...allowedHosts] : undefined,
      closing: closing.signal,
    },
  });
  const seconds = limits.seconds ?? BODY_LIMITS.seconds;
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      // Later than the body's own limit, which is answered with a sentence.
      requestTimeout: (seconds + HEADER_SECONDS) * 1000,
      headersTimeout: HEADER_SECONDS * 1000,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: 16_384,
    },
  }) as Server;
  const requests = inFlight(server);
  const bound = await listen(server, host, port);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  integrations.start();
  log.info("listening", { url, store: store.description });

  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    closing.abort();
    server.closeIdleConnections();
    await requests.finished(graceSeconds * 1000);
    server.closeAllConnections();
    await closed;
    await integrations.close();
    await campaigns.close();
    await store.close();
    log.info("ended");
  };
  return {
    url,
    host,
    port: bound,
    close: () => {
      ended ??= end();
      return ended;
    },
  };
};
