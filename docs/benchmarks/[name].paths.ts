/** `bench/*.md` as pages: what was measured, on which machine and by which command. */
import { readdirSync, readFileSync } from "node:fs";
import { ROOT } from "../.vitepress/links.js";

export default {
  watch: ["../../bench/*.md"],
  paths: () =>
    readdirSync(`${ROOT}bench`)
      .filter((name) => name.endsWith(".md"))
      .map((name) => ({
        params: { name: name === "README.md" ? "index" : name.replace(/\.md$/, "") },
        content: readFileSync(`${ROOT}bench/${name}`, "utf8"),
      })),
};
