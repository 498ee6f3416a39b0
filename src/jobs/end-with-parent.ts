/**
 * Processes that do not outlive the one that started them, whatever ends it and whatever they are doing. A process that
 * computes without a pause hears nothing, so a thread of its own looks whether the parent is still there.
 */
import { Worker } from "node:worker_threads";

/** Names the parent: between being started and looking for it, a child may lose it. */
const PARENT = "FAIRBED_PARENT";

/** Environment for a child that calls `endWithParent`. */
export const childEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, [PARENT]: String(process.pid) });

/** How often it looks. */
const LOOK_MS = 200;

/** On Windows an orphan keeps the number of its parent, so it is also asked whether that one lives. */
const LOOK = `
  const { workerData: { parent, every } } = require("node:worker_threads");
  const isThere = () => {
    if (process.ppid !== parent) return false;
    try {
      process.kill(parent, 0);
      return true;
    } catch (error) {
      return error.code !== "ESRCH";
    }
  };
  const look = () => {
    if (!isThere()) process.kill(process.pid, "SIGKILL");
  };
  look();
  setInterval(look, every);
`;

/** Whether this process was started by one that lends it `childEnvironment`; from now on it ends with that one. */
export const endWithParent = (): boolean => {
  const parent = Number(process.env[PARENT]);
  // Not for processes that this one starts.
  delete process.env[PARENT];
  if (!Number.isSafeInteger(parent) || parent <= 0) return false;
  const watcher = new Worker(LOOK, {
    eval: true,
    workerData: { parent, every: LOOK_MS },
    execArgv: [],
    // Enough for a timer, so that many processes do not pay for many heaps.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  });
  // Threads may be short; what it is for is then left to the disconnected channel.
  watcher.on("error", () => {});
  watcher.unref();
  return true;
};
