/** Runs what a store lacks, here or in processes of their own. What is finished is stored at once and never run again. */
import { InputError } from "../core/errors.js";
import type { JobResult } from "../jobs/job.js";
import { type JobMessage, jobProgram } from "../jobs/job-subprocess.js";
import { withSubprocesses } from "../jobs/subprocess.js";
import { acquisitionOf, type Cell, cellKey, type ResultOf, type TaskName } from "./cell.js";
import { estimateSeconds } from "./describe-cell.js";
import { runCell } from "./run-cell.js";
import type { ResultStore } from "./store.js";

export interface RunCellsOptions {
  /** How many processes; 1 is this one. */
  readonly jobs: number;
  readonly root?: string | undefined;
  readonly signal: AbortSignal;
  /** In estimated seconds of work. */
  readonly onProgress: (done: number) => void;
  /** Awaited often in this process; it throws when the run is to end. */
  readonly checkpoint: () => Promise<void>;
}

export interface CellsRun {
  /** How many cells were run now. */
  readonly ran: number;
  /** Why the cells of a task were not run, by task. */
  readonly missing: Readonly<Partial<Record<TaskName, string>>>;
}

/** Each cell once, with the acquisitions that others start from before them. */
export const pendingCells = (cells: readonly Cell[], store: ResultStore): readonly Cell[] => {
  const first = [...cells.filter((cell) => acquisitionOf(cell) === undefined)];
  const later = cells.filter((cell) => acquisitionOf(cell) !== undefined && !store.has(cell));
  for (const cell of later) {
    const before = acquisitionOf(cell);
    if (before !== undefined) first.push(before);
  }
  const all = new Map([...first, ...later].map((cell) => [cellKey(cell), cell]));
  return [...all.values()].filter((cell) => !store.has(cell));
};

export const estimateWork = (cells: readonly Cell[]): number =>
  cells.reduce((sum, cell) => sum + estimateSeconds(cell), 0);

const taskOf = (cell: Cell): TaskName | undefined => {
  if (cell.kind === "design") return undefined;
  return cell.kind === "acquire" ? cell.task : cell.acquisition.task;
};

/** So often Ctrl-C is heard and progress shown. */
const YIELD_MS = 50;

export const runCells = async (
  cells: readonly Cell[],
  store: ResultStore,
  { jobs, root, signal, onProgress, checkpoint }: RunCellsOptions,
): Promise<CellsRun> => {
  const pending = pendingCells(cells, store);
  const missing: Partial<Record<TaskName, string>> = {};
  let done = 0;
  let ran = 0;
  /** Work done of the cells that are running. */
  const running = new Map<Cell, number>();
  const report = () => onProgress([...running.values()].reduce((sum, each) => sum + each, done));
  const one = async <C extends Cell>(
    cell: C,
    compute: (progress: (share: number) => void) => Promise<ResultOf<C>>,
  ): Promise<void> => {
    const work = estimateSeconds(cell);
    const task = taskOf(cell);
    if (task === undefined || missing[task] === undefined) {
      const started = performance.now();
      try {
        const result = await compute((share) => {
          running.set(cell, share * work);
          report();
        });
        store.append(cell, result, (performance.now() - started) / 1000);
        ran += 1;
      } catch (error) {
        // A dataset that is not here leaves its rows "not run", and the others go on.
        if (task === undefined || !(error instanceof InputError) || error.code !== "no-dataset") throw error;
        missing[task] = error.message;
      }
    }
    running.delete(cell);
    done += work;
    report();
  };
  const data = root === undefined ? {} : { root };
  const runOf = (cell: Cell) => {
    const before = acquisitionOf(cell);
    const acquired = before === undefined ? undefined : store.get(before);
    return { ...data, ...(acquired === undefined ? {} : { acquired }) };
  };
  if (jobs === 1) {
    for (const cell of pending) {
      let last = performance.now();
      await checkpoint();
      await one(cell, (progress) =>
        runCell(cell, {
          ...runOf(cell),
          async onProgress(share) {
            if (performance.now() - last < YIELD_MS) return;
            progress(share);
            await checkpoint();
            last = performance.now();
          },
        }),
      );
    }
    return { ran, missing };
  }
  const phases = [
    pending.filter((cell) => acquisitionOf(cell) === undefined),
    pending.filter((cell) => acquisitionOf(cell) !== undefined),
  ];
  await withSubprocesses<JobMessage, JobResult, void>(signal, jobProgram(), async (start) => {
    const processes = Array.from({ length: jobs }, start);
    for (const phase of phases) {
      const left = [...phase];
      await Promise.all(
        processes.map(async (each) => {
          for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
            const own = cell;
            const { acquired: before, ...run } = runOf(own);
            const message = {
              job: { cell: own },
              run: { ...run, threads: 1, ...(before === undefined ? {} : { before }) },
            };
            await one(own, async (progress) => (await each.run(message, progress)) as ResultOf<Cell>);
          }
        }),
      );
    }
  });
  return { ran, missing };
};
