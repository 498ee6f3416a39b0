// @ts-check
/** Pages for a headless Chromium: a tiny static server, and the browser itself. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { chromium } from "playwright-core";

/** What a browser without a screen, a user or a network of its own needs. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @param {string} executablePath */
export const launchChromium = (executablePath) => chromium.launch({ executablePath, args: FLAGS });

/** @type {Readonly<Record<string, string>>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * Pages by path, each giving its text; a path that is not among them is looked for in the folder. `isolated` makes
 * pages cross-origin isolated, so that they may share memory between threads; `policy` is their content security
 * policy.
 *
 * @param {{ isolated: boolean, policy?: string, folder?: string, handlers?: Readonly<Record<string, () => string>> }} options
 * @returns {Promise<{ url: string, close: () => Promise<void> }>} The address has no slash at its end.
 */
export const serve = async ({ isolated, policy, folder, handlers = {} }) => {
  /** @param {string} path */
  const load = async (path) => {
    if (path in handlers) return handlers[path]();
    if (folder === undefined) return undefined;
    const file = normalize(join(folder, path.endsWith("/") ? `${path}index.html` : path));
    if (!file.startsWith(normalize(folder + sep))) return undefined;
    return readFile(file).catch(() => undefined);
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const body = await load(decodeURIComponent(pathname));
    const type = TYPES[extname(pathname) || ".html"] ?? "application/octet-stream";
    response.writeHead(body === undefined ? 404 : 200, {
      "Content-Type": type,
      ...(isolated ? ISOLATION : {}),
      ...(policy === undefined ? {} : { "Content-Security-Policy": policy }),
    });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
  };
};
