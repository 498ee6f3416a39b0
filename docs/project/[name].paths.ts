/** Pages that stand at the top of the repository, where people look for them. */
import { existsSync, readFileSync } from "node:fs";
import { PROJECT_PAGES, ROOT } from "../.vitepress/links.js";

export default {
  watch: ["../../*.md"],
  paths: () =>
    Object.entries(PROJECT_PAGES)
      .filter(([file]) => existsSync(ROOT + file))
      .map(([file, page]) => ({
        params: { name: page.replace(/^project\/|\.md$/g, "") },
        content: readFileSync(ROOT + file, "utf8"),
      })),
};
