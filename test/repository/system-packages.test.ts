import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT } from "../setup/dist.js";

let bin = "";
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), "fairbed-path-"));
});
afterEach(() => rmSync(bin, { recursive: true }));

const program = (name: string, script: string) => {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
};

/** With nothing on PATH but what the test put there. */
const prepare = (env: Readonly<Record<string, string>> = {}) => {
  const script = join(ROOT, "scripts", "system-packages.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    encoding: "utf8",
    env: { PATH: bin, ...env },
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  return stderr;
};

describe("system-packages", () => {
  test("says nothing when all is there", () => {
    program("chromium", "exit 0");
    expect(prepare()).toBe("");
  });

  test("believes CHROME_PATH", () => {
    program("my-chrome", "exit 0");
    expect(prepare({ CHROME_PATH: join(bin, "my-chrome") })).toBe("");
  });

  test("names what is skipped where it cannot install", () => {
    const why = "there is no apt-get here; install it or set CHROME_PATH";
    expect(prepare()).toBe(`skipped: no Chromium: browser tests (${why})\n`);
  });

  test("leaves the system alone when asked to", () => {
    program("apt-get", "echo called >&2");
    const why = "FAIRBED_NO_INSTALL is set; install it or set CHROME_PATH";
    expect(prepare({ FAIRBED_NO_INSTALL: "1" })).toBe(`skipped: no Chromium: browser tests (${why})\n`);
  });

  test.runIf(process.getuid?.() === 0)("updates, then installs, as root", () => {
    program("env", 'shift; exec "$@"');
    program("apt-get", 'echo "apt-get $*"');
    const lines = prepare().split("\n");
    expect(lines[0]).toBe("Installing Chromium from the system's packages ...");
    expect(lines[1]).toMatch(/^apt-get .* update$/);
    expect(lines[2]).toMatch(/^apt-get .* install -y --no-install-recommends chromium fonts-dejavu-core$/);
    expect(lines[3]).toContain("skipped: no Chromium: browser tests (apt-get could not install chromium");
  });
});
