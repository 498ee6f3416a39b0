/**
 * A pool in several Parquet files, as if they were one table: one after the other in the order of their names. The
 * coordinator draws the target inputs and fixes the plan; workers score a shard each, and the best of all are merged.
 */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { strategies } from "../../active/strategies.js";
import { EnvironmentError, InputError } from "../../core/errors.js";
import { pacer } from "../../core/options.js";
import { parquetSql, rowsOf, sqlText, withDatabase } from "../../sources/duckdb.js";
import { withOpenedFile } from "../../sources/opened-file.js";
import { readTable, sourceTexts, streamTable } from "../../sources/source.js";
import { appendRows, byCodePoint, selectRows, type Table } from "../../tables/table.js";
import { type BestOfParts, mergeParts } from "../../workflows/rank-plan.js";
import {
  knownRows,
  type LookedThrough,
  planRanking,
  type Ranking,
  type RankOptions,
  rankingOf,
  samplePlace,
  sampleSize,
  targetStream,
} from "../../workflows/rank-pool.js";
import { type RankSettings, rankSettings } from "../../workflows/rank-settings.js";
import { type Job, jobKey } from "../job.js";
import { JobStore } from "../job-store.js";
import { type RunJobsOptions, runJobs } from "../run-jobs.js";
import { idColumns, planInput, planToJson, type Shard, shardJobs } from "./rank-shard.js";

export const rankShardsTexts = {
  none: (folder: string) =>
    `the folder ${folder} has no Parquet file with rows: name one that holds the shards of a pool, or a table`,
  draws: (what: string) =>
    `${what} draws anew for each part of a pool, so shards would not be ranked as one table is: choose another, or give the pool as one file`,
  large: (values: number, most: number) =>
    `the labelled rows and target inputs are ${values} values, and a queue takes ${most}: give fewer rows or features, or rank without a queue`,
  query:
    "--query cannot be asked of a pool in shards: give the pool as one file, or write the answer to shards",
};

export interface ShardFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Milliseconds. */
  readonly changed: number;
}

export interface ShardPool extends Pick<Shard, "missing"> {
  readonly shards: readonly ShardFile[];
}

export const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

/** The Parquet files of a folder that have rows, in the order of their names. */
export const shardsIn = async (folder: string): Promise<readonly ShardFile[]> => {
  const names = (await readdir(folder)).filter((name) => /^[^._].*\.parquet$/i.test(name)).sort(byCodePoint);
  const shards = await withDatabase(async (connection) => {
    const found: ShardFile[] = [];
    for (const name of names) {
      const path = resolve(folder, name);
      const { size: bytes, mtimeMs: changed } = await stat(path);
      // From the end of the file: the rows are not read.
      const [[rows]] = await withOpenedFile(path, path, (file) =>
        rowsOf(
          connection,
          `SELECT sum(num_rows)::DOUBLE FROM parquet_file_metadata(${sqlText(file.path)})`,
        ).catch(() => {
          throw new InputError("not-parquet", sourceTexts.broken(path, "it is no whole Parquet file"));
        }),
      );
      found.push({ path, rows: Number(rows), bytes, changed });
    }
    return found;
  });
  const filled = shards.filter(({ rows }) => rows > 0);
  if (filled.length === 0) throw new InputError("no-shards", rankShardsTexts.none(folder));
  return filled;
};

/** Rough seconds on one core. */
export const estimateShards = (shards: readonly ShardFile[]): number =>
  shards.reduce((sum, shard) => sum + shardJobs.estimate({ shard: { ...shard, plan: "", first: 0 } }), 0);

/** Throws where shards would not be ranked as one table is. */
export const requireSameInShards = ({
  method,
  correction,
}: Pick<RankSettings, "method" | "correction">): void => {
  const draws = strategies[method].uses.stream ? `the method ${method}` : undefined;
  const pairs = correction === "permutation" ? `the correction ${correction}` : undefined;
  const what = draws ?? pairs;
  if (what !== undefined) throw new InputError("shards", rankShardsTexts.draws(what));
};

/** All shards in one process. */
export async function* streamShards(
  { shards, missing }: ShardPool,
  settings: Pick<RankSettings, "id">,
): AsyncGenerator<Table, void, undefined> {
  for (const { path } of shards) yield* streamTable(path, { missing, asText: idColumns(settings) });
}

