/**
 * Jobs in a queue that any number of workers take from. pg-boss hands each to one worker at a time, and tries again, later
 * each time, what failed or what its worker fell silent on; the table `work` beside it remembers what was asked for and
 * what came out. Both change in one transaction, so a job is never lost and its result is stored once, whatever dies in
 * between.
 */
import type PgBoss from "pg-boss";
import { describeJob, estimateJob, type Job, jobKey, keyBefore, queueOf, sentJob } from "./job.js";
import type { KnownResult } from "./job-store.js";
import { connectQueue, type QueueConnection, SCHEMA, type Sql } from "./queue-connection.js";
import { ALIVE_SECONDS, IS_ALIVE, makeQueues, makeTables, WORK_AND_JOBS } from "./queue-tables.js";

export const queueTexts = {
  lost: "the worker that ran it fell silent: see whether it has enough memory, then run the same command again",
};

export interface QueueSettings {
  /** How often a job is tried again that failed or was lost with its worker (5). */
  readonly retries?: number | undefined;
  /** Seconds before it is; twice as long each time (2). */
  readonly retryDelay?: number | undefined;
  /** Seconds without a sign of life until a job counts as lost: pg-boss's time to expire (30). */
  readonly lease?: number | undefined;
}

/** A job whose result is known already, for others that start from it. */
export interface KnownJob extends KnownResult {
  readonly job: Job;
}

export interface TakenJob {
  readonly key: string;
  readonly queue: string;
  /** JSON. */
  readonly task: string;
  /** In words. */
  readonly name: string;
  /** The result of the job before it, as JSON. */
  readonly before: string | undefined;
  /** Seconds without a sign of life until others take over. */
  readonly lease: number;
}

export interface WorkerState {
  readonly name: string;
  /** How many jobs at once. */
  readonly places: number;
  /** Queues that it cannot work for, and why. */
  readonly lacks: Readonly<Record<string, string>>;
}

/** One row of `work`, as far as someone who waits for it is concerned. */
export interface WorkRow {
  readonly key: string;
  readonly queue: string;
  readonly before: string | null;
  readonly worker: string | null;
  readonly share: number;
  readonly failed: boolean;
  readonly trouble: string | null;
  readonly result: string | null;
  readonly seconds: number | null;
}

/** So many jobs at a time go from the table to pg-boss. */
const SENT_AT_ONCE = 1000;
/** Workers that were not seen for so long are forgotten. */
const FORGET_MINUTES = 60;

/** Why a job failed, or is to be tried again; what pg-boss itself says of a job that expired is in `value`. */
export const TROUBLE = `CASE WHEN job.output ? 'value' THEN '${queueTexts.lost}' ELSE job.output->>'message' END`;

/** The first half of the key: pg-boss wants ids of this form, and the same job always has the same. */
const jobId = (key: string): string =>
  key.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

export interface WorkQueue {
  /** The address without the password. */
  readonly shown: string;
  /** Asks for jobs; those that were asked for before are joined, and those that had failed are tried again. */
  ask(jobs: readonly Job[], known: readonly KnownJob[]): Promise<void>;
  /** Hands pg-boss what can be run by now. */
  sendReady(): Promise<void>;
  /** Queues with jobs that nobody has, those with the longest first. */
  waitingQueues(): Promise<readonly string[]>;
  take(queue: string, worker: string): Promise<TakenJob | undefined>;
  finish(taken: TakenJob, worker: string, result: string, seconds: number): Promise<void>;
  /** Resolves to whether it is tried again, which it never is where that is pointless. */
  fail(taken: TakenJob, worker: string, message: string, pointless?: boolean): Promise<boolean>;
  /** For others, as if it had never been taken. */
  handBack(taken: TakenJob, worker: string): Promise<void>;
  /** A sign of life of a worker and of the jobs that it runs, with how far each is. */
  beat(state: WorkerState, shares: ReadonlyMap<string, number>): Promise<void>;
  /**
   * Lets pg-boss take back the jobs of silent workers. Whoever could not reach the queue itself, as when the database was
   * away, waits for the time of a lease before it takes the others for lost.
   */
  expireLost(): Promise<void>;
  leave(worker: string): Promise<void>;
  rows(keys: readonly string[]): Promise<readonly WorkRow[]>;
  /** Forgets jobs and their results. */
  forget(keys: readonly string[]): Promise<void>;
  /** Workers that are alive. */
  workers(): Promise<readonly WorkerState[]>;
  close(): Promise<void>;
}

