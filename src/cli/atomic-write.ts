/** Files appear whole or not at all, whatever stops the program. */
import { rmSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import type { FileContents } from "./command.js";

export const writeText = {
  isFolder: (path: string) => `${path} is a folder; name a file to write.`,
  isInput: (path: string) =>
    `${path} is read by this command and would be overwritten; name another file to write.`,
  isFile: (path: string) => `${path} is a file, or lies in one; name a folder to write to.`,
  noFolder: (path: string) => `the folder of ${path} does not exist; create it or name another file.`,
  refused: (path: string, reason: string) => `${path} could not be written (${reason}).`,
};

/** Temporary files that a sudden exit must take away. */
const unfinished = new Set<string>();
let cleansAtExit = false;

const removeUnfinished = () => {
  for (const path of unfinished) rmSync(path, { force: true });
};

let counter = 0;

/**
 * Writes beside the target, makes it durable, and renames it into place. An error, an abort and `process.exit`
 * all leave the former file as it was and nothing beside it.
 *
 * What is not a plain file (`/dev/stdout`, a pipe) cannot be replaced and is written straight.
 */
export const writeFileAtomically = async (
  path: string,
  data: FileContents,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> => {
  const former = await stat(path).catch(() => undefined);
  if (former?.isDirectory()) throw new InputError("file-is-folder", writeText.isFolder(path));
  const abort = signal === undefined ? {} : { signal };
  if (former !== undefined && !former.isFile()) return writeFile(path, data, abort);

  // A link keeps pointing where it did: its target is what gets replaced.
  const target = former === undefined ? path : await realpath(path);
  counter += 1;
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}-${counter}.tmp`);
  if (!cleansAtExit) process.on("exit", removeUnfinished);
  cleansAtExit = true;
  unfinished.add(temporary);
  try {
    const file = await open(temporary, "wx", former?.mode ?? 0o666);
    await writeDurably(file, data, abort);
    signal?.throwIfAborted();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw signal?.aborted ? signal.reason : inWords(path, error);
  } finally {
    unfinished.delete(temporary);
  }
};

const writeDurably = async (
  file: FileHandle,
  data: FileContents,
  abort: { signal?: AbortSignal | undefined },
) => {
  try {
    await writeFile(file, data, abort);
    await file.sync();
  } finally {
    await file.close();
  }
};

const inWords = (path: string, error: unknown): unknown => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new InputError("no-folder", writeText.noFolder(path), { cause: error });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOSPC") {
    return new EnvironmentError("write-refused", writeText.refused(path, code), { cause: error });
  }
  return error;
};
