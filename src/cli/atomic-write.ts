/** Files appear whole or not at all, whatever stops the program. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, open, readdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import { isRunning } from "../jobs/running-process.js";
import type { FileContents } from "./command.js";
import { tellSupervisor } from "./supervisor-link.js";

export const writeText = {
  isFolder: (path: string) => `${path} is a folder; name a file to write.`,
  isInput: (path: string) =>
    `${path} is read by this command and would be overwritten; name another file to write.`,
  twice: (path: string) => `${path} is to be written twice; name a file for each.`,
  isFile: (path: string) => `${path} is a file, or lies in one; name a folder to write to.`,
  noFolder: (path: string) => `the folder of ${path} does not exist; create it or name another file.`,
  tooLong: (path: string) =>
    `the name ${basename(path).slice(0, 40)}… is too long for a file; name a shorter one.`,
  refused: (path: string, reason: string) =>
    `${path} could not be written (${reason}): ${NEXT_STEPS[reason] ?? "name another place to write to"}.`,
};

/** By what the platform calls the reason. */
const NO_PERMISSION = "name a folder that you may write to";
const NO_ROOM = "free some space, or name a folder on another disk";
const NEXT_STEPS: Readonly<Record<string, string>> = {
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: NO_PERMISSION,
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM,
};

/** Temporary files that a sudden exit must take away. */
const unfinished = new Set<string>();
let cleansAtExit = false;

const removeUnfinished = () => {
  for (const path of unfinished) rmSync(path, { force: true });
};

let counter = 0;

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 10);

/** What the temporary files of one target on this machine begin with: short, however long its name is. */
const startFor = (target: string): string =>
  `.fairbed-${shortHash(basename(target))}-${shortHash(hostname())}-`;

/**
 * Writes beside the target, makes it durable, and renames it into place. An error, an abort and `process.exit`
 * all leave the former file as it was and nothing beside it. A process that is killed leaves its temporary file, which
 * the next one takes away.
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
  if (former !== undefined && !former.isFile()) {
    return writeFile(path, data, abort).catch((error) => {
      throw signal?.aborted ? signal.reason : failedWrite(path, error);
    });
  }

  // A link keeps pointing where it did: its target is what gets replaced.
  const target = former === undefined ? path : await realpath(path);
  await removeLeftBehind(target);
  counter += 1;
  const temporary = join(dirname(target), `${startFor(target)}${process.pid}-${counter}.tmp`);
  if (!cleansAtExit) process.on("exit", removeUnfinished);
  cleansAtExit = true;
  unfinished.add(temporary);
  tellSupervisor({ unfinished: temporary });
  try {
    const file = await open(temporary, "wx", former?.mode ?? 0o666);
    await writeDurably(file, data, abort);
    signal?.throwIfAborted();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw signal?.aborted ? signal.reason : failedWrite(path, error);
  } finally {
    unfinished.delete(temporary);
    tellSupervisor({ finished: temporary });
  }
};

/** Temporary files of the same target, of processes of this machine that are no more. */
const removeLeftBehind = async (target: string): Promise<void> => {
  const start = startFor(target);
  const names = await readdir(dirname(target)).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(start)) continue;
    const pid = Number.parseInt(name.slice(start.length), 10);
    if (!isRunning(pid)) await rm(join(dirname(target), name), { force: true });
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

/** Of errors of the platform, those whose sentence is written here; the others stay what they are. */
export const failedWrite = (path: string, error: unknown): unknown => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const isOfFiles = error instanceof Error && "syscall" in error && typeof code === "string";
  if (code === "ENAMETOOLONG")
    return new InputError("name-too-long", writeText.tooLong(path), { cause: error });
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new InputError("no-folder", writeText.noFolder(path), { cause: error });
  }
  if (isOfFiles)
    return new EnvironmentError("write-refused", writeText.refused(path, code), { cause: error });
  return error;
};
