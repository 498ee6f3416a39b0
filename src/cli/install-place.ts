/** Where npm must put a package that is missing, so that this copy of fairbed finds it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Whether `folder` belongs to what npm installed for the whole machine: no project is beside its node_modules. */
export const isGlobal = (folder: string): boolean => {
  const [, above] = /^(.*?)[/\\]node_modules[/\\]/s.exec(join(folder, "/")) ?? [];
  return above !== undefined && !existsSync(join(above, "package.json"));
};

/** The sentence with the command that helps: what is installed in a folder is not seen by a global fairbed. */
export const withInstallPlace = (sentence: string, folder = HERE): string =>
  isGlobal(folder) ? sentence.replaceAll("npm install ", "npm install --global ") : sentence;
