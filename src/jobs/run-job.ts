/** A job to its result: the same numbers in any process, on any machine. */
import { InputError } from "../core/errors.js";
import type { AcquireResult } from "../reproduce/cell.js";
import { runCell } from "../reproduce/run-cell.js";
import type { RankPlan } from "../workflows/rank-plan.js";
import type { Job, JobResult } from "./job.js";

export interface JobRun {
  /** The result of the job before it, as it comes from JSON, where it is known. */
  readonly before?: JobResult | undefined;
  /** All cores unless given. */
  readonly threads?: number | undefined;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string | undefined;
  /** Called often with the share that is done; the job waits for it. */
  readonly onProgress?: ((done: number) => void | Promise<void>) | undefined;
}

export const runJobTexts = {
  noPlan: "a shard came without the plan that it is scored by: run the command that sent it again",
};

export const runJob = async (job: Job, { before, ...run }: JobRun = {}): Promise<JobResult> => {
  if ("cell" in job) {
    return runCell(job.cell, {
      ...run,
      ...(before === undefined ? {} : { acquired: before as AcquireResult }),
    });
  }
  if (!("shard" in job) || before === undefined) throw new InputError("no-plan", runJobTexts.noPlan);
  const { runShard } = await import("./rank-shard.js");
  return runShard(job.shard, before as RankPlan, run);
};
