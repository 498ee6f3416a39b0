// @ts-check
/** The programs that tests need beyond npm, and where to find them. */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * @typedef {object} SystemProgram
 * @property {string} title As in "skipped: no Chromium".
 * @property {string} variable Names the executable when it stands somewhere unusual.
 * @property {readonly string[]} names Looked for on PATH, in this order.
 * @property {readonly string[]} packages What Debian calls it.
 * @property {string} usedBy What is skipped without it.
 * @property {readonly string[]} [files] Of a library, which no PATH leads to: where it may be.
 * @property {string} [versions] A folder of Debian's with a folder for each version, for programs that are not on PATH.
 */

/** @satisfies {Record<string, SystemProgram>} */
export const programs = {
  chromium: {
    title: "Chromium",
    variable: "CHROME_PATH",
    names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    packages: ["chromium", "fonts-dejavu-core"],
    usedBy: "browser tests",
  },
  postgres: {
    title: "PostgreSQL",
    variable: "POSTGRES_PATH",
    names: ["postgres"],
    packages: ["postgresql"],
    usedBy: "tests against a database",
    versions: "/usr/lib/postgresql",
  },
  vulkan: {
    title: "Vulkan loader",
    variable: "VULKAN_LOADER_PATH",
    names: [],
    packages: ["libvulkan1"],
    usedBy: "tests of the GPU's kernels in Node",
    files: [
      "/usr/lib/x86_64-linux-gnu/libvulkan.so.1",
      "/usr/lib/aarch64-linux-gnu/libvulkan.so.1",
      "/usr/lib64/libvulkan.so.1",
      "/usr/lib/libvulkan.so.1",
    ],
  },
};

/** @param {string} path */
const isExecutable = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The first of these names on PATH.
 * @param {readonly string[]} names @returns {string | undefined} */
export const findOnPath = (names) =>
  names
    .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
    .find(isExecutable);

/** In the newest version's folder.
 * @param {string | undefined} folder @param {readonly string[]} names @returns {string | undefined} */
const findInVersions = (folder, names) => {
  if (folder === undefined || !existsSync(folder)) return undefined;
  const versions = readdirSync(folder).sort((a, b) => Number(b) - Number(a));
  return versions
    .flatMap((version) => names.map((name) => join(folder, version, "bin", name)))
    .find(isExecutable);
};

/** Where the program is, or undefined.
 * @param {SystemProgram} program @returns {string | undefined} */
export const findProgram = ({ variable, names, versions, files }) => {
  const named = process.env[variable];
  if (named !== undefined && (files === undefined ? isExecutable(named) : existsSync(named))) return named;
  if (files !== undefined) return files.find((path) => existsSync(path));
  return findOnPath(names) ?? findInVersions(versions, names);
};
