/**
 * kill -9 at random moments, under concurrent asks and tells from several processes. A few times in every run; as often as
 * the environment says otherwise: `FAIRBED_KILLS=200 npx vitest run test/faults/kill.test.ts`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needsDist } from "../setup/dist.js";
import { describeWithPostgres } from "../setup/postgres.js";
import { type KillReport, killRun } from "./kill-run.js";

needsDist();

const KILLS = Number(process.env.FAIRBED_KILLS ?? 6);
const LIMIT = 120_000 + KILLS * 15_000;

const holds = (report: KillReport): void => {
  process.stdout.write(
    `${JSON.stringify({ ...report, lost: report.lost.length, repeated: report.repeated.length })}\n`,
  );
  expect(report).toMatchObject({ lost: [], repeated: [], faults: [], broken: null, disagreeing: 0 });
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(report.left).toBeGreaterThan(0);
  expect(report.stored).toBeGreaterThanOrEqual(report.acknowledged);
};

describe("SQLite", () => {
  test(
    "loses nothing and counts nothing twice",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "fairbed-kill-"));
      try {
        holds(await killRun(`sqlite:${join(folder, "campaigns.db")}`, { kills: KILLS }));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    LIMIT,
  );
});

describeWithPostgres("PostgreSQL", (server) => {
  test(
    "loses nothing and counts nothing twice",
    async () => {
      holds(await killRun(server().address, { kills: KILLS }));
    },
    LIMIT,
  );
});
