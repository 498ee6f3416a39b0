/** Runs what a store lacks on the workers of a queue, and brings their results home as they come. */
import { type CollectOptions, collectJobs } from "../jobs/collect.js";
import type { KnownResult, WorkQueue } from "../jobs/queue.js";
import { acquisitionOf, type Cell, type CellResult, cellKey } from "./cell.js";
import { pendingCells } from "./run-cells.js";
import type { ResultStore } from "./store.js";

export interface QueueRun {
  /** How many results came now. */
  readonly ran: number;
  /** Why there are not all. */
  readonly notes: readonly string[];
}

export const runCellsOnQueue = async (
  cells: readonly Cell[],
  store: ResultStore,
  queue: WorkQueue,
  options: Omit<CollectOptions, "onResult">,
): Promise<QueueRun> => {
  const pending = pendingCells(cells, store);
  const jobs = pending.map((cell) => ({ cell }));
  let ran = 0;
  const notes = await collectJobs(jobs, knownBefore(pending, store), queue, {
    ...options,
    onResult(job, result, seconds) {
      if (!("cell" in job)) return;
      store.append(job.cell, JSON.parse(result) as CellResult, seconds);
      ran += 1;
    },
  });
  return { ran, notes };
};

/** Acquisitions that are here already: whoever judges them need not run them. */
const knownBefore = (cells: readonly Cell[], store: ResultStore): readonly KnownResult[] => {
  const found = new Map<string, KnownResult>();
  for (const cell of cells) {
    const before = acquisitionOf(cell);
    const stored = before === undefined ? undefined : store.find(before);
    if (before === undefined || stored === undefined) continue;
    found.set(cellKey(before), { job: { cell: before }, result: stored.result, seconds: stored.seconds });
  }
  return [...found.values()];
};
