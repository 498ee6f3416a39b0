/**
 * Jobs in a queue that any number of workers take from. pg-boss hands each to one worker at a time and tries what fails
 * again, later each time; the table `work` beside it remembers what was asked for and what came out. Both change in one
 * transaction, so a job is never lost and its result is stored once, whatever dies in between.
 */
import type PgBoss from "pg-boss";
import { describeJob, estimateJob, type Job, jobKey, keyBefore, queueOf, sentJob } from "./job.js";
import type { KnownResult } from "./job-store.js";
import { connectQueue, type QueueConnection, SCHEMA, type Sql } from "./queue-connection.js";
import { makeQueues, makeTables } from "./queue-tables.js";

export const queueTexts = {
  lost: (times: number) =>
    `${times} workers ended while they ran it: see whether they have enough memory, then run the same command again`,
};

export interface QueueSettings {
  /** How often a job that failed is tried again. */
  readonly retries?: number | undefined;
  /** Seconds before it is; twice as long each time. */
  readonly retryDelay?: number | undefined;
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
}

export interface WorkerState {
  readonly name: string;
  /** How many jobs at once. */
  readonly places: number;
  /** Seconds without a sign of life until its jobs go to others. */
  readonly lease: number;
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

/** So often a worker may be lost with the same job before it counts as failed. */
const MAX_LOSSES = 10;
/** Not the name of a worker. */
const NOBODY = "";
/** So many jobs at a time go from the table to pg-boss. */
const SENT_AT_ONCE = 1000;
/** Workers that were not seen for so long are forgotten. */
const FORGET_MINUTES = 60;

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
  /** Resolves to whether it is tried again. */
  fail(taken: TakenJob, worker: string, message: string): Promise<boolean>;
  /** For others, as if it had never been taken. */
  handBack(taken: TakenJob, worker: string): Promise<void>;
  /** A sign of life, with the jobs that it runs and how far each is. */
  beat(state: WorkerState, shares: ReadonlyMap<string, number>): Promise<void>;
  /**
   * Frees what silent workers have. Whoever could not reach the queue itself, as when the database was away, waits for
   * the time of a lease before it takes the others for lost.
   */
  freeLost(): Promise<void>;
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

const queueOn = (connection: QueueConnection, { retries = 3, retryDelay = 2 }: QueueSettings): WorkQueue => {
  const { shown, sql, boss, steadyFor, transaction } = connection;
  const jobOf = (key: string, queue: string, estimate: number, retryLimit: number): PgBoss.JobInsert => ({
    id: jobId(key),
    name: queue,
    data: { key },
    // The longest first, or one of them is all that runs in the end.
    priority: Math.min(1_000_000_000, Math.round(estimate)),
    retryLimit,
    retryDelay,
    retryBackoff: true,
  });
  /** A new job for a job that its worker does not run on; what it has failed by then still counts. */
  const release = async (own: Sql, db: PgBoss.Db, key: string, queue: string): Promise<void> => {
    const id = jobId(key);
    const job = await boss.getJobById(queue, id, { db, includeArchive: false });
    const left = job === null ? retries : Math.max(0, job.retryLimit - job.retryCount);
    const [{ estimate }] = await own<{ estimate: number }>(
      `UPDATE ${SCHEMA}.work SET worker = NULL, share = 0 WHERE key = $1 RETURNING estimate`,
      [key],
    );
    await boss.deleteJob(queue, id, { db });
    await boss.insert([jobOf(key, queue, estimate, left)], { db });
  };
  /** Whether the job is still this worker's. */
  const isOwn = async (own: Sql, key: string, worker: string): Promise<boolean> => {
    const found = await own(
      `SELECT 1 FROM ${SCHEMA}.work WHERE key = $1 AND worker = $2 AND result IS NULL FOR UPDATE`,
      [key, worker],
    );
    return found.length > 0;
  };
  return {
    shown,
    async ask(jobs, known) {
      const rowOf = (job: Job) => ({
        key: jobKey(job),
        queue: queueOf(job),
        ...describeJob(job),
        task: JSON.stringify(sentJob(job)),
        before: keyBefore(job),
        estimate: estimateJob(job),
      });
      const rows = [
        ...jobs.map(rowOf),
        ...known.map(({ job, result, seconds }) => ({
          ...rowOf(job),
          result: JSON.stringify(result),
          seconds,
        })),
      ].sort((a, b) => (a.key < b.key ? -1 : 1)); // In one order for all who ask, or they wait for each other.
      await makeQueues(connection, [...new Set(rows.flatMap(({ queue }) => queue ?? []))]);
      await transaction(async (own) => {
        await own(
          `INSERT INTO ${SCHEMA}.work (key, queue, "group", name, task, before, estimate, result, seconds, finished)
           SELECT key, queue, "group", name, task, before, estimate, result, seconds,
             CASE WHEN result IS NULL THEN NULL ELSE now() END
           FROM json_to_recordset($1) AS asked (key text, queue text, "group" text, name text, task text, before text,
             estimate double precision, result text, seconds double precision)
           ON CONFLICT (key) DO UPDATE
             SET result = excluded.result, seconds = excluded.seconds, finished = excluded.finished
             WHERE work.result IS NULL AND excluded.result IS NOT NULL`,
          [JSON.stringify(rows)],
        );
        await own(
          `UPDATE ${SCHEMA}.work SET failed = false, sent = false, losses = 0
           WHERE failed AND result IS NULL AND key = ANY($1)`,
          [rows.map(({ key }) => key)],
        );
      });
      await this.sendReady();
    },
    async sendReady() {
      for (let sent = SENT_AT_ONCE; sent === SENT_AT_ONCE; ) {
        sent = await transaction(async (own, db) => {
          const ready = await own<{ key: string; queue: string; estimate: number }>(
            `UPDATE ${SCHEMA}.work SET sent = true WHERE key IN (
               SELECT later.key FROM ${SCHEMA}.work later LEFT JOIN ${SCHEMA}.work first ON first.key = later.before
               WHERE NOT later.sent AND later.result IS NULL AND NOT later.failed
                 AND (later.before IS NULL OR first.result IS NOT NULL)
               ORDER BY later.key LIMIT ${SENT_AT_ONCE} FOR UPDATE OF later SKIP LOCKED)
             RETURNING key, queue, estimate`,
          );
          if (ready.length > 0) {
            // One that is there from before has ended: what is asked for again is done again.
            for (const name of new Set(ready.map(({ queue }) => queue))) {
              const these = ready.filter(({ queue }) => queue === name);
              await boss.deleteJob(
                name,
                these.map(({ key }) => jobId(key)),
                { db },
              );
            }
            const jobs = ready.map(({ key, queue, estimate }) => jobOf(key, queue, estimate, retries));
            await boss.insert(jobs, { db });
          }
          return ready.length;
        });
      }
    },
    async waitingQueues() {
      const rows = await sql<{ queue: string }>(
        `SELECT queue FROM ${SCHEMA}.work WHERE sent AND worker IS NULL AND result IS NULL AND NOT failed
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
          if (row !== undefined) return { ...row, key, queue, before: row.before ?? undefined };
          // One who was thought lost has finished it after all.
          await boss.complete(queue, job.id, {}, { db });
        }
      }),
    async finish({ key, queue }, worker, result, seconds) {
      await transaction(async (own, db) => {
        await own(
          `UPDATE ${SCHEMA}.work SET result = $2, seconds = $3, finished = now(), finished_by = $4,
             worker = NULL, share = 1, failed = false, trouble = NULL
           WHERE key = $1 AND result IS NULL`,
          [key, result, seconds, worker],
        );
        await boss.complete(queue, jobId(key), {}, { db });
      });
      await this.sendReady();
    },
    fail: ({ key, queue }, worker, message) =>
      transaction(async (own, db) => {
        if (!(await isOwn(own, key, worker))) return true;
        await boss.fail(queue, jobId(key), { message }, { db });
        const job = await boss.getJobById(queue, jobId(key), { db, includeArchive: false });
        const failed = job === null || job.state === "failed";
        await own(
          `UPDATE ${SCHEMA}.work SET worker = NULL, share = 0, trouble = $2, failed = $3 WHERE key = $1`,
          [key, message, failed],
        );
        return !failed;
      }),
    handBack: ({ key, queue }, worker) =>
      transaction(async (own, db) => {
        if (await isOwn(own, key, worker)) await release(own, db, key, queue);
      }),
    async beat({ name, places, lease, lacks }, shares) {
      await sql(
        `INSERT INTO ${SCHEMA}.workers (name, places, lease, lacks) VALUES ($1, $2, $3, $4)
         ON CONFLICT (name) DO UPDATE SET seen = now(), lacks = excluded.lacks`,
        [name, places, lease, JSON.stringify(lacks)],
      );
      // It does not know that it has these: the answer to its taking or handing back was lost. As if a worker had left.
      await sql(
        `UPDATE ${SCHEMA}.work SET worker = $4
         WHERE worker = $1 AND result IS NULL AND NOT key = ANY($2) AND started < now() - $3 * interval '1 second'`,
        [name, [...shares.keys()], lease, NOBODY],
      );
      if (shares.size === 0) return;
      await sql(
        `UPDATE ${SCHEMA}.work SET share = told.share
         FROM unnest($2::text[], $3::double precision[]) AS told (key, share)
         WHERE work.key = told.key AND work.worker = $1 AND work.result IS NULL`,
        [name, [...shares.keys()], [...shares.values()]],
      );
    },
    freeLost: () =>
      transaction(async (own, db) => {
        const lost = await own<{ key: string; queue: string; losses: number }>(
          `UPDATE ${SCHEMA}.work SET losses = losses + 1 WHERE key IN (
             SELECT held.key FROM ${SCHEMA}.work held LEFT JOIN ${SCHEMA}.workers holder ON holder.name = held.worker
             WHERE held.worker IS NOT NULL AND held.result IS NULL
               AND (holder.name IS NULL
                 OR (holder.seen < now() - holder.lease * interval '1 second' AND holder.lease < $1))
             FOR UPDATE OF held SKIP LOCKED)
           RETURNING key, queue, losses`,
          [steadyFor()],
        );
        for (const { key, queue, losses } of lost) {
          if (losses < MAX_LOSSES) {
            await release(own, db, key, queue);
            continue;
          }
          await boss.deleteJob(queue, jobId(key), { db });
          await own(
            `UPDATE ${SCHEMA}.work SET worker = NULL, share = 0, failed = true, trouble = $2 WHERE key = $1`,
            [key, queueTexts.lost(losses)],
          );
        }
        await own(`DELETE FROM ${SCHEMA}.workers WHERE seen < now() - interval '${FORGET_MINUTES} minutes'`);
      }),
    async leave(worker) {
      await sql(`DELETE FROM ${SCHEMA}.workers WHERE name = $1`, [worker]);
    },
    rows: (keys) =>
      sql<WorkRow>(
        `SELECT key, queue, before, worker, share, failed, trouble, result, seconds
         FROM ${SCHEMA}.work WHERE key = ANY($1)`,
        [keys],
      ),
    async forget(keys) {
      await sql(`DELETE FROM ${SCHEMA}.work WHERE key = ANY($1)`, [keys]);
    },
    async workers() {
      const rows = await sql<Omit<WorkerState, "lacks"> & { lacks: string }>(
        `SELECT name, places, lease, lacks FROM ${SCHEMA}.workers
         WHERE seen >= now() - lease * interval '1 second' ORDER BY name`,
      );
      return rows.map((row) => ({ ...row, lacks: JSON.parse(row.lacks) }));
    },
    close: () => connection.close(),
  };
};
