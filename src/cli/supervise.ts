/**
 * The process that a user starts: it starts the one that works, and is free to hear Ctrl-C whatever that one is doing.
 * Where that one does not answer, because a fit or a model of the user's holds its thread, it is ended, and what it left
 * is taken away. It loads next to nothing, so that starting two processes takes little longer than one.
 */
import { type ChildProcess, fork } from "node:child_process";
import { rmSync } from "node:fs";
import { EXIT_FAILED, failureText, wantsJson } from "./failure.js";
import { STOP_SIGNALS, signalExitCode } from "./interruption.js";
import { CLEAR_LINE } from "./progress.js";
import { type Relayed, supervisedEnvironment, type Told } from "./supervisor-link.js";
import { toJson } from "./to-json.js";

/** So long the one that works may leave a signal unanswered, or be late with what it said. */
const ANSWER_MS = 600;
const LATE_MS = 300;
const SECOND_MS = 100;

export const superviseTexts = {
  ended: (how: string) =>
    `the process that did the work ended by itself (${how}), as it does when memory runs out: give it a smaller table or smaller settings, or more memory with NODE_OPTIONS=--max-old-space-size=8000.`,
};

/** Commands that are over before anyone could press Ctrl-C, and read neither tables nor models. */
export const UNWATCHED: readonly string[] = ["info", "data list", "queue status"];

const SHOWS = new Set(["-h", "--help", "-V", "--version"]);

/** Whether a command line is worth a process that watches over it. */
export const isWatched = (argv: readonly string[]): boolean => {
  const words = argv.filter((word) => !word.startsWith("-"));
  if (words.length === 0 || words[0] === "help" || argv.some((word) => SHOWS.has(word))) return false;
  return !UNWATCHED.some((name) => name === words.slice(0, name.split(" ").length).join(" "));
};

/** Runs `program`, a module that calls `runCommandLine`, in a process of its own; resolves to the exit code. */
export const supervise = (program: string, argv: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const child = fork(program, argv, {
      env: supervisedEnvironment(),
      stdio: ["inherit", "inherit", "inherit", "ipc"],
    });
    const unfinished = new Set<string>();
    let interrupted: number | undefined;
    let timer: NodeJS.Timeout | undefined;
    const endAfter = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
    };
    const onSignal = (name: NodeJS.Signals) => {
      endAfter(interrupted === undefined ? ANSWER_MS : SECOND_MS);
      interrupted ??= signalExitCode(name);
      relay(child, { signal: name });
    };
    for (const name of STOP_SIGNALS) process.on(name, onSignal);
    child.on("message", (message) => {
      const told = message as Told;
      if ("heard" in told) endAfter(told.heard + LATE_MS);
      else if ("unfinished" in told) unfinished.add(told.unfinished);
      else unfinished.delete(told.finished);
    });
    const finish = (exitCode: number, code: string, message: string) => {
      for (const path of unfinished) rmSync(path, { recursive: true, force: true });
      if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
      process.stderr.write(`fairbed: ${message}\n`);
      if (wantsJson(argv)) process.stdout.write(`${toJson({ error: { code, message } })}\n`);
      resolve(exitCode);
    };
    child.on("error", (error) => finish(EXIT_FAILED, "process", superviseTexts.ended(error.message)));
    child.on("exit", (code, name) => {
      clearTimeout(timer);
      if (code !== null) return resolve(code);
      const asked = interrupted ?? (isStop(name) ? signalExitCode(name) : undefined);
      if (asked !== undefined) return finish(asked, "interrupted", failureText.interrupted);
      finish(EXIT_FAILED, "process-ended", superviseTexts.ended(name ?? "no reason given"));
    });
  });

const isStop = (name: NodeJS.Signals | null): name is (typeof STOP_SIGNALS)[number] =>
  STOP_SIGNALS.some((each) => each === name);

/** One that is gone, or has not come up yet, does not hear. */
const relay = (child: ChildProcess, message: Relayed): void => {
  if (child.connected) child.send(message, () => {});
};
