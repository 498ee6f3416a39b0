/** A recipe as a plan reports it: what it is, and what it reached. */
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { Settled } from "./plan-choice.js";
import type { OuterEstimates, OuterJudge } from "./plan-estimates.js";
import { recipeInWords, recipeName } from "./plan-recipes.js";
import type { Trial } from "./plan-rounds.js";
import type { Outcome } from "./plan-trials.js";
import type { RecipeAcquisition, RecipeFit } from "./recipe.js";

/** A recipe and what it reached in the last round that it was part of, on the outer rows. */
export interface PlannedRecipe {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly acquisition: RecipeAcquisition;
  readonly fit: RecipeFit;
  /** From 1: later ones had more labels and seeds. */
  readonly round: number;
  readonly labels: number;
  readonly seeds: number;
  /** Part of the last round. */
  readonly finalist: boolean;
  /** On the inner rows, by which it was kept or dropped. */
  readonly inner: { readonly accuracy: number; readonly parity: number; readonly reaches: boolean };
  readonly outer: OuterEstimates;
}

/** A recipe with one setting of its rule, on the outer rows. */
export interface FrontierSetting extends OuterEstimates {
  /** What the rule aims at; null without a rule. */
  readonly aim: number | null;
  /** By seed on the inner rows, by which a setting is chosen: [seeds] each. */
  readonly inner: { readonly accuracy: readonly number[]; readonly parity: readonly number[] };
}

/** One recipe at several settings of its rule, from none on. */
export interface RecipeFrontier {
  readonly id: string;
  readonly name: string;
  readonly points: readonly FrontierSetting[];
}

/** On the outer rows, [seeds][rows]. */
export const decisionsOf = ({ trial, at }: Settled<Trial>): readonly Uint8Array[] =>
  trial.outcomes[at].map(({ outer }) => outer);

const fitOf = ({ parts }: Trial, aim: number | undefined, metric: FairMetric): RecipeFit => ({
  learner: parts.learner,
  reweigh: parts.reweigh,
  ...(aim === undefined ? {} : { rule: { metric, level: aim } }),
});

export const plannedRecipe = (
  settled: Settled<Trial>,
  metric: FairMetric,
  judge: OuterJudge,
  finalists: ReadonlySet<string>,
): PlannedRecipe => {
  const { trial, at, accuracy, parity, reaches } = settled;
  const { aim } = trial.aims[at];
  return {
    id: trial.id,
    name: recipeName(trial.parts),
    description: recipeInWords(trial.parts, aim),
    acquisition: trial.parts.acquisition,
    fit: fitOf(trial, aim, metric),
    round: trial.round,
    labels: trial.labels,
    seeds: trial.seeds.length,
    finalist: finalists.has(trial.id),
    inner: { accuracy, parity, reaches: reaches > 0 },
    outer: judge.estimate(decisionsOf(settled)),
  };
};

/** By what the choice went by: the round, then whether the level was reached on inner rows, then accuracy there. */
export const byMerit = (a: PlannedRecipe, b: PlannedRecipe): number =>
  b.round - a.round ||
  Number(b.inner.reaches) - Number(a.inner.reaches) ||
  (a.inner.reaches ? b.inner.accuracy - a.inner.accuracy : b.inner.parity - a.inner.parity);

export const frontierOf = (trial: Trial, judge: OuterJudge): RecipeFrontier => {
  const setting = (bySeed: readonly Outcome[]): FrontierSetting => ({
    aim: bySeed[0].aim ?? null,
    inner: {
      accuracy: bySeed.map(({ inner }) => inner.accuracy),
      parity: bySeed.map(({ inner }) => inner.parity),
    },
    ...judge.estimate(bySeed.map(({ outer }) => outer)),
  });
  return {
    id: trial.id,
    name: recipeName(trial.parts),
    points: [trial.withoutRule, ...(trial.parts.rule ? trial.outcomes : [])].map(setting),
  };
};
