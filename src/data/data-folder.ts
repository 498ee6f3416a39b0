/** Where datasets are kept: the folder that `FAIRBED_DATA` names, or a cache folder of the user. */
import { existsSync } from "node:fs";
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

/** The file of a dataset; says how to get it where it is not there. */
export const requireFile = (dataset: Dataset, name: string, root = dataFolder()): string => {
  const found = findFile(join(root, dataset.folder), name);
  if (found === undefined) throw new InputError("no-dataset", dataFolderTexts.notHere(dataset, root));
  return found;
};
