/** `fairbed serve`: campaigns over HTTP. */
import { LOG_LEVELS, type LogLevel } from "../../../server/log.js";
import { RATE, SERVER_DEFAULTS } from "../../../server/server-defaults.js";
import { defineCommand } from "../../command.js";
import { allowTimeForQueue } from "../../interruption.js";
import { choice, grouped, integer, text, texts } from "../../options.js";
import { storeOption, withStore } from "../campaign/store-option.js";

export const serveTexts = {
  listening: (url: string, store: string) =>
    `fairbed serves the campaigns of ${store} at ${url}; the page for people is at ${url}/; Ctrl-C ends it`,
};

/** What requests in flight have at the end: less than a process is given to stop. */
const GRACE_SECONDS = 2;

export const serve = defineCommand({
  name: "serve",
  group: "Page and server",
  summary: "offer the campaigns of a store over HTTP",
  examples: [
    { line: "serve", description: "on this machine alone, until Ctrl-C" },
    {
      line: "serve --host 0.0.0.0 --allow-host labels.example.org --store postgres://host/db",
      description: "for others, who need a token: see fairbed token create",
    },
  ],
  arguments: {},
  options: {
    port: integer("--port <number>", "where to listen; 0 for any that is free", SERVER_DEFAULTS.port, {
      min: 0,
      max: 65_535,
    }),
    host: text(
      "--host <address>",
      "any but this machine's own needs a token in the store",
      SERVER_DEFAULTS.host,
    ),
    store: storeOption,
    ...grouped("Who may come", {
      allowOrigin: texts(
        "--allow-origin <origins>",
        "pages of these sites may call it, such as https://example.org",
      ),
      allowHost: texts(
        "--allow-host <names>",
        "names that it may be called by, such as that of a proxy before it",
      ),
    }),
    rate: integer("--rate <number>", "requests a second from each token or address", RATE.perSecond, {
      min: 1,
    }),
    log: choice<LogLevel>(
      "--log <level>",
      "how much is said on stderr, one JSON object a line",
      LOG_LEVELS,
      "info",
    ),
  },
  reportsProgress: true,
  run: ({ options: { port, host, store: address, allowOrigin, allowHost, rate, log }, context }) =>
    withStore(
      address,
      async (store) => {
        const { loadServer } = await import("../../../server/load-server.js");
        const { startServer } = await loadServer();
        const { jsonLog } = await import("../../../server/log.js");
        allowTimeForQueue();
        const server = await startServer({
          store,
          host,
          port,
          allowedOrigins: allowOrigin,
          allowedHosts: allowHost,
          // So many may come at once that a second's are never too many.
          rate: { perSecond: rate, burst: Math.max(RATE.burst, rate) },
          graceSeconds: GRACE_SECONDS,
          log: jsonLog((line) => process.stderr.write(line), log),
        });
        try {
          context.say(serveTexts.listening(server.url, store.description));
          await context.untilStopped();
        } finally {
          await server.close();
        }
      },
      { makes: true },
    ),
});
