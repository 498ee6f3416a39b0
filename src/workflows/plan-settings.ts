/** What a plan may be told, and what it refuses. */
import { type StrategyName, strategyNames } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import type { RunOptions } from "../core/options.js";
import { learnerName } from "../learners/by-name.js";
import type { LearnerName } from "../learners/learner-names.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import { PLAN_DEFAULTS } from "./plan-defaults.js";
import type { TrialRunOptions } from "./plan-progress.js";
import { PLANNED_METHODS } from "./plan-recipes.js";
import { simulateTexts } from "./simulate.js";

export interface PlanOptions extends RunOptions, TrialRunOptions {
  /** The least ratio between the groups' rates that is wanted, above 0 and at most 1. */
  readonly parity: number;
  /** Of what: selection rates ("dp", unless given) or true positive rates ("eopp"). */
  readonly metric?: FairMetric | undefined;
  /** How many labels can be paid for (400, or half the candidates where those are fewer than 800). */
  readonly labels?: number | undefined;
  /** Ways of asking that are tried; random acquisition always is one. */
  readonly methods?: readonly StrategyName[] | undefined;
  /** What may learn from the labels in the end (forest, logistic, boosting); a forest asks. */
  readonly learners?: readonly LearnerName[] | undefined;
  /** Labels asked for between two fits; a hundredth of the labels unless given. */
  readonly batch?: number | undefined;
  /** At most so many candidates, drawn at random (3000). */
  readonly pool?: number | undefined;
  /** Trees of every forest (100). */
  readonly trees?: number | undefined;
  /** Stops trying out after so many minutes, and says so; no limit unless given. */
  readonly minutes?: number | undefined;
  /** Where the random streams start (0). */
  readonly seed?: number | undefined;
}

/** The same with its defaults, but for those that depend on the table. */
export interface PlanSettings {
  readonly level: number;
  readonly metric: FairMetric;
  readonly labels: number | undefined;
  readonly methods: readonly StrategyName[];
  readonly learners: readonly LearnerName[];
  readonly batch: number | undefined;
  readonly pool: number;
  readonly trees: number;
  readonly minutes: number | undefined;
  readonly seed: number;
}

export const planningTexts = {
  noLevel:
    "say which parity is wanted, such as 0.8: the lowest rate of a group is then at least 0.8 times the highest (--parity 0.8)",
  level: (given: unknown) =>
    `the parity wanted was ${String(given)}: give a ratio above 0 and at most 1, such as 0.8`,
  metric: (given: unknown) =>
    `the metric was "${String(given)}": give dp (equal selection rates) or eopp (equal true positive rates)`,
  whole: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  labelsFew: (given: number) =>
    `${given} labels are too few to compare anything on: give at least ${LEAST_LABELS}`,
  minutes: (given: unknown) => `minutes was ${String(given)}: give a number above 0`,
  noLearner: "no learner is named: give at least one, such as forest",
  noMethod: "no method is named: give at least one, such as epig",
  attributes: (names: readonly string[]) =>
    `parity is wanted for ${names.join(" and ")}, and a plan is for one attribute: name one, or make one of them with combineSensitive (--intersect)`,
  oneGroup: (attribute: string) =>
    `all rows are of one group of ${attribute}, so there is nothing to compare: give rows of several groups`,
  classes: (target: string, classes: number) =>
    `${target} has ${classes} classes, and parity is about one that is favourable: say which, such as --target ${target}=value`,
  oneClass: (target: string) =>
    `all rows have the same ${target}, so there is nothing to learn: give rows with the other outcome too`,
  fewRows: (rows: number) =>
    `only ${rows} rows have both the target and the attribute, and a plan needs at least ${LEAST_ROWS} to ask, choose and report on different ones: give a larger table`,
  fewOfGroup: (attribute: string, group: string, rows: number, favourable: boolean) =>
    `only ${rows} of the rows to report on are of the group ${group} of ${attribute}${favourable ? " and have the favourable outcome" : ""}, and at least ${LEAST_OF_GROUP} are needed to tell its rate: give more rows, or merge groups (such as --sensitive ${attribute}=value)`,
  labels: (given: number, pool: number) =>
    `${given} labels are wanted and the table leaves ${pool} candidates to simulate with: ask for fewer labels, or give a larger table`,
  fewerLabels: (labels: number, pool: number) =>
    `the plan is for ${labels} labels, half of the ${pool} candidates that the table leaves to simulate with`,
  manyLabels: (labels: number, pool: number) =>
    `${labels} of ${pool} candidates are labelled in the end, so that whom to ask first matters less here than it would with more candidates`,
  thinned: (rows: number, known: number) =>
    `of the ${known} rows with target and attribute, ${rows} were drawn at random: a plan looks at no more`,
  cut: (round: number, seeds: number, planned: number) =>
    `the time limit cut the plan short in round ${round}, after ${seeds} of ${planned} seeds: with more minutes the answer may be another one`,
};

export const LEAST_ROWS = 120;
export const LEAST_LABELS = 10;
/** Fewer rows of a group leave its rate open. */
export const LEAST_OF_GROUP = 10;

const requireWhole = (name: string, given: number | undefined): void => {
  if (given !== undefined && !(Number.isInteger(given) && given >= 1))
    throw new InputError(name, planningTexts.whole(name, given));
};

/** Fails with a sentence where something cannot be meant. */
export const planSettings = (options: PlanOptions): PlanSettings => {
  const { parity: level, labels, batch, minutes } = options;
  const {
    metric = PLAN_DEFAULTS.metric,
    learners = PLAN_DEFAULTS.learners,
    methods = PLANNED_METHODS,
  } = options;
  const { pool = PLAN_DEFAULTS.pool, trees = PLAN_DEFAULTS.trees, seed = PLAN_DEFAULTS.seed } = options;
  if (level === undefined) throw new InputError("no-parity", planningTexts.noLevel);
  if (!(level > 0 && level <= 1)) throw new InputError("parity", planningTexts.level(level));
  if (metric !== "dp" && metric !== "eopp") throw new InputError("metric", planningTexts.metric(metric));
  for (const [name, given] of Object.entries({ labels, batch, pool, trees })) requireWhole(name, given);
  if (labels !== undefined && labels < LEAST_LABELS)
    throw new InputError("labels", planningTexts.labelsFew(labels));
  if (minutes !== undefined && !(minutes > 0))
    throw new InputError("minutes", planningTexts.minutes(minutes));
  if (learners.length === 0) throw new InputError("learner", planningTexts.noLearner);
  if (methods.length === 0) throw new InputError("method", planningTexts.noMethod);
  const unknown = methods.find((method) => !strategyNames.includes(method));
  if (unknown !== undefined)
    throw new InputError("method", simulateTexts.method(unknown, nearestName(unknown, strategyNames)));
  return {
    level,
    metric,
    labels,
    methods: [...new Set<StrategyName>(["random", ...methods])],
    learners: [...new Set(learners.map(learnerName))],
    batch,
    pool,
    trees,
    minutes,
    seed,
  };
};
