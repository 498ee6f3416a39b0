/**
 * The fair decision rule (Menon and Williamson, "The cost of fairness in binary classification", 2018): among all
 * decisions that do not see the attribute, the most accurate ones whose groups are treated alike are
 *
 *     select x where eta(x) - sum_g lambda_g w_g(x) > t,   eta(x) = P(y = 1 | x),
 *     w_g(x) = m(x) (q_g(x) / S_g - 1 / sum_h S_h).
 *
 * Demographic parity: the rate of group g is E[f(x) P(g | x)] / P(g), so m = 1, q_g = P(g | x), S_g = P(g). With two
 * groups and multipliers (-lambda, lambda) the sum is lambda (P(1 | x) / P(1) - P(0 | x) / P(0)).
 *
 * Equal opportunity: the true positive rate of group g is E[f(x) P(y = 1, g | x)] / P(y = 1, g), and
 * P(y = 1, g | x) = eta(x) P(g | x, y = 1), so m = eta(x), q_g = P(g | x, y = 1), S_g = P(y = 1, g).
 *
 * Why: accuracy is E[f(x) (2 eta(x) - 1)] and a constant. That the smallest rate is at least `level` times the largest is
 * rate_g - level rate_h >= 0 for all g and h, linear in f like the accuracy, so the best f selects where
 * 2 eta(x) - 1 + sum_gh mu_gh (m q_g / S_g - level m q_h / S_h) > 0 with multipliers mu >= 0. What of the sum all groups
 * share is a constant (demographic parity) or a multiple of -eta (1 - level) sum mu <= 0 taken from both sides (equal
 * opportunity); it goes into t, so t is free and no longer 1/2. On a population of finitely many kinds of x the best
 * randomised f decides at most one kind by a coin for each rate that is bound; the rule decides that kind one way.
 */

