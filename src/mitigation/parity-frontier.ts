/**
 * Accuracy against parity: what the scores of a model come to under the fair decision rule (`fair-rule.ts`), from the plain
 * rule to that of equal rates, and the highest accuracy where the groups' rates are at least so much alike.
 *
 * It is a measure, not a rule to use: the multipliers are read off the rows that are judged, the same for every model that
 * is compared. `fitFairRule` chooses them on other rows.
 *
 * At a fixed selection rate of the rows (that of the true positives unless given) models are compared where all select
 * equally many: of rows exactly at the threshold the share that is missing is counted, as if a coin were tossed for each.
 */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { type Interval, momentsOf, quantiles, sampleVariance } from "../core/stats.js";
import { type CountedRows, countRows, type FairMetric, type FairRuleRows } from "./fair-rule/rule-rows.js";
import { fairRuleTexts, type RuleOutcome } from "./fair-rule.js";
import { FAIR_RULE_DEFAULTS } from "./fair-rule-defaults.js";
import { bestAt, createEnvelope } from "./parity-frontier/envelope.js";
import { type FrontierGoal, searchFrontier } from "./parity-frontier/search.js";
import {
  lineOf,
  type ParityPoint,
  type Trial,
  trialOf,
  tryAllCuts,
  tryAtRate,
} from "./parity-frontier/trial.js";

export type { ParityPoint } from "./parity-frontier/trial.js";

/** Rows to judge: labels are needed, and groups where the true ones are to be compared. */
export type FrontierRows = FairRuleRows & { readonly labels: ArrayLike<number> };

export interface ParityFrontierOptions {
  /** What is to be equal ("dp"). */
  readonly metric?: FairMetric | undefined;
  /** The share of rows to select, above 0 and at most 1; "matched": that of the true positives; "free": any. */
  readonly selectionRate?: number | "matched" | "free" | undefined;
}

export interface AccuracyAtParityOptions extends ParityFrontierOptions {
  /** The least ratio of the lowest to the highest rate of a group, above 0 and at most 1 (0.8). */
  readonly level?: number | undefined;
}

export interface ParityTradeOff {
  /** From the most accurate to the most equal: ratios rise and accuracies fall. */
  readonly points: readonly ParityPoint[];
  /** Without multipliers. */
  readonly plain: RuleOutcome;
}

export interface ParityAccuracy {
  readonly metric: FairMetric;
  readonly level: number;
  /** The highest accuracy where the ratio is at least the level; undefined where no rule reaches it. */
  readonly accuracy: number | undefined;
  /** The rule that has it, or where none reaches the level the one that comes closest. */
  readonly best: ParityPoint;
  readonly plain: RuleOutcome;
}

export interface ParityAccuracyEstimate extends ParityAccuracy {
  /** 95 % of the accuracy for other such rows; undefined where too few resamples reach the level. */
  readonly interval: Interval | undefined;
  readonly standardError: number | undefined;
  /** The share of resamples in which some rule reaches the level. */
  readonly reached: number;
}

export interface EstimateAtParityOptions extends AccuracyAtParityOptions, RunOptions {
  /** Resamples of the rows behind the interval (200). */
  readonly replicates?: number | undefined;
  /** Where they are drawn from. */
  readonly stream?: RandomStream | undefined;
}

export const parityFrontierTexts = {
  selectionRate: (given: unknown) =>
    `the selection rate was ${String(given)}: give a share of the rows, above 0 and at most 1, "matched" or "free"`,
  replicates: (given: unknown) =>
    `the number of replicates was ${String(given)}: give a whole number of at least 20`,
};

/** With fewer resamples at the level than this share, what the others would have is missing from the interval. */
const ENOUGH = 0.9;

const checked = ({
  metric = FAIR_RULE_DEFAULTS.metric,
  level = FAIR_RULE_DEFAULTS.level,
  selectionRate = "matched",
}: AccuracyAtParityOptions) => {
  if (metric !== "dp" && metric !== "eopp") throw new InputError("metric", fairRuleTexts.metric(metric));
  if (!(level > 0 && level <= 1)) throw new InputError("level", fairRuleTexts.level(level));
  const named = selectionRate === "matched" || selectionRate === "free";
  if (!named && !(selectionRate > 0 && selectionRate <= 1))
    throw new InputError("selection-rate", parityFrontierTexts.selectionRate(selectionRate));
  return { metric, level, selectionRate };
};

/** Of rows that were counted: 1 - what is right where nobody is selected. */
const rateOf = (
  { rightAtNone, weight }: CountedRows,
  selectionRate: number | "matched" | "free",
): number | undefined => {
  if (selectionRate === "free") return undefined;
  return selectionRate === "matched" ? 1 - rightAtNone / weight : selectionRate;
};

const frontierOf = (counted: CountedRows, metric: FairMetric, goal: FrontierGoal): ParityTradeOff => {
  const trial = trialOf(counted, metric);
  const envelope = createEnvelope();
  searchFrontier(trial, goal, envelope);
  return { points: envelope.points(), plain: plainOf(trial, goal) };
};

const plainOf = (trial: Trial, { rate }: FrontierGoal): RuleOutcome => {
  const none = trial.counted.shares.map(() => 0);
  const place = lineOf(trial, none, none).at(0);
  const outcomeOf = ({ accuracy, selectionRate, ratio }: RuleOutcome) => ({ accuracy, selectionRate, ratio });
  if (rate !== undefined) return outcomeOf(tryAtRate(trial, place, rate).point);
  let plain: RuleOutcome = { accuracy: Number.NEGATIVE_INFINITY, selectionRate: 0, ratio: 0 };
  tryAllCuts(trial, place, (point) => {
    if (point.accuracy > plain.accuracy) plain = outcomeOf(point);
  });
  return plain;
};

