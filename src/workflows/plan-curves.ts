/** Accuracy and parity as labels come in, for the recipes that are shown. */
import type { RunOptions } from "../core/options.js";
import { pacer } from "../core/options.js";
import type { CurveValues } from "./labels-needed.js";
import { PLAN_ROUNDS } from "./plan-defaults.js";
import type { OuterEstimates, OuterJudge } from "./plan-estimates.js";
import type { Trial } from "./plan-rounds.js";
import { LEAST_LABELS } from "./plan-settings.js";
import { acquiredSet, judgeSet, type PlanTable, preparePlanSeed } from "./plan-trials.js";

const SHARES = [1, 2, 3, 4, 5, 6, 7, 8].map((part) => part / 8);

export interface CurvePointEstimates extends OuterEstimates {
  readonly labels: number;
}

export interface RecipeCurve {
  readonly points: readonly CurvePointEstimates[];
  /** The same by seed. */
  readonly values: readonly CurveValues[];
}

/** How many labels each point has, the last one all. */
export const curveLabels = (labels: number): readonly number[] =>
  [...new Set(SHARES.map((share) => Math.round(share * labels)))].filter((each) => each >= LEAST_LABELS);

/** The curve of a recipe with its rule as it was set: on outer rows, so nothing may be chosen by it. */
export const curveOf = async (
  table: PlanTable,
  trial: Trial,
  aim: number | undefined,
  judge: OuterJudge,
  run: RunOptions,
): Promise<RecipeCurve> => {
  const counts = curveLabels(trial.labels);
  const { folds } = PLAN_ROUNDS[PLAN_ROUNDS.length - 1];
  const pace = pacer(run);
  const decided: Uint8Array[][] = counts.map(() => []);
  for (const [s, number] of trial.seeds.entries()) {
    const seed = preparePlanSeed(table, number);
    for (const [c, labels] of counts.entries()) {
      const set = acquiredSet(table, seed, trial.acquisitions[s], labels);
      const [outcome] = await judgeSet(table, seed, set, trial.parts, { aims: [aim], folds }, run);
      decided[c].push(outcome.outer);
      await pace.step({ done: s * counts.length + c + 1, total: trial.seeds.length * counts.length });
    }
  }
  return {
    points: counts.map((labels, c) => ({ labels, ...judge.estimate(decided[c]) })),
    values: counts.map((labels, c) => ({ labels, values: judge.values(decided[c]) })),
  };
};
