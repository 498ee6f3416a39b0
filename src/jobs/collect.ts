/** Asks the workers of a queue for jobs, and waits for their results. */
import { describeJob, estimateJob, type Job, jobKey } from "./job.js";
import type { KnownJob, WorkerState, WorkQueue, WorkRow } from "./queue.js";
import { pause, retry } from "./retry.js";

export const collectTexts = {
  noWorker: (queue: string) =>
    `no worker is at the queue: start one or more, on any machine, with fairbed worker --queue ${queue}`,
  failed: (job: string, others: number, message: string) =>
    `${job}${others === 0 ? "" : ` and ${others} more`} failed: ${message}`,
  before: "what it starts from failed",
  left: (queue: string) =>
    `what is in the queue ${queue} stays there, and its workers go on: the same command collects what they have done`,
  lacking: (jobs: number, why: string) =>
    `${jobs} piece${jobs === 1 ? " of work is" : "s of work are"} still in the queue, because no worker there can run ${jobs === 1 ? "it" : "them"}: ${why}`,
};

export interface CollectOptions {
  readonly signal: AbortSignal;
  /** JSON, and the seconds that it took. */
  readonly onResult: (job: Job, result: string, seconds: number) => unknown;
  /** In estimated seconds of work. */
  readonly onProgress: (done: number) => unknown;
  /** A sentence that cannot wait for the end. */
  readonly say: (line: string) => unknown;
  /** So many seconds nobody may be there, or nobody who can do what is left. */
  readonly waitSeconds?: number | undefined;
}

interface Failure {
  readonly job: Job;
  readonly message: string;
}

const POLL_MS = 500;
/** So long workers may take to find a queue that was away. */
const COMEBACK_MS = 15_000;

/** Resolves once nothing is left that can be done: to why there are not all results, a sentence for each reason. */
export const collectJobs = async (
  jobs: readonly Job[],
  known: readonly KnownJob[],
  queue: WorkQueue,
  { signal, onResult, onProgress, say, waitSeconds = 10 }: CollectOptions,
): Promise<readonly string[]> => {
  const left = new Map(jobs.map((job) => [jobKey(job), job]));
  let troubled = Number.NEGATIVE_INFINITY;
  const persist = <Result>(action: () => Promise<Result>) =>
    retry(action, signal, () => {
      troubled = performance.now();
    });
  const failures = new Map<string, Failure>();
  let done = 0;
  const collect = ({ key, result, seconds, before, failed, trouble }: WorkRow): void => {
    const job = left.get(key);
    if (job === undefined) return;
    const lost = before !== null && failures.has(before);
    if (result !== null) onResult(job, result, seconds ?? 0);
    else if (failed || lost)
      failures.set(key, { job, message: (lost ? collectTexts.before : trouble) ?? "" });
    else return;
    left.delete(key);
    done += estimateJob(job);
  };
  const running = ({ key, worker, share }: WorkRow): number => {
    const job = left.get(key);
    return job === undefined || worker === null ? 0 : share * estimateJob(job);
  };
  let asked = false;
  let [seen, possible] = [performance.now(), performance.now()];
  let told = false;
  for (;;) {
    signal.throwIfAborted();
    // Again, too, where someone else who had asked for the same has done with it and made it forgotten.
    if (!asked) await persist(() => queue.ask([...left.values()], known));
    const rows = await persist(() => queue.rows([...left.keys()]));
    asked = rows.length === left.size;
    for (const row of rows) collect(row);
    onProgress(rows.reduce((sum, row) => sum + running(row), done));
    if (left.size === 0) return failureNotes(failures);
    const workers = await persist(() => queue.workers());
    const now = performance.now();
    if (workers.length > 0) {
      seen = now;
      told = false;
    } else if (now - Math.max(seen, troubled + COMEBACK_MS) > 1000 * waitSeconds && !told) {
      say(collectTexts.noWorker(queue.shown));
      told = true;
    }
    const why = lackingOf(
      rows.filter(({ key }) => left.has(key)),
      workers,
    );
    if (why === undefined) possible = now;
    else if (now - possible > 1000 * waitSeconds) {
      return [...failureNotes(failures), collectTexts.lacking(left.size, why)];
    }
    await persist(() => queue.expireLost());
    await persist(() => queue.sendReady());
    await pause(POLL_MS, signal);
  }
};

/** Why no worker can do anything of what is left; undefined where one may. */
const lackingOf = (rows: readonly WorkRow[], workers: readonly WorkerState[]): string | undefined => {
  const left = new Set(rows.map(({ key }) => key));
  // What waits for another one here is as possible as that one.
  const first = rows.filter(({ before }) => before === null || !left.has(before));
  const isPossible = ({ worker, queue }: WorkRow) =>
    worker !== null || workers.some(({ lacks }) => lacks[queue] === undefined);
  if (workers.length === 0 || rows.length === 0 || first.some(isPossible)) return undefined;
  return [...new Set(first.map(({ queue }) => workers[0].lacks[queue]))].join("; ");
};

/** One note for each way to fail. */
const failureNotes = (failures: ReadonlyMap<string, Failure>): readonly string[] => {
  const byMessage = new Map<string, Failure[]>();
  for (const failure of failures.values()) {
    byMessage.set(failure.message, [...(byMessage.get(failure.message) ?? []), failure]);
  }
  return [...byMessage].map(([message, all]) =>
    collectTexts.failed(describeJob(all[0].job).name, all.length - 1, message),
  );
};
