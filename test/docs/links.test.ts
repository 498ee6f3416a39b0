/** The Markdown of the repository as it stands, without a site: its links lead to files and headings that are there. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { slug } from "../../docs/.vitepress/links.js";
import { ROOT } from "../setup/dist.js";

/** Links of a page that lead nowhere. */
const deadLinks = (page: string, read: (path: string) => string | undefined): string[] => {
  const text = read(page) ?? "";
  const code = /^(\s*)(`{3,})[\s\S]*?^\s*\2\s*$|`[^`\n]*`/gm;
  const links = [...text.replace(code, "").matchAll(/\]\((?![a-z]+:)([^)\s]*)\)/g)].map(([, to]) => to);
  return links.flatMap((to) => {
    const [path, hash] = decodeURI(to).split("#");
    const file = path === "" ? page : join(dirname(page), path);
    const there = read(file);
    if (there === undefined) return [`${page} links to ${to}`];
    if (hash === undefined || !file.endsWith(".md")) return [];
    const headings = [...there.replace(/^(\s*)(`{3,})[\s\S]*?^\s*\2\s*$/gm, "").matchAll(/^#+ (.*)$/gm)];
    const known = headings.map(([, words]) => slug(words.replace(/[`*_]|\]\([^)]*\)/g, "")));
    return known.includes(hash) ? [] : [`${page} links to ${to}`];
  });
};

const read = (path: string): string | undefined => {
  const file = join(ROOT, path);
  if (!existsSync(file)) return undefined;
  return statSync(file).isDirectory() ? "" : readFileSync(file, "utf8");
};

describe("links in Markdown", () => {
  test("lead somewhere, headings included", () => {
    const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    const pages = stdout.split("\n").filter((path) => path !== "" && read(path) !== undefined);
    expect(pages.length).toBeGreaterThan(30);
    expect(pages.flatMap((page) => deadLinks(relative(".", page), read))).toEqual([]);
  });

  test("that lead nowhere are found", () => {
    const pages: Readonly<Record<string, string>> = {
      "a/one.md": "# One\n[x](two.md#here) [x](two.md#gone) [x](../three.md) [x](#one) `[x](none.md)`",
      "a/two.md": "## Here\n",
    };
    expect(deadLinks("a/one.md", (path) => pages[path])).toEqual([
      "a/one.md links to two.md#gone",
      "a/one.md links to ../three.md",
    ]);
  });
});
