/** Labels acquired with one method and one seed. */
import { compositionOf } from "../fairness/composition.js";
import { simulateSeed } from "../workflows/simulation.js";
import type { AcquireCell, AcquireResult, StoredComposition } from "./cell.js";
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
  const acquired = acquisition.acquired.map(({ row }) => row);
  const composition = compositionOf({
    attributes: task.sensitive,
    outcome: task.target,
    acquired,
    population: split.pool,
  });
  return {
    labelled: [...split.initial, ...acquired],
    ...((settings.randomPart ?? 0) > 0 ? { drawn } : {}),
    composition: composition.map(({ attribute, groups, cells }): StoredComposition => {
      const stored = (each: (typeof groups)[number]) => ({
        group: each.group,
        count: each.count,
        population: each.population ?? 0,
      });
      return {
        attribute,
        groups: groups.map(stored),
        cells: cells.map((each) => ({ outcome: each.outcome, ...stored(each) })),
      };
    }),
    checkpoints,
  };
};