/** Every worker gets them, as text. */
const MOST_VALUES = 10_000_000;

/** Each shard is a job; the answer is that of `rankPool` on one table, ties included. */
export const rankShards = async (
  pool: ShardPool,
  ranking: RankOptions,
  options: Omit<RunJobsOptions, "store">,
): Promise<Ranking> => {
  const { shards, missing } = pool;
  const settings = rankSettings(ranking);
  requireSameInShards(settings);
  const known = knownRows(ranking);
  const { plan, ...remarks } = planRanking(known, settings, await lookThroughShards(pool, settings));
  const tables = [plan.labelled, plan.predictFor, plan.sample, plan.sensitive.table].filter(
    (table) => table !== undefined,
  );
  const values = tables.reduce((sum, table) => sum + table.rows * table.columns.length, 0);
  if (values > MOST_VALUES) throw new InputError("large", rankShardsTexts.large(values, MOST_VALUES));
  const planned = planToJson(plan);
  const planJob = planInput(planned);
  let first = 0;
  const jobs = shards.map((shard): Job => {
    const input = { shard: { ...shard, plan: planJob.plan, first, missing } };
    first += shard.rows;
    return { kind: shardJobs, input };
  });
  const store = new JobStore();
  store.add(planJob.plan, { result: planned, seconds: 0 });
  const { place } = options;
  // The plan holds rows of the tables, which are not to stay in a queue, whether it goes well or not.
  const forget = async () => {
    if ("queue" in place) await place.queue.forget([planJob.plan, ...jobs.map(jobKey)]);
  };
  const run = await runJobs(jobs, { ...options, store }).catch(async (error) => {
    await forget().catch(() => {});
    throw error;
  });
  await forget();
  // A ranking that leaves out a part of the pool is none.
  if (run.notes.length > 0) throw new EnvironmentError("shards", run.notes.join("; "));
  const parts = jobs.map((job) => store.get(jobKey(job))?.result as BestOfParts);
  const pace = pacer({ signal: options.signal });
  return rankingOf(plan, mergeParts(parts, settings, plan.rows), remarks, pace);
};

/** The rows that `rankPool` would draw, without reading the others. */
const lookThroughShards = async (
  { shards, missing }: ShardPool,
  settings: RankSettings,
): Promise<LookedThrough> => {
  const rows = shards.reduce((sum, shard) => sum + shard.rows, 0);
  const stream = targetStream(settings);
  const size = sampleSize(settings);
  const rowAt = new Float64Array(Math.min(rows, size));
  for (let row = 0; row < rows; row++) {
    const place = samplePlace(row, size, stream);
    if (place < rowAt.length) rowAt[place] = row;
  }
  const wanted = [...rowAt].sort((a, b) => a - b);
  const folder = await mkdtemp(join(tmpdir(), "fairbed-sample-"));
  try {
    let sample: Table | undefined;
    let first = 0;
    for (const shard of shards) {
      const own = wanted.filter((row) => row >= first && row < first + shard.rows).map((row) => row - first);
      first += shard.rows;
      if (own.length === 0) continue;
      const file = join(folder, "rows.parquet");
      await copyRows(shard.path, own, file);
      const table = await readTable(file, {
        name: shard.path,
        missing,
        asText: idColumns(settings),
      });
      sample = sample === undefined ? table : appendRows(sample, table);
    }
    if (sample === undefined) throw new InputError("no-shards", rankShardsTexts.none("of the pool"));
    const placeOf = new Map(wanted.map((row, place) => [row, place]));
    return {
      sample: selectRows(
        sample,
        Array.from(rowAt, (row) => placeOf.get(row) ?? 0),
      ),
      rows,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Some rows of a Parquet file into another one, with the same types. */
const copyRows = (from: string, rows: readonly number[], to: string): Promise<void> =>
  withOpenedFile(from, from, ({ path }) =>
    withDatabase(async (connection) => {
      await connection.run(
        `COPY (SELECT * EXCLUDE (file_row_number) FROM ${parquetSql(path, ", file_row_number = true")}
          WHERE file_row_number IN (${rows.join(", ")}) ORDER BY file_row_number) TO ${sqlText(to)} (FORMAT parquet)`,
      );
    }),
  );
