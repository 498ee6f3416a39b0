/** Where the files of the catalogue are: the folder that FAIRBED_DATA names, or a cache. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { InputError } from "../core/errors.js";

/** The folder of each dataset in the cache. */
export const DATASET_FOLDERS = {
  students: "students-dropout",
  census: "census-income-kdd",
  adult: "adult",
  german: "german-credit",
  celeba: "celeba",
} as const;

export type DatasetName = keyof typeof DATASET_FOLDERS;

export const datasetFileTexts = {
  missing: (dataset: string, file: string) =>
    `the file ${file} of the dataset ${dataset} is not at hand: run fairbed data get ${dataset}, with --from FOLDER where the files are on this machine already.`,
};

export const dataFolder = (): string =>
  process.env.FAIRBED_DATA ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "fairbed");

/** The path of a dataset's file, as it is or compressed. */
export const datasetFile = async (dataset: DatasetName, file: string): Promise<string> => {
  const path = join(dataFolder(), DATASET_FOLDERS[dataset], file);
  const found = [path, `${path}.gz`].find((candidate) => existsSync(candidate));
  if (found === undefined) throw new InputError("no-data", datasetFileTexts.missing(dataset, file));
  return found;
};

export const datasetText = async (dataset: DatasetName, file: string): Promise<string> => {
  const bytes = await readFile(await datasetFile(dataset, file));
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString("utf8");
};
