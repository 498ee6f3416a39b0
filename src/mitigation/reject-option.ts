/**
 * Reject option classification (Kamiran et al. 2012): near the threshold, where a classifier is least sure, the
 * unprivileged get the favourable label and the privileged the other.
 *
 * The favourable label is score > t; in the critical region t - m < score <= t + m it is given by group instead. So an
 * unprivileged row is favoured where score > t - m, a privileged one where score > t + m.
 */

import { InputError } from "../core/errors.js";
import { fixed } from "../core/number-text.js";
import { checkBothGroups, checkGroups, checkLabels } from "./groups.js";
import { REJECT_OPTION_DEFAULTS } from "./reject-option-defaults.js";

/** What is applied to scores; plain data. */
export interface RejectOptionRule {
  /** t. */
  readonly threshold: number;
  /** m, half the width of the critical region. */
  readonly margin: number;
}

export interface RejectOptionOptions {
  /** The differences P(favoured | unprivileged) - P(favoured | privileged) that are fair enough ([-0.05, 0.05]). */
  readonly band?: readonly [number, number] | undefined;
  /**
   * What to take where nothing lies in the band. "absolute" (unless given): the smallest absolute difference, and of
   * those the most accurate. "signed": the smallest signed difference, as AIF360 does, which is the one that harms the
   * unprivileged most; for comparison only.
   */
  readonly fallback?: "absolute" | "signed" | undefined;
}

export interface FittedRejectOption extends RejectOptionRule {
  /** (TPR + TNR) / 2 on the rows it was fitted on. */
  readonly balancedAccuracy: number;
  /** P(favoured | unprivileged) - P(favoured | privileged) on those rows. */
  readonly difference: number;
  readonly unprivilegedRate: number;
  readonly privilegedRate: number;
  readonly withinBand: boolean;
  readonly band: readonly [number, number];
  /** How many rows the rule labels otherwise than the threshold alone would. */
  readonly relabelled: number;
  /** One sentence for a person, where nothing lay in the band. */
  readonly warning: string | undefined;
}

export const rejectOptionTexts = {
  score: (row: number, score: number) =>
    `the score of row ${row} is ${score}: give probabilities of the favourable outcome, from 0 to 1`,
  band: (low: unknown, high: unknown) =>
    `the band was [${String(low)}, ${String(high)}]: give two numbers, the lower one first`,
  fallback: (given: unknown) => `the fallback was ${String(given)}: give "absolute" or "signed"`,
  rule: (threshold: unknown, margin: unknown) =>
    `the rule has threshold ${String(threshold)} and margin ${String(margin)}: give a threshold from 0 to 1 and a margin of at least 0, as fitting gives them`,
  outside: (low: number, high: number, difference: number) =>
    `no threshold and margin bring the difference between the groups into [${low}, ${high}], so the one with a difference of ${fixed(difference, 3)} was taken: widen the band, or use a classifier that knows more`,
};

const THRESHOLDS = 100;
const MARGINS = 50;

/** Entry i of `count` evenly spaced numbers, both ends included and exact: NumPy's linspace. */
const spaced = (from: number, to: number, count: number, i: number): number =>
  i === count - 1 ? to : i * ((to - from) / (count - 1)) + from;

/** The cells (t, m) of the grid in order, t outer: [thresholds x margins, 2]. */
const gridCells = (): Float64Array => {
  const cells = new Float64Array(2 * THRESHOLDS * MARGINS);
  for (let i = 0; i < THRESHOLDS; i++) {
    const t = spaced(0.01, 0.99, THRESHOLDS, i);
    for (let j = 0; j < MARGINS; j++) {
      const at = 2 * (i * MARGINS + j);
      cells[at] = t;
      cells[at + 1] = spaced(0, Math.min(t, 1 - t), MARGINS, j);
    }
  }
  return cells;
};

const checkScores = (scores: ArrayLike<number>): Float64Array => {
  const out = Float64Array.from(scores);
  out.forEach((score, row) => {
    if (!(score >= 0 && score <= 1)) throw new InputError("score", rejectOptionTexts.score(row, score));
  });
  return out;
};

/** How many rows of a group score above a number, and how many of them have label 1. */
interface ScoredGroup {
  /** Ascending. */
  readonly scores: Float64Array;
  /** [i]: rows with label 1 among the scores from i on. */
  readonly positives: Int32Array;
}

const groupOf = (
  scores: Float64Array,
  labels: Uint8Array,
  privileged: Uint8Array,
  group: number,
): ScoredGroup => {
  const of = (label: number) => scores.filter((_, i) => privileged[i] === group && labels[i] === label);
  const all = scores.filter((_, i) => privileged[i] === group).sort();
  const ones = of(1).sort();
  const positives = new Int32Array(all.length + 1);
  // Equal scores are never parted by a threshold, so which of them has label 1 does not matter.
  for (let i = 0, one = 0; i < all.length; i++) {
    positives[i] = ones.length - one;
    if (one < ones.length && ones[one] === all[i]) one++;
  }
  return { scores: all, positives };
};

