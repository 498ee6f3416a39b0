/** A continuous attribute as classes. */

import { InputError } from "../../core/errors.js";
import { shortest } from "../../core/number-text.js";
import { quantiles } from "../../core/stats.js";
import { leakageTexts } from "./texts.js";

export interface BinnedAttribute {
  /** [rows], -1 where the value is NaN. */
  readonly labels: Int32Array;
  readonly names: readonly string[];
  /** A value belongs to the class of the first cut that it is below, or to the last. */
  readonly cuts: readonly number[];
}

/** Classes of the values by given cuts. */
export const binByCuts = (values: ArrayLike<number>, cuts: readonly number[]): Int32Array =>
  Int32Array.from(values, (value) => {
    if (Number.isNaN(value)) return -1;
    let bin = 0;
    while (bin < cuts.length && value >= cuts[bin]) bin++;
    return bin;
  });

const short = (value: number): string => shortest(value, 6);

/**
 * Cut at quantiles into `bins` classes (4) of about the same size; fewer where many rows have the same value. `values`
 * is [rows], NaN where unknown.
 *
 * @example
 * ```ts
 * import { quantileBins } from "fairbed/fairness";
 *
 * const { labels, cuts } = quantileBins([18, 25, 31, 40, 52, 67], 2);
 * console.log([...labels], cuts); // [ 0, 0, 0, 1, 1, 1 ] [ 35.5 ]
 * ```
 */
export const quantileBins = (values: ArrayLike<number>, bins = 4): BinnedAttribute => {
  if (!Number.isInteger(bins) || bins < 2) throw new InputError("bins", leakageTexts.bins(bins));
  const known = Float64Array.from(values).filter((value) => !Number.isNaN(value));
  if (known.length === 0) throw new InputError("one-value", leakageTexts.oneValue);
  const least = known.reduce((a, b) => Math.min(a, b));
  const wanted = Array.from({ length: bins - 1 }, (_, i) => (i + 1) / bins);
  const cuts = [...new Set(quantiles(known, wanted))].filter((cut) => cut > least);
  if (cuts.length === 0) {
    // More than half of the rows have the least value: those against the rest.
    const next = known.reduce((a, b) => (b > least ? Math.min(a, b) : a), Number.POSITIVE_INFINITY);
    if (!Number.isFinite(next)) throw new InputError("one-value", leakageTexts.oneValue);
    cuts.push(next);
  }
  const names = [
    `below ${short(cuts[0])}`,
    ...cuts.slice(1).map((cut, i) => `${short(cuts[i])} to below ${short(cut)}`),
    `${short(cuts[cuts.length - 1])} or more`,
  ];
  return { labels: binByCuts(values, cuts), names, cuts };
};
