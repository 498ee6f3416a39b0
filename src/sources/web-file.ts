/** Tables at a web address: fetched into a temporary file, so that no database extension is needed. */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { EnvironmentError, InputError } from "../core/errors.js";
import { openedTexts } from "./opened-file.js";
import { withoutPassword } from "./without-password.js";

export const webTexts = {
  refused: (address: string, status: number) =>
    `${withoutPassword(address)} answered ${status}: check the address, or download the file and name it.`,
  unreachable: (address: string, reason: string) =>
    `${withoutPassword(address)} could not be fetched (${withoutPassword(reason)}): check the connection, or download the file and name it.`,
};

export const isAddress = (path: string): boolean => /^https?:\/\//i.test(path);

/** The caller removes the folder. */
export const downloadToTemporary = async (
  address: string,
): Promise<{ readonly folder: string; readonly path: string }> => {
  const response = await openAddress(address);
  const folder = await mkdtemp(join(tmpdir(), "fairbed-table-")).catch((error: unknown) => {
    throw noRoom(error);
  });
  const path = join(folder, "table");
  try {
    if (response.body !== null) {
      await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(path));
    }
    return { folder, path };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    const isWriteError = error instanceof Error && "syscall" in error && error.syscall === "write";
    throw isWriteError ? noRoom(error) : unreachable(address, error);
  }
};

const noRoom = (error: unknown): EnvironmentError => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return new EnvironmentError("temporary-folder", openedTexts.noRoom(tmpdir(), code));
};

/** The answer's head; throws unless the server is willing. */
export const openAddress = async (
  address: string,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> => {
  let response: Response;
  try {
    response = await fetch(address, { headers, signal: signal ?? null });
  } catch (error) {
    throw signal?.aborted ? error : unreachable(address, error);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  throw new InputError("web-refused", webTexts.refused(address, response.status));
};

export const unreachable = (address: string, error: unknown): EnvironmentError => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  const reason = code ?? (cause instanceof Error ? cause.message : String(cause));
  return new EnvironmentError("unreachable", webTexts.unreachable(address, reason), { cause: error });
};
