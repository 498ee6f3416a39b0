/** Arrays in a workspace for as long as they are needed. */
import type { Workspace } from "../../compute/workspace.js";

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
