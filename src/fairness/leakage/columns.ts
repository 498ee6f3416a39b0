/**
 * Which columns carry the leakage: each by itself, what the winner loses when it is shuffled, and what a winner that has
 * never seen it loses. The last is what leaving the column out would change: where others say the same, a model that
 * leans on the column is hurt by shuffling it, and one that is fitted without it leans on the others.
 */
import { log } from "../../core/math.js";
import { paced } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { type Interval, meanEstimate, quantiles } from "../../core/stats.js";
import type { FeatureMatrix } from "../../learners/classifier.js";
import { fitInSteps, predictInSteps } from "../../learners/in-steps.js";
import { logProbabilities, logScores } from "./calibration.js";
import type { Adversary, CrossFit, StratumFolds, Watch } from "./cross-fit.js";
import { joinRows, someRows } from "./folds.js";

export interface ColumnLeakage {
  readonly name: string;
  /** What the column alone gives away, by counting on rows held out (numbers in ten quantile classes). */
  readonly alone: { readonly nats: number; readonly interval: Interval };
  /** What the winning adversary loses when the column is shuffled among the rows held out. */
  readonly shuffled: { readonly nats: number; readonly interval: Interval };
  /**
   * What it loses when it is fitted without the column, by models of at most 10,000 rows: what leaving it out would
   * change. Of the ten columns that give most away by themselves, undefined for the others.
   */
  readonly without: { readonly nats: number; readonly interval: Interval } | undefined;
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

/** Of more rows held out than this, some are drawn and shuffled among each other. */
const SHUFFLED_ROWS = 20_000;

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
    const most = Math.ceil(SHUFFLED_ROWS / fit.blocks.length);
    let first = 0;
    for (const { heldOut: all, model, calibration, base } of fit.blocks) {
      const width = features.columns;
      const places = someRows(Int32Array.from(all.keys()), most, stream.split(`rows ${first}`));
      const heldOut = places.map((place) => all[place]);
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
        losses.push(fit.gains[first + places[i]] - (now[i] - calibration.logBase[labels[i]]));
      }
      first += all.length;
      await watch.pause();
    }
  }
  return Float64Array.from(losses);
};

/** How many columns the winner is fitted without, and the most rows that it then learns from and is judged on. */
const REFITTED = 10;
const REFIT_ROWS = 10_000;

/** Some rows of a matrix of their own, without some columns. */
const withoutColumns = (
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  left: readonly number[],
): FeatureMatrix => {
  const kept = Array.from({ length: columns }, (_, column) => column).filter(
    (column) => !left.includes(column),
  );
  const out = new Float32Array(rows.length * kept.length);
  rows.forEach((row, i) => {
    for (let at = 0; at < kept.length; at++) out[i * kept.length + at] = values[row * columns + kept[at]];
  });
  return { values: out, rows: rows.length, columns: kept.length };
};

/** About how many rows the winner is fitted to again in all. */
export const refitRows = (rows: number, folds: number, columns: number): number => {
  const blocks = Math.min(folds, Math.ceil((REFIT_ROWS * folds) / rows));
  return (1 + Math.min(REFITTED, columns)) * blocks * Math.min(REFIT_ROWS, (rows * (folds - 1)) / folds);
};

interface Refit {
  readonly features: FeatureMatrix;
  readonly strata: readonly StratumFolds[];
  readonly winner: readonly CrossFit[];
  readonly adversary: Adversary;
  readonly stream: RandomStream;
  readonly watch: Watch;
}

