/** A tiny static HTTP server for browser tests. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize, sep } from "node:path";

/** Pages by path; each gives its text. A path that is not here is looked for in the folder. */
export type Handlers = Readonly<Record<string, () => string>>;

export interface ServeOptions {
  /** Cross-origin isolated, so that the page may share memory between threads. */
  readonly isolated: boolean;
  readonly folder?: string;
  readonly handlers?: Handlers;
}

export interface Server {
  /** Without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

export const serve = async ({ isolated, folder, handlers = {} }: ServeOptions): Promise<Server> => {
  const load = async (path: string): Promise<string | Buffer | undefined> => {
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
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
