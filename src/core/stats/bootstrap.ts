import { InputError } from "../errors.js";
import { normalCdf, normalQuantile } from "../math.js";
import { unpaced } from "../options.js";
import type { RandomStream } from "../random.js";
import type { Interval } from "./intervals.js";
import { momentsOf, sampleVariance } from "./moments.js";
import { quantiles } from "./quantile.js";
import { requireLevel } from "./values.js";

/** A number computed from the rows with these indices; an index that occurs twice counts twice. */
export type RowStatistic = (rows: Uint32Array) => number;

export interface BootstrapOptions {
  readonly stream: RandomStream;
  /** `"bca"` corrects the percentile interval for bias and skewness at the price of n more evaluations. */
  readonly method?: "percentile" | "bca" | undefined;
  readonly replicates?: number | undefined;
  readonly level?: number | undefined;
}

export interface BootstrapEstimate {
  /** The statistic of all rows. */
  readonly estimate: number;
  /** The standard deviation of the replicates. */
  readonly standardError: number;
  readonly interval: Interval;
}

export const bootstrapRowsText = (rows: number): string =>
  `bootstrap got ${rows} rows, but needs a whole number of at least 2; pass the number of rows of the data.`;
export const bootstrapReplicatesText = (replicates: number): string =>
  `bootstrap got ${replicates} replicates, but needs a whole number of at least 2; 2000 is a common choice.`;
export const bootstrapStatisticText = (value: number, where: string): string =>
  `The statistic given to bootstrap returned ${value} for ${where}, but must return a finite number for any rows; make it defined for resampled rows too.`;
export const bootstrapBiasText = (estimate: number): string =>
  `bootstrap cannot correct the bias of a statistic whose replicates all lie on one side of the estimate ${estimate}; use the method "percentile" or a smoother statistic.`;

const evaluate = (statistic: RowStatistic, rows: Uint32Array, where: string): number => {
  const value = statistic(rows);
  if (!Number.isFinite(value)) {
    throw new InputError("bootstrap-statistic", bootstrapStatisticText(value, where));
  }
  return value;
};

/** The jackknife's acceleration: sum d^3 / (6 (sum d^2)^(3/2)), d_i = mean - leave-one-out value; 0 where all agree. */
const acceleration = (rows: number, statistic: RowStatistic): number => {
  const rest = Uint32Array.from({ length: rows - 1 }, (_, i) => i + 1);
  const values = new Float64Array(rows);
  for (let out = 0; out < rows; out++) {
    if (out > 0) rest[out - 1] = out - 1;
    // The statistic gets a copy, because it may sort its argument.
    values[out] = evaluate(statistic, rest.slice(), `all rows but ${out}`);
  }
  const { mean } = momentsOf(values);
  let squares = 0;
  let cubes = 0;
  for (const value of values) {
    const d = mean - value;
    squares += d * d;
    cubes += d * d * d;
  }
  return squares === 0 ? 0 : cubes / (6 * squares * Math.sqrt(squares));
};

/** The levels at which BCa reads the replicates: Phi(z0 + (z0 + z) / (1 - a (z0 + z))), Efron (JASA 82, 1987), 2.3. */
const correctedLevels = (replicates: Float64Array, estimate: number, a: number, tail: number): number[] => {
  let below = 0;
  // A replicate equal to the estimate, common for discrete statistics, counts half.
  for (const value of replicates) below += value < estimate ? 1 : value === estimate ? 0.5 : 0;
  if (below === 0 || below === replicates.length) {
    throw new InputError("bootstrap-bias", bootstrapBiasText(estimate));
  }
  const bias = normalQuantile(below / replicates.length);
  return [tail, 1 - tail].map((p) => {
    const shifted = bias + normalQuantile(p);
    return normalCdf(bias + shifted / (1 - a * shifted));
  });
};

/**
 * The bootstrap (Efron and Tibshirani, 1993) of a statistic over `rows` >= 2 rows: an estimate, its standard error
 * and an interval from `replicates` resamples of the rows with replacement.
 *
 * The statistic sees row indices, so columns that belong together stay together. The indices are drawn from `stream`,
 * which moves on.
 */
export const bootstrap = (
  rows: number,
  statistic: RowStatistic,
  options: BootstrapOptions,
): BootstrapEstimate => unpaced(bootstrapInSteps(rows, statistic, options));

/** The same in pieces, one for each resample. */
export function* bootstrapInSteps(
  rows: number,
  statistic: RowStatistic,
  { stream, method = "bca", replicates = 2000, level = 0.95 }: BootstrapOptions,
): Generator<undefined, BootstrapEstimate> {
  requireLevel(level);
  if (!Number.isInteger(rows) || rows < 2) throw new InputError("bootstrap-rows", bootstrapRowsText(rows));
  if (!Number.isInteger(replicates) || replicates < 2) {
    throw new InputError("bootstrap-replicates", bootstrapReplicatesText(replicates));
  }
  const estimate = evaluate(
    statistic,
    Uint32Array.from({ length: rows }, (_, i) => i),
    "all rows",
  );
  const indices = new Uint32Array(rows);
  const values = new Float64Array(replicates);
  for (let r = 0; r < replicates; r++) {
    for (let i = 0; i < rows; i++) indices[i] = stream.integer(rows);
    values[r] = evaluate(statistic, indices, `replicate ${r}`);
    yield;
  }
  const standardError = Math.sqrt(sampleVariance(momentsOf(values)));
  // A statistic that no resample changes has no bias and no skewness to correct.
  if (standardError === 0) return { estimate, standardError, interval: [values[0], values[0]] };
  const tail = (1 - level) / 2;
  const levels =
    method === "bca"
      ? correctedLevels(values, estimate, acceleration(rows, statistic), tail)
      : [tail, 1 - tail];
  const [low, high] = quantiles(values, levels);
  return { estimate, standardError, interval: [low, high] };
}