export const openQueue = async (address: string, settings: QueueSettings = {}): Promise<WorkQueue> => {
  const connection = await connectQueue(address);
  try {
    await makeTables(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return queueOn(connection, settings);
};

const queueOn = (
  connection: QueueConnection,
  { retries = 5, retryDelay = 2, lease = ALIVE_SECONDS }: QueueSettings,
): WorkQueue => {
  const { shown, sql, boss, steadyFor, transaction } = connection;
  const bossJob = (key: string, queue: string, estimate: number, retryLimit = retries): PgBoss.JobInsert => ({
    id: jobId(key),
    name: queue,
    data: { key },
    // The longest first, or one of them is all that runs in the end.
    priority: Math.min(1_000_000_000, Math.round(estimate)),
    retryLimit,
    retryDelay,
    retryBackoff: true,
    expireInSeconds: lease,
  });
  /** Whether the job is still this worker's. */
  const isOwn = async (own: Sql, key: string, worker: string): Promise<boolean> => {
    const found = await own(
      `SELECT 1 FROM ${WORK_AND_JOBS}
       WHERE key = $1 AND worker = $2 AND result IS NULL AND state = 'active' FOR UPDATE OF work`,
      [key, worker],
    );
    return found.length > 0;
  };
  const deleteJobs = async (
    db: PgBoss.Db,
    rows: readonly { readonly key: string; readonly queue: string }[],
  ) => {
    for (const name of new Set(rows.map(({ queue }) => queue))) {
      const ids = rows.filter(({ queue }) => queue === name).map(({ key }) => jobId(key));
      await boss.deleteJob(name, ids, { db });
    }
  };
  return {
    shown,
    async ask(jobs, known) {
      const rows = [
        ...jobs.map(rowOf),
        ...known.map(({ job, result, seconds }) => ({
          ...rowOf(job),
          result: JSON.stringify(result),
          seconds,
        })),
      ].sort((a, b) => (a.key < b.key ? -1 : 1)); // In one order for all who ask, or they wait for each other.
      await makeQueues(connection, [...new Set(rows.flatMap(({ queue }) => queue ?? []))]);
      await transaction(async (own, db) => {
        await own(
          `INSERT INTO ${SCHEMA}.work (key, job, queue, "group", name, task, before, estimate, result, seconds, finished)
           SELECT key, job, queue, "group", name, task, before, estimate, result, seconds,
             CASE WHEN result IS NULL THEN NULL ELSE now() END
           FROM json_to_recordset($1) AS asked (key text, job uuid, queue text, "group" text, name text, task text,
             before text, estimate double precision, result text, seconds double precision)
           ON CONFLICT (key) DO UPDATE
             SET result = excluded.result, seconds = excluded.seconds, finished = excluded.finished
             WHERE work.result IS NULL AND excluded.result IS NOT NULL`,
          [JSON.stringify(rows)],
        );
        // What has failed is asked for again, and is done again.
        const failed = await own<{ key: string; queue: string }>(
          `SELECT key, queue FROM ${WORK_AND_JOBS} WHERE state = 'failed' AND result IS NULL AND key = ANY($1)`,
          [rows.map(({ key }) => key)],
        );
        await deleteJobs(db, failed);
      });
      await this.sendReady();
    },
    async sendReady() {
      for (let sent = SENT_AT_ONCE; sent === SENT_AT_ONCE; ) {
        const ready = await sql<{ key: string; queue: string; estimate: number }>(
          `SELECT work.key, work.queue, work.estimate FROM ${WORK_AND_JOBS}
             LEFT JOIN ${SCHEMA}.work first ON first.key = work.before
           WHERE work.queue IS NOT NULL AND work.result IS NULL AND job.id IS NULL
             AND (work.before IS NULL OR first.result IS NOT NULL)
           ORDER BY work.key LIMIT ${SENT_AT_ONCE}`,
        );
        sent = ready.length;
        // Two who send the same send it once: it has the same id.
        if (sent > 0)
          await boss.insert(ready.map(({ key, queue, estimate }) => bossJob(key, queue, estimate)));
      }
    },
    async waitingQueues() {
      const rows = await sql<{ queue: string }>(
        `SELECT queue FROM ${WORK_AND_JOBS} WHERE state < 'active' AND start_after <= now()
         GROUP BY queue ORDER BY max(estimate) DESC, queue`,
      );
      return rows.map(({ queue }) => queue);
    },
    take: (queue, worker) =>
      transaction(async (own, db) => {
        for (;;) {
          const [job] = await boss.fetch<{ key: string }>(queue, { db });
          if (job === undefined) return undefined;
          const { key } = job.data;
          const [row] = await own<{ task: string; name: string; before: string | null }>(
            `UPDATE ${SCHEMA}.work SET worker = $2, started = now(), share = 0
             WHERE key = $1 AND result IS NULL RETURNING task, name,
               (SELECT first.result FROM ${SCHEMA}.work first WHERE first.key = work.before) AS before`,
            [key, worker],
          );
          const taken = { key, queue, lease: Number(job.expireInSeconds) };
          if (row !== undefined) return { ...row, ...taken, before: row.before ?? undefined };
          // One who was thought lost has finished it after all, or it was forgotten.
          await boss.deleteJob(queue, job.id, { db });
        }
      }),
    async finish({ key, queue }, worker, result, seconds) {
      await transaction(async (own, db) => {
        await own(
          `UPDATE ${SCHEMA}.work SET result = $2, seconds = $3, finished = now(), finished_by = $4, share = 1
           WHERE key = $1 AND result IS NULL`,
          [key, result, seconds, worker],
        );
        await boss.complete(queue, jobId(key), {}, { db });
      });
      await this.sendReady();
    },
    fail: ({ key, queue }, worker, message, pointless = false) =>
      transaction(async (own, db) => {
        if (!(await isOwn(own, key, worker))) return true;
        if (pointless) {
          await own(`UPDATE ${SCHEMA}.job SET retry_limit = retry_count WHERE name = $1 AND id = $2`, [
            queue,
            jobId(key),
          ]);
        }
        await boss.fail(queue, jobId(key), { message }, { db });
        const job = await boss.getJobById(queue, jobId(key), { db, includeArchive: false });
        return job?.state !== "failed";
      }),
    handBack: ({ key, queue }, worker) =>
      transaction(async (own, db) => {
        if (!(await isOwn(own, key, worker))) return;
        const id = jobId(key);
        const job = await boss.getJobById(queue, id, { db, includeArchive: false });
        const left = job === null ? retries : Math.max(0, job.retryLimit - job.retryCount);
        const [{ estimate }] = await own<{ estimate: number }>(
          `SELECT estimate FROM ${SCHEMA}.work WHERE key = $1`,
          [key],
        );
        // As new, because pg-boss counts every taking as a try; what has failed by then still counts.
        await boss.deleteJob(queue, id, { db });
        await boss.insert([bossJob(key, queue, estimate, left)], { db });
      }),
    beat: ({ name, places, lacks }, shares) =>
      transaction(async (own) => {
        await own(
          `INSERT INTO ${SCHEMA}.workers (name, places, lacks) VALUES ($1, $2, $3)
           ON CONFLICT (name) DO UPDATE SET seen = now(), lacks = excluded.lacks`,
          [name, places, JSON.stringify(lacks)],
        );
        if (shares.size === 0) return;
        const told = [name, [...shares.keys()], [...shares.values()]];
        await own(
          `UPDATE ${SCHEMA}.work SET share = told.share
           FROM unnest($2::text[], $3::double precision[]) AS told (key, share)
           WHERE work.key = told.key AND work.worker = $1 AND work.result IS NULL`,
          told,
        );
        // From here on a job expires as if it had just been taken.
        await own(
          `UPDATE ${SCHEMA}.job SET started_on = now() FROM ${SCHEMA}.work
           WHERE job.name = work.queue AND job.id = work.job AND job.state = 'active'
             AND work.worker = $1 AND work.key = ANY($2)`,
          told.slice(0, 2),
        );
      }),
    async expireLost() {
      if (steadyFor() <= lease) return;
      await boss.expire();
      await sql(`DELETE FROM ${SCHEMA}.workers WHERE seen < now() - interval '${FORGET_MINUTES} minutes'`);
    },
    async leave(worker) {
      await sql(`DELETE FROM ${SCHEMA}.workers WHERE name = $1`, [worker]);
    },
    rows: (keys) =>
      sql<WorkRow>(
        `SELECT key, queue, before, CASE WHEN state = 'active' THEN worker END AS worker, share,
           state IS NOT DISTINCT FROM 'failed' AS failed, ${TROUBLE} AS trouble, result, seconds
         FROM ${WORK_AND_JOBS} WHERE key = ANY($1)`,
        [keys],
      ),
    forget: (keys) =>
      transaction(async (own, db) => {
        const rows = await own<{ key: string; queue: string | null }>(
          `DELETE FROM ${SCHEMA}.work WHERE key = ANY($1) RETURNING key, queue`,
          [keys],
        );
        await deleteJobs(
          db,
          rows.flatMap(({ key, queue }) => (queue === null ? [] : { key, queue })),
        );
      }),
    async workers() {
      const rows = await sql<Omit<WorkerState, "lacks"> & { lacks: string }>(
        `SELECT name, places, lacks FROM ${SCHEMA}.workers WHERE ${IS_ALIVE} ORDER BY name`,
      );
      return rows.map((row) => ({ ...row, lacks: JSON.parse(row.lacks) }));
    },
    close: () => connection.close(),
  };
};

/** The row of `work` that a job begins with. */
const rowOf = (job: Job) => ({
  key: jobKey(job),
  job: jobId(jobKey(job)),
  queue: queueOf(job),
  ...describeJob(job),
  task: JSON.stringify(sentJob(job)),
  before: keyBefore(job),
  estimate: estimateJob(job),
});
