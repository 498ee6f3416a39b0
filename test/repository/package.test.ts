import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("the package", () => {
  test("packs the executable and what was built, in less than 1.5 MB, and nothing else", () => {
    const words = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
    const { stdout } = spawnSync("npm", words, { cwd: ROOT, encoding: "utf8" });
    const [{ files, size }] = JSON.parse(stdout) as { files: { path: string }[]; size: number }[];
    expect(size).toBeLessThan(1.5e6);
    const paths = files.map(({ path }) => path);
    const others = paths.filter((path) => !/^dist\/(?!studio\/).*(?<!\.test)\.(js|d\.ts)$/.test(path));
    expect(others.sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin/fairbed",
      "bin/package.json",
      "dist/studio.json.br",
      "package.json",
      "sbom.cdx.json",
    ]);
    for (const entry of ["index.js", "index.d.ts", "browser.js", "browser.d.ts", "cli/main.js"]) {
      expect(paths).toContain(`dist/${entry}`);
    }
    // What a declaration imports is there, or TypeScript takes it for `any`.
    const lacking = paths
      .filter((path) => path.endsWith(".d.ts"))
      .flatMap((path) =>
        [...read(path).matchAll(/(?:from|import) ?\(?"(\.[^"]+)\.js"/g)].map(([, to]) =>
          join(dirname(path), `${to}.d.ts`),
        ),
      )
      .filter((path) => !paths.includes(path));
    expect(lacking).toEqual([]);
  });

  test("no link of the README leads nowhere: sites that show it look for them in the repository", () => {
    const linked = [...read("README.md").matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
    expect(linked.length).toBeGreaterThan(1);
    const { stdout } = spawnSync("git", ["ls-files", "--", ...linked], { cwd: ROOT, encoding: "utf8" });
    const tracked = stdout.split("\n");
    expect(
      linked.filter((path) => !tracked.some((each) => each === path || each.startsWith(`${path}/`))),
    ).toEqual([]);
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