/** What the winner gains on some of the rows held out, fitted to some of the others without these columns. */
const gainsWithout = async (
  left: readonly number[],
  { features, strata, winner, adversary, stream, watch }: Refit,
): Promise<Float64Array> => {
  const gains: number[] = [];
  for (const [s, { blocks }] of winner.entries()) {
    const { stratum } = strata[s];
    for (const [k, { heldOut, calibration, base }] of blocks.entries()) {
      if (gains.length >= REFIT_ROWS) break;
      const own = stream.split(`stratum ${s} block ${k}`);
      const judged = someRows(heldOut, REFIT_ROWS, own.split("judged"));
      const out = new Set(heldOut);
      const others = stratum.rows.filter((row) => !out.has(row));
      const most = Math.min(REFIT_ROWS, adversary.mostRows ?? REFIT_ROWS);
      const rows = someRows(others, most, own.split("rows"));
      const matrix = withoutColumns(features, joinRows([rows, judged]), left);
      if (matrix.columns === 0) {
        gains.push(...new Float64Array(judged.length));
        continue;
      }
      const labels = Int32Array.from(rows, (row) => stratum.labels[row]);
      const learnt = Int32Array.from(rows.keys());
      const training = { features: matrix, rows: learnt, labels, classes: stratum.groups.length };
      await watch.fit(rows.length);
      const model = await paced(fitInSteps(adversary, training, own.split("fit")), watch);
      const asked = Int32Array.from(judged, (_, i) => rows.length + i);
      const said = await paced(predictInSteps(model, matrix, asked), watch);
      const truth = Int32Array.from(judged, (row) => stratum.labels[row]);
      const now = logProbabilities(logScores(said, base), truth, calibration);
      for (let i = 0; i < truth.length; i++) gains.push(now[i] - calibration.logBase[truth[i]]);
    }
  }
  return Float64Array.from(gains);
};

const partOf = ({ mean, interval: [low, high] }: { readonly mean: number; readonly interval: Interval }) => ({
  nats: Math.max(0, mean),
  interval: [Math.max(0, low), Math.max(0, high)] as const,
});

export interface ColumnSettings {
  readonly level: number;
  readonly idle: number;
  /** The one that found most, to be fitted again. */
  readonly adversary: Adversary;
  readonly stream: RandomStream;
  readonly watch: Watch;
  /** Is told all columns in their order whenever more is known of one; `finished` the last time. */
  readonly tell?: ((columns: readonly ColumnLeakage[], finished: boolean) => Promise<void>) | undefined;
}

/** By what each gives away alone, the most first. `idle` records count as 0. */
export const columnLeakage = async (
  features: FeatureMatrix,
  groups: readonly ColumnGroup[],
  strata: readonly StratumFolds[],
  winner: readonly CrossFit[],
  { level, idle, adversary, stream, watch, tell }: ColumnSettings,
): Promise<ColumnLeakage[]> => {
  const withIdle = (values: Float64Array): Float64Array => {
    const all = new Float64Array(values.length + idle);
    all.set(values);
    return all;
  };
  const found: (ColumnLeakage & { readonly group: ColumnGroup })[] = [];
  for (const group of groups) {
    const classes = await classesOf(features, group, watch);
    const alone = meanEstimate(withIdle(countingGains(strata, classes)), level);
    await watch.pause();
    const losses = await shufflingLosses(features, group, strata, winner, stream.split(group.name), watch);
    found.push({
      group,
      name: group.name,
      alone: partOf(alone),
      shuffled: partOf(meanEstimate(withIdle(losses), level)),
      without: undefined,
      proxy: alone.interval[0] > 0,
    });
  }
  found.sort((a, b) => b.alone.nats - a.alone.nats);
  const refit = { features, strata, winner, adversary, stream: stream.split("refits"), watch };
  const columns = found.map(({ group, ...column }): ColumnLeakage => column);
  const refitted = Math.min(REFITTED, columns.length);
  await tell?.([...columns], refitted === 0);
  const withAll = await gainsWithout([], refit);
  for (const [place, { group }] of found.slice(0, REFITTED).entries()) {
    const fewer = await gainsWithout(group.columns, refit);
    const lost = meanEstimate(
      withAll.map((gain, i) => gain - fewer[i]),
      level,
    );
    columns[place] = { ...columns[place], without: partOf(lost) };
    await tell?.([...columns], place === refitted - 1);
  }
  return columns;
};
