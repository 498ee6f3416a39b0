/** What runs in the thread of `model-thread.ts`. */
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { FairbedError, InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { type AcquisitionRanker, acquisitionRanker } from "../workflows/acquisition-ranking.js";
import { auditTable } from "../workflows/audit-table.js";
import type { ThreadReply, ThreadRequest } from "./model-thread.js";

const port = parentPort;
if (port === null) throw new Error("this file is for a thread of model-thread.ts");

// Whoever asks and answers comes first: on Linux, and nowhere else, this is about the calling thread and those it starts.
if (process.platform === "linux") {
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL + 5);
  } catch {
    // As it was, where that is not allowed.
  }
}

let make: (() => AcquisitionRanker) | undefined;
let made: AcquisitionRanker | undefined;
const stops = new Map<number, AbortController>();

const reply = (answer: ThreadReply): void => port.postMessage(answer);

const ranker = (): AcquisitionRanker => {
  made ??= make?.();
  if (made === undefined) throw new Error("models were asked for before they were told of a table");
  return made;
};

const run = async (job: number, work: (run: RunOptions) => Promise<unknown>): Promise<void> => {
  const stop = new AbortController();
  stops.set(job, stop);
  try {
    const result = await work({
      signal: stop.signal,
      onProgress: (progress) => reply({ job, progress }),
    });
    reply({ job, result });
  } catch (error) {
    const known = error instanceof FairbedError;
    reply({
      job,
      error: {
        code: known ? error.code : "models",
        message: error instanceof Error ? error.message : String(error),
        input: error instanceof InputError,
      },
    });
  } finally {
    stops.delete(job);
  }
};

port.on("message", (request: ThreadRequest) => {
  switch (request.kind) {
    case "prepare":
      make = () => acquisitionRanker(request.table, request.options);
      made = undefined;
      return;
    case "rank":
      return void run(request.job, async (options) =>
        ranker().rank(request.soFar, request.size, request.name, options),
      );
    case "estimate":
      return void run(request.job, async (options) => ranker().estimate(request.soFar, options));
    case "forecast":
      return void run(request.job, async (options) =>
        ranker().forecast(request.soFar, { ...request.choice, ...options }),
      );
    case "audit":
      return void run(request.job, (options) =>
        auditTable(request.table, { ...request.options, ...options }),
      );
    case "stop":
      stops.get(request.job)?.abort();
  }
});
