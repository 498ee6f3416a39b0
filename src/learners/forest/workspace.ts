/** The memory and the kernels that all forests of a thread count share; kept, as the next step needs them again. */
import { type Kernels, Workspace } from "../../compute/workspace.js";
import { growModule } from "./grow-kernel.js";
import { predictModule } from "./predict-kernel.js";

export interface ForestWorkspace {
  readonly workspace: Workspace;
  readonly growing: Kernels;
  readonly predicting: Kernels;
}

const byThreads = new Map<number | undefined, ForestWorkspace>();

export const forestWorkspace = (threads: number | undefined): ForestWorkspace => {
  let found = byThreads.get(threads);
  if (found === undefined) {
    const workspace = new Workspace(threads === undefined ? {} : { threads });
    found = {
      workspace,
      growing: workspace.load(growModule(), ["rank", "grow"]),
      predicting: workspace.load(predictModule(), ["votes", "dense"]),
    };
    byThreads.set(threads, found);
  }
  return found;
};

/** Runs `work` with the addresses of arrays of these sizes, which are given back afterwards. */
export const withArrays = <Result>(
  workspace: Workspace,
  bytes: readonly number[],
  work: (addresses: readonly number[]) => Result,
): Result => {
  const addresses = workspace.allocateAll(bytes);
  try {
    return work(addresses);
  } finally {
    for (const address of addresses) workspace.release(address);
  }
};
