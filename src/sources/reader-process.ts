/**
 * A process that reads one file whose reader may end it, spin or take all memory, and writes the table to a database
 * file. A second thread of it watches the first: a reader that spins hears nothing.
 */
import { isMainThread, Worker, workerData } from "node:worker_threads";
import type { DuckDBConnection } from "@duckdb/node-api";
import { EnvironmentError, InputError } from "../core/errors.js";
import { ANSWER } from "./answer-place.js";
import { arrowRelation } from "./arrow-relation.js";
import { duckdbRelation } from "./database-relation.js";
import { limitAccess, sqlText, withDatabase } from "./duckdb.js";
import type { LoadSettings } from "./loaded-relation.js";
import type { Limits, ReadAnswer, ReadApart } from "./read-apart.js";
import type { Relation } from "./relation.js";
import { sqliteRelation } from "./sqlite-relation.js";

const READERS: Record<
  ReadApart["kind"],
  (job: ReadApart, connection: DuckDBConnection, load: LoadSettings) => Promise<Relation>
> = {
  arrow: ({ path, name, settings }, connection, load) =>
    arrowRelation(connection, path, name, settings, load),
  sqlite: ({ path, name, query, settings }, connection, load) =>
    sqliteRelation(connection, path, name, query, settings, load),
  duckdb: ({ path, name, query, settings }, connection) =>
    duckdbRelation(connection, path, name, query, settings, ANSWER),
};

const read = (job: ReadApart, onRows: () => void): Promise<Relation> =>
  withDatabase(async (connection) => {
    await connection.run(`SET memory_limit = '${DATABASE_MEMORY}'`);
    await connection.run(`ATTACH ${sqlText(job.answer)} AS ${ANSWER}`);
    // A DuckDB file is opened before its reader shuts the door.
    if (job.kind !== "duckdb") await limitAccess(connection, [job.answer, `${job.answer}.wal`]);
    const relation = await READERS[job.kind](job, connection, { place: ANSWER, onRows });
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
    const rows = new Int32Array(new SharedArrayBuffer(4));
    const watched: Watched = { limits: job.limits, parent: process.ppid, rows };
    new Worker(new URL(import.meta.url), { workerData: watched }).unref();
    const answer = (message: ReadAnswer) => process.send?.(message);
    read(job, () => Atomics.add(rows, 0, 1)).then(
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
const watch = ({ limits, parent, rows }: Watched): void => {
  let [seen, since] = [0, 0];
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    const cpu = (user + system) / 1e6;
    const read = Atomics.load(rows, 0);
    if (read !== seen) [seen, since] = [read, cpu];
    const isOver = cpu > limits.cpuSeconds || cpu - since > limits.idleSeconds;
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
    else if (process.memoryUsage.rss() > limits.memoryBytes) process.kill(process.pid, "SIGKILL");
    else if (isOver) process.kill(process.pid, "SIGALRM");
  }, WATCH_MS);
};

interface Watched {
  readonly limits: Limits;
  readonly parent: number;
  /** How many batches of rows there are so far, shared with the thread that reads. */
  readonly rows: Int32Array;
}

if (isMainThread) serve();
else watch(workerData as Watched);
