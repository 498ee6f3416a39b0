import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeFileAtomically } from "../../src/cli/atomic-write.js";
import { failureText } from "../../src/cli/failure.js";
import { allCommands } from "../../src/cli/main.js";
import { isWatched, superviseTexts } from "../../src/cli/supervise.js";
import { needsDist } from "../setup/dist.js";
import { invoke, PROBE, WATCHED_PROBE } from "./invoke.js";
import { processesMarked } from "./marked-processes.js";

needsDist();

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairbed-interruption-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const LONG = 60_000;

describe.each([
  ["alone", PROBE],
  ["under the eyes of another process", WATCHED_PROBE],
])("%s", (_, program) => {
  /** Sends the signals once the command has said something on stdout; with the milliseconds from the first to the end. */
  const interrupt = async (words: readonly string[], ...signals: NodeJS.Signals[]) => {
    let sent = 0;
    const outcome = await invoke(words, {
      program,
      during: (child) => {
        child.stdout?.once("data", () => {
          for (const [index, signal] of signals.entries()) {
            setTimeout(
              () => {
                sent ||= performance.now();
                child.kill(signal);
              },
              50 * (index + 1),
            );
          }
        });
      },
    });
    return { ...outcome, took: performance.now() - sent };
  };

  describe("a signal in the middle of a file", () => {
    test.each([
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const)("%s leaves nothing half-written", async (signal, code) => {
      const outcome = await interrupt(["write", "--out", join(folder, "new.txt")], signal);
      expect(outcome).toMatchObject({ code, stderr: `fairbed: ${failureText.interrupted}\n` });
      expect(readdirSync(folder)).toEqual([]);
    });

    test("leaves the former file as it was", async () => {
      writeFileSync(join(folder, "old.txt"), "old");
      const outcome = await interrupt(["write", "--out", join(folder, "old.txt")], "SIGINT");
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
      const { code, took, stderr } = await interrupt(["deaf"], "SIGINT");
      expect(code).toBe(130);
      expect(stderr).toBe(`fairbed: ${failureText.interrupted}\n`);
      expect(took).toBeGreaterThan(500);
    });

    test("is ended at once by a second Ctrl-C", async () => {
      expect((await interrupt(["deaf"], "SIGINT", "SIGINT")).code).toBe(130);
    });
  });

  test("a command that waits for what never comes says so", async () => {
    expect(await invoke(["stuck"], { program })).toEqual({
      code: 1,
      stdout: "",
      stderr: `fairbed: ${failureText.unfinished}\n`,
    });
  });
});

describe("a process that watches", () => {
  const started = (words: readonly string[], during: (child: ChildProcess) => void) =>
    invoke(words, {
      program: WATCHED_PROBE,
      during: (child) => child.stdout?.once("data", () => during(child)),
    });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("ends one whose thread is held: %s", async (signal, code) => {
    writeFileSync(join(folder, "old.txt"), "old");
    const outcome = await started(["held", "--out", join(folder, "old.txt")], (child) => child.kill(signal));
    expect(outcome).toEqual({
      code,
      stdout: "holding\n",
      stderr: `fairbed: ${failureText.interrupted}\n`,
    });
    expect(readdirSync(folder)).toEqual(["old.txt"]);
    expect(readFileSync(join(folder, "old.txt"), "utf8")).toBe("old");
  });

  test("says so in JSON too", async () => {
    const { code, stdout } = await invoke(["crash", "--json"], { program: WATCHED_PROBE });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: "process-ended", message: superviseTexts.ended("SIGABRT") },
    });
  });

  test("passes on exit codes, output and failures", async () => {
    for (const words of [["fail", "input"], ["fail", "other", "--json"], ["echo"], ["steps"], ["nothing"]]) {
      expect(await invoke(words, { program: WATCHED_PROBE })).toEqual(
        await invoke(words, { program: PROBE }),
      );
    }
  });

  test.runIf(existsSync("/proc/self/environ"))(
    "takes the one that works with it when it is killed, whatever that one does",
    async () => {
      const mark = randomUUID();
      const outcome = await invoke(["held", "--out", join(folder, "new.txt")], {
        program: WATCHED_PROBE,
        env: { FAIRBED_TEST_MARK: mark },
        during: (child) => child.stdout?.once("data", () => child.kill("SIGKILL")),
      });
      // Its output ends with the last process that holds it.
      expect(outcome).toMatchObject({ code: null, stdout: "holding\n" });
      expect(await processesMarked(mark)).toEqual([]);
      // What is left is no file that anyone would read, and goes with the next file in its place.
      expect(readdirSync(folder).filter((name) => !/^\.fairbed-.*\.tmp$/.test(name))).toEqual([]);
      await writeFileAtomically(join(folder, "new.txt"), "whole");
      expect(readdirSync(folder)).toEqual(["new.txt"]);
    },
    LONG,
  );

  test("watches over every command that takes long, reads a table or runs a model", async () => {
    const commands = await allCommands();
    const unwatched = commands.map(({ name }) => name).filter((name) => !isWatched(name.split(" ")));
    expect(unwatched.sort()).toEqual(["data list", "info", "queue status"]);
    expect(isWatched(["audit", "--help"])).toBe(false);
    expect(isWatched([])).toBe(false);
  });
});
