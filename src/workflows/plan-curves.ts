/** Accuracy and parity as labels come in, for the recipes that are shown. */
import type { RunOptions } from "../core/options.js";
import { pacer } from "../core/options.js";
import type { CurveValues } from "./labels-needed.js";
import type { Settled } from "./plan-choice.js";
import { PLAN_ROUNDS } from "./plan-defaults.js";
import type { OuterEstimates, OuterJudge } from "./plan-estimates.js";
import type { Trial } from "./plan-rounds.js";
import { LEAST_LABELS } from "./plan-settings.js";
import { acquiredSet, judgeSet, type PlanTable, preparePlanSeed } from "./plan-trials.js";

const SHARES = [1, 2, 3, 4, 5, 6, 7, 8].map((part) => part / 8);

export interface CurvePointEstimates extends OuterEstimates {
  readonly labels: number;
}

/** The curve under one setting of the rule, by seed; `aim` is null without a rule. */
export interface CurveSetting {
  readonly aim: number | null;
  readonly values: readonly CurveValues[];
}

export interface RecipeCurve {
  /** With the rule as it was set. */
  readonly points: readonly CurvePointEstimates[];
  /** Under every setting that was tried. */
  readonly settings: readonly CurveSetting[];
}

/** How many labels each point has, the last one all. */
export const curveLabels = (labels: number): readonly number[] =>
  [...new Set(SHARES.map((share) => Math.round(share * labels)))].filter((each) => each >= LEAST_LABELS);

/** The curve of a recipe, with its rule as it was set and otherwise: on outer rows, so nothing may be chosen by it. */
export const curveOf = async (
  table: PlanTable,
  { trial, at }: Settled<Trial>,
  judge: OuterJudge,
  run: RunOptions,
): Promise<RecipeCurve> => {
  const counts = curveLabels(trial.labels);
  const { folds } = PLAN_ROUNDS[PLAN_ROUNDS.length - 1];
  const pace = pacer(run);
  const aims = trial.aims.map(({ aim }) => aim);
  const decided: Uint8Array[][][] = aims.map(() => counts.map(() => []));
  for (const [s, number] of trial.seeds.entries()) {
    const seed = preparePlanSeed(table, number);
    for (const [c, labels] of counts.entries()) {
      const set = acquiredSet(table, seed, trial.acquisitions[s], labels);
      const outcomes = await judgeSet(table, seed, set, trial.parts, { aims, folds }, run);
      for (const [a, { outer }] of outcomes.entries()) decided[a][c].push(outer);
      await pace.step({ done: s * counts.length + c + 1, total: trial.seeds.length * counts.length });
    }
  }
  return {
    points: counts.map((labels, c) => ({ labels, ...judge.estimate(decided[at][c]) })),
    settings: aims.map((aim, a) => ({
      aim: aim ?? null,
      values: counts.map((labels, c) => {
        const bySeed = judge.values(decided[a][c]);
        return {
          labels,
          accuracy: bySeed.map(({ accuracy }) => accuracy),
          parity: bySeed.map(({ parity }) => parity),
        };
      }),
    })),
  };
};
