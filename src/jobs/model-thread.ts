/** The models of a campaign in a thread of their own, so that whoever asks and answers does not wait for a fit. */
import { Worker } from "node:worker_threads";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import type { Progress, RunOptions } from "../core/options.js";
import type { Table } from "../tables/table.js";
import type { AcquisitionOptions } from "../workflows/acquisition-plan.js";
import type { AcquiredSoFar, AcquisitionRanking, ForecastChoice } from "../workflows/acquisition-ranking.js";
import type { AuditOptions, TableAudit } from "../workflows/audit-table.js";
import type { PoolEstimate } from "../workflows/estimate-acquired.js";
import type { Forecast } from "../workflows/forecast.js";

/** What the thread is asked for. */
export type ThreadRequest =
  | { readonly kind: "prepare"; readonly table: Table; readonly options: AcquisitionOptions }
  | {
      readonly kind: "rank";
      readonly job: number;
      readonly soFar: AcquiredSoFar;
      readonly size: number;
      readonly name: number;
    }
  | { readonly kind: "estimate"; readonly job: number; readonly soFar: AcquiredSoFar }
  | {
      readonly kind: "forecast";
      readonly job: number;
      readonly soFar: AcquiredSoFar;
      readonly choice: ForecastChoice;
    }
  | {
      readonly kind: "audit";
      readonly job: number;
      readonly table: Table;
      readonly options: Omit<AuditOptions, keyof RunOptions>;
    }
  | { readonly kind: "stop"; readonly job: number };

export type ThreadReply =
  | { readonly job: number; readonly result: unknown }
  | { readonly job: number; readonly progress: Progress }
  | {
      readonly job: number;
      readonly error: { readonly code: string; readonly message: string; readonly input: boolean };
    };

export const threadTexts = {
  ended:
    "the thread that fits the models ended by itself, as it does when memory runs out: ask again, or give it a smaller pool",
};

interface Job {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  readonly run: RunOptions;
}

/** As `PoolModels` of a campaign wants them; the thread starts with the first thing that is asked of it. */
export const modelThread = () => {
  let worker: Worker | undefined;
  let prepared: { readonly table: Table; readonly options: AcquisitionOptions } | undefined;
  const jobs = new Map<number, Job>();
  let count = 0;

  const fail = (error: unknown): void => {
    worker = undefined;
    for (const { reject } of jobs.values()) reject(error);
    jobs.clear();
  };
  const onReply = (reply: ThreadReply): void => {
    const job = jobs.get(reply.job);
    if (job === undefined) return;
    if ("progress" in reply) {
      void job.run.onProgress?.(reply.progress);
      // A stop is asked for once: the thread answers with an error.
      if (job.run.signal?.aborted)
        worker?.postMessage({ kind: "stop", job: reply.job } satisfies ThreadRequest);
      return;
    }
    jobs.delete(reply.job);
    if (jobs.size === 0) worker?.unref();
    if ("result" in reply) {
      job.resolve(reply.result);
      return;
    }
    const { code, message, input } = reply.error;
    job.reject(input ? new InputError(code, message) : new FairbedError(code, message));
  };
  const thread = (): Worker => {
    if (worker !== undefined) return worker;
    const made = new Worker(new URL("./model-thread-worker.js", import.meta.url));
    made.unref();
    made.on("message", onReply);
    made.on("error", () => fail(new EnvironmentError("thread", threadTexts.ended)));
    made.on("exit", () => {
      if (worker === made) fail(new EnvironmentError("thread", threadTexts.ended));
    });
    worker = made;
    if (prepared !== undefined) made.postMessage({ kind: "prepare", ...prepared } satisfies ThreadRequest);
    return made;
  };
  const ask = <Result>(request: (job: number) => ThreadRequest, run: RunOptions = {}): Promise<Result> => {
    run.signal?.throwIfAborted();
    const job = ++count;
    return new Promise((resolve, reject) => {
      const own = thread();
      jobs.set(job, { resolve: resolve as (result: unknown) => void, reject, run });
      // A process ends while nothing is computed, and not before.
      own.ref();
      own.postMessage(request(job));
    });
  };
  return {
    prepare(table: Table, options: AcquisitionOptions): void {
      prepared = { table, options };
      worker?.postMessage({ kind: "prepare", table, options } satisfies ThreadRequest);
    },
    rank: (soFar: AcquiredSoFar, size: number, name: number): Promise<AcquisitionRanking> =>
      ask((job) => ({ kind: "rank", job, soFar, size, name })),
    estimate: (soFar: AcquiredSoFar, run?: RunOptions): Promise<PoolEstimate> =>
      ask((job) => ({ kind: "estimate", job, soFar }), run),
    forecast: (soFar: AcquiredSoFar, choice: ForecastChoice, run?: RunOptions): Promise<Forecast> =>
      ask((job) => ({ kind: "forecast", job, soFar, choice }), run),
    audit: (
      table: Table,
      options: Omit<AuditOptions, keyof RunOptions>,
      run?: RunOptions,
    ): Promise<TableAudit> => ask((job) => ({ kind: "audit", job, table, options }), run),
    async close(): Promise<void> {
      const own = worker;
      worker = undefined;
      await own?.terminate();
    },
  };
};
