/** Labels acquired with one method and one seed. */
import { simulateSeed } from "../workflows/simulation.js";
import type { AcquireCell, AcquireResult } from "./cell.js";
import { loadTask } from "./load-task.js";
import type { CellRun } from "./run-cell.js";

export const runAcquire = async (
  { task: name, dataSeed, features, settings, seed }: AcquireCell,
  { threads, root, onProgress }: CellRun,
): Promise<AcquireResult> => {
  const task = await loadTask({ name, dataSeed, features, root });
  const own = threads === undefined ? {} : { threads };
  const { split, acquisition, checkpoints } = await simulateSeed(
    task,
    {
      ...settings,
      forest: { ...settings.forest, ...own },
      sensitiveForest: { ...settings.sensitiveForest, ...own },
    },
    seed,
    { onStep: ({ acquired }) => onProgress?.(acquired / settings.budget) },
  );
  const drawn = acquisition.acquired.flatMap(({ probability }, i) => (probability === undefined ? [] : [i]));
  return {
    labelled: [...split.initial, ...acquisition.acquired.map(({ row }) => row)],
    ...((settings.randomPart ?? 0) > 0 ? { drawn } : {}),
    checkpoints,
  };
};
