/** The candidates of `rank`: one table, or a folder of shards, which are scored here or by the workers of a queue. */
import { InputError } from "../../../core/errors.js";
import type { ReadOptions } from "../../../sources/source.js";
import type { RankInput, Ranking, RankSettings } from "../../../workflows/rank-pool.js";
import type { CommandContext } from "../../command.js";
import { withPlace } from "../../job-place.js";
import { groupsOf, groupValues, type QuotaWords } from "./quota-option.js";

export const rankCandidatesTexts = {
  queue: (pool: string) =>
    `${pool} is no folder, and a queue shares out the shards of a pool: name a folder of Parquet files, or leave out --queue`,
};

export interface CandidateWords {
  /** The pool. */
  readonly path: string;
  readonly reading: ReadOptions;
  readonly quota: QuotaWords | undefined;
  readonly queue: string | undefined;
}

type KnownRows = Pick<RankInput, "labelled" | "targets" | "sensitive">;

export const rankCandidates = async (
  { path, reading, quota, queue }: CandidateWords,
  known: KnownRows,
  settings: RankSettings,
  context: CommandContext,
): Promise<Ranking> => {
  const { streamTable } = await import("../../../sources/source.js");
  const { withoutPassword } = await import("../../../sources/without-password.js");
  const { queueAddress } = await import("../../../jobs/queue-connection.js");
  const { isFolder, rankShards, rankShardsTexts, requireSameInShards, shardsIn, streamShards } = await import(
    "../../../jobs/kinds/rank-shards.js"
  );
  const here = (pool: RankInput["pool"]) => rankHere({ ...known, pool }, quota, settings, context);
  if (!(await isFolder(path))) {
    if (queue !== undefined && queue !== "") {
      throw new InputError("queue", rankCandidatesTexts.queue(withoutPassword(path)));
    }
    return here(() => streamTable(path, reading));
  }
  const { query, missing } = reading;
  if (query !== undefined) throw new InputError("query", rankShardsTexts.query);
  requireSameInShards(settings);
  const shards = await shardsIn(path);
  const address = queueAddress(queue);
  if (address === undefined) return here(() => streamShards(shards, missing));
  const { estimateShards } = await import("../../../jobs/kinds/rank-shards.js");
  const progress = context.progress(
    `${shards.length} shards`,
    Math.max(1, Math.round(estimateShards(shards))),
  );
  const groups = quota === undefined ? undefined : groupValues(quota);
  const { signal, say } = context;
  return withPlace({ queue, jobs: 1 }, (place) =>
    rankShards({ ...known, shards, missing, groups }, settings, {
      place,
      signal,
      onProgress: (done) => progress.update(Math.round(done)),
      say,
    }),
  );
};

const rankHere = async (
  input: RankInput,
  quota: QuotaWords | undefined,
  settings: RankSettings,
  context: CommandContext,
): Promise<Ranking> => {
  const { rankPool } = await import("../../../workflows/rank-pool.js");
  let progress: ReturnType<typeof context.progress> | undefined;
  const ranking = await rankPool(
    {
      ...input,
      ...(quota === undefined ? {} : { groupsOf: (part) => groupsOf(part, quota) }),
      async onPart(rows) {
        progress ??= context.progress("scoring", Math.max(1, rows));
        progress.update(rows);
        await context.checkpoint();
      },
    },
    settings,
  );
  progress?.end();
  return ranking;
};
