/** How far a queue is. Only looks: a database without a queue stays without one. */

import { TROUBLE } from "./queue.js";
import { connectQueue, SCHEMA, type Sql } from "./queue-connection.js";
import { hasTables, IS_ALIVE, WORK_AND_JOBS } from "./queue-tables.js";

export interface QueueCounts {
  readonly done: number;
  readonly running: number;
  readonly waiting: number;
  /** Wait for the result of another one. */
  readonly blocked: number;
  readonly failed: number;
}

export interface QueueStatus {
  /** The address without the password. */
  readonly queue: string;
  readonly counts: QueueCounts;
  /** By what they are; the same work with other seeds is one group. */
  readonly groups: readonly (QueueCounts & { readonly group: string })[];
  readonly workers: readonly {
    readonly name: string;
    readonly places: number;
    /** Seconds since it was seen. */
    readonly seen: number;
    readonly alive: boolean;
    readonly runs: readonly { readonly name: string; readonly share: number; readonly seconds: number }[];
    /** What it cannot run, and why. */
    readonly lacks: readonly string[];
  }[];
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  /** Waiting to be tried again. */
  readonly retries: readonly { readonly name: string; readonly message: string }[];
  /** With the workers that are there now; null where there are none. */
  readonly secondsLeft: number | null;
}

const COUNTS = `
  (count(*) FILTER (WHERE result IS NOT NULL))::int AS done,
  (count(*) FILTER (WHERE result IS NULL AND state = 'active'))::int AS running,
  (count(*) FILTER (WHERE result IS NULL AND state < 'active'))::int AS waiting,
  (count(*) FILTER (WHERE result IS NULL AND state IS NULL))::int AS blocked,
  (count(*) FILTER (WHERE result IS NULL AND state = 'failed'))::int AS failed`;

/** Without what is never run. */
const JOBS = `${WORK_AND_JOBS} WHERE queue IS NOT NULL`;

const NOTHING: QueueCounts = { done: 0, running: 0, waiting: 0, blocked: 0, failed: 0 };

export const queueStatus = async (address: string): Promise<QueueStatus> => {
  const connection = await connectQueue(address);
  const { shown: queue, sql } = connection;
  try {
    if (!(await hasTables(connection))) {
      return {
        queue,
        counts: NOTHING,
        groups: [],
        workers: [],
        failures: [],
        retries: [],
        secondsLeft: null,
      };
    }
    const [counts] = await sql<QueueCounts>(`SELECT ${COUNTS} FROM ${JOBS}`);
    const groups = await sql<QueueCounts & { group: string }>(
      `SELECT "group", ${COUNTS} FROM ${JOBS} GROUP BY "group" ORDER BY "group"`,
    );
    const troubled = (state: "failed" | "retry") =>
      sql<{ name: string; message: string }>(
        `SELECT work.name, ${TROUBLE} AS message FROM ${WORK_AND_JOBS}
         WHERE result IS NULL AND state = '${state}' ORDER BY work.name`,
      );
    return {
      queue,
      counts,
      groups,
      workers: await workersOf(sql),
      failures: await troubled("failed"),
      retries: await troubled("retry"),
      secondsLeft: await estimateLeft(sql),
    };
  } finally {
    await connection.close();
  }
};

const workersOf = async (sql: Sql): Promise<QueueStatus["workers"]> => {
  const workers = await sql<{ name: string; places: number; lacks: string; seen: number; alive: boolean }>(
    `SELECT name, places, lacks, extract(epoch FROM now() - seen)::double precision AS seen,
       ${IS_ALIVE} AS alive
     FROM ${SCHEMA}.workers ORDER BY name`,
  );
  const runs = await sql<{ worker: string; name: string; share: number; seconds: number }>(
    `SELECT worker, work.name, share, extract(epoch FROM now() - started)::double precision AS seconds
     FROM ${WORK_AND_JOBS} WHERE state = 'active' AND result IS NULL ORDER BY work.name`,
  );
  return workers.map(({ lacks, ...each }) => ({
    ...each,
    runs: runs
      .filter(({ worker }) => worker === each.name)
      .map(({ name, share, seconds }) => ({ name, share, seconds })),
    lacks: [...new Set(Object.values(JSON.parse(lacks) as Record<string, string>))],
  }));
};

/** By the estimates of what is left, and by how they turned out so far. */
const estimateLeft = async (sql: Sql): Promise<number | null> => {
  const [{ left, pace, places }] = await sql<{ left: number; pace: number; places: number }>(
    `SELECT
       (SELECT coalesce(sum(CASE WHEN state = 'active' THEN estimate * (1 - share) ELSE estimate END), 0)
        FROM ${WORK_AND_JOBS} WHERE result IS NULL AND state IS DISTINCT FROM 'failed') AS left,
       (SELECT coalesce(sum(seconds) / nullif(sum(estimate), 0), 1) FROM ${SCHEMA}.work WHERE result IS NOT NULL) AS pace,
       (SELECT coalesce(sum(places), 0)::int FROM ${SCHEMA}.workers WHERE ${IS_ALIVE}) AS places`,
  );
  if (left === 0) return 0;
  return places === 0 ? null : (left * pace) / places;
};
