import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("the package", () => {
  test("packs the executable, what was built, results, examples and what is written about it, and nothing else", () => {
    const words = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
    const { stdout } = spawnSync("npm", words, { cwd: ROOT, encoding: "utf8" });
    const paths = (JSON.parse(stdout)[0].files as { path: string }[]).map(({ path }) => path);
    const many =
      /^(dist\/.*(?<!\.test)\.(js|d\.ts)(\.map)?|dist\/studio\/(assets\/[\w-]+\.css|index\.html|icon\.svg|licences\.md)|src\/.*(?<!\.test)\.ts|docs\/.*\.md|docs\/reproduction\/.*\.svg|docs\/studio\/[a-z]+\.png|results\/.*\.csv|examples\/((slurm|jspsych)\/.*|[a-z-]+\.mjs))$/;
    const others = paths.filter((path) => !many.test(path));
    expect(others.sort()).toEqual([
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "bin/fairbed",
      "bin/package.json",
      "package.json",
    ]);
    // No link of the README leads nowhere.
    const linked = [...read("README.md").matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
    expect(linked.length).toBeGreaterThan(1);
    expect(paths).toEqual(expect.arrayContaining(linked));
    for (const entry of [
      "index.js",
      "index.d.ts",
      "browser.js",
      "browser.d.ts",
      "cli/main.js",
      "studio/index.html",
    ]) {
      expect(paths).toContain(`dist/${entry}`);
    }
    // Maps lead to sources that ship too, so that a debugger and "go to definition" show what was written.
    const maps = paths.filter((path) => path.endsWith(".map"));
    expect(maps).toHaveLength(paths.filter((path) => /^dist\/(?!studio\/).*\.(js|d\.ts)$/.test(path)).length);
    for (const path of maps) {
      const { sources } = JSON.parse(read(path)) as { sources: string[] };
      expect(paths).toEqual(expect.arrayContaining(sources.map((source) => join(dirname(path), source))));
    }
  });

  test("the lock file names no registry", () => {
    expect(read("package-lock.json")).not.toContain('"resolved": "http');
  });

  test("the lock file vouches for every package by its hash", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<string, { integrity?: string }>;
    };
    const lacking = Object.entries(packages).filter(
      ([path, { integrity = "" }]) => path !== "" && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
    );
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  test("the lock file has the packages of every platform, or `npm ci` would refuse it", () => {
    const script = join(ROOT, "scripts", "complete-lock.mjs");
    const { status, stdout } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });

  test("the README has its two set-up commands", () => {
    const readme = read("README.md");
    expect(readme.match(/^npm ci && npm .*$/gm)).toEqual(["npm ci && npm run demo", "npm ci && npm test"]);
  });
});

describe("bin/fairbed", () => {
  const runAlone = (engine: string) => {
    const folder = mkdtempSync(join(tmpdir(), "fairbed-bin-"));
    cpSync(join(ROOT, "bin"), join(folder, "bin"), { recursive: true });
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ type: "module", engines: { node: engine } }),
    );
    const { status, stderr } = spawnSync(process.execPath, [join(folder, "bin", "fairbed")], {
      encoding: "utf8",
    });
    rmSync(folder, { recursive: true });
    return { status, stderr: stderr.replace(folder, "FOLDER") };
  };

  test("says how to build when it is not built", () => {
    expect(runAlone(">=20.19")).toEqual({
      status: 1,
      stderr: "fairbed: this checkout is not built yet; run `npm run build` in FOLDER first.\n",
    });
  });

  test("says when Node is too old", () => {
    const stderr = `fairbed: Node ${process.versions.node} is too old; install Node 99.5 or newer.\n`;
    expect(runAlone(">=99.5")).toEqual({ status: 1, stderr });
  });
});
