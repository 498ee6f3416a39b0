/** Tasks of the design screen that take a while: looking for designs, and for those of a whole frontier. */

import { shippedModel } from "../../design/model-catalogue.js";
import type { PolicyFile } from "../../design/policy-file.js";
import { type DesignFrontierPoint, designFrontier } from "../../workflows/design-frontier.js";
import { type TrainPolicyProgress, trainPolicy } from "../../workflows/train-policy.js";
import { type DesignChoice, type Designs, SEARCHES } from "../design-choice.js";
import type { TaskRun } from "./task.js";

/** How far it is, and where the designs are by now. */
export interface SearchPartial {
  readonly progress?: { readonly done: number; readonly total: number; readonly label?: string | undefined };
  readonly designs?: Designs;
  readonly point?: DesignFrontierPoint;
}

const progressOf = ({ done, total, label }: TrainPolicyProgress) => ({ done, total, label });

export const designSearchTasks = {
  /** As `fairbed design optimize` with the same settings. */
  optimise({ choice }: { readonly choice: DesignChoice }, run: TaskRun): Promise<PolicyFile> {
    const { model, options, horizon, beta, objective, seed, search } = choice;
    const { steps, starts, evaluation } = SEARCHES[search];
    return trainPolicy(shippedModel(model, options), {
      ...{ kind: "static", horizon, beta, objective, seed, steps, starts, evaluation },
      source: { options },
      signal: run.signal,
      onProgress: (progress) =>
        run.emit({
          progress: progressOf(progress),
          ...(progress.designs === undefined ? {} : { designs: progress.designs() }),
        } satisfies SearchPartial),
    });
  },

  /** As a cell of `fairbed design sweep` for every beta. */
  async frontier(
    { choice }: { readonly choice: DesignChoice },
    run: TaskRun,
  ): Promise<readonly DesignFrontierPoint[]> {
    const { model, options, horizon, objective, seed, search } = choice;
    const { steps, starts, evaluation } = SEARCHES[search];
    return designFrontier(shippedModel(model, options), {
      ...{ horizon, objective, seed, steps, starts, evaluation },
      source: { options },
      signal: run.signal,
      onProgress: (progress) =>
        run.emit({
          progress: progressOf(progress),
          ...(progress.designs === undefined ? {} : { designs: progress.designs() }),
        } satisfies SearchPartial),
      onPoint: (point) => run.emit({ point } satisfies SearchPartial),
    });
  },
};
