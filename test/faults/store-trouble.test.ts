/**
 * A campaign whose store is full, deleted or away for a while: a clear error or a retry, and nothing lost. (What a store
 * does that is read-only, damaged or locked is in test/stores.)
 * The database is away for two seconds, or as long as the environment says:
 * `FAIRBED_AWAY_SECONDS=60 npx vitest run test/faults/store-trouble.test.ts`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Campaign } from "../../src/campaign/campaign.js";
import { replayCampaign } from "../../src/campaign/replay.js";
import { type CampaignStore, StoreUnavailable, storeTexts } from "../../src/campaign/store.js";
import { verifyCampaign } from "../../src/campaign/verify.js";
import { openStore } from "../../src/stores/open-store.js";
import { answerOf, people, ROLES } from "../campaign/people.js";
import { describeWithPostgres, emptyDatabase } from "../setup/postgres.js";
import { canMount, withDisk } from "../setup/small-disk.js";

const AWAY_SECONDS = Number(process.env.FAIRBED_AWAY_SECONDS ?? 2);

const begin = (store: CampaignStore) =>
  Campaign.create(store, "hiring", {
    table: people({ rows: 400 }),
    acquisition: { ...ROLES, method: "random" },
  });

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What was acknowledged is in the log, once. */
const holds = async (store: CampaignStore, acknowledged: ReadonlyMap<string, string>): Promise<void> => {
  const events = await store.read("hiring", 0);
  const told = events.filter(({ kind }) => kind === "told");
  const byEvent = new Map(told.map(({ id, subject }) => [id, `p${subject}`]));
  for (const [event, id] of acknowledged) expect(byEvent.get(event)).toBe(id);
  expect(new Set(told.map(({ subject }) => subject)).size).toBe(told.length);
  expect((await verifyCampaign(store, "hiring")).reason).toBeNull();
  const { decisions, agreeing } = await replayCampaign(store, "hiring");
  expect(agreeing).toBe(decisions);
};

describeWithPostgres("a database that goes away and comes back", (server) => {
  test(
    "makes whoever tells wait or try again, and loses and repeats nothing",
    async () => {
      const address = await emptyDatabase(server());
      const store = await openStore(address, { retrySeconds: 1 });
      const other = await openStore(address, { retrySeconds: 1 });
      const campaigns = [await begin(store), await Campaign.open(other, "hiring")];
      const acknowledged = new Map<string, string>();
      let [refusals, stop] = [0, false];
      // As a client does it: the same event id until it is acknowledged.
      const insist = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        for (;;) {
          try {
            return await work();
          } catch (error) {
            if (!(error instanceof StoreUnavailable)) throw error;
            expect(error.message).not.toContain(server().password);
            refusals += 1;
            await pause(100);
          }
        }
      };
      const collectors = Array.from({ length: 6 }, async (_, who) => {
        const campaign = campaigns[who % 2];
        for (let i = 0; !stop && i < 60; i++) {
          const { questions } = await insist(() => campaign.ask(1, { request: `${who}-${i}` }));
          for (const { id } of questions) {
            const event = `answer-${who}-${i}`;
            await insist(() => campaign.tell({ id, label: answerOf(id), event }));
            acknowledged.set(event, id);
          }
          await pause(5);
        }
      });
      await pause(200);
      const before = acknowledged.size;
      await server().halt();
      await pause(AWAY_SECONDS * 1000);
      await server().resume();
      await pause(500);
      stop = true;
      await Promise.all(collectors);
      expect(acknowledged.size).toBeGreaterThan(before);
      expect(refusals).toBeGreaterThan(0);
      await holds(store, acknowledged);
      await store.close();
      await other.close();
    },
    60_000 + AWAY_SECONDS * 2000,
  );
});

const disk = join(tmpdir(), `fairbed-trouble-${process.pid}`);

describe.skipIf(!canMount(disk))("a disk (skipped where none can be mounted)", () => {
  test("that is full is said to be, and the campaign goes on once there is room", async () => {
    await withDisk(disk, "1m", async ({ remount }) => {
      const store = await openStore(`sqlite:${join(disk, "campaigns.db")}`);
      const campaign = await begin(store);
      const acknowledged = new Map<string, string>();
      const tell = async (row: number): Promise<void> => {
        const [id, event] = [`p${row}`, `answer-${row}`];
        await campaign.tell({ id, label: answerOf(id), event, annotator: "x".repeat(190) });
        acknowledged.set(event, id);
      };
      let full: unknown;
      for (let row = 20; row < 400 && full === undefined; row++) {
        await tell(row).catch((error: unknown) => {
          full = error;
        });
      }
      expect(full).toBeInstanceOf(StoreUnavailable);
      expect((full as Error).message).toBe(storeTexts.full(join(disk, "campaigns.db")));
      const [reached] = [acknowledged.size];
      expect(reached).toBeGreaterThan(20);
      remount("size=8m");
      await tell(20 + reached);
      expect(campaign.status().counts.labelled).toBe(reached + 1);
      await holds(store, acknowledged);
      await store.close();
      const again = await openStore(`sqlite:${join(disk, "campaigns.db")}`);
      await holds(again, acknowledged);
      await again.close();
    });
  });
});

test("a file that was deleted under the campaign is noticed before anything is acknowledged", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fairbed-deleted-"));
  const path = join(folder, "campaigns.db");
  const store = await openStore(path);
  const campaign = await begin(store);
  await campaign.tell({ id: "p20", label: "yes" });
  rmSync(path);
  await expect(campaign.tell({ id: "p21", label: "yes" })).rejects.toThrow(/moved or deleted/);
  await store.close().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});
