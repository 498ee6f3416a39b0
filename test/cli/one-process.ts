/**
 * Runs command lines one after the other in one process, which starts once a test file: for tests of what commands say
 * and write. Those of how a process begins, is interrupted and ends use invoke.ts.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { afterAll } from "vitest";
import { ROOT } from "../setup/dist.js";
import { type InvokeOptions, invoke as invokeAlone, type Outcome } from "./invoke.js";

interface Waiting {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

let host: ChildProcess | undefined;
const waiting: Waiting[] = [];

const start = (): ChildProcess => {
  // Whatever it prints beside the commands belongs to no outcome, and must be seen.
  const child = fork(join(ROOT, "test", "cli", "host.mjs"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.on("message", (outcome) => waiting.shift()?.resolve(outcome as Outcome));
  child.on("exit", (code, signal) => {
    host = undefined;
    for (const { reject } of waiting.splice(0)) {
      reject(new Error(`the process of the commands ended by itself (${signal ?? code})`));
    }
  });
  return child;
};

afterAll(async () => {
  if (host === undefined) return;
  const ended = new Promise((resolve) => host?.once("exit", resolve));
  host.disconnect();
  await ended;
});

/** What is signalled, or is another program, gets a process of its own. */
export const invoke = (words: readonly string[], options: InvokeOptions = {}): Promise<Outcome> => {
  if (options.program !== undefined || options.during !== undefined) return invokeAlone(words, options);
  return new Promise((resolve, reject) => {
    host ??= start();
    waiting.push({ resolve, reject });
    host.send({ words, env: options.env ?? {} });
  });
};
