/** The page without a server of campaigns: static files on an address of this machine, by Node alone. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { EnvironmentError, InputError } from "../core/errors.js";
import { isLoopback, requireAddress } from "./addresses.js";
import { Problem } from "./problem.js";
import { STUDIO_DEFAULTS } from "./server-defaults.js";
import { type StudioFiles, studioFiles, studioTexts } from "./studio-files.js";

export interface StudioServerOptions {
  readonly host?: string | undefined;
  /** 0 for any that is free. Unless given (8401), or any where that is taken. */
  readonly port?: number | undefined;
  /** The folder with the build of the page; that of this package unless given. */
  readonly folder?: string | undefined;
}

export interface StudioServer {
  readonly url: string;
  readonly port: number;
  /** Whether the usual port was taken, so that this is another one. */
  readonly isElsewhere: boolean;
  close(): Promise<void>;
}

export const studioServerTexts = {
  host: (given: string) =>
    `others than this machine could reach ${given}: give an address of this machine, such as 127.0.0.1, or use fairbed serve, which asks for tokens`,
  address: (host: string, port: number, reason: string) =>
    `the page cannot be offered on ${host}:${port} (${reason}): choose another with --port, or leave it out for any that is free`,
  method: "a page can only be read: use GET",
  noFile: "there is no such file of the page: open / instead",
  unread: "a file of the page cannot be read: build or install it again",
};

const HEADER_SECONDS = 10;
const TAKEN = ["EADDRINUSE", "EACCES"];

const refuse = (response: ServerResponse, status: number, message: string): void => {
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  });
  response.end(`${message}\n`);
};

const pathOf = ({ url = "/" }: IncomingMessage): string => {
  const [path] = url.split("?", 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

const answer = async (
  files: StudioFiles,
  host: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { host: called = "", origin } = request.headers;
  // A page on the web must not reach this one by another name.
  requireAddress(new Headers({ host: called, ...(origin === undefined ? {} : { origin }) }), {
    hosts: [host],
    origins: [],
  });
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return refuse(response, 405, studioServerTexts.method);
  }
  const found = await files.find(pathOf(request), {
    acceptEncoding: request.headers["accept-encoding"]?.toString(),
    ifNoneMatch: request.headers["if-none-match"],
  });
  if (found === undefined) return refuse(response, 404, studioServerTexts.noFile);
  response.writeHead(found.status, { ...found.headers });
  response.end(request.method === "HEAD" || found.body === null ? undefined : found.body);
};

/** The port that it got; the reason where it got none. */
const listen = (server: Server, host: string, port: number): Promise<number | string> =>
  new Promise((resolve) => {
    const failed = ({ code = "unknown" }: NodeJS.ErrnoException): void => resolve(code);
    server.once("error", failed);
    server.listen(port, host, () => {
      server.off("error", failed);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });

export const startStudio = async (options: StudioServerOptions = {}): Promise<StudioServer> => {
  const { host = STUDIO_DEFAULTS.host, port, folder } = options;
  if (!isLoopback(host)) throw new InputError("host", studioServerTexts.host(host));
  const files = studioFiles({ folder, mode: "static" });
  if (!(await files.isBuilt())) throw new EnvironmentError("no-studio", studioTexts.missing);
  const server = createServer({ headersTimeout: HEADER_SECONDS * 1000 }, (request, response) => {
    answer(files, host, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (error instanceof Problem) refuse(response, error.status, error.message);
      else refuse(response, 500, studioServerTexts.unread);
    });
  });
  const wanted = port ?? STUDIO_DEFAULTS.port;
  let bound = await listen(server, host, wanted);
  const isElsewhere = port === undefined && typeof bound === "string" && TAKEN.includes(bound);
  if (isElsewhere) bound = await listen(server, host, 0);
  if (typeof bound === "string") {
    throw new EnvironmentError("listen", studioServerTexts.address(host, wanted, bound));
  }
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}/`,
    port: bound,
    isElsewhere,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
