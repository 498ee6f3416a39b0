/**
 * What a worker may read. Jobs come from a database that others can write to, so a job is not believed: it reads the
 * files that the worker's own command line allows and nothing else.
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";

/** A file that a job names: a table that is read, or a model that is run. */
export interface NamedFile {
  readonly what: "table" | "model";
  /** As it came, so anything at all. */
  readonly path: unknown;
}

/** Folders, with all that is in them. */
export interface AllowedFolders {
  readonly tables: readonly string[];
  readonly models: readonly string[];
}

export const allowedFilesTexts = {
  noFile: "a job names something to read that is no file of a kind that jobs have, which no worker does",
  table: (path: string) =>
    `this worker may not read the table ${path}: start it with --data and the folder that tables may be read from`,
  model: (path: string) =>
    `this worker may not run the model ${path}: start it with --models and the folder that models may be run from`,
  noFolder: (option: string, path: string) =>
    `${option} names ${path}, which is no folder on this machine: name one that exists`,
};

const ENDINGS = { table: /\.parquet$/i, model: /\.m?[jt]s$/ } as const;

/** Throws where a folder that was allowed is not there: nothing could be read from it, and nobody would know why. */
export const requireFolders = async (option: string, folders: readonly string[]): Promise<void> => {
  for (const path of folders) {
    const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
    if (!isFolder) throw new InputError("no-folder", allowedFilesTexts.noFolder(option, path));
  }
};

/**
 * Throws where a job names a file that it may not read: `no-file` where another worker may be allowed to, and `refused`
 * where none is, as for an address on the web.
 */
export const requireAllowed = async (
  files: readonly NamedFile[],
  { tables, models }: AllowedFolders,
): Promise<void> => {
  for (const { what, path } of files) {
    if (typeof path !== "string" || !isAbsolute(path) || !ENDINGS[what].test(path)) {
      throw new InputError("refused", allowedFilesTexts.noFile);
    }
    const folders = what === "table" ? tables : models;
    const isAllowed = await Promise.all(folders.map((folder) => liesIn(path, folder)));
    if (!isAllowed.includes(true)) throw new EnvironmentError("no-file", allowedFilesTexts[what](path));
  }
};

/** By whatever links either is reached. A file that is not there lies nowhere. */
const liesIn = async (path: string, folder: string): Promise<boolean> => {
  const [file, top] = await Promise.all(
    [path, resolve(folder)].map((each) => realpath(each).catch(() => undefined)),
  );
  if (file === undefined || top === undefined) return false;
  const way = relative(top, file);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};
