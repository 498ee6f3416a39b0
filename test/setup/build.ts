/** Builds `dist/` once before all tests: some of them test what ships, not the sources. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** What the compiler said, empty when all is well; tests of `dist/` fail on it, the others still run. */
    buildFailure: string;
  }
}

export default (project: TestProject): void => {
  const script = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  project.provide("buildFailure", status === 0 ? "" : `the build failed:\n${stdout}${stderr}`);
};
