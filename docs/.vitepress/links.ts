/** Where links of the repository's Markdown lead on the site, so that every page also reads well as plain Markdown. */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCES = "https://github.com/fairbed/fairbed/blob/main/";

/** Pages at the top of the repository, and where they are on the site. */
export const PROJECT_PAGES: Readonly<Record<string, string>> = {
  "CONTRIBUTING.md": "project/contributing.md",
  "CHANGELOG.md": "project/changelog.md",
};

/** The page that is made from a file of the repository: `bench/gpu.md` is `benchmarks/gpu.md`. */
export const sitePath = (path: string): string | undefined => {
  if (path === "README.md") return "index.md";
  if (path in PROJECT_PAGES) return PROJECT_PAGES[path];
  if (path === "bench/README.md") return "benchmarks/index.md";
  if (/^bench\/[^/]+\.md$/.test(path)) return path.replace(/^bench/, "benchmarks");
  return /^docs\/.*\.md$/.test(path) ? path.slice("docs/".length) : undefined;
};

/** The file that a page of the site is made from. */
export const repositoryPath = (page: string): string => {
  const project = Object.keys(PROJECT_PAGES).find((file) => PROJECT_PAGES[file] === page);
  if (project !== undefined) return project;
  if (page === "benchmarks/index.md") return "bench/README.md";
  if (page.startsWith("benchmarks/")) return page.replace(/^benchmarks/, "bench");
  return `docs/${page}`;
};

/** A link that stands in `page`, for the site. What is no page of the site leads to the sources; what is nothing fails. */
export const siteLink = (href: string, page: string): string => {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [, path, rest] = /^([^?#]*)(.*)$/s.exec(href) ?? ["", href, ""];
  const file = posix.join(posix.dirname(repositoryPath(page)), decodeURI(path));
  const there = sitePath(file);
  if (there !== undefined) return `/${there}${rest}`;
  if (file.startsWith("docs/public/") && existsSync(ROOT + file))
    return `/${file.slice("docs/public/".length)}`;
  if (!existsSync(ROOT + file))
    throw new Error(`${repositoryPath(page)} links to ${href}, which is not there`);
  return `${SOURCES}${file}${rest}`;
};

/** As GitHub makes them, so that a link to a heading is right on the site and in plain Markdown. */
export const slug = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replace(/ /g, "-");
