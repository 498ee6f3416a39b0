/** A hostile database: what it can make a worker read. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sweepJobs } from "../../src/cli/commands/design/sweep-jobs.js";
import { allowedFilesTexts, requireAllowed } from "../../src/jobs/allowed-files.js";
import { contentKey } from "../../src/jobs/content-key.js";
import type { JobKind } from "../../src/jobs/job.js";
import { jobsHere } from "../../src/jobs/job-processes.js";
import { shardJobs } from "../../src/jobs/kinds/rank-shard.js";
import { openQueue } from "../../src/jobs/queue.js";
import { runWorker } from "../../src/jobs/worker.js";
import { describeWithPostgres } from "../setup/postgres.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-allowed-"));
afterAll(() => rmSync(folder, { recursive: true }));
for (const name of ["pool", "pool-secret", "models"]) mkdirSync(join(folder, name));
const at = (...names: readonly string[]) => join(folder, ...names);
writeFileSync(at("pool", "0.parquet"), "");
writeFileSync(at("pool-secret", "0.parquet"), "");
symlinkSync(at("pool-secret", "0.parquet"), at("pool", "link.parquet"));
symlinkSync(at("pool"), at("way-to-pool"));
writeFileSync(at("models", "m.mjs"), "");
const PLAN = contentKey("a plan");
const allowed = { tables: [at("pool")], models: [at("models")] };

describe("what a worker may read", () => {
  test.each([
    ["table", at("pool", "0.parquet")],
    ["table", at("way-to-pool", "0.parquet")],
    ["model", at("models", "m.mjs")],
  ] as const)("%s %s", async (what, path) => {
    await requireAllowed([{ what, path }], allowed);
    await expect(requireAllowed([{ what, path }], { tables: [], models: [] })).rejects.toMatchObject({
      code: "no-file",
      message: allowedFilesTexts[what](path),
    });
  });

  test.each([
    at("pool-secret", "0.parquet"),
    at("pool", "..", "pool-secret", "0.parquet"),
    at("pool", "link.parquet"),
    at("pool", "missing.parquet"),
    at("models", "0.parquet"),
  ])("not %s", async (path) => {
    await expect(requireAllowed([{ what: "table", path }], allowed)).rejects.toMatchObject({
      code: "no-file",
    });
  });

  test.each([
    "http://169.254.169.254/latest/x.parquet",
    "postgres://host/db",
    "relative/0.parquet",
    at("pool", "*.csv"),
    "/etc/passwd",
    "",
    null,
    undefined,
    7,
    { toString: "x" },
  ])("never %s", async (path) => {
    await expect(requireAllowed([{ what: "table", path }], allowed)).rejects.toMatchObject({
      code: "refused",
      message: allowedFilesTexts.noFile,
    });
  });
});

describeWithPostgres("a hostile queue", (server) => {
  test("makes a worker fetch and run nothing, and its jobs fail in a sentence", async () => {
    let fetched = 0;
    const web = createServer((_, answer) => {
      fetched += 1;
      answer.end("x");
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(web.address() as AddressInfo).port}/0.parquet`;
    const ran = at("models", "ran");
    const evil = at("evil.mjs");
    writeFileSync(
      evil,
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");`,
    );
    const shard = (path: unknown) => ({
      kind: shardJobs as JobKind,
      input: { shard: { plan: PLAN, path, bytes: 1, changed: 1, rows: 1, first: 0 } },
    });
    const sweep = {
      kind: sweepJobs as JobKind,
      input: {
        fingerprint: "f",
        source: { model: evil, options: {} },
        settings: { kind: "static", objective: "conditional", beta: 0, horizon: 1, seed: 0 },
        evaluation: {},
      },
    };
    const known = { job: { kind: shardJobs as JobKind, input: { plan: PLAN } }, result: {}, seconds: 0 };
    const queue = await openQueue(server().address);
    await queue.ask([shard(address), shard(at("pool-secret", "0.parquet")), sweep], [known]);
    const lines: string[] = [];
    const ending = new AbortController();
    const kinds = [shardJobs as JobKind, sweepJobs as JobKind];
    const done = runWorker(queue, {
      ...{ kinds, allowed, places: 1, signal: ending.signal, say: (line) => lines.push(line) },
      start: () => jobsHere(kinds),
    });
    await expect
      .poll(async () => (await queue.rows([shardJobs.key(shard(address).input as never)]))[0], {
        timeout: 30_000,
      })
      .toMatchObject({ failed: true, trouble: allowedFilesTexts.noFile });
    await expect
      .poll(() => lines.join("\n"), { timeout: 30_000 })
      .toContain(allowedFilesTexts.table(at("pool-secret", "0.parquet")));
    await expect.poll(() => lines.join("\n"), { timeout: 30_000 }).toContain(allowedFilesTexts.model(evil));
    ending.abort();
    expect(await done).toMatchObject({ finished: 0, failed: 1 });
    expect(fetched).toBe(0);
    expect(existsSync(ran)).toBe(false);
    await queue.close();
    await new Promise((resolve) => web.close(resolve));
  }, 120_000);
});
