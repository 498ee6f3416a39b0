/** What a recipe is worth on the rows that no choice saw, with intervals for both its seeds and those rows. */
import type { RandomStream } from "../core/random.js";
import {
  ANYWHERE,
  DIFFERENCE_RANGE,
  type Interval,
  intervalWithin,
  meanEstimate,
  momentsOf,
  sampleVariance,
  studentTQuantile,
  UNIT_RANGE,
} from "../core/stats.js";
import { type JudgedRows, type Measured, measure } from "./plan-measures.js";

export interface PlanEstimate {
  readonly mean: number;
  readonly standardError: number;
  /** 95 %. */
  readonly interval: readonly [number, number];
  /** How many seeds it is the mean of. */
  readonly n: number;
}

export interface OuterEstimates {
  readonly accuracy: PlanEstimate;
  readonly parity: PlanEstimate;
  readonly selectionRate: PlanEstimate;
}

/** One recipe less another, paired. */
export interface OuterDifference extends OuterEstimates {
  /** Of accuracy where both are at the same parity, by the rate at which rules trade the one for the other. */
  readonly accuracyAtParity: PlanEstimate;
}

export interface OuterJudge {
  /** Of decisions on the outer rows, [seeds][rows]. */
  estimate(decided: readonly Uint8Array[]): OuterEstimates;
  /** The first less the second, paired by seeds and rows; `rate` is what a unit of parity costs in accuracy. */
  difference(first: readonly Uint8Array[], second: readonly Uint8Array[], rate: number): OuterDifference;
  /** By seed. */
  values(decided: readonly Uint8Array[]): readonly Measured[];
}

const RESAMPLES = 200;
const Z95 = 1.959963984540054;

const NAMES = ["accuracy", "parity", "selectionRate"] as const;

/** How often each row is drawn, in every resample: [resamples][rows]. */
const resamples = (rows: number, stream: RandomStream): readonly Uint8Array[] =>
  Array.from({ length: RESAMPLES }, (_, k) => {
    const times = new Uint8Array(rows);
    const own = stream.split(k);
    for (let i = 0; i < rows; i++) times[own.integer(rows)]++;
    return times;
  });

/**
 * Errors of a mean over seeds on one set of rows: what another set of seeds and what another set of rows would change,
 * added as independent. The first is Student's, the second a bootstrap over rows.
 */
export const combine = (
  bySeed: readonly number[],
  byResample: readonly number[],
  range: Interval = ANYWHERE,
): PlanEstimate => withErrors(bySeed, Math.sqrt(sampleVariance(momentsOf(byResample))), range);

/** The same where the standard error by rows is known. */
export const withErrors = (
  bySeed: readonly number[],
  ofRows: number,
  range: Interval = ANYWHERE,
): PlanEstimate => {
  const n = bySeed.length;
  const { mean, standardError: ofSeeds } =
    n > 1 ? meanEstimate(bySeed) : { mean: bySeed[0], standardError: 0 };
  const t = n > 1 ? -studentTQuantile(0.025, n - 1) : 0;
  const half = Math.sqrt((t * ofSeeds) ** 2 + (Z95 * ofRows) ** 2);
  return {
    mean,
    standardError: Math.sqrt(ofSeeds ** 2 + ofRows ** 2),
    interval: intervalWithin(mean, half, range),
    n,
  };
};

export const outerJudge = (rows: JudgedRows, stream: RandomStream): OuterJudge => {
  const drawn = resamples(rows.rows.length, stream);
  const averages = (decided: readonly Uint8Array[]): readonly Measured[] =>
    drawn.map((times) => meanOf(decided.map((each) => measure(each, rows, times))));
  const values = (decided: readonly Uint8Array[]) => decided.map((each) => measure(each, rows));
  const estimates = (of: (name: (typeof NAMES)[number]) => PlanEstimate): OuterEstimates => ({
    accuracy: of("accuracy"),
    parity: of("parity"),
    selectionRate: of("selectionRate"),
  });
  return {
    values,
    estimate(decided) {
      const bySeed = values(decided);
      const byResample = averages(decided);
      return estimates((name) =>
        combine(
          bySeed.map((each) => each[name]),
          byResample.map((each) => each[name]),
          UNIT_RANGE,
        ),
      );
    },
    difference(first, second, rate) {
      const [a, b] = [values(first), values(second)];
      const [p, q] = [averages(first), averages(second)];
      const of = (value: (each: Measured) => number, range?: Interval | undefined) =>
        combine(
          a.map((each, seed) => value(each) - value(b[seed])),
          p.map((each, k) => value(each) - value(q[k])),
          range,
        );
      return {
        ...estimates((name) => of((each) => each[name], DIFFERENCE_RANGE)),
        accuracyAtParity: of(({ accuracy, parity }) => accuracy + rate * parity),
      };
    },
  };
};

const meanOf = (values: readonly Measured[]): Measured => {
  const of = (name: (typeof NAMES)[number]) =>
    values.reduce((sum, each) => sum + each[name], 0) / values.length;
  return { accuracy: of("accuracy"), parity: of("parity"), selectionRate: of("selectionRate") };
};
