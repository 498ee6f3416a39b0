/** The candidates of `rank`: one table, or a folder of shards, which are scored here or by the workers of a queue. */
import { InputError } from "../../../core/errors.js";
import type { ReadOptions } from "../../../sources/source.js";
import type { Table } from "../../../tables/table.js";
import { DEFAULT_DEVICE } from "../../../workflows/device.js";
import type { Pool, Ranking, RankOptions } from "../../../workflows/rank-pool.js";
import type { CommandContext } from "../../command.js";
import { withPlace } from "../../job-place.js";

export const rankCandidatesTexts = {
  queue: (pool: string) =>
    `${pool} is no folder, and a queue shares out the shards of a pool: name a folder of Parquet files, or leave out --queue`,
  device: "processes and queues score shards on the processor: leave out --device, or --jobs and --queue",
  jobs: (pool: string) =>
    `${pool} is no folder, and processes share out the shards of a pool: name a folder of Parquet files, or leave out --jobs`,
};

export interface CandidateSource {
  /** The pool: a table, or a folder of shards. */
  readonly path: string;
  /** The images of a folder of features that have no label; undefined where the pool is something else. */
  readonly images?: Table | undefined;
  readonly reading: ReadOptions;
  readonly queue: string | undefined;
  /** Processes that score shards, where there is no queue. */
  readonly jobs: number;
}

export const rankCandidates = async (
  { path, images, reading, queue, jobs }: CandidateSource,
  options: RankOptions,
  context: CommandContext,
): Promise<Ranking> => {
  const { streamTable } = await import("../../../sources/source.js");
  const { withoutPassword } = await import("../../../sources/without-password.js");
  const { queueAddress } = await import("../../../jobs/queue-connection.js");
  const {
    estimateShards,
    isFolder,
    rankShards,
    rankShardsTexts,
    requireSameInShards,
    shardsIn,
    streamShards,
  } = await import("../../../jobs/kinds/rank-shards.js");
  if (images !== undefined || !(await isFolder(path))) {
    if (queue !== undefined && queue !== "") {
      throw new InputError("queue", rankCandidatesTexts.queue(withoutPassword(path)));
    }
    const asText = options.id === undefined ? [] : [options.id];
    if (jobs > 1) throw new InputError("jobs", rankCandidatesTexts.jobs(withoutPassword(path)));
    if (images !== undefined) return rankHere(() => oneTable(images), options, context);
    return rankHere(() => streamTable(path, { ...reading, asText }), options, context);
  }
  const { query, missing } = reading;
  if (query !== undefined) throw new InputError("query", rankShardsTexts.query);
  const { rankSettings } = await import("../../../workflows/rank-settings.js");
  requireSameInShards(rankSettings(options));
  const pool = { shards: await shardsIn(path), missing };
  const address = queueAddress(queue);
  if (address === undefined && jobs === 1)
    return rankHere(() => streamShards(pool, options), options, context);
  if (options.device !== undefined && options.device !== DEFAULT_DEVICE) {
    throw new InputError("device", rankCandidatesTexts.device);
  }
  const work = estimateShards(pool.shards);
  const progress = context.progress(`${pool.shards.length} shards`, Math.max(1, Math.round(work)));
  return withPlace({ queue, jobs }, (place) =>
    rankShards(pool, options, {
      place,
      signal: context.signal,
      onProgress: (done) => progress.update(Math.round(done)),
      say: context.say,
    }),
  );
};

async function* oneTable(table: Table): AsyncGenerator<Table, void, undefined> {
  yield table;
}

const rankHere = async (pool: Pool, options: RankOptions, context: CommandContext): Promise<Ranking> => {
  const { rankPool } = await import("../../../workflows/rank-pool.js");
  let progress: ReturnType<typeof context.progress> | undefined;
  let shown: string | undefined;
  const ranking = await rankPool(pool, {
    ...options,
    signal: context.signal,
    onProgress({ done, total, label }) {
      // First all candidates are scored, and then some of the best are chosen.
      if (label !== shown) progress = context.progress(label ?? "scoring", Math.max(1, total));
      shown = label;
      progress?.update(done);
    },
  });
  progress?.end();
  return ranking;
};
