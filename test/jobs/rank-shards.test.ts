import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { jobsHere } from "../../src/jobs/job-processes.js";
import { rankShardTexts, shardJobs } from "../../src/jobs/kinds/rank-shard.js";
import {
  rankShards,
  rankShardsTexts,
  requireSameInShards,
  shardsIn,
  streamShards,
} from "../../src/jobs/kinds/rank-shards.js";
import { openQueue, type WorkQueue } from "../../src/jobs/queue.js";
import { runWorker } from "../../src/jobs/worker.js";
import { withDatabase } from "../../src/sources/duckdb.js";
import { readTable, streamTable } from "../../src/sources/source.js";
import { rankTexts } from "../../src/workflows/rank-plan.js";
import { type Ranking, rankPool } from "../../src/workflows/rank-pool.js";
import type { RankChoices } from "../../src/workflows/rank-settings.js";
import { describeWithPostgres } from "../setup/postgres.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-shards-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (...names: string[]) => join(folder, ...names);

/** Few different values, so that many candidates have the same score; numbers and categories, some missing. */
const people = (rows: number, seed: number, firstId: number): string => {
  const stream = seededStream(seed);
  const lines = Array.from({ length: rows }, (_, row) => {
    const skill = stream.integer(4);
    const group = stream.uniform() < 0.5 ? "a" : "b";
    const town = ["north", "south", "east", ""][stream.integer(4)];
    const taste = stream.uniform() < 0.1 ? "" : String(stream.integer(3) / 2);
    const hired = stream.uniform() < 0.2 + 0.2 * skill - (group === "a" ? 0.1 : 0) ? "yes" : "no";
    return [firstId + row, skill, taste, town, group, hired, 1 + stream.integer(3)].join(",");
  });
  return ["id,skill,taste,town,group,hired,price", ...lines, ""].join("\n");
};

const POOL = 900;
/** Where each shard ends; their names are not in the order of their making, and one is empty. */
const SHARDS = [
  ["part-10.parquet", 0, 130],
  ["part-2.parquet", 130, 131],
  ["part-3.parquet", 131, 131],
  ["part-30.parquet", 131, 700],
  ["part-é.parquet", 700, POOL],
] as const;

beforeAll(async () => {
  writeFileSync(at("labelled.csv"), people(80, 1, 0));
  // The first twenty are labelled already.
  writeFileSync(at("pool.csv"), people(POOL, 2, 60));
  mkdirSync(at("shards"));
  writeFileSync(at("shards", "notes.txt"), "not a shard");
  await withDatabase(async (connection) => {
    await connection.run(
      `CREATE TABLE pool AS SELECT row_number() OVER () - 1 AS place, * EXCLUDE ("group", hired) FROM read_csv('${at("pool.csv")}')`,
    );
    const write = (from: number, to: number, file: string) =>
      connection.run(
        `COPY (SELECT * EXCLUDE (place) FROM pool WHERE place >= ${from} AND place < ${to} ORDER BY place) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 64)`,
      );
    await write(0, POOL, at("whole.parquet"));
    for (const [name, from, to] of [...SHARDS].reverse()) await write(from, to, at("shards", name));
  });
});

const SETTINGS = {
  method: "fairbed",
  beta: 3,
  combine: "sum",
  top: 40,
  predictSample: 50,
  categories: "one-hot",
  forest: { trees: 20 },
  sensitiveForest: { trees: 20, minLeaf: 5 },
  correction: "analytic",
  costs: "price",
  costWeight: 0.01,
  id: "id",
  seed: 3,
} as const satisfies RankChoices;
const CASES: readonly (readonly [string, RankChoices])[] = [
  [
    "with costs, ids and quotas",
    {
      ...SETTINGS,
      quotas: {
        column: "town",
        quotas: [
          { value: "north", atLeast: 25 },
          { value: "south", atMost: 2 },
        ],
      },
    },
  ],
  ["by the scores alone", { ...SETTINGS, batchKind: "top" }],
  ["with costs that do not count", { ...SETTINGS, costWeight: 0, method: "epig", categories: "ordinal" }],
  ["without any of them", { ...SETTINGS, costs: undefined, costWeight: undefined, top: 10 }],
];

const known = async (choices: RankChoices) => ({
  ...choices,
  labelled: await readTable(at("labelled.csv"), { asText: ["id"] }),
  target: "hired=yes",
  sensitive: ["group=a"],
  exclude: ["price"],
});

