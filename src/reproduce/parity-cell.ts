/** What an acquired set is worth where parity is required. */
import { seededStream } from "../core/random.js";
import { judgeParity } from "../workflows/judge-parity.js";
import { prepareSeed } from "../workflows/simulation.js";
import type { AcquireResult, ParityCell, ParityResult } from "./cell.js";
import { loadTask } from "./load-task.js";
import type { CellRun } from "./run-cell.js";

export const runParity = async (
  { acquisition, level }: ParityCell,
  { labelled, drawn }: AcquireResult,
  { threads, root }: CellRun,
): Promise<ParityResult> => {
  const { task: name, dataSeed, features: choice, settings, seed } = acquisition;
  const task = await loadTask({ name, dataSeed, features: choice, root });
  const prepared = prepareSeed(task, settings, seed);
  const { initial, pool } = prepared.split;
  // Where no part was drawn, the whole acquisition is random.
  const random = drawn === undefined ? undefined : new Set(drawn);
  const metrics = await judgeParity({
    ...prepared,
    acquired: labelled
      .slice(initial.length)
      .map((row, i) => ((random?.has(i) ?? true) ? { row, probability: 1 / (pool.length - i) } : { row })),
    weights: task.weights,
    reweigh: settings.reweigh,
    forest: { ...settings.forest, ...(threads === undefined ? {} : { threads }) },
    level,
    stream: seededStream(seed).split("parity"),
  });
  return {
    metrics: Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== undefined)),
  };
};
