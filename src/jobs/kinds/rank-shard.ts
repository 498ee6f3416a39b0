/** One shard of a pool, scored by the plan that all shards share. */
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { EnvironmentError, InputError } from "../../core/errors.js";
import { unpaced } from "../../core/options.js";
import { streamTable } from "../../sources/source.js";
import type { Column, Table } from "../../tables/table.js";
import {
  type BestOfParts,
  type PartRanker,
  partRankerSteps,
  type RankPlan,
} from "../../workflows/rank-plan.js";
import type { RankSettings } from "../../workflows/rank-settings.js";
import { contentKey } from "../content-key.js";
import type { JobKind, JobRun } from "../job.js";

export const rankShardTexts = {
  noPlan: "a shard came without the plan that it is scored by: run the command that sent it again",
  changed: (path: string) =>
    `the shard ${path} is not as it was when the ranking began: run the command again`,
};

/** A part of a pool that is to be scored by a plan. */
export interface Shard {
  /** The key of the plan. */
  readonly plan: string;
  /** Of a Parquet file that everyone sees there. */
  readonly path: string;
  readonly bytes: number;
  /** When it was changed last, in milliseconds: another time is another shard. */
  readonly changed: number;
  readonly rows: number;
  /** The row of the whole pool that it begins with. */
  readonly first: number;
  /** Texts that stand for nothing. */
  readonly missing?: readonly string[] | undefined;
}

/** A shard, or the key of a plan for shards, whose result is the plan itself and known from the start. */
export type ShardInput = { readonly shard: Shard } | { readonly plan: string };

/** Raised by hand when shards would be scored differently. */
const VERSION = 3;
const QUEUE = `shards-${VERSION}`;
/** Rows of a shard that are scored in a second, roughly. */
const ROWS_A_SECOND = 20_000;

export const shardJobs: JobKind<ShardInput, BestOfParts | RankPlan> = {
  name: "shard",
  key: (input) => ("plan" in input ? input.plan : contentKey({ shard: input.shard, version: VERSION })),
  describe: (input) =>
    "plan" in input
      ? { group: "plan", name: "plan" }
      : { group: `shards of ${dirname(input.shard.path)}`, name: `shard ${basename(input.shard.path)}` },
  estimate: (input) => ("plan" in input ? 0 : 1 + input.shard.rows / ROWS_A_SECOND),
  before: (input) => ("plan" in input ? undefined : { plan: input.shard.plan }),
  // The same files are where the folder is.
  queue: (input) =>
    "plan" in input ? undefined : `${QUEUE}-${contentKey(dirname(input.shard.path)).slice(0, 12)}`,
  queues: () => [QUEUE],
  files: (input) => ("plan" in input ? [] : [{ what: "table", path: input.shard?.path }]),
  run: async (input, { before, ...run }) => {
    if ("plan" in input || before === undefined) throw new InputError("no-plan", rankShardTexts.noPlan);
    return scoreShard(input.shard, before as RankPlan, run);
  },
};

/** The input of the job that stands for a plan. */
export const planInput = (plan: RankPlan): { readonly plan: string } => ({ plan: contentKey(plan) });

/** Plans as they come from JSON, where missing numbers are null. */
export const planFromJson = (plan: RankPlan): RankPlan => ({
  ...plan,
  labelled: tableFromJson(plan.labelled),
  predictFor: tableFromJson(plan.predictFor),
  ...(plan.sample === undefined ? {} : { sample: tableFromJson(plan.sample) }),
  sensitive: {
    ...plan.sensitive,
    ...(plan.sensitive.table === undefined ? {} : { table: tableFromJson(plan.sensitive.table) }),
  },
});

const tableFromJson = (table: Table): Table => ({ ...table, columns: table.columns.map(columnFromJson) });

const columnFromJson = (column: Column): Column =>
  column.kind === "numeric"
    ? { ...column, values: Float64Array.from(column.values, (value) => value ?? Number.NaN) }
    : { ...column, codes: Int32Array.from(column.codes) };

/** A plan as it goes into JSON. */
export const planToJson = (plan: RankPlan): RankPlan =>
  JSON.parse(
    JSON.stringify(plan, (_, value) =>
      ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value,
    ),
  );

/** The models of the last plan: the next shard is most likely of the same. */
let last: { readonly key: string; readonly start: (first: number) => PartRanker } | undefined;

const scoreShard = async (
  shard: Shard,
  plan: RankPlan,
  { threads, onProgress }: JobRun,
): Promise<BestOfParts> => {
  const { path, missing } = shard;
  const parts = streamTable(path, { missing, asText: idColumns(plan.settings) });
  const key = JSON.stringify([shard.plan, threads]);
  let ranker: PartRanker | undefined;
  let rows = 0;
  for await (const table of parts) {
    if (last?.key !== key)
      last = { key, start: unpaced(partRankerSteps(withThreads(planFromJson(plan), threads))) };
    ranker ??= last.start(shard.first);
    await ranker.add(table);
    rows += table.rows;
    await onProgress?.(rows / shard.rows);
  }
  const { size } = await stat(path);
  if (ranker === undefined || rows !== shard.rows || size !== shard.bytes) {
    throw new EnvironmentError("shard-changed", rankShardTexts.changed(path));
  }
  return ranker.best();
};

/** Ids are read as text, here as in the labelled table. */
export const idColumns = ({ id }: Pick<RankSettings, "id">): readonly string[] =>
  id === undefined ? [] : [id];

const withThreads = (plan: RankPlan, threads: number | undefined): RankPlan => {
  if (threads === undefined) return plan;
  const { forest, sensitiveForest } = plan.settings;
  const settings = {
    ...plan.settings,
    forest: { ...forest, threads },
    sensitiveForest: { ...sensitiveForest, threads },
  };
  return { ...plan, settings };
};
