import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { EnvironmentError, FairbedError, InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { collectTexts } from "../../src/jobs/collect.js";
import { type JobProcess, jobsHere } from "../../src/jobs/job-processes.js";
import { openQueue, queueTexts, type WorkQueue } from "../../src/jobs/queue.js";
import { queueConnectionTexts } from "../../src/jobs/queue-connection.js";
import { runJobs } from "../../src/jobs/run-jobs.js";
import { runWorker, workerTexts } from "../../src/jobs/worker.js";
import { acquireCell, EPIG, fairbed, RANDOM } from "../../src/reproduce/acquisition-lines.js";
import {
  CELL_VERSIONS,
  type Cell,
  type CellResult,
  cellKey,
  type DesignCell,
} from "../../src/reproduce/cell.js";
import { cellJob, cellJobs } from "../../src/reproduce/cell-jobs.js";
import { runCell } from "../../src/reproduce/run-cell.js";
import { ResultStore } from "../../src/reproduce/store.js";
import { packageTexts } from "../../src/sources/optional-package.js";
import { withoutPassword } from "../../src/sources/without-password.js";
import { FAIRBED } from "../cli/invoke.js";
import { needsDist } from "../setup/dist.js";
import { describeWithPostgres } from "../setup/postgres.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-queue-"));
afterAll(() => rmSync(folder, { recursive: true }));

const design = (seed: number, more: Partial<DesignCell> = {}): DesignCell => ({
  kind: "design",
  policy: "static",
  objective: "conditional",
  beta: 0.8,
  horizon: 2,
  training: { steps: 10, outer: 5, contrastive: 10, marginal: 10 },
  evaluation: { outer: 10, batches: 2, inner: 50 },
  seed,
  ...more,
});
const QUICK = { quick: true };

/** A queue with databases of their own for each test. */
const withDatabase = async (
  address: string,
  name: string,
  use: (queueAddress: string, sql: pg.Client["query"]) => Promise<void>,
): Promise<void> => {
  const admin = new pg.Client(address);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const own = address.replace(/\/postgres$/, `/${name}`);
  const client = new pg.Client(own);
  await client.connect();
  try {
    await use(own, client.query.bind(client) as pg.Client["query"]);
  } finally {
    await client.end();
  }
};

/** Jobs run in this process: what a worker does with them is the same. */
const inProcess = (root?: string): JobProcess => {
  const here = jobsHere([cellJobs]);
  return {
    ...here,
    async run({ job, run }) {
      try {
        return await here.run({ job, run: { ...run, root } });
      } catch (error) {
        // As it comes from another process.
        throw error instanceof FairbedError ? error : new EnvironmentError("unexpected", String(error));
      }
    },
  };
};

const work = (queue: WorkQueue, start: () => JobProcess, lines: string[] = [], places = 1) => {
  const ending = new AbortController();
  const done = runWorker(queue, {
    kinds: [cellJobs],
    places,
    signal: ending.signal,
    start,
    say: (line) => lines.push(line),
  });
  const stop = () => {
    ending.abort();
    return done;
  };
  return { lines, stop };
};

const collect = (cells: readonly Cell[], name: string, queue: WorkQueue, waitSeconds = 10) => {
  const store = ResultStore.open(join(folder, name));
  const signal = new AbortController().signal;
  const lines: string[] = [];
  return runJobs(cells.map(cellJob), {
    store: store.jobs,
    place: { queue, waitSeconds },
    signal,
    say: (line) => lines.push(line),
  }).then((run) => ({ ...run, store, lines }));
};

