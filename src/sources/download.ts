/** Downloads that go on where they stopped. */
import { createWriteStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { EnvironmentError } from "../core/errors.js";
import { openAddress, unreachable } from "./web-file.js";

export const downloadTexts = {
  stopped: (address: string, bytes: number) =>
    `the download of ${address} stopped after ${bytes} bytes: run the same command again to go on from there.`,
};

export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined;
  /** `total` is undefined where the server does not tell it. */
  readonly onProgress?: ((done: number, total: number | undefined) => void) | undefined;
}

/**
 * Fetches a file to `path`, which appears when it is whole. What has come so far is kept beside it (`.part`), with
 * what the server calls this version of the file (`.part.version`): a later call asks for the rest of that version,
 * and starts anew where the server has another one or cannot send a part.
 */
export const download = async (
  address: string,
  path: string,
  { signal, onProgress = () => {} }: DownloadOptions = {},
): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  const versionFile = `${part}.version`;
  const had = await sizeOf(part);
  const version = await readFile(versionFile, "utf8").catch(() => "");
  const resumes = had > 0 && version !== "";
  const response = await openAddress(
    address,
    resumes ? { Range: `bytes=${had}-`, "If-Range": version } : {},
    signal,
  );
  // 200 to a request for a part is the whole file.
  const from = resumes && response.status === 206 ? had : 0;
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  const total = Number.isFinite(length) ? from + length : undefined;
  const etag = response.headers.get("etag") ?? "";
  // A weak tag does not promise the same bytes.
  const strong = etag.startsWith("W/") ? "" : etag;
  await writeFile(versionFile, strong || (response.headers.get("last-modified") ?? ""));
  let done = from;
  const count = new Transform({
    transform(bytes: Buffer, _encoding, next) {
      done += bytes.length;
      onProgress(done, total);
      next(undefined, bytes);
    },
  });
  try {
    const body =
      response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as ReadableStream);
    const file = createWriteStream(part, { flags: from === 0 ? "w" : "a" });
    await pipeline(body, count, file, ...(signal === undefined ? [] : [{ signal }]));
  } catch (error) {
    // A disk that is full or may not be written to is no matter of the connection.
    if (signal?.aborted || isWriteError(error)) throw error;
    const kept = await sizeOf(part);
    throw kept > 0
      ? new EnvironmentError("download-stopped", downloadTexts.stopped(address, kept), { cause: error })
      : unreachable(address, error);
  }
  if (total !== undefined && done !== total) {
    throw new EnvironmentError("download-stopped", downloadTexts.stopped(address, done));
  }
  await rename(part, path);
  await rm(versionFile, { force: true });
};

const isWriteError = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && (error.syscall === "write" || error.syscall === "open");

const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
};
