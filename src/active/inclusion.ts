/**
 * Estimates for a whole pool from an acquisition of which a part was drawn at random.
 *
 * Let draw m take one of the R_m rows that are left, each with probability p_m = 1 / R_m. What was acquired before it is
 * known for certain, so for any value L of a row
 *
 *     T_m = sum of L over all rows acquired before + L(drawn) / p_m
 *
 * has the total over the pool as its expectation, whatever was acquired before and why. So has the mean of T_m over all
 * draws, which is a weighted sum over the acquired rows: a row counts 1 for every draw after it, and 1 / p_m for its own,
 * divided by the number of draws. Errors of two draws are uncorrelated (the earlier one is known when the later one is
 * drawn), so the spread of the T_m says how uncertain their mean is.
 */
import { InputError } from "../core/errors.js";
import { type EstimatedMean, meanEstimate } from "../core/stats.js";

export const inclusionTexts = {
  none: "no row was drawn at random, so nothing can be said of the whole pool: let a part of the labels be drawn at random",
  probability: (index: number) =>
    `the probability of acquired row ${index} is not above 0 and at most 1: give the one with which it was drawn, or none`,
  lengths: (given: number, rows: number) =>
    `there are ${given} values for ${rows} acquired rows: give one for each`,
};

/** One that was acquired, in the order of acquisition. */
export interface IncludedRow {
  /** With which it was drawn among all that were left; undefined where it was chosen. */
  readonly probability?: number | undefined;
}

const drawsOf = (acquired: readonly IncludedRow[]): readonly number[] =>
  acquired.flatMap(({ probability }, i) => {
    if (probability === undefined) return [];
    if (!(probability > 0 && probability <= 1)) {
      throw new InputError("probability", inclusionTexts.probability(i));
    }
    return [i];
  });

/**
 * For how many rows of the pool each acquired row counts, [acquired]: inverse-probability weights under which sums over
 * the acquired rows are unbiased estimates of sums over the pool.
 *
 * @example
 * ```ts
 * import { inclusionWeights } from "fairbed/active";
 *
 * // Of ten rows the first was chosen, the second drawn from the nine that were left.
 * console.log([...inclusionWeights([{}, { probability: 1 / 9 }])]); // [ 1, 9 ]
 * ```
 */
export const inclusionWeights = (acquired: readonly IncludedRow[]): Float64Array => {
  const draws = drawsOf(acquired);
  if (draws.length === 0) throw new InputError("no-draws", inclusionTexts.none);
  const weights = new Float64Array(acquired.length);
  let after = draws.length;
  acquired.forEach(({ probability }, i) => {
    if (probability !== undefined) after -= 1;
    weights[i] = (after + (probability === undefined ? 0 : 1 / probability)) / draws.length;
  });
  return weights;
};

/**
 * The mean of a value over the whole pool, with a 95 % interval, from its values of the acquired rows, [acquired]. Rows
 * that left the pool without an answer before a draw, or that were never asked, are no part of what it is about.
 *
 * @example
 * ```ts
 * import { poolMean } from "fairbed/active";
 *
 * const acquired = [{}, { probability: 1 / 9 }, {}, { probability: 1 / 7 }];
 * const right = [0, 1, 1, 1]; // whether a prediction was right
 * console.log(poolMean(acquired, right).mean.toFixed(2)); // 0.90
 * ```
 */
export const poolMean = (acquired: readonly IncludedRow[], values: ArrayLike<number>): EstimatedMean => {
  if (values.length !== acquired.length) {
    throw new InputError("lengths", inclusionTexts.lengths(values.length, acquired.length));
  }
  if (drawsOf(acquired).length === 0) throw new InputError("no-draws", inclusionTexts.none);
  let before = 0;
  const means: number[] = [];
  acquired.forEach(({ probability }, i) => {
    // So many rows were left when it was drawn, and i were known.
    if (probability !== undefined) means.push((before + values[i] / probability) / (i + 1 / probability));
    before += values[i];
  });
  return meanEstimate(means);
};
