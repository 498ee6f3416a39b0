/**
 * The declaration files in other people's projects: checked themselves (`skipLibCheck` off), without the declarations of
 * a browser or of Node, under both ways to resolve packages, with the oldest TypeScript that is promised and with ours.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const ENTRIES = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json");

let project = "";
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "fairbed-types-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(ROOT, join(project, "node_modules", "fairbed"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  const lines = ENTRIES.map((entry, i) => `export * as e${i} from "fairbed${entry.slice(1)}";`);
  // A signal of the platform fits, and a callback may return anything.
  const use = `import { auditTable } from "fairbed";
declare const signal: { readonly aborted: boolean; readonly reason: unknown; throwIfAborted(): void };
export const options: Parameters<typeof auditTable>[1] = { target: "a", sensitive: ["b"], signal, onProgress: () => 1 };`;
  writeFileSync(join(project, "all.ts"), `${lines.join("\n")}\n${use}\n`);
});
afterAll(() => rmSync(project, { recursive: true }));

test.each([
  ["typescript-oldest", "node16", "node16"],
  ["typescript-oldest", "esnext", "bundler"],
  ["typescript", "node16", "node16"],
  ["typescript", "nodenext", "nodenext"],
  ["typescript", "esnext", "bundler"],
])("%s takes them with module %s, resolution %s", (compiler, module, moduleResolution) => {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    target: "es2022",
    lib: ["es2022"],
    types: [],
    module,
    moduleResolution,
    skipLibCheck: false,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["all.ts"] }));
  const program = join(ROOT, "node_modules", compiler, "bin", "tsc");
  const { stdout, status } = spawnSync(process.execPath, [program, "-p", project], { encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
});

test("the oldest TypeScript is the one that the README promises", () => {
  const { version } = JSON.parse(
    readFileSync(join(ROOT, "node_modules", "typescript-oldest", "package.json"), "utf8"),
  );
  const promised = /TypeScript (\d+\.\d+) or newer/.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1];
  expect(promised).toBeDefined();
  expect(version.startsWith(`${promised}.`)).toBe(true);
});
