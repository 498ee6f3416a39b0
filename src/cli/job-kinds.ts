/** Every kind of job that this version can run, in processes of its own or as a worker of a queue. */

import type { JobKind } from "../jobs/job.js";
import { jobProcessTexts } from "../jobs/job-processes.js";
import { shardJobs } from "../jobs/kinds/rank-shard.js";
import type { SubprocessProgram } from "../jobs/subprocess.js";
import { cellJobs } from "../reproduce/cell-jobs.js";
import { sweepJobs } from "./commands/design/sweep-jobs.js";

export const JOB_KINDS: readonly JobKind[] = [cellJobs, sweepJobs, shardJobs];

/** A process that runs any of them. */
export const JOB_PROGRAM: SubprocessProgram = {
  url: new URL("./job-process.js", import.meta.url),
  serialization: "json",
  died: jobProcessTexts.died,
};
