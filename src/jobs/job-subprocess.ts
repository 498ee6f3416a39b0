/** The processes that jobs run in. */
import type { Job, JobResult } from "./job.js";
import type { JobRun } from "./run-job.js";
import type { Subprocess, SubprocessProgram } from "./subprocess.js";

export interface JobMessage {
  readonly job: Job;
  readonly run: Omit<JobRun, "onProgress">;
}
export type JobSubprocess = Subprocess<JobMessage, JobResult>;

export const jobSubprocessTexts = {
  died: (how: string) =>
    `a process that computes ended by itself (${how}): run the command again, which goes on from here, with fewer processes if memory was short`,
};

export const jobProgram = (): SubprocessProgram => ({
  url: new URL("./job-process.js", import.meta.url),
  serialization: "json",
  died: jobSubprocessTexts.died,
});
