/** A process of its own that runs what ships: for memory and for what happens at the end of a process. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { ROOT } from "../setup/dist.js";

export interface Ended {
  readonly code: number | null;
  /** "SIGKILL" when it had not ended by itself in time. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a module's text with `compile` and the operations at hand, and waits for it to end. */
export const runChild = (
  body: string,
  { flags = [], seconds = 40 }: { readonly flags?: readonly string[]; readonly seconds?: number } = {},
): Promise<Ended> => {
  const dist = (path: string) => JSON.stringify(pathToFileURL(`${ROOT}dist/compute/${path}`).href);
  const source = `
    import { compile } from ${dist("program/program.js")};
    import * as ops from ${dist("graph/operations.js")};
    ${body}`;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...flags, "--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: seconds * 1000,
      killSignal: "SIGKILL",
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
};
