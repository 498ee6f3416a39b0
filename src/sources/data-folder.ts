/** Where datasets are kept: the folder that `FAIRBED_DATA` names, or a cache folder of the user. */
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { InputError } from "../core/errors.js";
import type { Dataset } from "./catalogue.js";

export const dataFolderTexts = {
  notHere: ({ name, archive, byHand }: Pick<Dataset, "name" | "archive" | "byHand">, folder: string) =>
    archive === undefined
      ? `the dataset ${name} is not in ${folder}: ${byHand}.`
      : `the dataset ${name} is not in ${folder}: get it with fairbed data get ${name}.`,
};

export const dataFolder = (environment: NodeJS.ProcessEnv = process.env): string => {
  const { FAIRBED_DATA: own, XDG_CACHE_HOME: cache } = environment;
  if (own !== undefined && own !== "") return own;
  return join(cache === undefined || cache === "" ? join(homedir(), ".cache") : cache, "fairbed", "data");
};

/** The file, or its gzipped form; undefined where neither is there. */
export const findFile = (folder: string, name: string): string | undefined =>
  [join(folder, name), join(folder, `${name}.gz`)].find((path) => existsSync(path));

/** Whether the file is there, plain or gzipped, with so many bytes unpacked. */
export const hasFile = async (folder: string, name: string, bytes: number): Promise<boolean> => {
  const path = findFile(folder, name);
  if (path === undefined) return false;
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (!path.endsWith(".gz")) return size === bytes;
    // A gzip file ends in the size of its contents, modulo 2^32.
    const end = new Uint8Array(4);
    if (size < 18) return false;
    await file.read(end, 0, 4, size - 4);
    return new DataView(end.buffer).getUint32(0, true) === bytes % 2 ** 32;
  } catch {
    return false;
  } finally {
    await file.close();
  }
};

/** The file of a dataset; says how to get it where it is not there. */
export const requireFile = (dataset: Dataset, name: string, root = dataFolder()): string => {
  const found = findFile(join(root, dataset.folder), name);
  if (found === undefined) throw new InputError("no-dataset", dataFolderTexts.notHere(dataset, root));
  return found;
};
