/** The cells of a sweep, in processes of their own. */
import { withSubprocesses } from "../../../jobs/subprocess.js";
import type { CellOrder, CellResult } from "./sweep-cell.js";

export const sweepProcessTexts = {
  died: (how: string) =>
    `a process that computes ended by itself (${how}): run the command again, with fewer samples or --jobs if memory was short`,
};

/** Runs every cell, `jobs` at a time, and gives each result as it comes. The first failure ends it all. */
export const cellsInProcesses = <Order extends CellOrder>(
  orders: readonly Order[],
  jobs: number,
  signal: AbortSignal,
  onResult: (order: Order, result: CellResult) => Promise<void>,
): Promise<void> =>
  withSubprocesses<CellOrder, CellResult, void>(
    signal,
    {
      url: new URL("./sweep-process.js", import.meta.url),
      serialization: "advanced",
      died: sweepProcessTexts.died,
    },
    async (start) => {
      const left = [...orders];
      const work = async (): Promise<void> => {
        const process = start();
        for (let order = left.shift(); order !== undefined; order = left.shift()) {
          // By hand: the order may hold more than a cell needs to be told.
          const { source, settings, evaluation, threads } = order;
          await onResult(order, await process.run({ source, settings, evaluation, threads }));
        }
      };
      await Promise.all(Array.from({ length: Math.min(jobs, orders.length) }, work));
    },
  );
