/**
 * A process that reads one file whose reader may end it, spin or take all memory, and writes the table to a database
 * file. A second thread of it watches the first: a reader that spins hears nothing.
 */
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { EnvironmentError, InputError } from "../core/errors.js";
import { ANSWER } from "./answer-place.js";
import { arrowRelation } from "./arrow-relation.js";
import type { Relation } from "./csv-relation.js";
import { duckdbRelation } from "./database-relation.js";
import { limitAccess, sqlText, withDatabase } from "./duckdb.js";
import type { Limits, ReadAnswer, ReadApart } from "./read-apart.js";
import { sqliteRelation } from "./sqlite-relation.js";

const READERS = {
  arrow: ({ path, name, settings }, connection) => arrowRelation(connection, path, name, settings, ANSWER),
  sqlite: ({ path, name, query, settings }, connection) =>
    sqliteRelation(connection, path, name, query, settings, ANSWER),
  duckdb: ({ path, name, query, settings }, connection) =>
    duckdbRelation(connection, path, name, query, settings, ANSWER),
} satisfies Record<
  ReadApart["kind"],
  (job: ReadApart, connection: Parameters<typeof limitAccess>[0]) => Promise<Relation>
>;

const read = (job: ReadApart): Promise<Relation> =>
  withDatabase(async (connection) => {
    await connection.run(`SET memory_limit = '${DATABASE_MEMORY}'`);
    await connection.run(`ATTACH ${sqlText(job.answer)} AS ${ANSWER}`);
    // A DuckDB file is opened before its reader shuts the door.
    if (job.kind !== "duckdb") await limitAccess(connection, [job.answer, `${job.answer}.wal`]);
    const relation = await READERS[job.kind](job, connection);
    await connection.run(`CHECKPOINT ${ANSWER}`);
    return relation;
  });

/** What is more goes to disk, so that a large table is not taken for a reader that runs wild. */
const DATABASE_MEMORY = "1GB";

const serve = (): void => {
  // Ctrl-C may reach the whole group of processes; the one who asks decides what happens.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {});
  process.on("disconnect", () => process.exit(0));
  process.once("message", (job: ReadApart) => {
    new Worker(new URL(import.meta.url), {
      workerData: { limits: job.limits, parent: process.ppid },
    }).unref();
    const answer = (message: ReadAnswer) => process.send?.(message);
    read(job).then(
      (relation) => answer({ relation }),
      (error: unknown) =>
        answer({
          failed: {
            as:
              error instanceof InputError
                ? "input"
                : error instanceof EnvironmentError
                  ? "environment"
                  : "other",
            code: error instanceof Error && "code" in error ? String(error.code) : "",
            message: error instanceof Error ? error.message : String(error),
          },
        }),
    );
  });
};

const WATCH_MS = 20;

/** Ends the process by a signal that says why: there is no other way out of a loop that never ends. */
const watch = ({ limits, parent }: { readonly limits: Limits; readonly parent: number }): void => {
  const started = performance.now();
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    const isSlow =
      (user + system) / 1e6 > limits.cpuSeconds || (performance.now() - started) / 1e3 > limits.seconds;
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
    else if (process.memoryUsage.rss() > limits.memoryBytes) process.kill(process.pid, "SIGKILL");
    else if (isSlow) process.kill(process.pid, "SIGALRM");
  }, WATCH_MS);
};

if (isMainThread) serve();
else watch(workerData as { limits: Limits; parent: number });
