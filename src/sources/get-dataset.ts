/** Brings a dataset into the data folder, from its original site or from files at hand, and checks every byte. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { EnvironmentError, InputError } from "../core/errors.js";
import { type ArchiveFile, filesInArchive } from "./archive.js";
import type { Dataset, DatasetFile } from "./catalogue.js";
import { dataFolder, findFile } from "./data-folder.js";
import { type DownloadOptions, download } from "./download.js";

export interface GetOptions extends DownloadOptions {
  /** A folder that has the files, plain, gzipped or in an archive, itself or in a folder named like the dataset's. */
  readonly from?: string | undefined;
  /** Where to put them; the data folder unless given. */
  readonly root?: string | undefined;
}

export interface GotFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Whether it was there already. */
  readonly had: boolean;
}

export const getTexts = {
  byHand: (name: string, page: string, byHand: string) =>
    `${name} cannot be downloaded for you: see ${page}; ${byHand}.`,
  notIn: (file: string, place: string) =>
    `${place} has no ${file}, plain, gzipped or in a zip archive: check the folder.`,
  wrongContents: (file: string, given: string, expected: string) =>
    `${file} is not the published file (sha256 ${given} where ${expected} was expected), and nothing was kept: get it again from the original site.`,
  noFolder: (folder: string) => `there is no folder ${folder}: check the path.`,
  unwritable: (folder: string, reason: string) =>
    `the data folder ${folder} cannot be written to (${reason}): make room there, or name another one with FAIRBED_DATA.`,
};

export const getDataset = async (dataset: Dataset, options: GetOptions = {}): Promise<readonly GotFile[]> => {
  const { from, root = dataFolder() } = options;
  const folder = join(root, dataset.folder);
  const got: GotFile[] = [];
  const wanted: DatasetFile[] = [];
  for (const file of dataset.files) {
    const path = findFile(folder, file.name);
    if (path !== undefined && (await hashOf(path, file.bytes)) === file.sha256)
      got.push(gotFile(file, path, true));
    else wanted.push(file);
  }
  if (wanted.some(({ optional }) => !optional) || (from !== undefined && wanted.length > 0)) {
    try {
      got.push(...(await bring(dataset, wanted, folder, options)));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (!/^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT|EFBIG|ENAMETOOLONG|ENOTDIR|EEXIST)$/.test(code)) throw error;
      throw new EnvironmentError("data-folder", getTexts.unwritable(root, code), { cause: error });
    }
  }
  return got;
};

const bring = async (
  dataset: Dataset,
  wanted: readonly DatasetFile[],
  folder: string,
  { from, signal, onProgress }: GetOptions,
): Promise<readonly GotFile[]> => {
  if (from !== undefined) return fromFolder(dataset, wanted, folder, from);
  const { name, page, archive, byHand = "" } = dataset;
  if (archive === undefined) throw new InputError("by-hand", getTexts.byHand(name, page, byHand));
  const path = join(folder, "download.zip");
  await mkdir(folder, { recursive: true });
  try {
    await download(archive, path, {
      signal,
      onProgress,
    });
    try {
      const files = filesInArchive(path, await readFile(path));
      return await keepAll(wanted, folder, archive, (file) => inArchive(files, file));
    } finally {
      await rm(path, { force: true });
    }
  } catch (error) {
    // A part of a download is kept, to go on with; an empty folder is not.
    await rmdir(folder).catch(() => {});
    throw error;
  }
};

const inArchive = (files: readonly ArchiveFile[], { name }: DatasetFile): Source | undefined => {
  const found = files.find((file) => file.name === name);
  return found === undefined ? undefined : { contents: found.contents };
};

const fromFolder = async (
  dataset: Dataset,
  wanted: readonly DatasetFile[],
  folder: string,
  from: string,
): Promise<readonly GotFile[]> => {
  const names = await readdir(from).catch((error) => {
    throw new InputError("no-folder", getTexts.noFolder(from), { cause: error });
  });
  const places = [from, join(from, dataset.folder)];
  let archives: readonly ArchiveFile[] | undefined;
  return keepAll(wanted, folder, from, async (file) => {
    for (const place of places) {
      const path = findFile(place, file.name);
      if (path !== undefined) return { path };
    }
    archives ??= await openArchives(from, names);
    return inArchive(archives, file);
  });
};

/** The archives of the folder itself, as they were downloaded. */
const openArchives = async (folder: string, names: readonly string[]): Promise<readonly ArchiveFile[]> => {
  const files: ArchiveFile[] = [];
  for (const name of names.filter((each) => /\.(zip|tgz|tar\.gz)$/i.test(each))) {
    files.push(...filesInArchive(name, await readFile(join(folder, name))));
  }
  return files;
};

type Source = { readonly path: string } | { readonly contents: Buffer };

/** Checks all files before it keeps any: a dataset is there or it is not. */
const keepAll = async (
  wanted: readonly DatasetFile[],
  folder: string,
  place: string,
  find: (file: DatasetFile) => Source | undefined | Promise<Source | undefined>,
): Promise<readonly GotFile[]> => {
  const checked: { readonly file: DatasetFile; readonly source: Source }[] = [];
  for (const file of wanted) {
    const source = await find(file);
    if (source === undefined) {
      if (file.optional) continue;
      throw new InputError("file-not-there", getTexts.notIn(file.name, place));
    }
    const given = "path" in source ? await hashOf(source.path, file.bytes) : hash(source.contents);
    if (given !== file.sha256) {
      const what = "path" in source ? source.path : `${file.name} from ${place}`;
      throw new InputError("wrong-contents", getTexts.wrongContents(what, given, file.sha256));
    }
    checked.push({ file, source });
  }
  const kept: GotFile[] = [];
  await mkdir(folder, { recursive: true });
  for (const { file, source } of checked) {
    const gzip = "path" in source && source.path.endsWith(".gz");
    const path = join(folder, gzip ? `${file.name}.gz` : file.name);
    await put(source, path);
    kept.push(gotFile(file, path, false));
  }
  return kept;
};

/** Whole or not at all. */
const put = async (source: Source, path: string): Promise<void> => {
  if ("path" in source && resolve(source.path) === resolve(path)) return;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    if ("path" in source) await copyFile(source.path, temporary);
    else await writeFile(temporary, source.contents);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
};

const gotFile = ({ name, bytes, sha256 }: DatasetFile, path: string, had: boolean): GotFile => ({
  name,
  path,
  bytes,
  sha256,
  had,
});

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Of the contents, unpacked. A file whose gzip data are damaged or too much has no contents, and so no known hash. */
const hashOf = async (path: string, bytes: number): Promise<string> => {
  const sum = createHash("sha256");
  let seen = 0;
  const most = new Transform({
    transform(part: Buffer, _encoding, next) {
      seen += part.length;
      // Another file, then: what else would come need not be unpacked.
      next(seen > bytes ? new RangeError("larger than the published file") : null, part);
    },
  });
  try {
    if (path.endsWith(".gz")) await pipeline(createReadStream(path), createGunzip(), most, sum);
    else await pipeline(createReadStream(path), sum);
  } catch {
    return "unreadable";
  }
  return sum.digest("hex");
};
