/** Rows in the order of a score, cut where it is best. */
import type { CountedRows } from "./rule-rows.js";

/** What a rule is to reach. */
export interface RuleGoal {
  /** The least ratio of the lowest to the highest rate of a group. */
  readonly level: number;
  /** The share of rows to select; the share with the highest accuracy unless given. */
  readonly selectionRate?: number | undefined;
}

/** A rule, and what it comes to on the rows it was tried out on. */
export interface TriedRule {
  readonly multipliers: readonly number[];
  /** The sum of their absolute values: how far the rule is from the plain one. */
  readonly size: number;
  readonly threshold: number;
  readonly ratio: number;
  readonly accuracy: number;
  readonly selectionRate: number;
  readonly reaches: boolean;
}

/** Ratios of sums that are equal in exact arithmetic may differ by their rounding. */
const ROUNDING = 1e-12;

/** min over max of the rates of groups that have one; 1 where nothing is compared, 0 where all rates are 0. */
export const ratioOfRates = (selected: ArrayLike<number>, totals: ArrayLike<number>): number => {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  let compared = 0;
  for (let g = 0; g < totals.length; g++) {
    if (!(totals[g] > 0)) continue;
    compared++;
    const rate = selected[g] / totals[g];
    least = Math.min(least, rate);
    most = Math.max(most, rate);
  }
  if (compared < 2) return 1;
  return most === 0 ? 0 : least / most;
};

/**
 * Which of two is taken: one that reaches the level; of those the smaller one where the selection rate is given, else
 * the more accurate and then the smaller one; where none reaches it, the one that comes closest.
 */
export const isBetter = (a: TriedRule, b: TriedRule | undefined, { selectionRate }: RuleGoal): boolean => {
  if (b === undefined) return true;
  if (a.reaches !== b.reaches) return a.reaches;
  if (!a.reaches)
    return Math.abs(a.ratio - b.ratio) > ROUNDING ? a.ratio > b.ratio : a.accuracy > b.accuracy + ROUNDING;
  if (selectionRate !== undefined) return a.size < b.size;
  return Math.abs(a.accuracy - b.accuracy) > ROUNDING ? a.accuracy > b.accuracy : a.size < b.size;
};

/** Halfway between the lowest selected and the highest other score: as far as can be from both. */
const between = (selected: number, other: number): number => {
  const middle = (selected + other) / 2;
  return middle < selected ? middle : other;
};

/** A sort from nothing compares about so many times for each row; more moves than that and it is the quicker way. */
const MOVES_PER_ROW = 60;

/**
 * Sorts `order` by `values`, the highest first, in place. It starts from the order that is there, which is nearly right
 * where the values moved little since.
 */
export const sortAgain = (order: Uint32Array, values: Float64Array): void => {
  let left = MOVES_PER_ROW * order.length;
  for (let k = 1; k < order.length; k++) {
    const row = order[k];
    const value = values[row];
    let at = k;
    for (; at > 0 && values[order[at - 1]] < value; at--) order[at] = order[at - 1];
    order[at] = row;
    left -= k - at;
    if (left < 0) {
      order.sort((i, j) => values[j] - values[i]);
      return;
    }
  }
};

/**
 * The best threshold for the scores `values` [rows], or the one that selects a share closest to the goal's. Equal scores
 * are never parted. Somebody is always selected; `everybody` is the threshold that selects all, whatever their scores.
 * `order` has every row once and is sorted by the scores here.
 */
export const bestCut = (
  counted: CountedRows,
  values: Float64Array,
  multipliers: readonly number[],
  everybody: number,
  goal: RuleGoal,
  order: Uint32Array,
): TriedRule => {
  const { rows, groups, counts, totals, weights, weight, gains, rightAtNone } = counted;
  sortAgain(order, values);
  const size = multipliers.reduce((sum, each) => sum + Math.abs(each), 0);
  const selected = new Float64Array(groups);
  let share = 0;
  let right = rightAtNone;
  let best: TriedRule | undefined;
  let off = Number.POSITIVE_INFINITY;
  for (let k = 0; k < rows; k++) {
    const row = order[k];
    for (let g = 0; g < groups; g++) selected[g] += counts[row * groups + g];
    share += weights[row];
    right += gains[row];
    if (k + 1 < rows && values[order[k + 1]] === values[row]) continue;
    const accuracy = right / weight;
    // Neither a free threshold that is less accurate nor, with the same multipliers, one that is as accurate is better.
    if (goal.selectionRate === undefined && best?.reaches === true && accuracy <= best.accuracy + ROUNDING)
      continue;
    const ratio = ratioOfRates(selected, totals);
    const tried: TriedRule = {
      multipliers,
      size,
      threshold: k + 1 < rows ? between(values[row], values[order[k + 1]]) : everybody,
      ratio,
      accuracy,
      selectionRate: share / weight,
      reaches: ratio >= goal.level - ROUNDING,
    };
    if (goal.selectionRate === undefined) {
      if (isBetter(tried, best, goal)) best = tried;
    } else {
      const distance = Math.abs(tried.selectionRate - goal.selectionRate);
      if (distance < off - ROUNDING) {
        off = distance;
        best = tried;
      }
    }
  }
  // There is at least one row, and the last one ends a cut.
  if (best === undefined) throw new RangeError("there are no rows to cut");
  return best;
};
