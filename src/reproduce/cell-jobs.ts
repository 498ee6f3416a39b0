/** Cells as jobs. */
import type { JobKind } from "../jobs/job.js";
import {
  type AcquireResult,
  acquisitionOf,
  CELL_VERSIONS,
  type Cell,
  type CellKind,
  type CellResult,
  cellKey,
  seedOf,
} from "./cell.js";
import { describeCell, estimateSeconds } from "./describe-cell.js";

const queueStart = (kind: CellKind): string => {
  const startsItself = kind === "acquire" || kind === "design";
  const versions = [CELL_VERSIONS[kind], ...(startsItself ? [] : [CELL_VERSIONS.acquire])];
  return `cells-${kind}-${versions.join("_")}`;
};

export const cellJobs: JobKind<Cell, CellResult> = {
  name: "cell",
  key: cellKey,
  describe: (cell) => {
    const group = describeCell(cell);
    return { group, name: `${group}, seed ${seedOf(cell)}` };
  },
  estimate: estimateSeconds,
  before: acquisitionOf,
  queue: (cell) => {
    const start = queueStart(cell.kind);
    // Who has no GPU can still do those of the processor.
    if (cell.kind === "design") return cell.device === undefined ? start : `${start}-${cell.device}`;
    return `${start}-${(cell.kind === "acquire" ? cell : cell.acquisition).task}`;
  },
  queues: () => Object.keys(CELL_VERSIONS).map((kind) => queueStart(kind as CellKind)),
  run: async (cell, { before, threads, root, onProgress }) => {
    const { runCell } = await import("./run-cell.js");
    const acquired = before as AcquireResult | undefined;
    return runCell(cell, {
      acquired,
      threads,
      root,
      async onProgress(share) {
        await onProgress?.(share);
      },
    });
  },
};

export const cellJob = (input: Cell) => ({ kind: cellJobs, input });