import { InputError } from "../core/errors.js";
import { fixed } from "../core/number-text.js";
import { pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import type { Interval } from "../core/stats.js";
import { ratioOfRates } from "./fair-rule/cuts.js";
import { fairScores, groupWeights, searchMultipliers } from "./fair-rule/multipliers.js";
import { linearInterval, resampledInterval } from "./fair-rule/ratio-interval.js";
import {
  type BlindRows,
  type CountedRows,
  checkBlindRows,
  countRows,
  type FairMetric,
  type FairRuleRows,
} from "./fair-rule/rule-rows.js";
import { FAIR_RULE_DEFAULTS } from "./fair-rule-defaults.js";

export { type BlindRows, type FairMetric, type FairRuleRows, ruleRowTexts } from "./fair-rule/rule-rows.js";

/** What is applied to rows; plain data, which JSON carries. */
export interface FairRule {
  readonly metric: FairMetric;
  /** lambda_g, [groups]: above 0 for a group whose rows are selected less than by the scores alone. */
  readonly multipliers: readonly number[];
  /** S_g, [groups]: P(g) for "dp", P(y = 1, g) for "eopp"; 0 for a group that was not there. */
  readonly shares: readonly number[];
  /** t. */
  readonly threshold: number;
}

export interface FairRuleOptions extends RunOptions, JudgeRuleOptions {
  /** What is to be equal ("dp"). */
  readonly metric?: FairMetric | undefined;
  /** The least ratio of the lowest to the highest rate of a group, above 0 and at most 1 (0.8). */
  readonly level?: number | undefined;
  /**
   * The share of rows to select, above 0 and at most 1: then the smallest multipliers that reach the level are taken, as
   * near to this share as ties allow. Unless given, the most accurate rule of all that reach the level is taken.
   */
  readonly selectionRate?: number | undefined;
}

/** What decisions come to on some rows. */
export interface RuleOutcome {
  /** The share of rows decided rightly; what is expected by the scores where there are no labels. */
  readonly accuracy: number;
  readonly selectionRate: number;
  /** The lowest over the highest rate of a group: 1 is parity; 0 where nobody counts as selected. */
  readonly ratio: number;
}

/** The same with what is known about it. */
export interface JudgedRule extends RuleOutcome {
  /** 95 % of the ratio on other such rows, with the rule as it is: a resample without a group or a selected row is 0. */
  readonly interval: Interval;
  /** [groups]: selection rates or true positive rates; undefined for a group that was not there. */
  readonly rates: readonly (number | undefined)[];
}

export interface JudgeRuleOptions {
  /** Resamples behind the interval (1000); 0 for the delta method, which corrected rates always take. */
  readonly replicates?: number | undefined;
  /** Where they are drawn from. */
  readonly stream?: RandomStream | undefined;
}

export interface FittedFairRule extends FairRule, JudgedRule {
  readonly level: number;
  /** Whether the ratio is at least the level on those rows. */
  readonly reached: boolean;
  /** The same aim (selection rate, or accuracy whatever the ratio) without multipliers. */
  readonly plain: RuleOutcome;
  /** By what the rates were counted. */
  readonly countedBy: "groups" | "probabilities" | "both";
  /** Sentences for a person: where the level was not reached, or what the rule is not good for. */
  readonly warnings: readonly string[];
}

export const fairRuleTexts = {
  metric: (given: unknown) => `the metric was ${String(given)}: give "dp" or "eopp"`,
  level: (given: unknown) =>
    `the level was ${String(given)}: give a ratio above 0 and at most 1, such as 0.8`,
  selectionRate: (given: unknown) =>
    `the selection rate was ${String(given)}: give a share of the rows, above 0 and at most 1`,
  rule: "this is no fair rule: give what fitFairRule returned, with a multiplier and a share for each group",
  groups: (given: number, expected: number) =>
    `there are probabilities of ${given} groups and the rule was fitted with ${expected}: give those of the same groups`,
  notReached: (level: number, ratio: number, selectionRate: number | undefined) =>
    `no multipliers reach a ratio of ${level}${selectionRate === undefined ? "" : ` with ${selectionRate} of the rows selected`}, so the one with ${fixed(ratio, 3)} was taken: ${selectionRate === undefined ? "lower the level" : "leave the selection rate free, lower the level"}, or use a model that tells the groups apart better`,
  uncertain: (level: number, low: number) =>
    `the ratio may be as low as ${fixed(low, 3)} on other rows, below the ${level} asked for: fit on more rows, or ask for more`,
  constant: (accuracy: number) =>
    `the rule is right for ${fixed(accuracy, 3)} of the rows, no more than giving everybody the same answer would be: lower the level, or use scores that know more`,
  oneGroup:
    "only one group is there, so nothing is compared and the rule is the plain one: give rows of several groups",
  absent: (groups: readonly number[]) =>
    `group${groups.length === 1 ? "" : "s"} ${groups.join(", ")} had no rows that count, so the rule says nothing about ${groups.length === 1 ? "it" : "them"}: give rows of every group`,
};

const checkOptions = (metric: unknown, level: number, selectionRate: number | undefined): void => {
  if (metric !== "dp" && metric !== "eopp") throw new InputError("metric", fairRuleTexts.metric(metric));
  if (!(level > 0 && level <= 1)) throw new InputError("level", fairRuleTexts.level(level));
  if (selectionRate !== undefined && !(selectionRate > 0 && selectionRate <= 1))
    throw new InputError("selection-rate", fairRuleTexts.selectionRate(selectionRate));
};

/** The interval of the ratio of decisions. */
const ratioInterval = (
  counted: CountedRows,
  decided: Int32Array,
  { replicates = FAIR_RULE_DEFAULTS.replicates, stream = seededStream("fair rule") }: JudgeRuleOptions,
): Interval =>
  replicates === 0 || counted.parts.length > 1
    ? linearInterval(counted, decided)
    : resampledInterval(counted, decided, replicates, stream);

const judgeCounted = (counted: CountedRows, decided: Int32Array, options: JudgeRuleOptions): JudgedRule => {
  const { groups, counts, totals, weights, weight, gains, rightAtNone } = counted;
  const selected = new Float64Array(groups);
  let right = rightAtNone;
  let share = 0;
  decided.forEach((one, row) => {
    if (one === 0) return;
    for (let g = 0; g < groups; g++) selected[g] += counts[row * groups + g];
    right += gains[row];
    share += weights[row];
  });
  return {
    accuracy: right / weight,
    selectionRate: share / weight,
    ratio: ratioOfRates(selected, totals),
    interval: ratioInterval(counted, decided, options),
    rates: Array.from(totals, (total, g) => (total > 0 ? selected[g] / total : undefined)),
  };
};

/**
 * Chooses multipliers and threshold of the fair decision rule on rows that neither the scores nor the probabilities were
 * learnt from. `scores` are [rows], `groupProbabilities` row-major [rows, groups], `groups` and `labels` [rows].
 *
 * Without `selectionRate` it is the most accurate rule that reaches the level, and of several the one with the smallest
 * multipliers; with it, the smallest multipliers. Two groups and at most a hundred rows: the best rule of all.
 * More rows: orders of the rows are tried out from coarse to fine. More groups: one multiplier after another.
 *
 * @example
 * ```ts
 * import { fitFairRule } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.7, 0.3, 0.6, 0.45, 0.4, 0.1];
 * const labels = [1, 1, 1, 0, 1, 0, 0, 0];
 * const second = [0.9, 0.9, 0.8, 0.8, 0.1, 0.2, 0.1, 0.2]; // P(group 1 | x), by a model
 * const groupProbabilities = second.flatMap((p) => [1 - p, p]);
 * const groups = [1, 1, 1, 1, 0, 0, 0, 0];
 * const rule = await fitFairRule({ scores, groupProbabilities, groups, labels }, { selectionRate: 0.5 });
 * console.log(rule.plain.ratio.toFixed(2), rule.ratio.toFixed(2), rule.reached); // 0.33 1.00 true
 * ```
 */
export const fitFairRule = async (
  rows: FairRuleRows,
  options: FairRuleOptions = {},
): Promise<FittedFairRule> => {
  const { metric = FAIR_RULE_DEFAULTS.metric, level = FAIR_RULE_DEFAULTS.level, selectionRate } = options;
  checkOptions(metric, level, selectionRate);
  const counted = countRows(rows, metric);
  const { shares } = counted;
  const { best, plain } = await searchMultipliers(counted, metric, { level, selectionRate }, pacer(options));
  const { multipliers, threshold, reaches } = best;
  const rule: FairRule = { metric, multipliers, shares, threshold };
  const judged = judgeCounted(counted, decide(rule, counted), options);
  const { accuracy, ratio, interval } = judged;
  const present = shares.filter((share) => share > 0);
  const atNone = counted.rightAtNone / counted.weight;
  const absent = shares.flatMap((share, g) => (share > 0 ? [] : [g]));
  const warnings = [
    ...(reaches ? [] : [fairRuleTexts.notReached(level, ratio, selectionRate)]),
    ...(reaches && interval[0] < level ? [fairRuleTexts.uncertain(level, interval[0])] : []),
    ...(selectionRate === undefined && accuracy <= Math.max(atNone, 1 - atNone)
      ? [fairRuleTexts.constant(accuracy)]
      : []),
    ...(present.length < 2 ? [fairRuleTexts.oneGroup] : []),
    ...(absent.length > 0 ? [fairRuleTexts.absent(absent)] : []),
  ];
  return {
    ...rule,
    ...judged,
    level,
    reached: reaches,
    plain: { accuracy: plain.accuracy, selectionRate: plain.selectionRate, ratio: plain.ratio },
    countedBy:
      rows.correction !== undefined ? "both" : rows.groups === undefined ? "probabilities" : "groups",
    warnings,
  };
};

/**
 * eta(x) - sum_g lambda_g w_g(x) - t for each row, [rows]: how far it is on the selected side of the fair boundary.
 *
 * @example
 * ```ts
 * import { fairMargins } from "fairbed/mitigation";
 *
 * const rule = { metric: "dp", multipliers: [-0.1, 0.1], shares: [0.5, 0.5], threshold: 0.5 } as const;
 * const margins = fairMargins(rule, { scores: [0.6, 0.6], groupProbabilities: [1, 0, 0, 1] });
 * console.log(Array.from(margins, (margin) => margin.toFixed(2)).join(" ")); // 0.30 -0.10
 * ```
 */
export const fairMargins = (rule: FairRule, rows: BlindRows): Float64Array => {
  checkRule(rule);
  return marginsOf(rule, checkBlindRows(rows));
};

const checkRule = ({ metric, multipliers, shares, threshold }: FairRule): void => {
  const right =
    (metric === "dp" || metric === "eopp") &&
    multipliers.length === shares.length &&
    [...multipliers, ...shares, threshold].every(Number.isFinite) &&
    shares.every((share) => share >= 0);
  if (!right) throw new InputError("rule", fairRuleTexts.rule);
};

const marginsOf = (
  { metric, multipliers, shares, threshold }: FairRule,
  { eta, probabilities, groups }: Pick<CountedRows, "eta" | "probabilities" | "groups">,
): Float64Array => {
  if (groups !== shares.length) throw new InputError("groups", fairRuleTexts.groups(groups, shares.length));
  const scores = fairScores(eta, groupWeights(eta, probabilities, shares, metric), multipliers);
  return scores.map((score) => score - threshold);
};

const decide = (rule: FairRule, counted: CountedRows): Int32Array =>
  Int32Array.from(marginsOf(rule, counted), (margin) => Number(margin > 0));

/**
 * 1 (favourable) or 0 for each row, [rows]: what the rule makes of scores and group probabilities, as in
 * {@link FairRule}. No attribute is needed.
 *
 * @example
 * ```ts
 * import { applyFairRule } from "fairbed/mitigation";
 *
 * const rule = { metric: "dp", multipliers: [0, 0], shares: [0.5, 0.5], threshold: 0.5 } as const;
 * const scores = [0.4, 0.6];
 * console.log([...applyFairRule(rule, { scores, groupProbabilities: [0.3, 0.7, 0.9, 0.1] })]); // [ 0, 1 ]
 * ```
 */
export const applyFairRule = (rule: FairRule, rows: BlindRows): Int32Array =>
  Int32Array.from(fairMargins(rule, rows), (margin) => Number(margin > 0));

/**
 * What a rule comes to on rows that it was not fitted on, with an interval of the ratio. The rows are as in
 * {@link fitFairRule}: `groups` and `labels` are what it is judged by, and do not decide.
 *
 * @example
 * ```ts
 * import { judgeFairRule } from "fairbed/mitigation";
 *
 * const rule = { metric: "dp", multipliers: [0, 0], shares: [0.5, 0.5], threshold: 0.5 } as const;
 * const rows = {
 *   scores: [0.9, 0.7, 0.6, 0.2],
 *   groupProbabilities: [0.2, 0.8, 0.4, 0.6, 0.7, 0.3, 0.6, 0.4],
 *   groups: [1, 1, 0, 0],
 *   labels: [1, 1, 0, 0],
 * };
 * const { accuracy, ratio, rates } = judgeFairRule(rule, rows);
 * console.log(accuracy, ratio, rates); // 0.75 0.5 [ 0.5, 1 ]
 * ```
 */
export const judgeFairRule = (
  rule: FairRule,
  rows: FairRuleRows,
  options: JudgeRuleOptions = {},
): JudgedRule => {
  checkRule(rule);
  const counted = countRows(rows, rule.metric);
  return judgeCounted(counted, decide(rule, counted), options);
};
