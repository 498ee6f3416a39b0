/** Takes jobs from a queue and runs each in a process of its own, until it is told to end or nothing is left. */

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { FairbedError, InputError } from "../core/errors.js";
import { fixed } from "../core/number-text.js";
import { type AllowedFolders, requireAllowed } from "./allowed-files.js";
import { filesOf, type Job, type JobKind, jobKey, knowsQueue, receivedJob, sentJob } from "./job.js";
import type { JobProcess } from "./job-processes.js";
import type { TakenJob, WorkQueue } from "./queue.js";
import { ALIVE_SECONDS } from "./queue-tables.js";
import { pause, retry } from "./retry.js";
import { isLack } from "./run-jobs.js";

export const workerTexts = {
  done: (job: string, seconds: number) => `done in ${fixed(seconds, 1)} s: ${job}`,
  retried: (job: string, message: string) => `failed, to be tried again: ${job}: ${message}`,
  failed: (job: string, message: string) => `failed for good: ${job}: ${message}`,
  handedBack: (job: string, message: string) => `left for other workers: ${job}: ${message}`,
  version: (queue: string) =>
    `${queue} holds work of another version of fairbed, which is left for workers that have it`,
  brokenBefore: "the result that it starts from is damaged in the queue",
  unreachable: (message: string) => `waiting for the queue: ${message}`,
};

export interface WorkerOptions {
  /** What it can run. */
  readonly kinds: readonly JobKind[];
  /** What jobs may read here; nothing unless given. */
  readonly allowed?: AllowedFolders | undefined;
  /** How many jobs at once. */
  readonly places: number;
  /** Of each job; all cores unless given. */
  readonly threads?: number | undefined;
  /** Ends after so many seconds without a job. */
  readonly idleExit?: number | undefined;
  readonly signal: AbortSignal;
  readonly start: () => JobProcess;
  /** One line for each thing that happens. */
  readonly say: (line: string) => unknown;
}

export interface WorkerRun {
  readonly name: string;
  readonly finished: number;
  readonly failed: number;
  readonly seconds: number;
}

const NOTHING: AllowedFolders = { tables: [], models: [] };
const POLL_MS = 1000;
/** Signs of life in the time after which a job, or its worker, counts as lost. */
const BEATS = 6;
/** After so long it is tried again whether what was lacking is there. */
const LACK_MS = 60_000;

/** What a worker has found that it cannot run, and why: said once, and tried again after a while. */
const lacksOf = (kinds: readonly JobKind[], say: WorkerOptions["say"]) => {
  const lacks = new Map<string, { readonly why: string; readonly until: number }>();
  const add = (queue: string, why: string, line = why): void => {
    if (lacks.get(queue)?.why !== why) say(line);
    lacks.set(queue, { why, until: performance.now() + LACK_MS });
  };
  return {
    add,
    canWorkFor(queue: string): boolean {
      if (knowsQueue(queue, kinds)) return performance.now() >= (lacks.get(queue)?.until ?? 0);
      add(queue, workerTexts.version(queue));
      return false;
    },
    /** By queue. */
    current: (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        [...lacks].filter(([, { until }]) => performance.now() < until).map(([of, { why }]) => [of, why]),
      ),
  };
};

