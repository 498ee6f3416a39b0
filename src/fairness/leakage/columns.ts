/** Which columns carry the leakage: each by itself, and what the winner would lose without it. */
import { log } from "../../core/math.js";
import { paced } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { type Interval, meanEstimate, quantiles } from "../../core/stats.js";
import type { FeatureMatrix } from "../../learners/classifier.js";
import { predictInSteps } from "../../learners/in-steps.js";
import { logProbabilities, logScores } from "./calibration.js";
import type { CrossFit, StratumFolds, Watch } from "./cross-fit.js";

export interface ColumnLeakage {
  readonly name: string;
  /** What the column alone gives away, by counting on rows held out (numbers in ten quantile classes). */
  readonly alone: { readonly nats: number; readonly interval: Interval };
  /** What the winning adversary loses when the column is shuffled among the rows held out. */
  readonly givenRest: { readonly nats: number; readonly interval: Interval };
  /** Whether it stands in for the attribute: what it gives away alone is above 0, the interval included. */
  readonly proxy: boolean;
}

/** Encoded columns that come from the same column of the table. */
export interface ColumnGroup {
  readonly name: string;
  readonly columns: readonly number[];
}

export const groupColumns = (sources: readonly string[]): ColumnGroup[] => {
  const groups = new Map<string, number[]>();
  sources.forEach((name, column) => {
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [column]);
    else own.push(column);
  });
  return [...groups].map(([name, columns]) => ({ name, columns }));
};

const CLASSES = 10;

/** Each row's class of one column: its value, or where there are many its place among ten quantile classes. */
const codesOf = ({ values, rows, columns }: FeatureMatrix, column: number): Int32Array => {
  const codes = new Int32Array(rows);
  const places = new Map<number, number>();
  for (let row = 0; row < rows && places.size <= CLASSES; row++) {
    const value = values[row * columns + column];
    const place = places.get(value) ?? places.size;
    places.set(value, place);
    codes[row] = place;
  }
  if (places.size <= CLASSES) return codes;
  const own = Float64Array.from({ length: rows }, (_, row) => values[row * columns + column]);
  const wanted = Array.from({ length: CLASSES - 1 }, (_, i) => (i + 1) / CLASSES);
  const cuts = [...new Set(quantiles(own, wanted))];
  for (let row = 0; row < rows; row++) {
    let place = 0;
    while (place < cuts.length && own[row] > cuts[place]) place++;
    codes[row] = place;
  }
  return codes;
};

/** Each row's class of a group of columns: its combination of their classes. */
const classesOf = async (
  features: FeatureMatrix,
  { columns }: ColumnGroup,
  watch: Watch,
): Promise<Int32Array> => {
  const classes = new Int32Array(features.rows);
  for (const column of columns) {
    const codes = codesOf(features, column);
    const places = new Map<number, number>();
    for (let row = 0; row < features.rows; row++) {
      const key = classes[row] * (CLASSES + 1) + codes[row];
      const place = places.get(key) ?? places.size;
      places.set(key, place);
      classes[row] = place;
    }
    await watch.pause();
  }
  return classes;
};

/** Gains of each judged row by counting, trained on the folds it is not in; in the order of the cross-fits. */
const countingGains = (strata: readonly StratumFolds[], classes: Int32Array): Float64Array => {
  const gains: number[] = [];
  const kinds = classes.reduce((most, kind) => Math.max(most, kind), 0) + 1;
  for (const { stratum, folds } of strata) {
    const groups = stratum.groups.length;
    const counts = new Float64Array(kinds * groups);
    const totals = new Float64Array(groups);
    const count = (row: number, by: number) => {
      counts[classes[row] * groups + stratum.labels[row]] += by;
      totals[stratum.labels[row]] += by;
    };
    for (const row of stratum.rows) count(row, 1);
    const judgeRows = (rows: Int32Array) => {
      const all = totals.reduce((sum, total) => sum + total, 0);
      for (const row of rows) {
        const from = classes[row] * groups;
        let seen = 0;
        for (let c = 0; c < groups; c++) seen += counts[from + c];
        const base = totals[stratum.labels[row]] / all;
        // Two rows' worth of the base rates, as in the lookup.
        gains.push(log((counts[from + stratum.labels[row]] + 2 * base) / (seen + 2) / base));
      }
    };
    if (stratum.test !== undefined) {
      judgeRows(stratum.test);
      continue;
    }
    for (const fold of folds) {
      for (const row of fold) count(row, -1);
      judgeRows(fold);
      for (const row of fold) count(row, 1);
    }
  }
  return Float64Array.from(gains);
};

/** What each judged row loses when this group of columns is shuffled among the rows held out with it. */
const shufflingLosses = async (
  features: FeatureMatrix,
  { columns }: ColumnGroup,
  strata: readonly StratumFolds[],
  fits: readonly CrossFit[],
  stream: RandomStream,
  watch: Watch,
): Promise<Float64Array> => {
  const losses: number[] = [];
  for (const [s, fit] of fits.entries()) {
    const { stratum } = strata[s];
    let at = 0;
    for (const { heldOut, model, calibration, base } of fit.blocks) {
      const width = features.columns;
      const values = new Float32Array(heldOut.length * width);
      heldOut.forEach((row, i) => {
        values.set(features.values.subarray(row * width, (row + 1) * width), i * width);
      });
      stream.permutation(heldOut.length).forEach((from, i) => {
        for (const column of columns) {
          values[i * width + column] = features.values[heldOut[from] * width + column];
        }
      });
      const changed = { values, rows: heldOut.length, columns: width };
      const labels = Int32Array.from(heldOut, (row) => stratum.labels[row]);
      const said = await paced(predictInSteps(model, changed), watch);
      const now = logProbabilities(logScores(said, base), labels, calibration);
      for (let i = 0; i < labels.length; i++) {
        losses.push(fit.gains[at + i] - (now[i] - calibration.logBase[labels[i]]));
      }
      at += heldOut.length;
      await watch.pause();
    }
  }
  return Float64Array.from(losses);
};

/** By what each gives away alone, the most first. `idle` records count as 0. */
export const columnLeakage = async (
  features: FeatureMatrix,
  groups: readonly ColumnGroup[],
  strata: readonly StratumFolds[],
  winner: readonly CrossFit[],
  {
    level,
    idle,
    stream,
    watch,
  }: {
    readonly level: number;
    readonly idle: number;
    readonly stream: RandomStream;
    readonly watch: Watch;
  },
): Promise<ColumnLeakage[]> => {
  const withIdle = (values: Float64Array): Float64Array => {
    const all = new Float64Array(values.length + idle);
    all.set(values);
    return all;
  };
  const columns: ColumnLeakage[] = [];
  for (const group of groups) {
    const classes = await classesOf(features, group, watch);
    const alone = meanEstimate(withIdle(countingGains(strata, classes)), level);
    await watch.pause();
    const rest = meanEstimate(
      withIdle(await shufflingLosses(features, group, strata, winner, stream.split(group.name), watch)),
      level,
    );
    const part = ({ mean, interval: [low, high] }: typeof alone) => ({
      nats: Math.max(0, mean),
      interval: [Math.max(0, low), Math.max(0, high)] as const,
    });
    columns.push({
      name: group.name,
      alone: part(alone),
      givenRest: part(rest),
      proxy: alone.interval[0] > 0,
    });
  }
  return columns.sort((a, b) => b.alone.nats - a.alone.nats);
};
