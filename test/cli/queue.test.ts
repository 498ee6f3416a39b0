import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { rankCandidatesTexts } from "../../src/cli/commands/active/rank-candidates.js";
import { workerCommandTexts } from "../../src/cli/commands/reproduce/worker.js";
import { failureText } from "../../src/cli/failure.js";
import { seededStream } from "../../src/core/random.js";
import { allowedFilesTexts } from "../../src/jobs/allowed-files.js";
import { collectTexts } from "../../src/jobs/collect.js";
import { queueConnectionTexts } from "../../src/jobs/queue-connection.js";
import { withDatabase } from "../../src/sources/duckdb.js";
import { needsDist } from "../setup/dist.js";
import { describeWithPostgres } from "../setup/postgres.js";
import { FAIRBED, invoke } from "./invoke.js";

needsDist();
/** Many processes, one after the other. */
const LONG = 240_000;
const folder = mkdtempSync(join(tmpdir(), "fairbed-queue-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Key and result of every stored cell. */
const results = (out: string): readonly string[] =>
  JSON.parse(readFileSync(join(out, "cells.json"), "utf8"))
    .map(({ key, result }: { key: string; result: unknown }) => JSON.stringify({ key, result }))
    .sort();

describe("the address of a queue", () => {
  test("is asked for, and must be a database's; no password is shown", async () => {
    const env = { FAIRBED_QUEUE: "" };
    const none = { code: 2, stdout: "", stderr: `fairbed: ${queueConnectionTexts.none}\n` };
    expect(await invoke(["worker"], { env })).toEqual(none);
    expect(await invoke(["queue", "status"], { env })).toEqual(none);
    const wrong = "mysql://me:s3cret-pass@host/db";
    expect(await invoke(["queue", "status", "--queue", wrong], { env })).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairbed: ${queueConnectionTexts.address}\n`,
    });
  });
});

test("a worker needs the folders that it may read from", async () => {
  const env = { FAIRBED_QUEUE: "postgres://me@127.0.0.1:1/db" };
  const nowhere = join(folder, "nowhere");
  for (const option of ["--data", "--models"]) {
    expect(await invoke(["worker", option, `${folder},${nowhere}`], { env })).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairbed: ${allowedFilesTexts.noFolder(option, nowhere)}\n`,
    });
  }
});

describeWithPostgres("reproduce on a queue", (server) => {
  const words = ["reproduce", "table-location", "--quick", "--seeds", "1", "--json"];
  const env = () => ({ FAIRBED_QUEUE: server().address });
  const status = async () => JSON.parse((await invoke(["queue", "status", "--json"], { env: env() })).stdout);
  const withClient = async <Result>(use: (client: pg.Client) => Promise<Result>): Promise<Result> => {
    const client = new pg.Client(server().address);
    await client.connect();
    return use(client).finally(() => client.end());
  };
  /** The worker that has something, once there is one. */
  const busyWorker = (): Promise<void> =>
    withClient(async (client) => {
      for (;;) {
        const asked = client.query("SELECT 1 FROM fairbed_queue.job WHERE state = 'active'");
        if ((await asked.catch(() => ({ rows: [] }))).rows.length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });

  test(
    "stopped, joined, handed over by a worker that is told to end: the same as on one machine",
    async () => {
      const empty = await invoke(["queue", "status"], { env: env() });
      expect(empty).toMatchObject({ code: 0, stderr: "" });
      expect(empty.stdout).toContain("nothing was asked for yet");

      // Ctrl-C: the cells stay.
      const stopped = await invoke([...words.slice(0, -1), "--out", join(folder, "queue")], {
        env: env(),
        during: (child) => whenAsked(child, withClient),
      });
      const shown = server().address.replace(server().password, "…");
      expect(stopped).toEqual({
        code: 130,
        stdout: "",
        stderr: `${collectTexts.left(shown)}\nfairbed: ${failureText.interrupted}\n`,
      });
      expect((await status()).counts).toEqual({ done: 0, running: 0, waiting: 5, blocked: 0, failed: 0 });

      // A worker that is told to end gives back what it has at once.
      const ended = await invoke(["worker"], {
        env: env(),
        during: (child) => void busyWorker().then(() => child.kill("SIGTERM")),
      });
      expect(ended.code).toBe(143);
      const between = await status();
      expect(between.counts).toMatchObject({ running: 0, failed: 0 });
      expect(between.counts.waiting).toBeGreaterThan(0);
      expect(between.workers).toEqual([]);

      const worker: ChildProcess = spawn(process.execPath, [FAIRBED, "worker", "--concurrency", "2"], {
        env: { ...process.env, ...env() },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      worker.stderr?.on("data", (text) => {
        said += text;
      });
      const joined = await invoke([...words, "--out", join(folder, "queue")], { env: env() });
      expect(joined).toMatchObject({ code: 0, stderr: "" });
      const seen = await status();
      const exit = new Promise((resolve) => worker.on("exit", resolve));
      worker.kill("SIGINT");
      expect(await exit).toBe(130);
      expect(said.split("\n")[0]).toBe(workerCommandTexts.waiting(shown));
      expect(said.split("\n").filter((line) => line.startsWith("done in "))).toHaveLength(
        between.counts.waiting,
      );

      const here = await invoke([...words, "--out", join(folder, "here")], { env: { FAIRBED_QUEUE: "" } });
      expect(JSON.parse(joined.stdout).cells).toEqual({ wanted: 5, ran: 5, stored: 5 });
      expect(JSON.parse(joined.stdout).reproductions).toEqual(JSON.parse(here.stdout).reproductions);
      expect(results(join(folder, "queue"))).toEqual(results(join(folder, "here")));

      expect(seen).toMatchObject({ queue: shown, secondsLeft: 0, failures: [] });
      expect(seen.counts).toEqual({ done: 5, running: 0, waiting: 0, blocked: 0, failed: 0 });
      expect(seen.workers).toHaveLength(1);
      expect(seen.workers[0]).toMatchObject({ alive: true, places: 2, runs: [] });
      const told = await invoke(["queue", "status"], { env: env() });
      expect(told.stdout).toMatch(/^location dad conditional beta 0.8 T 10 +1 +0 +0 +0 +0$/m);
      const everything = [stopped, ended, joined, told].flatMap(({ stdout, stderr }) => [stdout, stderr]);
      expect([...everything, said].join("")).not.toContain(server().password);
    },
    LONG,
  );
});

describeWithPostgres("rank on a queue", (server) => {
  test(
    "a folder of shards, by workers of their own, is ranked as one table",
    async () => {
      const shards = join(folder, "shards");
      mkdirSync(shards);
      const stream = seededStream(5);
      const line = (row: number) => {
        const skill = stream.integer(5);
        return [row, skill, stream.integer(3), row % 2 === 0 ? "a" : "b", skill > 2 ? "yes" : "no"].join(",");
      };
      const csv = (from: number, to: number) => [
        "id,skill,taste,group,hired",
        ...Array.from({ length: to - from }, (_, i) => line(from + i)),
      ];
      const write = (name: string, lines: readonly string[]) =>
        writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
      write("old.csv", csv(0, 60));
      // Nobody in the pool has a label yet.
      const unlabelled = csv(100, 400).map((row) => row.slice(0, row.lastIndexOf(",")));
      write("pool.csv", unlabelled);
      await withDatabase(async (connection) => {
        const pool = `read_csv('${join(folder, "pool.csv")}')`;
        for (const [i, from] of [100, 180, 330].entries()) {
          const own = `SELECT * FROM ${pool} WHERE id >= ${from} AND id < ${[180, 330, 400][i]} ORDER BY id`;
          await connection.run(`COPY (${own}) TO '${join(shards, `${i}.parquet`)}' (FORMAT parquet)`);
        }
      });
      const words = (pool: string) => [
        ...[
          "rank",
          pool,
          "--labelled",
          join(folder, "old.csv"),
          "--target",
          "hired=yes",
          "--sensitive",
          "group=a",
        ],
        ...["--id", "id", "--trees", "10", "--top", "30", "--json", "--quota", "taste=1:12-"],
      ];
      const env = { FAIRBED_QUEUE: "" };
      const whole = JSON.parse((await invoke(words(join(folder, "pool.csv")), { env })).stdout);
      expect(whole.candidates).toHaveLength(30);
      // One that may not read the shards leaves them to others.
      mkdirSync(join(folder, "elsewhere"));
      const refusing = spawn(process.execPath, [FAIRBED, "worker", "--data", join(folder, "elsewhere")], {
        env: { ...process.env, FAIRBED_QUEUE: server().address },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let refused = "";
      refusing.stderr.on("data", (text) => {
        refused += text;
      });
      const alone = await invoke([...words(shards), "--queue", server().address], { env });
      expect(alone.code).toBe(1);
      expect(alone.stderr).toContain(allowedFilesTexts.table(join(shards, "0.parquet")).slice(0, 30));
      expect(refused).toContain("this worker may not read the table");
      const worker = spawn(process.execPath, [FAIRBED, "worker", "--quiet", "--data", shards], {
        env: { ...process.env, FAIRBED_QUEUE: server().address },
        stdio: "ignore",
      });
      const here = await invoke(words(shards), { env });
      const processes = await invoke([...words(shards), "--jobs", "2"], { env });
      const onQueue = await invoke([...words(shards), "--queue", server().address], { env });
      worker.kill();
      refusing.kill();
      for (const { code, stdout, stderr } of [here, processes, onQueue]) {
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        expect({ ...JSON.parse(stdout), seconds: 0 }).toEqual({ ...whole, pool: shards, seconds: 0 });
      }
      const one = await invoke([...words(join(folder, "pool.csv")), "--queue", server().address], { env });
      expect(one).toMatchObject({
        code: 2,
        stderr: `fairbed: ${rankCandidatesTexts.queue(join(folder, "pool.csv"))}\n`,
      });
    },
    LONG,
  );
});

const OWN_MODEL = `import { add, defineModel, mul, normal, real, sensitive, target } from "fairbed/design";
export default defineModel({
  name: "own",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { a: real({ low: -1, high: 1 }) },
  outcome: ({ theta, phi }, { a }) => normal(add(theta, mul(a, phi)), 1),
});
`;

describeWithPostgres("design sweep on a queue", (server) => {
  test(
    "gives the same files as on one machine, shipped models and a file of one's own",
    async () => {
      const own = join(folder, "own-model.mjs");
      writeFileSync(own, OWN_MODEL);
      const env = { FAIRBED_QUEUE: "" };
      const worker = spawn(process.execPath, [FAIRBED, "worker", "--quiet", "--models", folder], {
        env: { ...process.env, FAIRBED_QUEUE: server().address },
        stdio: "ignore",
      });
      const sizes = ["--steps", "4", "--starts", "1", "--outer", "10", "--inner", "20", "--batches", "2"];
      for (const [name, model, policy] of [
        ["shipped", "location", "dad"],
        ["own", own, "static"],
      ]) {
        const words = ["design", "sweep", "--model", model, "--policy", policy, "--betas", "0,0.5"]
          .concat([
            "--horizons",
            "2",
            "--figures",
            "none",
            "--json",
            ...(policy === "dad" ? [] : sizes.slice(2, 4)),
          ])
          .concat(sizes.slice(0, 2), sizes.slice(4));
        const outs = ["here", "queue"].map((place) => join(folder, `${name}-${place}`));
        const here = await invoke([...words, "--out", outs[0]], { env });
        const onQueue = await invoke([...words, "--out", outs[1], "--queue", server().address], { env });
        for (const { code, stdout, stderr } of [here, onQueue]) {
          expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
          expect(JSON.parse(stdout).cells).toEqual({ total: 2, found: 0, computed: 2 });
        }
        const [files, others] = outs.map((out) =>
          [
            "results.csv",
            "results.json",
            ...readdirSync(join(out, "policies")).map((file) => `policies/${file}`),
          ].map((file) => [file, readFileSync(join(out, file)).toString("base64")]),
        );
        expect(files).toHaveLength(4);
        expect(others).toEqual(files);
      }
      worker.kill();
    },
    LONG,
  );
});

/** Ctrl-C once the cells are in the queue. */
const whenAsked = async (
  child: ChildProcess,
  withClient: <Result>(use: (client: pg.Client) => Promise<Result>) => Promise<Result>,
): Promise<void> => {
  await withClient(async (client) => {
    for (;;) {
      const asked = client.query("SELECT 1 FROM fairbed_queue.job");
      if ((await asked.catch(() => ({ rows: [] }))).rows.length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  child.kill("SIGINT");
};
