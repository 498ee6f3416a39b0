/** Where the jobs of a command run: in processes on this machine, or on the workers of a queue. */
import type { Job } from "../jobs/job.js";
import type { JobStore } from "../jobs/job-store.js";
import type { JobsRun, Place } from "../jobs/run-jobs.js";
import type { CommandContext } from "./command.js";
import { allowTimeForQueue } from "./interruption.js";
import { text } from "./options.js";

export const queueOption = text(
  "--queue <address>",
  "postgres://… of a queue; FAIRBED_QUEUE unless given, which does not show a password to others",
);

export const jobPlaceTexts = {
  /** `unit` as for many. */
  goOn: (finished: number, unit: string) =>
    `the same command goes on from the ${finished} finished ${finished === 1 ? unit.replace(/s$/, "") : unit}`,
};

export interface PlaceOptions {
  /** As given. */
  readonly queue: string | undefined;
  /** Processes, where there is no queue. */
  readonly jobs: number;
}

/** With the queue that is named, or without one. */
export const withPlace = async <Result>(
  { queue: given, jobs }: PlaceOptions,
  use: (place: Place) => Promise<Result>,
): Promise<Result> => {
  const { queueAddress } = await import("../jobs/queue-connection.js");
  const address = queueAddress(given);
  if (address === undefined) {
    const { JOB_PROGRAM } = await import("./job-kinds.js");
    return use({ processes: jobs, program: JOB_PROGRAM });
  }
  const { openQueue } = await import("../jobs/queue.js");
  allowTimeForQueue();
  const queue = await openQueue(address);
  try {
    return await use({ queue });
  } finally {
    await queue.close();
  }
};

/** Runs what a store lacks and shows how far it is; the same command goes on from there. */
export const runMissing = async (
  jobs: readonly Job[],
  store: JobStore,
  options: PlaceOptions,
  { label, unit }: { readonly label: string; readonly unit: string },
  { signal, say, saysHowToGoOn, progress: show }: CommandContext,
): Promise<JobsRun> => {
  const { pendingJobs, runJobs } = await import("../jobs/run-jobs.js");
  const { estimateJobs, jobKey } = await import("../jobs/job.js");
  const { collectTexts } = await import("../jobs/collect.js");
  const pending = pendingJobs(jobs, store);
  if (pending.length === 0) return { ran: 0, notes: [] };
  const progress = show(label, Math.max(1, Math.round(estimateJobs(pending))));
  const before = store.size;
  const finishedBefore = new Set(jobs.map(jobKey).filter((key) => store.has(key))).size;
  return withPlace(options, async (place) => {
    const remember = () => {
      const finished = finishedBefore + store.size - before;
      // Of a queue, `collectTexts.left` says it.
      if (finished > 0 && !("queue" in place)) saysHowToGoOn(jobPlaceTexts.goOn(finished, unit));
    };
    remember();
    // In seconds of work, because jobs take very different times; in words, in jobs.
    const onProgress = (done: number) => {
      progress.update(Math.round(done), `${store.size - before} of ${pending.length} ${unit} done`);
      remember();
    };
    try {
      return await runJobs(pending, { store, place, signal, onProgress, say });
    } finally {
      progress.end();
      if (signal.aborted && "queue" in place) say(collectTexts.left(place.queue.shown));
    }
  });
};
