// @ts-check
/** What of other packages is built into the page, with the texts of their licences: a file beside it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

/** @param {string} folder */
const entryOf = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), "utf8").trim();
  return `## ${name} ${version} (${license})\n\n${text}\n`;
};

/**
 * Two plugins for Vite: one that looks at the workers, which are built first, and one that looks at the page itself and
 * writes the file.
 *
 * @param {string} fileName
 */
export const pageLicences = (fileName) => {
  /** @type {Set<string>} */
  const folders = new Set();
  /** @param {import("vite").Rolldown.OutputBundle} bundle */
  const look = (bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      for (const id of chunk.moduleIds) {
        const folder = PACKAGE.exec(id.replace(/^\0/, ""))?.[1];
        if (folder !== undefined && existsSync(join(folder, "package.json"))) folders.add(folder);
      }
    }
  };
  /** @type {import("vite").Plugin} */
  const inWorkers = { name: "licences-of-workers", generateBundle: (_, bundle) => look(bundle) };
  /** @type {import("vite").Plugin} */
  const inPage = {
    name: "licences-of-page",
    generateBundle(_, bundle) {
      look(bundle);
      const entries = [...folders].map(entryOf).sort();
      const source = [
        "# Licences\n",
        "These packages are built into the page, in part or as a whole.\n",
        ...entries,
      ].join("\n");
      this.emitFile({ type: "asset", fileName, source });
    },
  };
  return { inWorkers, inPage };
};
