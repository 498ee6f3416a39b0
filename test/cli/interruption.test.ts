import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failureText } from "../../src/cli/failure.js";
import { needsDist } from "../setup/dist.js";
import { invoke, PROBE } from "./invoke.js";

needsDist();

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairbed-interruption-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Sends the signals once the command has said something on stdout. */
const interrupt = (words: readonly string[], ...signals: NodeJS.Signals[]) =>
  invoke(words, {
    program: PROBE,
    during: (child) => {
      child.stdout?.once("data", () => {
        for (const [index, signal] of signals.entries())
          setTimeout(() => child.kill(signal), 50 * (index + 1));
      });
    },
  });

describe("a signal in the middle of a file", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s leaves nothing half-written", async (signal, code) => {
    const outcome = await interrupt(["write", join(folder, "new.txt")], signal);
    expect(outcome).toMatchObject({ code, stderr: `fairbed: ${failureText.interrupted}\n` });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("leaves the former file as it was", async () => {
    writeFileSync(join(folder, "old.txt"), "old");
    const outcome = await interrupt(["write", join(folder, "old.txt")], "SIGINT");
    expect(outcome.code).toBe(130);
    expect(readdirSync(folder)).toEqual(["old.txt"]);
    expect(readFileSync(join(folder, "old.txt"), "utf8")).toBe("old");
  });
});

describe("a command that is busy", () => {
  test("stops at its next checkpoint", async () => {
    expect((await interrupt(["busy"], "SIGINT")).code).toBe(130);
  });

  test("is ended when it does not listen", async () => {
    const start = performance.now();
    expect((await interrupt(["deaf"], "SIGINT")).code).toBe(130);
    expect(performance.now() - start).toBeGreaterThan(1900);
  });

  test("is ended at once by a second Ctrl-C", async () => {
    const start = performance.now();
    expect((await interrupt(["deaf"], "SIGINT", "SIGINT")).code).toBe(130);
    expect(performance.now() - start).toBeLessThan(1900);
  });
});
