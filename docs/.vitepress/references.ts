/** The pages that the program and its declarations write; loaded as they are, and not bundled into the configuration. */
import { pathToFileURL } from "node:url";
import { ROOT } from "./links.js";

interface Page {
  readonly name: string;
  readonly title: string;
  readonly content: string;
}

const load = (file: string) => import(pathToFileURL(`${ROOT}scripts/docs/${file}`).href);

export const commandPages = async (): Promise<readonly Page[]> =>
  (await load("command-pages.mjs")).commandPages();

export const libraryPages = async (): Promise<readonly Page[]> =>
  (await load("library-pages.mjs")).libraryPages(ROOT);
