// @ts-check
/** The pages that people write: the README and `docs/`, without what commands write. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const GENERATED = ["docs/reproduction.md", "docs/licences.md"];

export const writtenPages = () => [
  "README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md") && !/\/\.vitepress\/|\[/.test(name) && !GENERATED.includes(name))
    .sort(),
];
