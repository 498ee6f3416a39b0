/** Runs a command line in a process of its own, as a user would. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../setup/dist.js";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const FAIRBED = join(ROOT, "bin", "fairbed");
/** A program with commands that only tests need. */
export const PROBE = join(ROOT, "test", "cli", "probe.mjs");
/** The same under the eyes of another process, as `bin/fairbed` has it. */
export const WATCHED_PROBE = join(ROOT, "test", "cli", "watched-probe.mjs");

export interface InvokeOptions {
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called as soon as the process is there, to signal it. */
  readonly during?: (child: ChildProcess) => void;
}

export const invoke = (
  words: readonly string[],
  { program = FAIRBED, env = {}, during = () => {} }: InvokeOptions = {},
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], { env: { ...process.env, ...env } });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (text) => {
      stdout += text;
    });
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    during(child);
  });
