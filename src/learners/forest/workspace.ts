/** The memory and the kernels that all forests of a thread count share; kept, as the next step needs them again. */
import { type Kernels, Workspace } from "../../compute/workspace.js";
import { ConditionSets } from "./condition-sets.js";
import { growModule } from "./grow-kernel.js";
import { predictModule } from "./predict-kernel.js";
import { setsModule } from "./sets-kernel.js";

export interface ForestWorkspace {
  readonly workspace: Workspace;
  readonly growing: Kernels;
  readonly predicting: Kernels;
  readonly predictingSets: Kernels;
  readonly conditions: ConditionSets;
}

const byThreads = new Map<number | undefined, ForestWorkspace>();

export const forestWorkspace = (threads: number | undefined): ForestWorkspace => {
  let found = byThreads.get(threads);
  if (found === undefined) {
    const workspace = new Workspace(threads === undefined ? {} : { threads });
    const predictingSets = workspace.load(setsModule(), ["votes", "dense", "above"]);
    found = {
      workspace,
      growing: workspace.load(growModule(), ["rank", "grow"]),
      predicting: workspace.load(predictModule(), ["votes", "dense"]),
      predictingSets,
      conditions: new ConditionSets(workspace, predictingSets),
    };
    byThreads.set(threads, found);
  }
  return found;
};
