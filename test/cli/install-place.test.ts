import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { describeFailure } from "../../src/cli/failure.js";
import { isGlobal, withInstallPlace } from "../../src/cli/install-place.js";
import { EnvironmentError } from "../../src/core/errors.js";
import { packageTexts } from "../../src/sources/optional-package.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-install-place-"));
afterAll(() => rmSync(folder, { recursive: true }));

const installed = (...parts: readonly string[]): string => {
  const path = join(folder, ...parts, "dist", "cli");
  mkdirSync(path, { recursive: true });
  return path;
};
const project = (name: string): string => {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "package.json"), "{}");
  return name;
};
const sentence = packageTexts.missing("a store", "kysely", undefined, "kysely libsql");

test("for the whole machine, the command that installs what is missing says --global", () => {
  // As with nvm, whose own folder is a project.
  const here = installed(project(".nvm"), "lib", "node_modules", "fairbed");
  expect(isGlobal(here)).toBe(true);
  expect(withInstallPlace(sentence, here)).toMatch(/: run npm install --global kysely libsql\.$/);
  expect(withInstallPlace("nothing is missing", here)).toBe("nothing is missing");
});

test("in a project and in a checkout it is as it was", () => {
  for (const here of [
    installed(project("shop"), "node_modules", "fairbed"),
    installed(project("pnpm"), "node_modules", ".pnpm", "fairbed@1.0.0", "node_modules", "fairbed"),
    installed("checkout"),
  ]) {
    expect(isGlobal(here)).toBe(false);
    expect(withInstallPlace(sentence, here)).toBe(sentence);
  }
  expect(describeFailure(new EnvironmentError("no-package", sentence)).message).toBe(sentence);
});
