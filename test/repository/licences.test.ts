import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { licenceOffences, licencesOf, licencesPage } from "../../scripts/licences.mjs";
import { ROOT } from "../setup/dist.js";

const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));

describe("the licences of all packages", () => {
  test("are known and ask for no more than to be named, and the page lists them", () => {
    expect(licenceOffences(packages)).toEqual([]);
    expect(readFileSync(join(ROOT, "docs", "licences.md"), "utf8")).toBe(licencesPage(packages));
  });

  test("are those that the installed packages state themselves", () => {
    for (const name of ["commander", "sucrase", "@duckdb/node-api", "pg-boss", "vega", "sharp"]) {
      const { license } = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"));
      expect(licencesOf(packages)).toContainEqual(expect.objectContaining({ name, licence: license }));
    }
  });

  const lockOf = (license: string | undefined, use: "dependencies" | "devDependencies") => ({
    "": { [use]: { lightningcss: "1" } },
    "node_modules/lightningcss": { version: "1.0.0", license },
  });
  test.each([
    ["MIT", "dependencies", 0],
    ["MIT OR GPL-3.0-only", "dependencies", 0],
    ["(MIT OR CC0-1.0)", "dependencies", 0],
    ["MIT AND GPL-3.0-only", "dependencies", 1],
    ["GPL-3.0-or-later", "devDependencies", 1],
    ["AGPL-3.0-only", "dependencies", 1],
    [undefined, "dependencies", 1],
    ["SEE LICENSE IN LICENSE.txt", "devDependencies", 1],
    // The exception holds for development alone.
    ["MPL-2.0", "devDependencies", 0],
    ["MPL-2.0", "dependencies", 1],
  ] as const)("%s among %s: %i offences", (license, use, count) => {
    expect(licenceOffences(lockOf(license, use))).toHaveLength(count);
  });

  test("packages below others count for what needs them", () => {
    const lock = {
      "": { dependencies: { a: "1" }, devDependencies: { c: "1" } },
      "node_modules/a": { license: "MIT", dependencies: { b: "1" } },
      "node_modules/a/node_modules/b": { license: "GPL-2.0-only" },
      "node_modules/b": { license: "MIT" },
      "node_modules/c": { license: "MIT", dependencies: { b: "2" } },
    };
    expect(licencesOf(lock)).toEqual([
      { name: "a", licence: "MIT", use: "needed" },
      expect.objectContaining({ name: "b" }),
      expect.objectContaining({ name: "b" }),
      { name: "c", licence: "MIT", use: "development" },
    ]);
    expect(licenceOffences(lock)).toHaveLength(1);
  });
});
