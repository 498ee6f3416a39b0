/**
 * Whether files can be written where they were asked for, looked at before the work and not after it: the one rule for
 * every command, by the options that say that they name a file or a folder to write.
 */
import { mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import { failedWrite, writeText } from "./atomic-write.js";
import type { Command, CommandInput } from "./command.js";

/** Makes the folder that files are to go to, with those above it; the topmost of those that were not there, if any. */
export const makeFolder = async (path: string): Promise<string | undefined> => {
  try {
    return await mkdir(path, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST" || code === "ENOTDIR") throw new InputError("no-folder", writeText.isFile(path));
    throw new EnvironmentError("write-refused", writeText.refused(path, code), { cause: error });
  }
};

type Input = Pick<CommandInput<Command["arguments"], Command["options"]>, "arguments" | "options">;

/** A file or folder that the command reads, as far as its words say. */
interface ReadPath {
  readonly path: string;
  /** Folders that are named as the table itself are read as a whole. */
  readonly whole: boolean;
}

export interface Outputs {
  /** Throws where what is to be written is something that the command reads, by whatever name. */
  requireNotRead(path: string): Promise<void>;
}

/** Fails where an output of the command cannot be written, is one of its inputs, or is another output too. */
export const requireOutputs = async (command: Command, input: Input): Promise<Outputs> => {
  const read = readPaths(command, input);
  const seen = new Map<string, string>();
  for (const [name, { writes, beside }] of Object.entries(command.options)) {
    const value = input.options[name];
    if (writes === undefined || typeof value !== "string") continue;
    if (writes === "folder") {
      await requireFolderOf(value);
      continue;
    }
    for (const path of [value, ...(beside?.(value) ?? [])]) {
      await requireFile(path);
      await requireNotRead(path, read, true);
      const whole = join(await realpath(dirname(path)), basename(path));
      if (seen.has(whole)) throw new InputError("out-twice", writeText.twice(path));
      seen.set(whole, path);
    }
  }
  return { requireNotRead: (path) => requireNotRead(path, read, false) };
};

/** Every word that may name something to read: what is no file by that name is none. */
const readPaths = (command: Command, input: Input): readonly ReadPath[] => {
  const words = (value: unknown): readonly string[] => {
    if (Array.isArray(value)) return value.flatMap(words);
    if (typeof value !== "string" || value === "") return [];
    return value.includes(",") ? [value, ...value.split(",")] : [value];
  };
  return [
    ...Object.values(input.arguments).flatMap((value) => words(value).map((path) => ({ path, whole: true }))),
    ...Object.entries(command.options)
      .filter(([, { writes }]) => writes === undefined)
      .flatMap(([name]) => words(input.options[name]).map((path) => ({ path, whole: false }))),
  ];
};

const requireNotRead = async (out: string, read: readonly ReadPath[], folders: boolean): Promise<void> => {
  const file = await stat(out).catch(() => undefined);
  if (!file?.isFile()) return;
  for (const { path, whole } of read) {
    const own = await stat(path).catch(() => undefined);
    // The same file by whatever name: a link, another spelling of its path.
    const same = own?.isFile() === true && own.dev === file.dev && own.ino === file.ino;
    if (same || (folders && whole && own?.isDirectory() === true && (await liesIn(out, path)))) {
      throw new InputError("out-is-input", writeText.isInput(out));
    }
  }
};

const liesIn = async (file: string, folder: string): Promise<boolean> =>
  (await realpath(file)).startsWith(`${await realpath(folder)}${sep}`);

/** Throws where a file of this name cannot be written. */
const requireFile = async (out: string): Promise<void> => {
  const former = await stat(out).catch((error) => {
    if (error.code === "ENAMETOOLONG") throw failedWrite(out, error);
    return undefined;
  });
  if (former?.isDirectory()) throw new InputError("file-is-folder", writeText.isFolder(out));
  // A pipe, /dev/stdout: written straight.
  if (former !== undefined && !former.isFile()) return;
  const target = former === undefined ? out : await realpath(out);
  const folder = await stat(dirname(target)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new InputError("no-folder", writeText.noFolder(out));
  await requireWritable(probeIn(dirname(target)), out);
};

/** Throws where a folder of this name cannot be written to, or not be made; makes none. */
const requireFolderOf = async (out: string): Promise<void> => {
  for (let folder = resolve(out); ; folder = dirname(folder)) {
    const found = await stat(folder).catch((error) => {
      if (error.code === "ENAMETOOLONG") throw failedWrite(out, error);
      return undefined;
    });
    if (found !== undefined && !found.isDirectory()) {
      throw new InputError("no-folder", writeText.isFile(out));
    }
    if (found !== undefined) return requireWritable(probeIn(folder), out);
    if (folder === dirname(folder)) throw new InputError("no-folder", writeText.noFolder(out));
  }
};

let probes = 0;

const probeIn = (folder: string): string => {
  probes += 1;
  return join(folder, `.fairbed-probe-${process.pid}-${probes}`);
};

/** Makes a file and takes it away again: permissions and read-only disks have too many forms to be asked about. */
const requireWritable = async (probe: string, out: string): Promise<void> => {
  try {
    await (await open(probe, "wx")).close();
  } catch (error) {
    throw failedWrite(out, error);
  }
  await rm(probe, { force: true });
};