/**
 * Accuracy against parity along the fair decision rule, as a frontier. `scores`, `groups`, `labels` and `weights` are
 * [rows], `groupProbabilities` row-major [rows, groups].
 *
 * @example
 * ```ts
 * import { parityFrontier } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.7, 0.3, 0.6, 0.45, 0.4, 0.1];
 * const labels = [1, 1, 1, 0, 1, 0, 0, 0];
 * const second = [0.9, 0.9, 0.8, 0.8, 0.1, 0.2, 0.1, 0.2]; // P(group 1 | x), by a model
 * const groupProbabilities = second.flatMap((p) => [1 - p, p]);
 * const groups = [1, 1, 1, 1, 0, 0, 0, 0];
 * const { points } = parityFrontier({ scores, groupProbabilities, groups, labels });
 * console.log(points.map(({ ratio, accuracy }) => `${ratio.toFixed(2)}: ${accuracy.toFixed(2)}`).join(", "));
 * // 0.33: 1.00, 1.00: 0.75
 * ```
 */
export const parityFrontier = (rows: FrontierRows, options: ParityFrontierOptions = {}): ParityTradeOff => {
  const { metric, level, selectionRate } = checked(options);
  const counted = countRows(rows, metric);
  return frontierOf(counted, metric, { level, rate: rateOf(counted, selectionRate) });
};

/**
 * The highest accuracy at which the lowest rate of a group is at least `level` times the highest, by the fair decision rule
 * read off these rows: what a model's scores and its group probabilities are worth where parity is asked for.
 *
 * @example
 * ```ts
 * import { accuracyAtParity } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.7, 0.3, 0.6, 0.45, 0.4, 0.1];
 * const labels = [1, 1, 1, 0, 1, 0, 0, 0];
 * const groups = [1, 1, 1, 1, 0, 0, 0, 0];
 * const groupProbabilities = groups.flatMap((g) => [1 - g, g]);
 * const { accuracy, plain } = accuracyAtParity({ scores, groupProbabilities, groups, labels });
 * console.log(plain.ratio.toFixed(2), plain.accuracy, accuracy); // 0.33 1 0.75
 * ```
 */
export const accuracyAtParity = (
  rows: FrontierRows,
  options: AccuracyAtParityOptions = {},
): ParityAccuracy => {
  const { metric, level, selectionRate } = checked(options);
  const counted = countRows(rows, metric);
  return atLevel(frontierOf(counted, metric, { level, rate: rateOf(counted, selectionRate) }), metric, level);
};

const atLevel = ({ points, plain }: ParityTradeOff, metric: FairMetric, level: number): ParityAccuracy => {
  const best = bestAt(points, level);
  return { metric, level, accuracy: best?.accuracy, best: best ?? points[points.length - 1], plain };
};

/** The same rows, each as often as it was drawn. */
const resampled = (rows: FrontierRows, times: Float64Array): FrontierRows => ({
  ...rows,
  weights: Float64Array.from(times, (each, row) => each * (rows.weights?.[row] ?? 1)),
});

/**
 * The same with an interval: the frontier is drawn again from resamples of the rows, so that it knows that the multipliers
 * are read off them.
 *
 * @example
 * ```ts
 * import { estimateAtParity, seededStream } from "fairbed/mitigation";
 *
 * const stream = seededStream(0);
 * const groups = Array.from({ length: 300 }, () => stream.integer(2));
 * const scores = groups.map((g) => stream.uniform(0.3 * g, 0.7 + 0.3 * g));
 * const labels = scores.map((p) => Number(stream.uniform() < p));
 * const rows = { scores, labels, groups, groupProbabilities: groups.flatMap((g) => [1 - g, g]) };
 * const { accuracy, interval } = await estimateAtParity(rows, { replicates: 40 });
 * console.log(interval[0] < accuracy, accuracy < interval[1]); // true true
 * ```
 */
export const estimateAtParity = async (
  rows: FrontierRows,
  options: EstimateAtParityOptions = {},
): Promise<ParityAccuracyEstimate> => {
  const { replicates = 200, stream = seededStream("accuracy at parity") } = options;
  if (!(Number.isInteger(replicates) && replicates >= 20))
    throw new InputError("replicates", parityFrontierTexts.replicates(replicates));
  const { metric, level } = checked(options);
  const found = accuracyAtParity(rows, options);
  const pace = pacer(options);
  const count = rows.labels.length;
  const accuracies: number[] = [];
  const times = new Float64Array(count);
  for (let r = 0; r < replicates; r++) {
    times.fill(0);
    for (let i = 0; i < count; i++) times[stream.integer(count)]++;
    const drawn = bothOutcomes(rows.labels, times)
      ? accuracyAtParity(resampled(rows, times), { ...options, metric, level }).accuracy
      : undefined;
    if (drawn !== undefined) accuracies.push(drawn);
    await pace.step({ done: r + 1, total: replicates, label: "resamples" });
  }
  const reached = accuracies.length / replicates;
  if (reached < ENOUGH || found.accuracy === undefined)
    return { ...found, interval: undefined, standardError: undefined, reached };
  const [low, high] = quantiles(accuracies, [0.025, 0.975]);
  return {
    ...found,
    interval: [low, high],
    standardError: Math.sqrt(sampleVariance(momentsOf(accuracies))),
    reached,
  };
};

const bothOutcomes = (labels: ArrayLike<number>, times: Float64Array): boolean => {
  let positive = 0;
  let all = 0;
  times.forEach((each, row) => {
    all += each;
    positive += each * labels[row];
  });
  return positive > 0 && positive < all;
};