/** The index of the first of the ascending scores that is above `limit`. */
const firstAbove = (scores: Float64Array, limit: number): number => {
  let low = 0;
  let high = scores.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (scores[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** What a cell of the grid comes to, in counts. */
interface Outcome extends RejectOptionRule {
  /** Favoured rows. */
  readonly unprivileged: number;
  readonly privileged: number;
  /** Right ones of each label. */
  readonly truePositives: number;
  readonly trueNegatives: number;
}

/**
 * The threshold and margin with the largest balanced accuracy among those whose difference lies in the band; the first
 * in grid order (t outer, m inner) of several. Accuracies are compared as whole numbers, so that ties are ties.
 *
 * Fit it on rows that the classifier was not trained on: `scores` are P(favourable), `labels` 1 where the outcome was
 * favourable, `privileged` 1 for that group; one entry per row each, [rows].
 *
 * @example
 * ```ts
 * import { fitRejectOption } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.6, 0.3, 0.55, 0.45, 0.4, 0.1];
 * const labels = [1, 1, 1, 0, 1, 0, 1, 0];
 * const privileged = [1, 1, 1, 1, 0, 0, 0, 0];
 * const { difference, withinBand, relabelled } = fitRejectOption(scores, labels, privileged);
 * console.log(difference, withinBand, relabelled > 0); // 0 true true
 * ```
 */
export const fitRejectOption = (
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  privileged: ArrayLike<number>,
  options: RejectOptionOptions = {},
): FittedRejectOption => {
  const { band = REJECT_OPTION_DEFAULTS.band, fallback = REJECT_OPTION_DEFAULTS.fallback } = options;
  const [low, high] = band;
  if (!(low <= high)) throw new InputError("band", rejectOptionTexts.band(low, high));
  if (fallback !== "absolute" && fallback !== "signed")
    throw new InputError("fallback", rejectOptionTexts.fallback(fallback));
  const checked = checkScores(scores);
  const outcomes = checkLabels(labels, checked.length);
  const groups = checkBothGroups(privileged, checked.length);

  const unprivilegedRows = groupOf(checked, outcomes, groups, 0);
  const privilegedRows = groupOf(checked, outcomes, groups, 1);
  const positives = outcomes.reduce((sum, label) => sum + label, 0);
  const negatives = outcomes.length - positives;
  const differenceOf = (cell: Outcome): number =>
    cell.unprivileged / unprivilegedRows.scores.length - cell.privileged / privilegedRows.scores.length;
  // TPR + TNR over their common denominator.
  const accuracyOf = (cell: Outcome): number =>
    cell.truePositives * negatives + cell.trueNegatives * positives;

  let best: Outcome | undefined;
  let second: Outcome | undefined;
  const cells = gridCells();
  for (let at = 0; at < cells.length; at += 2) {
    const cell = outcomeOf(cells[at], cells[at + 1], unprivilegedRows, privilegedRows, negatives);
    const difference = differenceOf(cell);
    if (difference >= low && difference <= high) {
      if (best === undefined || accuracyOf(cell) > accuracyOf(best)) best = cell;
    } else if (second === undefined) {
      second = cell;
    } else if (fallback === "signed") {
      if (difference < differenceOf(second)) second = cell;
    } else {
      const gain = Math.abs(differenceOf(second)) - Math.abs(difference);
      if (gain > 0 || (gain === 0 && accuracyOf(cell) > accuracyOf(second))) second = cell;
    }
  }
  const chosen = best ?? second;
  // The grid is never empty.
  if (chosen === undefined) throw new RangeError("the grid has no cells");
  const { threshold, margin } = chosen;
  const difference = differenceOf(chosen);
  const plain = outcomeOf(threshold, 0, unprivilegedRows, privilegedRows, negatives);
  return {
    threshold,
    margin,
    balancedAccuracy: (chosen.truePositives / positives + chosen.trueNegatives / negatives) / 2,
    difference,
    unprivilegedRate: chosen.unprivileged / unprivilegedRows.scores.length,
    privilegedRate: chosen.privileged / privilegedRows.scores.length,
    withinBand: best !== undefined,
    band: [low, high],
    relabelled: chosen.unprivileged - plain.unprivileged + (plain.privileged - chosen.privileged),
    warning: best === undefined ? rejectOptionTexts.outside(low, high, difference) : undefined,
  };
};

const outcomeOf = (
  threshold: number,
  margin: number,
  unprivilegedRows: ScoredGroup,
  privilegedRows: ScoredGroup,
  negatives: number,
): Outcome => {
  const u = firstAbove(unprivilegedRows.scores, threshold - margin);
  const p = firstAbove(privilegedRows.scores, threshold + margin);
  const unprivileged = unprivilegedRows.scores.length - u;
  const privileged = privilegedRows.scores.length - p;
  const truePositives = unprivilegedRows.positives[u] + privilegedRows.positives[p];
  const trueNegatives = negatives - (unprivileged + privileged - truePositives);
  return { threshold, margin, unprivileged, privileged, truePositives, trueNegatives };
};

/**
 * 1 (favourable) or 0 for each row, [rows]: score > t - m for the unprivileged, score > t + m for the privileged.
 * `scores` and `privileged` are as in {@link fitRejectOption}, of both groups or one.
 *
 * @example
 * ```ts
 * import { applyRejectOption } from "fairbed/mitigation";
 *
 * const rule = { threshold: 0.5, margin: 0.1 };
 * console.log([...applyRejectOption(rule, [0.45, 0.45, 0.65], [0, 1, 1])]); // [ 1, 0, 1 ]
 * ```
 */
export const applyRejectOption = (
  { threshold, margin }: RejectOptionRule,
  scores: ArrayLike<number>,
  privileged: ArrayLike<number>,
): Int32Array => {
  if (!(threshold >= 0 && threshold <= 1 && margin >= 0 && Number.isFinite(margin)))
    throw new InputError("rule", rejectOptionTexts.rule(threshold, margin));
  const checked = checkScores(scores);
  const groups = checkGroups(privileged, checked.length);
  return Int32Array.from(checked, (score, row) =>
    score > (groups[row] === 1 ? threshold + margin : threshold - margin) ? 1 : 0,
  );
};