export const runWorker = async (queue: WorkQueue, options: WorkerOptions): Promise<WorkerRun> => {
  const { kinds, allowed = NOTHING, places, threads, idleExit, start, say } = options;
  const started = performance.now();
  const name = `${hostname()}-${process.pid}-${randomBytes(2).toString("hex")}`;
  const ending = new AbortController();
  const end = () => ending.abort();
  options.signal.addEventListener("abort", end);
  if (options.signal.aborted) end();
  const { signal } = ending;

  const running = new Map<string, { readonly taken: TakenJob; readonly process: JobProcess }>();
  const shares = new Map<string, number>();
  const idle: JobProcess[] = [];
  const lacks = lacksOf(kinds, say);
  let finished = 0;
  let failed = 0;
  let failure: unknown;
  let wake = () => {};

  let troubled = false;
  const persist = async <Result>(action: () => Promise<Result>): Promise<Result> => {
    const result = await retry(action, signal, (message) => {
      if (!troubled) say(workerTexts.unreachable(message));
      troubled = true;
    });
    troubled = false;
    return result;
  };

  const beat = async (): Promise<void> => {
    const held = new Map([...running.keys()].map((key) => [key, shares.get(key) ?? 0]));
    await queue.beat({ name, places, lacks: lacks.current() }, held);
    await queue.expireLost();
  };
  /** Something was taken, which may need signs of life more often. */
  let another = new AbortController();
  const keepBeating = async (): Promise<void> => {
    while (!signal.aborted) {
      await persist(beat);
      const leases = [...running.values()].map(({ taken }) => taken.lease);
      await pause(
        (1000 * Math.min(ALIVE_SECONDS, ...leases)) / BEATS,
        AbortSignal.any([signal, another.signal]),
      );
    }
  };

  const takeOne = async (): Promise<{ readonly taken: TakenJob; readonly job: Job } | undefined> => {
    const waiting = await queue.waitingQueues();
    for (const each of waiting.filter(lacks.canWorkFor)) {
      const taken = await queue.take(each, name);
      if (taken === undefined) continue;
      // The same job has another key in another version.
      const job = jobOf(taken, kinds);
      if (job !== undefined) return { taken, job };
      lacks.add(each, workerTexts.version(each));
      await queue.handBack(taken, name);
    }
    // What became ready while nobody looked.
    if (waiting.length === 0) await queue.sendReady();
    return undefined;
  };

  const runOne = async (job: Job, taken: TakenJob, process: JobProcess): Promise<void> => {
    const { key, name: what } = taken;
    const began = performance.now();
    try {
      await requireAllowed(filesOf(job), allowed);
      const before = taken.before === undefined ? undefined : resultIn(taken.before);
      const result = await process.run({ job: sentJob(job), run: { before, threads } }, (share) =>
        shares.set(key, share),
      );
      const seconds = (performance.now() - began) / 1000;
      await persist(() => queue.finish(taken, name, JSON.stringify(result), seconds));
      finished += 1;
      say(workerTexts.done(what, seconds));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof FairbedError)) throw error;
      if (isLack(error)) {
        lacks.add(taken.queue, error.message, workerTexts.handedBack(what, error.message));
        await persist(() => queue.handBack(taken, name));
      } else if (await persist(() => queue.fail(taken, name, error.message, error.code === "refused"))) {
        say(workerTexts.retried(what, error.message));
      } else {
        failed += 1;
        say(workerTexts.failed(what, error.message));
      }
    } finally {
      shares.delete(key);
      if (!signal.aborted) running.delete(key);
      if (process.isAlive) idle.push(process);
      wake();
    }
  };

  const fatal = (error: unknown): void => {
    if (signal.aborted) return;
    failure = error;
    end();
  };

  const beating = keepBeating().catch(fatal);
  const work = new Set<Promise<void>>();
  try {
    let busy = performance.now();
    signal.addEventListener("abort", () => wake());
    while (!signal.aborted) {
      const found = running.size < places ? await persist(takeOne) : undefined;
      if (found !== undefined) {
        const { job, taken } = found;
        // It had been thought lost, and now has again what it never ceased to run.
        if (running.has(taken.key)) continue;
        const process = idle.pop() ?? start();
        running.set(taken.key, { taken, process });
        another.abort();
        another = new AbortController();
        const done: Promise<void> = runOne(job, taken, process)
          .catch(fatal)
          .finally(() => work.delete(done));
        work.add(done);
        continue;
      }
      if (running.size > 0) busy = performance.now();
      if (idleExit !== undefined && performance.now() - busy >= 1000 * idleExit) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (signal.aborted) wake();
      });
    }
  } catch (error) {
    fatal(error);
  } finally {
    end();
    options.signal.removeEventListener("abort", end);
    for (const process of [...idle, ...[...running.values()].map((each) => each.process)]) process.kill();
    await Promise.all([beating, ...work]);
    // Should this not come through, they expire.
    const handBacks = [...running.values()].map(({ taken }) => queue.handBack(taken, name));
    await Promise.allSettled(handBacks);
    await queue.leave(name).catch(() => {});
  }
  if (failure !== undefined) throw failure;
  return { name, finished, failed, seconds: (performance.now() - started) / 1000 };
};

/** What was taken, where this version understands it and it is what it says. */
const jobOf = ({ task, key }: TakenJob, kinds: readonly JobKind[]): Job | undefined => {
  try {
    const job = receivedJob(JSON.parse(task), kinds);
    // Also what it names must be of the form that its kind has.
    return job !== undefined && jobKey(job) === key && filesOf(job).length >= 0 ? job : undefined;
  } catch {
    return undefined;
  }
};

const resultIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError("refused", workerTexts.brokenBefore);
  }
};
