/** How far the ratio of two rates may be from what some rows show. */
import { exp, log, normalQuantile } from "../../core/math.js";
import type { RandomStream } from "../../core/random.js";
import { bootstrap, type Interval } from "../../core/stats.js";
import { ratioOfRates } from "./cuts.js";
import type { CountedRows } from "./rule-rows.js";

/** The percentile interval of resampled rows; one in which a group or the selected are missing counts as 0. */
export const resampledInterval = (
  { rows, groups, counts, totals }: CountedRows,
  decided: Int32Array,
  replicates: number,
  stream: RandomStream,
): Interval => {
  const present = [...totals.keys()].filter((g) => totals[g] > 0);
  if (rows < 2 || present.length < 2) return [1, 1];
  const statistic = (drawn: Uint32Array): number => {
    const selected = new Float64Array(groups);
    const sums = new Float64Array(groups);
    for (const row of drawn)
      for (const g of present) {
        const count = counts[row * groups + g];
        sums[g] += count;
        if (decided[row] === 1) selected[g] += count;
      }
    return present.some((g) => sums[g] === 0) ? 0 : ratioOfRates(selected, sums);
  };
  return bootstrap(rows, statistic, { stream, method: "percentile", replicates }).interval;
};

const QUANTILE = normalQuantile(0.975);

/**
 * The same without resamples: log ratio = log rate_g - log rate_h, whose variance is that of the sum over rows of
 * c_g (f - rate_g) / (C_g rate_g) - c_h (f - rate_h) / (C_h rate_h), part by part (the delta method). Rows that count in
 * several groups are taken care of, and so are corrections. [0, 1] where a rate is 0.
 */
export const linearInterval = (
  { groups, counts, totals, parts }: CountedRows,
  decided: Int32Array,
): Interval => {
  const present = [...totals.keys()].filter((g) => totals[g] > 0);
  if (present.length < 2) return [1, 1];
  const rates = present.map((g) => {
    let selected = 0;
    decided.forEach((one, row) => {
      if (one === 1) selected += counts[row * groups + g];
    });
    return selected / totals[g];
  });
  const least = rates.indexOf(Math.min(...rates));
  const most = rates.indexOf(Math.max(...rates));
  if (!(rates[least] > 0)) return [0, 1];
  const influence = (row: number, place: number): number => {
    const g = present[place];
    return (counts[row * groups + g] * (decided[row] - rates[place])) / (totals[g] * rates[place]);
  };
  let variance = 0;
  let first = 0;
  for (const size of parts) {
    let sum = 0;
    let squares = 0;
    for (let row = first; row < first + size; row++) {
      const own = influence(row, least) - influence(row, most);
      sum += own;
      squares += own * own;
    }
    variance += size > 1 ? ((squares - (sum * sum) / size) * size) / (size - 1) : squares;
    first += size;
  }
  const half = QUANTILE * Math.sqrt(Math.max(0, variance));
  const middle = log(rates[least] / rates[most]);
  // The lowest over the highest rate is at most 1, whichever they are on other rows.
  return [exp(middle - half), Math.min(1, exp(middle + half))];
};