/** What becomes free when its worker has been silent for long enough. */
const takenAgain = async (queue: WorkQueue, name: string, worker: string) => {
  for (;;) {
    const taken = await queue.take(name, worker);
    if (taken !== undefined) return taken;
    await queue.expireLost();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const nameOf = (cell: Cell) => cellJobs.describe(cell).name;

describeWithPostgres("a queue", (server) => {
  test("workers that are killed at random lose nothing: every cell once, and the same bits as here", async () => {
    const acquisitions = [fairbed(10), EPIG, RANDOM].map((line) => acquireCell("synthetic", line, 1, QUICK));
    const longer = { training: { steps: 250, outer: 50, contrastive: 100, marginal: 100 } };
    const cells: readonly Cell[] = [
      ...acquisitions.map((acquisition): Cell => ({ kind: "generalize", acquisition, model: "forest" })),
      ...[0, 1, 2, 3].map((seed) => design(seed, longer)),
      design(6, { policy: "dad" }),
      design(7, { policy: "random" }),
    ];
    const all = [...acquisitions, ...cells];
    await withDatabase(server().address, "killed", async (address, sql) => {
      const stream = seededStream(17).split("kills");
      const workers = new Map<number, ChildProcess>();
      let [ended, collected] = [false, false];
      const startWorker = (): void => {
        const words = [FAIRBED, "worker", "--concurrency", "1", "--quiet"];
        const child = spawn(process.execPath, words, {
          env: { ...process.env, FAIRBED_QUEUE: address },
          stdio: "ignore",
        });
        if (child.pid !== undefined) workers.set(child.pid, child);
        child.on("exit", () => {
          workers.delete(child.pid ?? 0);
          if (!ended) startWorker();
        });
      };
      for (let i = 0; i < 3; i++) startWorker();
      const queue = await openQueue(address, { lease: 2 });
      const other = await openQueue(address, { lease: 2 });
      // Two at once: they share what the workers do.
      const running = Promise.all([
        collect(cells, "killed-a.jsonl", queue),
        collect([...cells].reverse(), "killed-b.jsonl", other),
      ]).finally(() => {
        collected = true;
      });
      const kill = async (): Promise<void> => {
        for (let kills = 0; kills < 6 && !collected; ) {
          // The first one as soon as it has something.
          await new Promise((resolve) => setTimeout(resolve, 20 + (kills === 0 ? 0 : stream.integer(300))));
          const { rows } = await sql(
            "SELECT DISTINCT worker FROM fairbed_queue.work WHERE worker IS NOT NULL AND result IS NULL ORDER BY 1",
          ).catch(() => ({ rows: [] }));
          if (rows.length === 0) continue;
          const name: string = rows[stream.integer(rows.length)].worker;
          // The one that works: the process that watches over it then ends too, and another is started.
          try {
            process.kill(Number(/-(\d+)-[0-9a-f]{4}$/.exec(name)?.[1]), "SIGKILL");
          } catch {
            continue; // gone already
          }
          kills += 1;
          // Once, every connection breaks too.
          if (kills === 3) {
            await sql(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fairbed'",
            );
          }
        }
      };
      try {
        const [[first, second]] = await Promise.all([running, kill()]);
        ended = true;
        expect(first).toMatchObject({ ran: all.length, notes: [] });
        expect(second).toMatchObject({ ran: all.length, notes: [] });
        const { rows } = await sql(
          "SELECT key, result, retry_count, finished_by FROM fairbed_queue.work JOIN fairbed_queue.job ON job.id = work.job",
        );
        expect(new Set(rows.map(({ key }) => key))).toEqual(new Set(all.map(cellKey)));
        expect(rows).toHaveLength(all.length);
        expect(rows.every((row) => row.finished_by !== null)).toBe(true);
        expect(rows.reduce((sum, { retry_count: lost }) => sum + lost, 0)).toBeGreaterThan(0);
        const stored = new Map(rows.map(({ key, result }) => [key, result]));
        for (const cell of all) {
          const here = JSON.stringify(await runCell(cell, { threads: 1 }));
          expect(stored.get(cellKey(cell))).toBe(here);
          expect(JSON.stringify(first.store.get(cell))).toBe(here);
          expect(JSON.stringify(second.store.get(cell))).toBe(here);
        }
        // Later, in another folder: nothing is run again.
        const before = (await sql("SELECT max(finished) AS last FROM fairbed_queue.work")).rows[0].last;
        expect((await collect(cells, "killed-c.jsonl", queue)).ran).toBe(all.length);
        const after = (await sql("SELECT max(finished) AS last FROM fairbed_queue.work")).rows[0].last;
        expect(after).toEqual(before);
      } finally {
        ended = true;
        for (const child of workers.values()) child.kill("SIGKILL");
        await queue.close();
        await other.close();
      }
    });
  }, 240_000);

  test("what fails is tried again, told when it fails for good, and tried anew when asked for again", async () => {
    await withDatabase(server().address, "poisoned", async (address, sql) => {
      const queue = await openQueue(address, { retries: 2, retryDelay: 1 });
      const poison = acquireCell("synthetic", fairbed(10), 0, QUICK);
      const later: Cell = { kind: "generalize", acquisition: poison, model: "forest" };
      let works = false;
      let tries = 0;
      const start = (): JobProcess => ({
        ...inProcess(),
        async run(message) {
          const poisoned = (message.job.input as Cell).kind === "acquire";
          if (works || !poisoned) return inProcess().run(message);
          tries += 1;
          throw new EnvironmentError("broken", "the disk is on fire");
        },
      });
      const { lines, stop } = work(queue, start);
      const { notes, store, ran } = await collect([later, design(0)], "poisoned.jsonl", queue);
      expect(tries).toBe(3);
      expect(ran).toBe(1);
      expect(store.has(design(0))).toBe(true);
      expect(notes).toEqual([
        collectTexts.failed(nameOf(poison), 0, "the disk is on fire"),
        collectTexts.failed(nameOf(later), 0, collectTexts.before),
      ]);
      const words = nameOf(poison);
      const retried = workerTexts.retried(words, "the disk is on fire");
      expect(lines.filter((line) => line === retried)).toHaveLength(2);
      expect(lines).toContain(workerTexts.failed(words, "the disk is on fire"));
      works = true;
      expect(await collect([later], "poisoned.jsonl", queue)).toMatchObject({ ran: 2, notes: [] });
      expect(await stop()).toMatchObject({ finished: 3, failed: 1 });
      expect((await sql("SELECT * FROM fairbed_queue.workers")).rows).toEqual([]);
      await queue.close();
    });
  });

  test("a worker leaves what it cannot run to others: another version, data that is not there", async () => {
    await withDatabase(server().address, "lacking", async (address, sql) => {
      const queue = await openQueue(address);
      const versions = CELL_VERSIONS as Record<Cell["kind"], number>;
      const own = versions.design;
      versions.design = 999;
      const foreign = cellKey(design(0));
      await queue.ask([cellJob(design(0))], []);
      versions.design = own;
      // Under a key that is not its own: made by another version that says it is this one.
      await queue.ask([cellJob(design(1))], []);
      const changed = `UPDATE fairbed_queue.work SET task = replace(task, '"seed":1', '"seed":2') WHERE key = $1`;
      await sql(changed, [cellKey(design(1))]);
      const celeba = acquireCell("celeba", fairbed(10), 0, QUICK);
      const poor = work(queue, () => inProcess(join(folder, "nowhere")));
      const { ran, notes } = await collect([celeba], "lacking.jsonl", queue, 1);
      expect(ran).toBe(0);
      expect(notes).toHaveLength(1);
      expect(notes[0]).toMatch(
        /^1 piece of work is still in the queue, because no worker there can run it: .*celeba/i,
      );
      expect(poor.lines).toContain(workerTexts.version("cells-design-999"));
      expect(poor.lines).toContain(workerTexts.version(`cells-design-${own}`));
      await poor.stop();
      const { rows } = await sql(
        "SELECT key, result, state, retry_count FROM fairbed_queue.work JOIN fairbed_queue.job ON job.id = work.job ORDER BY key",
      );
      const left = { result: null, state: "created", retry_count: 0 };
      expect(rows).toEqual(
        [foreign, cellKey(design(1)), cellKey(celeba)].sort().map((key) => ({ key, ...left })),
      );
      // One that has what it takes finds all of it there.
      expect(await queue.take(`cells-acquire-${versions.acquire}-celeba`, "rich")).toMatchObject({
        key: cellKey(celeba),
      });
      await queue.close();
    });
  });

  test("a result that is known is not run again, and one that comes late is stored once", async () => {
    await withDatabase(server().address, "late", async (address, sql) => {
      const queue = await openQueue(address, { lease: 1, retryDelay: 1 });
      const acquisition = acquireCell("synthetic", RANDOM, 0, QUICK);
      const later: Cell = { kind: "generalize", acquisition, model: "forest" };
      const result = await runCell(acquisition);
      await queue.ask([cellJob(later)], [{ job: cellJob(acquisition), result, seconds: 1 }]);
      const [name] = await queue.waitingQueues();
      const slow = await queue.take(name, "slow");
      expect(slow?.before).toBe(JSON.stringify(result));
      if (slow === undefined) throw new Error("nothing was there");
      expect(await queue.take(name, "other")).toBeUndefined();
      // The slow one gives no sign of life: its job is free for others.
      const quick = await takenAgain(queue, name, "quick");
      expect(quick).toEqual(slow);
      await queue.finish(slow, "slow", '{"metrics":{"accuracy":0.1}}', 1);
      if (quick !== undefined) await queue.finish(quick, "quick", '{"metrics":{"accuracy":0.2}}', 1);
      const { rows } = await sql("SELECT result, finished_by FROM fairbed_queue.work WHERE key = $1", [
        cellKey(later),
      ]);
      expect(rows).toEqual([{ result: '{"metrics":{"accuracy":0.1}}', finished_by: "slow" }]);
      await queue.close();
    });
  });

  test("a worker that gets back what it still runs does not start it twice", async () => {
    await withDatabase(server().address, "twice", async (address, sql) => {
      const queue = await openQueue(address);
      await queue.ask([cellJob(design(0))], []);
      let runs = 0;
      let finish = (_: CellResult) => {};
      const result = new Promise<CellResult>((resolve) => {
        finish = resolve;
      });
      const slow: JobProcess = {
        isAlive: true,
        run: () => {
          runs += 1;
          return result;
        },
        kill: () => {},
      };
      const worker = work(queue, () => slow, [], 2);
      const taken = async () => (await queue.rows([cellKey(design(0))]))[0].worker;
      await vi.waitFor(async () => expect(await taken()).not.toBeNull(), { timeout: 10_000 });
      // What pg-boss does with a job that has expired.
      await sql("UPDATE fairbed_queue.job SET state = 'retry', start_after = now()");
      await vi.waitFor(async () => expect(await taken()).not.toBeNull(), { timeout: 10_000 });
      finish(await runCell(design(0)));
      await vi.waitFor(() => expect(worker.lines).toHaveLength(1), { timeout: 10_000 });
      expect([runs, (await worker.stop()).finished]).toEqual([1, 1]);
      await queue.close();
    });
  });

  test("a job that its worker gives signs of life of is its own; one that it does not know of goes to others", async () => {
    await withDatabase(server().address, "unknown", async (address) => {
      const queue = await openQueue(address, { lease: 3, retryDelay: 1 });
      await queue.ask([cellJob(design(0)), cellJob(design(1))], []);
      const [name] = await queue.waitingQueues();
      const known = await queue.take(name, "forgetful");
      const unknown = await queue.take(name, "forgetful");
      const state = { name: "forgetful", places: 2, lacks: {} };
      const rowOf = async (key = "") => (await queue.rows([key]))[0];
      while ((await rowOf(unknown?.key))?.worker !== null) {
        await queue.beat(state, new Map([[known?.key ?? "", 0.5]]));
        await queue.expireLost();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(await rowOf(known?.key)).toMatchObject({ worker: "forgetful", share: 0.5, trouble: null });
      expect(await rowOf(unknown?.key)).toMatchObject({
        worker: null,
        failed: false,
        trouble: queueTexts.lost,
      });
      expect(await takenAgain(queue, name, "other")).toEqual(unknown);
      await queue.close();
    });
  });

  test("whoever has just come does not take the others for lost: they may be on their way back", async () => {
    await withDatabase(server().address, "outage", async (address, sql) => {
      const queue = await openQueue(address, { lease: 3 });
      await queue.ask([cellJob(design(0))], []);
      const [name] = await queue.waitingQueues();
      await queue.take(name, "away");
      await sql("UPDATE fairbed_queue.job SET started_on = now() - interval '1 minute'");
      const newcomer = await openQueue(address, { lease: 3 });
      const holder = async () => {
        await newcomer.expireLost();
        return (await newcomer.rows([cellKey(design(0))]))[0].worker;
      };
      expect(await holder()).toBe("away");
      await vi.waitFor(async () => expect(await holder()).toBeNull(), { timeout: 10_000 });
      await Promise.all([queue.close(), newcomer.close()]);
    });
  });

  test("a database that is not there is told as such", async () => {
    const address = server().address.replace(/\/postgres$/, "/nowhere");
    const error: Error = await openQueue(address).catch((each) => each);
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toBe(queueConnectionTexts.noDatabase(withoutPassword(address)));
  });

  test("a job that takes its workers with it fails in the end", async () => {
    await withDatabase(server().address, "deadly", async (address) => {
      const queue = await openQueue(address, { lease: 1, retries: 2, retryDelay: 1 });
      await queue.ask([cellJob(design(0))], []);
      const [name] = await queue.waitingQueues();
      for (let i = 0; i < 3; i++) expect(await takenAgain(queue, name, "doomed")).toBeDefined();
      const row = async () => (await queue.rows([cellKey(design(0))]))[0];
      await vi.waitFor(
        async () => {
          await queue.expireLost();
          expect(await row()).toMatchObject({ failed: true, trouble: queueTexts.lost, worker: null });
        },
        { timeout: 10_000 },
      );
      expect(await queue.take(name, "doomed")).toBeUndefined();
      await queue.close();
    });
  }, 30_000);

  test("what is forgotten and asked for again is done again", async () => {
    await withDatabase(server().address, "forgotten", async (address) => {
      const queue = await openQueue(address);
      const job = cellJob(design(0));
      for (let i = 0; i < 2; i++) {
        await queue.ask([job], []);
        const [name] = await queue.waitingQueues();
        const taken = await queue.take(name, "one");
        if (taken === undefined) throw new Error("nothing was there");
        if (i === 1) await queue.finish(taken, "one", "{}", 1);
        await queue.forget([taken.key]);
        expect(await queue.waitingQueues()).toEqual([]);
      }
      await queue.ask([job], []);
      expect(await queue.waitingQueues()).toHaveLength(1);
      await queue.close();
    });
  });
});

describe("without a queue", () => {
  test("nobody is told a password", async () => {
    const address = "postgres://me:s3cret@127.0.0.1:1/none";
    const error: Error = await openQueue(address).catch((each) => each);
    expect(error).toBeInstanceOf(EnvironmentError);
    expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain("s3cret");
  });

  test("an address that is none is told as such, without its password", async () => {
    const error: Error = await openQueue("postgres://me:s3#cret@host/none").catch((each) => each);
    expect(error).toBeInstanceOf(InputError);
    expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toMatch(/s3|cret/);
  });
});

test.each(["pg", "pg-boss"])(
  "without the package %s, one command installs all that a queue needs",
  async (name) => {
    vi.resetModules();
    vi.doMock(name, () => {
      throw new Error(`Cannot find package '${name}'`);
    });
    const { openQueue: fresh } = await import("../../src/jobs/queue.js");
    await expect(fresh("postgres://host/db")).rejects.toThrow(
      packageTexts.missing("a queue", name, undefined, "pg pg-boss"),
    );
    vi.doUnmock(name);
  },
);
