/**
 * Looks for a GPU in a process of its own: where there is none, the driver and the package webgpu write warnings to
 * stderr that say less than the answer does, and a driver that crashes takes nothing else with it.
 */
import { fork } from "node:child_process";
import { gpuTexts } from "../compute/webgpu/texts.js";
import { EnvironmentError } from "../core/errors.js";
import type { FoundGpu } from "./gpu-process.js";

/** A driver that has not answered by then never will. */
const LIMIT_MS = 60_000;

/** The compiled program, from the sources too. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/cli/gpu-process.js" : "./gpu-process.js",
  import.meta.url,
);

export const findGpu = (program: URL = PROGRAM): Promise<FoundGpu> =>
  new Promise((resolve, reject) => {
    const child = fork(program, {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: [],
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
    });
    child.once("message", (found) => resolve(found as FoundGpu));
    child.once("error", reject);
    child.once("exit", () => resolve({ gpu: null, gpuNote: gpuTexts.driver, gpuCode: "gpu-driver" }));
  });

/** Fails, with what opening it here would have said, where no GPU was found. */
export const requireGpu = async (program?: URL): Promise<void> => {
  const found = await findGpu(program);
  if (found.gpu === null) throw new EnvironmentError(found.gpuCode, found.gpuNote);
};
