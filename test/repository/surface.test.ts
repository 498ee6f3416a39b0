/** What the library's users can name: functions, and the types of their arguments and results. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiDifference, publicApi } from "../../scripts/public-api.mjs";
import { publicSurface, unnamedTypes } from "../../scripts/public-surface.mjs";
import * as browser from "../../src/browser.js";
import * as fairbed from "../../src/index.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

test("the root has about twenty names, the same in Node and in a browser", () => {
  expect(Object.keys(fairbed).length).toBeLessThanOrEqual(25);
  expect(Object.keys(browser).sort()).toEqual(Object.keys(fairbed).sort());
});

test("every type that a public signature names is exported", () => {
  expect(unnamedTypes(ROOT)).toEqual([]);
});

test("a change to the public API is recorded: npm run -s build && node scripts/public-api.mjs", () => {
  const recorded = readFileSync(join(ROOT, "docs", "public-api.txt"), "utf8");
  expect(apiDifference(recorded, publicApi(ROOT))).toEqual([]);
});

test("no two names differ only in case, and a name means one thing", () => {
  const spellings = new Map<string, Set<string>>();
  const places = new Map<string, Set<string>>();
  for (const { name, place } of publicSurface(ROOT)) {
    const lower = name.toLowerCase();
    spellings.set(lower, (spellings.get(lower) ?? new Set()).add(name));
    places.set(name, (places.get(name) ?? new Set()).add(`${place.file}#${place.name}`));
  }
  expect([...spellings.values()].filter(({ size }) => size > 1).map((names) => [...names])).toEqual([]);
  expect([...places].filter(([, { size }]) => size > 1).map(([name]) => name)).toEqual([]);
});

test("callbacks may return anything", () => {
  const files = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" });
  const narrow = files
    .filter((path) => path.endsWith(".d.ts") && !path.startsWith("cli"))
    .filter((path) => readFileSync(join(ROOT, "dist", path), "utf8").includes("void | Promise<void>"));
  expect(narrow).toEqual([]);
});

test("what the pages of docs/ and the README import is there", () => {
  const names = new Map<string, Set<string>>();
  for (const { entry, name } of publicSurface(ROOT)) {
    const specifier = `fairbed${entry.slice(1)}`;
    names.set(specifier, (names.get(specifier) ?? new Set()).add(name));
  }
  const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const texts = [...pages.map((page) => join("docs", page)), "README.md"];
  const missing = texts.flatMap((path) =>
    [
      ...readFileSync(join(ROOT, path), "utf8").matchAll(
        /import (?:type )?\{([^}]*)\} from "(fairbed[^"]*)"/g,
      ),
    ].flatMap(([, list, specifier]) =>
      list
        .split(",")
        .map((each) => each.trim().replace(/^type /, ""))
        .filter((name) => name !== "" && names.get(specifier)?.has(name) !== true)
        .map((name) => `${path}: ${name} of ${specifier}`),
    ),
  );
  expect(missing).toEqual([]);
});

test("the walks of CONTRIBUTING lead through files that exist, a dozen at most, none twice", () => {
  const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const walks = text
    .slice(text.indexOf("## From argv to answer"), text.indexOf("## Rules"))
    .split(/^\*\*`fairbed /m)
    .slice(1)
    .map((walk) => [...walk.matchAll(/\d+\. `([^`]+\.ts)`/g)].map(([, file]) => file));
  expect(walks).toHaveLength(4);
  for (const files of walks) {
    expect(files.length).toBeGreaterThan(8);
    expect(files.length).toBeLessThanOrEqual(12);
    expect(new Set(files).size).toBe(files.length);
    expect(files.filter((file) => !existsSync(join(ROOT, "src", file)))).toEqual([]);
  }
});
