/**
 * Runs the jobs that a store has no result of: in processes on this machine, or on the workers of a queue. What is
 * finished is stored at once and never run again.
 */
import { FairbedError } from "../core/errors.js";
import { collectJobs } from "./collect.js";
import { estimateJob, type Job, jobBefore, jobKey, keyBefore, queueOf, sentJob } from "./job.js";
import { type JobProcess, threadsFor } from "./job-processes.js";
import type { JobStore } from "./job-store.js";
import type { KnownJob, WorkQueue } from "./queue.js";
import { type SubprocessProgram, withSubprocesses } from "./subprocess.js";

/** The workers of a queue. */
export interface QueuePlace {
  readonly queue: WorkQueue;
  /** So many seconds nobody may be there, or nobody who can do what is left (10). */
  readonly waitSeconds?: number | undefined;
}

/** Where jobs run. */
export type Place = QueuePlace | { readonly processes: number; readonly program: SubprocessProgram };

export interface RunJobsOptions {
  readonly store: JobStore;
  readonly place: Place;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string | undefined;
  readonly signal: AbortSignal;
  /** In estimated seconds of work. */
  readonly onProgress?: ((done: number) => unknown) | undefined;
  /** Told a sentence that cannot wait for the end. */
  readonly say?: ((line: string) => unknown) | undefined;
}

export interface JobsRun {
  /** How many results came now. */
  readonly ran: number;
  /** Why there are not all, a sentence for each reason. */
  readonly notes: readonly string[];
}

/** Each job once, with those that others start from before them. */
export const pendingJobs = (jobs: readonly Job[], store: JobStore): readonly Job[] => {
  const lacking = jobs.filter((job) => !store.has(jobKey(job)));
  const first = lacking.flatMap((job) => jobBefore(job) ?? []).filter((job) => !store.has(jobKey(job)));
  const alone = lacking.filter((job) => jobBefore(job) === undefined);
  return [...new Map([...alone, ...first, ...lacking].map((job) => [jobKey(job), job])).values()];
};

/** Whether a job failed because this machine lacks what another one may have. What a GPU refuses, all would. */
export const isLack = ({ code }: FairbedError): boolean =>
  code === "no-dataset" || code === "no-file" || (code.startsWith("gpu-") && code !== "gpu-failed");

export const runJobs = (jobs: readonly Job[], options: RunJobsOptions): Promise<JobsRun> => {
  const { store, place, signal } = options;
  const pending = pendingJobs(jobs, store);
  if ("queue" in place) return runOnQueue(pending, place, options);
  const processes = Math.min(place.processes, pending.length);
  return withSubprocesses(signal, place.program, (start) => runHere(pending, processes, start, options));
};

const runOnQueue = async (
  jobs: readonly Job[],
  { queue, waitSeconds }: QueuePlace,
  { store, signal, onProgress = () => {}, say = () => {} }: RunJobsOptions,
): Promise<JobsRun> => {
  let ran = 0;
  const notes = await collectJobs(jobs, knownBefore(jobs, store), queue, {
    signal,
    onProgress,
    say,
    waitSeconds,
    onResult(job, result, seconds) {
      store.append(job, JSON.parse(result), seconds);
      ran += 1;
    },
  });
  return { ran, notes };
};

/** What is here already of the jobs that others start from: workers need not run them. */
const knownBefore = (jobs: readonly Job[], store: JobStore): readonly KnownJob[] => {
  const found = new Map<string, KnownJob>();
  for (const job of jobs.flatMap((each) => jobBefore(each) ?? [])) {
    const known = store.get(jobKey(job));
    if (known !== undefined) found.set(jobKey(job), { job, ...known });
  }
  return [...found.values()];
};

/** On so many processes. Data that is not here leaves the jobs that need it, and the others go on. */
export const runHere = async (
  jobs: readonly Job[],
  processes: number,
  start: () => JobProcess,
  { store, root, onProgress = () => {} }: Pick<RunJobsOptions, "store" | "root" | "onProgress">,
): Promise<JobsRun> => {
  const threads = threadsFor(processes);
  const left = [...jobs];
  const unfinished = new Map<string, Promise<void>>();
  const notes = new Map<string | undefined, string>();
  /** Work done of the jobs that are running. */
  const running = new Map<Job, number>();
  let done = 0;
  let ran = 0;
  const report = () => onProgress([...running.values()].reduce((sum, each) => sum + each, done));
  const one = async (job: Job, process: JobProcess): Promise<void> => {
    const key = keyBefore(job);
    const before = key === undefined ? undefined : store.get(key)?.result;
    const started = performance.now();
    try {
      const result = await process.run({ job: sentJob(job), run: { before, threads, root } }, (share) => {
        running.set(job, share * estimateJob(job));
        report();
      });
      store.append(job, result, (performance.now() - started) / 1000);
      ran += 1;
    } catch (error) {
      if (!(error instanceof FairbedError && isLack(error))) throw error;
      notes.set(queueOf(job), error.message);
    }
  };
  const work = async (): Promise<void> => {
    const process = start();
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      // Jobs that others start from come before them, so what is waited for runs already.
      await unfinished.get(keyBefore(job) ?? "");
      if (!notes.has(queueOf(job))) {
        const finished = one(job, process);
        unfinished.set(jobKey(job), finished);
        await finished;
      }
      running.delete(job);
      done += estimateJob(job);
      report();
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
  return { ran, notes: [...new Set(notes.values())] };
};