const wholes = new Map<RankChoices, Promise<Ranking>>();
/** The ranking of the one table, which is what all others must be. */
const wholeOf = (settings: RankChoices): Promise<Ranking> => {
  const rank = async () => rankPool(() => streamTable(at("whole.parquet")), await known(settings));
  const whole = wholes.get(settings) ?? rank();
  wholes.set(settings, whole);
  return whole;
};

describe("shards", () => {
  test.each(CASES)("one after the other are ranked as one table, %s", async (_, settings) => {
    const shards = await shardsIn(at("shards"));
    expect(shards.map(({ rows }) => rows)).toEqual([130, 1, 569, 200]);
    const whole = await wholeOf(settings);
    expect(whole.rows).toBe(POOL);
    expect(whole.candidates).toHaveLength(settings.top ?? 0);
    if (settings.batchKind === "top") {
      const scores = whole.candidates.map(({ score, cost }) => score - (settings.costWeight ?? 0) * cost);
      expect(new Set(scores).size).toBeLessThan(scores.length);
    }
    const input = await known(settings);
    expect(await rankPool(() => streamShards({ shards }, settings), input)).toEqual(whole);
  });

  test("what draws for each part, and a folder without any, are refused", async () => {
    expect(() => requireSameInShards({ ...SETTINGS, method: "random" })).toThrow(
      rankShardsTexts.draws("the method random"),
    );
    expect(() => requireSameInShards({ ...SETTINGS, correction: "permutation" })).toThrow(
      rankShardsTexts.draws("the correction permutation"),
    );
    mkdirSync(at("none"));
    await expect(shardsIn(at("none"))).rejects.toThrow(rankShardsTexts.none(at("none")));
  });
});

describeWithPostgres("shards on a queue", (server) => {
  const workers = (queue: WorkQueue, count: number) => {
    const ending = new AbortController();
    const done = Array.from({ length: count }, () =>
      runWorker(queue, {
        kinds: [shardJobs],
        allowed: { tables: [folder], models: [] },
        places: 1,
        threads: 1,
        signal: ending.signal,
        start: () => jobsHere([shardJobs]),
        say: () => {},
      }),
    );
    return () => {
      ending.abort();
      return Promise.all(done);
    };
  };
  const { signal } = new AbortController();
  const left = async () => {
    const client = new pg.Client(server().address);
    await client.connect();
    const { rows } = await client.query("SELECT key FROM fairbed_queue.work");
    await client.end();
    return rows;
  };

  test.each(CASES)("are ranked as one table, whoever scores them, %s", async (_, settings) => {
    const input = await known(settings);
    const whole = await wholeOf(settings);
    const queue = await openQueue(server().address);
    const stop = workers(queue, 3);
    const shards = await shardsIn(at("shards"));
    const ask = () => rankShards({ shards }, input, { place: { queue }, signal });
    // Two at once; the one that is done first makes it forgotten, and the other asks again.
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first).toEqual(whole);
    expect(second).toEqual(whole);
    expect(first.notes).toEqual([rankTexts.done(20)]);
    // Nothing of the tables stays behind.
    expect(await left()).toEqual([]);
    expect((await stop()).reduce((sum, { finished }) => sum + finished, 0)).toBeGreaterThanOrEqual(4);
    await queue.close();
  });

  test("one that changes meanwhile ends the ranking", async () => {
    const queue = await openQueue(server().address, { retries: 0 });
    const stop = workers(queue, 1);
    const shards = (await shardsIn(at("shards"))).map((shard) => ({ ...shard, bytes: shard.bytes + 1 }));
    const ranking = rankShards({ shards }, await known(SETTINGS), { place: { queue }, signal });
    await expect(ranking).rejects.toThrow(rankShardTexts.changed(shards[0].path));
    expect(await left()).toEqual([]);
    await stop();
    await queue.close();
  });

  test("whoever stops a ranking leaves no rows behind", async () => {
    const queue = await openQueue(server().address);
    const shards = await shardsIn(at("shards"));
    const stopping = new AbortController();
    const onProgress = () => stopping.abort();
    const ranking = rankShards({ shards }, await known(SETTINGS), {
      place: { queue },
      onProgress,
      signal: stopping.signal,
    });
    await expect(ranking).rejects.toThrow();
    expect(await left()).toEqual([]);
    await queue.close();
  });

  test("one that is written again is scored again", async () => {
    const [before] = await shardsIn(at("shards"));
    utimesSync(before.path, new Date(), new Date(before.changed + 5000));
    expect((await shardsIn(at("shards")))[0].changed).not.toBe(before.changed);
  });
});
