/** What can be handed to another process or machine: plain JSON that says all that its result depends on. */
import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import {
  acquisitionOf,
  CELL_VERSIONS,
  type Cell,
  type CellKind,
  type CellResult,
  canonicalJson,
  cellKey,
  seedOf,
} from "../reproduce/cell.js";
import { describeCell, estimateSeconds } from "../reproduce/describe-cell.js";
import type { GroupValues } from "../workflows/groups-by.js";
import type { BestOfParts, RankPlan } from "../workflows/rank-plan.js";

/** A part of a pool that is to be scored by a plan, which is a job whose result is known from the start. */
export interface Shard {
  /** Its key. */
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
  readonly groups?: GroupValues | undefined;
}

export type Job =
  | { readonly cell: Cell }
  | { readonly shard: Shard }
  /** The hash of a plan for shards. */
  | { readonly plan: string };
export type JobResult = CellResult | BestOfParts | RankPlan;

/** Raised by hand when shards would be scored differently. */
export const SHARD_VERSION = 1;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The job that stands for a plan. */
export const planJob = (plan: RankPlan): Job => ({ plan: hash(canonicalJson(plan)) });

/** The same for the same job in the same version, and for nothing else. */
export const jobKey = (job: Job): string => {
  if ("cell" in job) return cellKey(job.cell);
  return hash(canonicalJson({ job, version: SHARD_VERSION }));
};

/** The key of the job whose result this one starts from. */
export const keyBefore = (job: Job): string | undefined => {
  if ("shard" in job) return job.shard.plan;
  const before = "cell" in job ? acquisitionOf(job.cell) : undefined;
  return before === undefined ? undefined : cellKey(before);
};

/** In words, the same for all of a kind. */
export const describeJob = (job: Job): string => {
  if ("cell" in job) return describeCell(job.cell);
  return "shard" in job ? `shards of ${dirname(job.shard.path)}` : "plan";
};

/** In words, with what tells it from others of its kind. */
export const jobInWords = (job: Job): string => {
  if ("cell" in job) return `${describeCell(job.cell)}, seed ${seedOf(job.cell)}`;
  return "shard" in job ? `shard ${basename(job.shard.path)}` : "plan";
};

/** Rows of a shard that are scored in a second, roughly. */
const ROWS_A_SECOND = 20_000;

/** Rough seconds on one core. */
export const estimateJob = (job: Job): number => {
  if ("cell" in job) return estimateSeconds(job.cell);
  return "shard" in job ? 1 + job.shard.rows / ROWS_A_SECOND : 0;
};

const queueStart = (kind: CellKind): string => {
  const startsItself = kind === "acquire" || kind === "design";
  const versions = [CELL_VERSIONS[kind], ...(startsItself ? [] : [CELL_VERSIONS.acquire])];
  return `cells-${kind}-${versions.join("_")}`;
};
const SHARDS = `shards-${SHARD_VERSION}`;

/** Nothing of this queue is ever run. */
export const PLANS = "plans";

/** Jobs that the same workers can run are in one queue: those of one version that need the same data. */
export const queueOf = (job: Job): string => {
  if ("plan" in job) return PLANS;
  if ("shard" in job) return `${SHARDS}-${hash(dirname(job.shard.path)).slice(0, 12)}`;
  const { cell } = job;
  const start = queueStart(cell.kind);
  if (cell.kind === "design") return start;
  return `${start}-${(cell.kind === "acquire" ? cell : cell.acquisition).task}`;
};

/** Whether this version can run what is in a queue. */
export const knowsQueue = (queue: string): boolean =>
  [SHARDS, ...Object.keys(CELL_VERSIONS).map((kind) => queueStart(kind as CellKind))].some(
    (start) => queue === start || queue.startsWith(`${start}-`),
  );
