/**
 * The files of the page and the headers that they are served with, by the server and by `fairbed studio`. It needs
 * nothing but Node.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { archiveSource, folderSource, INDEX, type StudioSource } from "./studio-source.js";

const compress = promisify(gzip);

/** From `dist/server` and from `src/server` alike. */
const BUILT = fileURLToPath(new URL("../../dist/studio", import.meta.url));

/** The page of this package: a checkout has its folder, and what is installed the archive alone. */
export const studioSource = (folder = BUILT): StudioSource =>
  existsSync(folder) ? folderSource(folder) : archiveSource(`${folder}.json.br`);

export const studioTexts = {
  missing:
    "the page is not built here: run npm run build in a checkout, or install the package again, which contains it",
};

/**
 * The page runs its own scripts, workers and WebAssembly, and asks nobody but where it comes from; no text is ever run
 * as a program.
 */
export const STUDIO_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Scripts of workers have the policy of their own answer, so all files carry all of it. Threads need the isolation. */
const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": STUDIO_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".ico": "image/x-icon",
};
const OTHER_TYPE = "application/octet-stream";
/** Files of these kinds are compressed already. */
const PACKED = [".woff2", ".png", ".ico"];
/** Less than this is not worth it. */
const LEAST_COMPRESSED = 1024;

/** The name says what is in it: another content has another name. */
const HASHED = /^assets\/.+-[\w-]{8}\.\w+$/;
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";

const MODE = /(<meta\s+name="fairbed-mode"\s+content=")static(")/;

/** What a request says that matters here. */
export interface StudioRequest {
  readonly acceptEncoding?: string | null | undefined;
  readonly ifNoneMatch?: string | null | undefined;
}

export interface StudioAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where whoever asks has it already. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

export interface StudioFiles {
  /** Whether there is a page to serve. */
  isBuilt(): Promise<boolean>;
  /** The file at a path such as `/` or `/assets/index-1a2b3c4d.js`; undefined where there is none. */
  find(path: string, request?: StudioRequest): Promise<StudioAnswer | undefined>;
}

export interface StudioChoice {
  /** Where the build of the page is; that of this package unless given. */
  readonly folder?: string | undefined;
  /** Told to the page: whether there is a server with campaigns behind it. */
  readonly mode: "server" | "static";
}

interface Held {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer> | undefined;
  readonly tag: string;
}

const acceptsGzip = (header: string | null | undefined): boolean =>
  (header ?? "").split(",").some((each) => /^\s*(?:gzip|\*)\s*(?:;(?!\s*q=0(?:\.0*)?\s*$).*)?$/i.test(each));

const hasTag = (header: string | null | undefined, tag: string): boolean =>
  (header ?? "").split(",").some((each) => {
    const given = each.trim().replace(/^W\//, "");
    return given === "*" || given === tag;
  });

/**
 * Files are looked up in the list of those that the build has, never by joining paths: nothing else can be named. Each is
 * read once; a build that is written anew while it is served is noticed when the page itself is asked for.
 */
export const studioFiles = ({ folder, mode }: StudioChoice): StudioFiles => {
  const source = studioSource(folder);
  interface Build {
    readonly at: number;
    readonly names: ReadonlySet<string>;
    readonly held: Map<string, Promise<Held>>;
  }
  let build: Promise<Build | undefined> | undefined;

  const look = async (): Promise<Build | undefined> => {
    const at = await source.writtenAt();
    if (at === undefined) return undefined;
    return { at, names: new Set(await source.names()), held: new Map() };
  };
  const lookAgain = async (): Promise<void> => {
    const before = await build?.catch(() => undefined);
    if (before === undefined || before.at !== (await source.writtenAt())) build = look();
  };

  const read = async (name: string, names: ReadonlySet<string>): Promise<Held> => {
    const own = await source.read(name);
    const isChanged = name === INDEX && mode === "server";
    const body = isChanged
      ? new TextEncoder().encode(new TextDecoder().decode(own).replace(MODE, "$1server$2"))
      : own;
    const isWorthwhile = body.length >= LEAST_COMPRESSED && !PACKED.includes(extname(name));
    const beside = `${name}.gz`;
    const packed =
      !isChanged && names.has(beside)
        ? await source.read(beside)
        : isWorthwhile
          ? new Uint8Array(await compress(body))
          : undefined;
    return { body, packed, tag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
  };
  const hold = async (name: string, { names, held }: Build): Promise<Held> => {
    let known = held.get(name);
    if (known === undefined) {
      known = read(name, names);
      held.set(name, known);
      // Whatever is in the way now may not be later.
      known.catch(() => held.delete(name));
    }
    return known;
  };

  return {
    async isBuilt() {
      await lookAgain();
      return (await build) !== undefined;
    },
    async find(path, { acceptEncoding, ifNoneMatch } = {}) {
      const name = path === "/" ? INDEX : path.slice(1);
      if (name === INDEX || build === undefined) await lookAgain();
      const now = await build;
      if (
        now === undefined ||
        !now.names.has(name) ||
        (name.endsWith(".gz") && now.names.has(name.slice(0, -3)))
      )
        return undefined;
      const { body, packed, tag } = await hold(name, now);
      const headers = {
        ...HEADERS,
        "Cache-Control": HASHED.test(name) ? FOR_EVER : ASK_AGAIN,
        ETag: tag,
        Vary: "Accept-Encoding",
      };
      if (hasTag(ifNoneMatch, tag)) return { status: 304, headers, body: null };
      const isPacked = packed !== undefined && acceptsGzip(acceptEncoding);
      const sent = isPacked ? packed : body;
      return {
        status: 200,
        headers: {
          ...headers,
          "Content-Type": TYPES[extname(name)] ?? OTHER_TYPE,
          "Content-Length": String(sent.length),
          ...(isPacked ? { "Content-Encoding": "gzip" } : {}),
        },
        body: sent,
      };
    },
  };
};
