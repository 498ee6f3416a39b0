/** The example of docs/engine.md type-checks under the strictest settings and runs, as it stands. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

const page = readFileSync(join(ROOT, "docs/engine.md"), "utf8");
const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

/** A project of someone who installed the package, without the types of Node. */
let project = "";
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "fairbed-engine-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(ROOT, join(project, "node_modules", "fairbed"));
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "dom"],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["example.ts"] }));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(project, "example.ts"), example);
});
afterAll(() => rmSync(project, { recursive: true }));

test("the engine's example type-checks, and prints a value and a derivative", () => {
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const compiled = spawnSync(process.execPath, [compiler, "-p", project], { encoding: "utf8" });
  expect(compiled.stdout + compiled.stderr).toBe("");
  expect(compiled.status).toBe(0);
  const { stdout, stderr } = spawnSync(process.execPath, [join(project, "example.js")], { encoding: "utf8" });
  expect(stderr).toBe("");
  const printed = stdout.trim().split(" ").map(Number);
  expect(printed).toHaveLength(2);
  // The mean of a density that is at most 1, over ten observations.
  expect(printed[0]).toBeLessThan(0);
  expect(printed.every(Number.isFinite)).toBe(true);
});
