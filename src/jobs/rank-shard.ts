/** One shard of a pool, scored by the plan that all shards share. */
import { stat } from "node:fs/promises";
import { EnvironmentError } from "../core/errors.js";
import { streamTable } from "../sources/source.js";
import type { Column, Table } from "../tables/table.js";
import { groupsBy } from "../workflows/groups-by.js";
import {
  type BestOfParts,
  createPartRanker,
  type PartRanker,
  type RankPlan,
} from "../workflows/rank-plan.js";
import type { Shard } from "./job.js";

export const rankShardTexts = {
  changed: (path: string) =>
    `the shard ${path} is not as it was when the ranking began: run the command again`,
};

export interface ShardRun {
  readonly threads?: number | undefined;
  readonly onProgress?: ((done: number) => void | Promise<void>) | undefined;
}

/** Plans as they come from JSON, where missing numbers are null. */
export const planFromJson = (plan: RankPlan): RankPlan => ({
  ...plan,
  labelled: tableFromJson(plan.labelled),
  targets: tableFromJson(plan.targets),
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

export const runShard = async (
  shard: Shard,
  plan: RankPlan,
  { threads, onProgress }: ShardRun,
): Promise<BestOfParts> => {
  const { path, missing, groups } = shard;
  const parts = streamTable(path, missing === undefined ? {} : { missing });
  const key = JSON.stringify([shard.plan, threads]);
  let ranker: PartRanker | undefined;
  let rows = 0;
  for await (const table of parts) {
    if (last?.key !== key) last = { key, start: createPartRanker(withThreads(planFromJson(plan), threads)) };
    ranker ??= last.start(shard.first);
    ranker.add(table, groups === undefined ? undefined : groupsBy(table, groups));
    rows += table.rows;
    await onProgress?.(rows / shard.rows);
  }
  const { size } = await stat(path);
  if (ranker === undefined || rows !== shard.rows || size !== shard.bytes) {
    throw new EnvironmentError("shard-changed", rankShardTexts.changed(path));
  }
  return ranker.best();
};

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
