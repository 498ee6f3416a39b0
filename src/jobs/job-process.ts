/** A process that runs jobs for its parent, one at a time, until the parent lets go. */
import type { JobResult } from "./job.js";
import type { JobMessage } from "./job-subprocess.js";
import { runJob } from "./run-job.js";
import { answerJobs } from "./subprocess.js";

/** So often the parent is told how far a job is, and its end is heard. */
const REPORT_MS = 250;

const reporter = (tell: (done: number) => void): ((done: number) => Promise<void>) => {
  let last = performance.now();
  return async (done) => {
    if (performance.now() - last < REPORT_MS) return;
    tell(done);
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
  };
};

answerJobs<JobMessage, JobResult>(({ job, run }, progress) =>
  runJob(job, { ...run, onProgress: reporter(progress) }),
);
