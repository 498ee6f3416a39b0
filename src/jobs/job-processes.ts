/** The processes that jobs run in. */
import { availableParallelism } from "node:os";
import { InputError } from "../core/errors.js";
import { type JobKind, type JobRun, receivedJob, type SentJob } from "./job.js";
import { answerJobs, type Subprocess } from "./subprocess.js";

export interface JobMessage {
  readonly job: SentJob;
  readonly run: Omit<JobRun, "onProgress">;
}
export type JobProcess = Subprocess<JobMessage, unknown>;

export const jobProcessTexts = {
  died: (how: string) =>
    `a process that computes ended by itself (${how}): run the command again, which goes on from here, with fewer processes if memory was short`,
  kind: (given: unknown) =>
    `there is no kind of job "${String(given)}": use the version of fairbed that made it`,
};

/** So often the parent is told how far a job is, and its end is heard. */
const REPORT_MS = 250;

/** The cores of this machine, shared out. */
export const threadsFor = (processes: number): number =>
  Math.max(1, Math.floor(availableParallelism() / processes));

const handle = (
  kinds: readonly JobKind[],
  { job: sent, run }: JobMessage,
  onProgress: JobRun["onProgress"],
) => {
  const job = receivedJob(sent, kinds);
  if (job === undefined) throw new InputError("job-kind", jobProcessTexts.kind(sent.kind));
  return job.kind.run(job.input, { ...run, onProgress });
};

/** In a process of its own: runs jobs of these kinds for its parent, one at a time, until the parent lets go. */
export const answerJobsOf = (kinds: readonly JobKind[]): void =>
  answerJobs<JobMessage, unknown>(async (message, tell) => {
    let last = performance.now();
    return handle(kinds, message, async (share) => {
      if (performance.now() - last < REPORT_MS) return;
      tell(share);
      await new Promise((resolve) => setImmediate(resolve));
      last = performance.now();
    });
  });

/** The same in this process, for programs that have no other. */
export const jobsHere = (kinds: readonly JobKind[]): JobProcess => ({
  isAlive: true,
  // What another process would send.
  run: async (message, onProgress) =>
    JSON.parse(JSON.stringify(await handle(kinds, JSON.parse(JSON.stringify(message)), onProgress))),
  kill: () => {},
});
