/** The plan for the open table, told as recipes are tried out. */
import { type ParityPlan, plan } from "../../workflows/plan.js";
import type { PlanChoice } from "../plan-choice.js";
import { taskOf } from "../roles.js";
import type { TaskRun } from "./task.js";

export const planTasks = {
  async plan(
    { roles, level, labels, metric, learners, seed }: PlanChoice,
    run: TaskRun,
  ): Promise<ParityPlan> {
    return plan(await run.table(), {
      ...taskOf(roles),
      parity: level,
      labels,
      metric,
      learners,
      seed,
      signal: run.signal,
      onProgress: (progress) => run.emit({ progress }),
      onTrial: (trials) => run.emit({ trials }),
    });
  },
};
