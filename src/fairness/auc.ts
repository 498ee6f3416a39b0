/**
 * How well scores tell groups apart, whatever the groups' shares: the area under the ROC curve.
 *
 * Two groups: A = P(score of a member of group 1 > score of a member of group 0), equal scores counted half. More:
 * Hand and Till's M (Machine Learning 45, 2001), the mean over ordered pairs of A(i | j), which compares members of i and
 * of j by P(i | x); no share enters it, so a rare group counts as much as a common one.
 *
 * The error is DeLong, DeLong and Clarke-Pearson's (Biometrics 44, 1988): a row's placement is the share of another group
 * that it is above (below), and the rows of each group vary independently about their mean placement.
 */
import { InputError } from "../core/errors.js";
import { exp, log, normalQuantile } from "../core/math.js";
import { type Interval, intervalWithin, UNIT_RANGE } from "../core/stats.js";
import { requireLabels, requireLength } from "./group-metrics/group-labels.js";

export interface AucOptions {
  /** How much each row counts, [rows]; 1 unless given. */
  readonly weights?: ArrayLike<number> | undefined;
  /** Of the interval (0.95). */
  readonly level?: number | undefined;
}

export interface Auc {
  /** 0.5 where the scores say nothing, 1 where they tell all groups apart. */
  readonly auc: number;
  readonly standardError: number;
  /** On other such rows with the same scores; Wald's on the scale of log odds, so within 0 and 1. */
  readonly interval: Interval;
}

export const aucTexts = {
  shape: (given: number, rows: number, classes: number) =>
    `There are ${given} probabilities for ${rows} rows of ${classes} groups; give one for each row and group, row by row.`,
};

/** tail^(1 / n), where no placement varies: the lowest share of which n of n is not yet unlikely (Clopper, Pearson). */
const atTheEnd = (rows: number, tail: number): number => exp(log(tail) / Math.max(1, rows));

const intervalOf = (auc: number, error: number, smallest: number, level: number): Interval => {
  const tail = (1 - level) / 2;
  if (auc <= 0) return [0, 1 - atTheEnd(smallest, tail)];
  if (auc >= 1) return [atTheEnd(smallest, tail), 1];
  return intervalWithin(auc, -normalQuantile(tail) * error, UNIT_RANGE);
};

/**
 * The area under the ROC curve of group probabilities, row-major [rows, classes], with what is known about it. `groups` is
 * [rows], -1 where it is unknown and left out. 0.5 where fewer than two groups are there.
 *
 * @example
 * ```ts
 * import { groupAuc } from "fairbed/fairness";
 *
 * const second = [0.9, 0.7, 0.4, 0.4, 0.2]; // P(group 1 | x)
 * const { auc } = groupAuc(second.flatMap((p) => [1 - p, p]), [1, 1, 1, 0, 0], 2);
 * console.log(auc.toFixed(3)); // 0.917
 * ```
 */
export const groupAuc = (
  probabilities: ArrayLike<number>,
  groups: ArrayLike<number>,
  classes: number,
  { weights, level = 0.95 }: AucOptions = {},
): Auc => {
  const rows = groups.length;
  if (probabilities.length !== rows * classes)
    throw new InputError("shape", aucTexts.shape(probabilities.length, rows, classes));
  requireLength("weights", weights, rows);
  requireLabels(Int32Array.from(groups), classes);
  const weightOf = (row: number): number => weights?.[row] ?? 1;
  const totals = new Float64Array(classes);
  const counts = new Float64Array(classes);
  const squares = new Float64Array(classes);
  const known: number[] = [];
  for (let row = 0; row < rows; row++) {
    const weight = weightOf(row);
    if (groups[row] < 0 || !(weight > 0)) continue;
    known.push(row);
    totals[groups[row]] += weight;
    squares[groups[row]] += weight * weight;
    counts[groups[row]]++;
  }
  const present = [...totals.keys()].filter((g) => totals[g] > 0);
  if (present.length < 2) return { auc: 0.5, standardError: 0, interval: [0, 1] };
  // The columns of two groups mirror each other: one says all.
  const columns = classes === 2 ? [1] : present;
  const share = classes === 2 ? 1 : 1 / (present.length * (present.length - 1));
  const placements = new Float64Array(rows);
  let auc = 0;
  for (const own of columns) addColumn(own);
  return { auc, ...errorOf() };

  /** Adds A(own | j) of every other group j, and every row's part in them. */
  function addColumn(own: number): void {
    const values = new Float64Array(rows);
    for (const row of known) values[row] = probabilities[row * classes + own];
    const order = Uint32Array.from(known).sort((a, b) => values[a] - values[b]);
    const below = new Float64Array(classes);
    const tied = new Float64Array(classes);
    for (let from = 0; from < order.length; ) {
      let to = from;
      tied.fill(0);
      while (to < order.length && values[order[to]] === values[order[from]]) {
        tied[groups[order[to]]] += weightOf(order[to]);
        to++;
      }
      let aboveOthers = 0;
      for (const j of present) if (j !== own) aboveOthers += (below[j] + tied[j] / 2) / totals[j];
      const underOwn = 1 - (below[own] + tied[own] / 2) / totals[own];
      auc += (share * aboveOthers * tied[own]) / totals[own];
      for (; from < to; from++) {
        const row = order[from];
        placements[row] += share * (groups[row] === own ? aboveOthers : underOwn);
      }
      for (const j of present) below[j] += tied[j];
    }
  }

  function errorOf(): Omit<Auc, "auc"> {
    const means = new Float64Array(classes);
    for (const row of known) means[groups[row]] += (weightOf(row) * placements[row]) / totals[groups[row]];
    let variance = 0;
    for (const row of known) {
      const g = groups[row];
      const part = (weightOf(row) * (placements[row] - means[g])) / totals[g];
      variance += part * part * (counts[g] > 1 ? counts[g] / (counts[g] - 1) : 1);
    }
    const standardError = Math.sqrt(variance);
    // The effective number of rows of the smallest group, (sum w)^2 / sum w^2.
    const smallest = Math.min(...present.map((g) => (totals[g] * totals[g]) / squares[g]));
    return { standardError, interval: intervalOf(auc, standardError, smallest, level) };
  }
};
