/** The tables of a queue beside those of pg-boss. */
import { type QueueConnection, SCHEMA } from "./queue-connection.js";

/**
 * `work` has a row for each job that was ever asked for, under its key: what is to be done, and what came out, as text, so
 * that every number stays as it is. How it stands is in pg-boss's own table, in the row of the same `job`; who runs it,
 * since when and how far it is are of use only while that row is active. `workers` has a row for each worker that was
 * seen lately.
 */
const TABLES = `
  CREATE TABLE ${SCHEMA}.work (
    key text PRIMARY KEY,
    job uuid NOT NULL,
    queue text,
    "group" text NOT NULL,
    name text NOT NULL,
    task text NOT NULL,
    before text,
    estimate double precision NOT NULL,
    worker text,
    started timestamptz,
    share double precision NOT NULL DEFAULT 0,
    result text,
    seconds double precision,
    finished timestamptz,
    finished_by text
  );
  CREATE INDEX ON ${SCHEMA}.work (queue) WHERE result IS NULL;
  CREATE TABLE ${SCHEMA}.workers (
    name text PRIMARY KEY,
    places integer NOT NULL,
    lacks text NOT NULL DEFAULT '{}',
    started timestamptz NOT NULL DEFAULT now(),
    seen timestamptz NOT NULL DEFAULT now()
  )`;

/** Every row of `work` with its job, where pg-boss has one. */
export const WORK_AND_JOBS = `${SCHEMA}.work LEFT JOIN ${SCHEMA}.job ON job.name = work.queue AND job.id = work.job`;

/** Workers that were seen so many seconds ago are alive. */
export const ALIVE_SECONDS = 30;
export const IS_ALIVE = `seen >= now() - interval '${ALIVE_SECONDS} seconds'`;

/** Any number, the same for all who make these tables. */
const LOCK = 4_741_908_243;

export const hasTables = async ({ sql }: QueueConnection): Promise<boolean> => {
  const [{ found }] = await sql<{ readonly found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
    `${SCHEMA}.work`,
  ]);
  return found;
};

/** Makes what is missing; whoever comes at the same time waits. */
export const makeTables = async (connection: QueueConnection): Promise<void> => {
  if (!(await hasTables(connection))) {
    await connection.transaction(async (sql) => {
      await sql("SELECT pg_advisory_xact_lock($1)", [LOCK]);
      if (await hasTables(connection)) return;
      await connection.boss.start();
      await sql(TABLES);
    });
  }
  await connection.boss.start();
};

/** Queues of pg-boss, one at a time: two that are made at once would wait for each other. */
export const makeQueues = (connection: QueueConnection, names: readonly string[]): Promise<void> =>
  connection.transaction(async (sql) => {
    await sql("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    const known = new Set((await connection.boss.getQueues()).map(({ name }) => name));
    for (const name of names) {
      if (!known.has(name)) await connection.boss.createQueue(name);
    }
  });
