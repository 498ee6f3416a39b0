/** A process that runs jobs for its parent, one at a time, until the parent lets go. */
import { answerJobsOf } from "../jobs/job-processes.js";
import { JOB_KINDS } from "./job-kinds.js";

answerJobsOf(JOB_KINDS);
