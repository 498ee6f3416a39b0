/** kill -9 at any moment: nothing goes on running, and no half-written file is taken for a whole one. */
import { randomInt, randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./invoke.js";
import { processesMarked } from "./marked-processes.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-killed-"));
afterAll(() => rmSync(folder, { recursive: true }));
const SLOW = 300_000;

/** Killed after so long, if it is not over by then; resolves when nothing of it is left. */
const killedAfter = async (words: readonly string[], milliseconds: number) => {
  const mark = randomUUID();
  const outcome = await invoke(words, {
    env: { FAIRBED_TEST_MARK: mark, FAIRBED_QUEUE: "" },
    during: (child) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
      child.on("exit", () => clearTimeout(timer));
    },
  });
  return { ...outcome, left: await processesMarked(mark) };
};

/** Every file of a folder, and of those in it, by its path. */
const filesIn = (path: string): readonly string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

/** What a sudden end may leave: nobody reads it, and the next file in its place takes it away. */
const isTemporary = (path: string): boolean => /[/\\]\.fairbed-[^/\\]*$/.test(path);

const wholeJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

describe.runIf(existsSync("/proc/self/environ"))("kill -9", () => {
  test(
    "on a sweep: its processes end too, and it goes on to the same bits",
    async () => {
      const sizes = ["--steps", "100", "--starts", "2", "--outer", "20", "--inner", "50", "--batches", "2"];
      const words = (out: string) => [
        ...["design", "sweep", "--model", "location", "--betas", "0,0.6", "--seeds", "2", "--jobs", "2"],
        ...["--horizons", "3", ...sizes, "--out", out],
      ];
      const began = performance.now();
      const whole = join(folder, "whole");
      expect((await invoke(words(whole), { env: { FAIRBED_QUEUE: "" } })).code).toBe(0);
      const took = performance.now() - began;
      const out = join(folder, "killed");
      for (let i = 0; i < 3; i++) {
        const { left } = await killedAfter(words(out), randomInt(50, Math.round(took)));
        expect(left).toEqual([]);
        for (const path of filesIn(out)) if (path.endsWith(".json") && !isTemporary(path)) wholeJson(path);
      }
      expect((await invoke(words(out), { env: { FAIRBED_QUEUE: "" } })).code).toBe(0);
      const contents = (root: string) =>
        filesIn(root)
          .filter((path) => !path.endsWith("results.jsonl") && !isTemporary(path))
          .map((path) => [path.slice(root.length), readFileSync(path, "base64")])
          .sort();
      expect(contents(out)).toEqual(contents(whole));
    },
    SLOW,
  );

  test(
    "on a reproduction: another one takes the folder over and goes on to the same bits",
    async () => {
      const words = (out: string) => [
        "reproduce",
        "table-location",
        "--quick",
        "--seeds",
        "1",
        "--jobs",
        "2",
        "--out",
        out,
      ];
      const results = (out: string) =>
        readFileSync(join(out, "results.jsonl"), "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => {
            const { key, result } = JSON.parse(line);
            return JSON.stringify({ key, result });
          })
          .sort();
      const env = { FAIRBED_QUEUE: "" };
      const began = performance.now();
      const whole = join(folder, "whole-table");
      expect((await invoke(words(whole), { env })).code).toBe(0);
      const took = performance.now() - began;

      // Two at once: one does the work, and the other says so.
      const shared = join(folder, "shared-table");
      const both = await Promise.all([invoke(words(shared), { env }), invoke(words(shared), { env })]);
      const refused = both.filter(({ code }) => code === 1);
      for (const { stderr } of refused) expect(stderr).toContain("is in use by process");
      expect(refused.length).toBeLessThan(2);

      const out = join(folder, "killed-table");
      for (let i = 0; i < 2; i++) {
        const { left } = await killedAfter(words(out), randomInt(200, Math.round(took)));
        expect(left).toEqual([]);
      }
      expect((await invoke(words(out), { env })).code).toBe(0);
      expect(results(out)).toEqual(results(whole));
      expect(results(shared)).toEqual(results(whole));
      expect(filesIn(out).filter((path) => path.includes("in-use"))).toEqual([]);
    },
    SLOW,
  );
});
