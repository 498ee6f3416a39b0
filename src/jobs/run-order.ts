/** An order to its result: the same numbers in any process, on any machine. */
import { InputError } from "../core/errors.js";
import type { AcquireResult } from "../reproduce/cell.js";
import { runCell } from "../reproduce/run-cell.js";
import type { RankPlan } from "../workflows/rank-plan.js";
import type { Order, OrderResult } from "./order.js";

export interface OrderRun {
  /** The result of the order before it, as it comes from JSON, where it is known. */
  readonly before?: OrderResult | undefined;
  /** All cores unless given. */
  readonly threads?: number | undefined;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string | undefined;
  /** Called often with the share that is done; the order waits for it. */
  readonly onProgress?: ((done: number) => void | Promise<void>) | undefined;
}

export const runOrderTexts = {
  noPlan: "a shard came without the plan that it is scored by: run the command that sent it again",
};

export const runOrder = async (order: Order, { before, ...run }: OrderRun = {}): Promise<OrderResult> => {
  if ("cell" in order) {
    return runCell(order.cell, {
      ...run,
      ...(before === undefined ? {} : { acquired: before as AcquireResult }),
    });
  }
  if (!("shard" in order) || before === undefined) throw new InputError("no-plan", runOrderTexts.noPlan);
  const { runShard } = await import("./rank-shard.js");
  return runShard(order.shard, before as RankPlan, run);
};
