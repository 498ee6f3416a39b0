/** How a classifier treats groups: rates per group, how far they lie apart, and how sure that is. */
import { InputError } from "../core/errors.js";
import { unpaced } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { badLevelText } from "../core/stats.js";
import {
  compareRate,
  type Gap,
  type RateComparison,
  type Replicates,
  worstGaps,
} from "./group-metrics/comparison.js";
import { groupTexts, requireLabels, requireLength } from "./group-metrics/group-labels.js";
import {
  CELLS,
  type CellCounts,
  cellOf,
  fractionOf,
  RATE_NAMES,
  type RateName,
  type Rates,
  ratesOf,
  reasonTexts,
} from "./group-metrics/rates.js";
import { resampleOf } from "./group-metrics/resample.js";
import { type ScoreGaps, scoreGaps } from "./group-metrics/score-gaps.js";

export type { Gap, GroupAgainst, RateComparison } from "./group-metrics/comparison.js";
export { groupTexts } from "./group-metrics/group-labels.js";
export { type GroupLabels, type IntersectedGroups, intersectGroups } from "./group-metrics/intersections.js";
export {
  type ParityRatioOptions,
  type ParityRatioValues,
  parityRatios,
} from "./group-metrics/parity-ratios.js";
export { type Rate, type RateName, type Rates, reasonTexts } from "./group-metrics/rates.js";
export type { Distances, ScoreGaps } from "./group-metrics/score-gaps.js";
export { atSelectionRate, type Selection } from "./group-metrics/selection-rate.js";

/** One entry per row in every array. */
export interface GroupedPredictions {
  /** The predicted class. */
  readonly predicted: Int32Array;
  /** The true class; without it only selection rates are known. */
  readonly actual?: Int32Array | undefined;
  /** P(positive), for the gaps that do not depend on a threshold. */
  readonly scores?: Float64Array | undefined;
  /** The number of the row's group in `groupNames`; -1 is unknown and left out. */
  readonly groups: Int32Array;
  readonly groupNames: readonly string[];
  /** The class that counts as positive, against all others; 1 unless given. */
  readonly positive?: number | undefined;
  readonly weights?: Float64Array | undefined;
}

export interface GroupMetricsOptions {
  readonly stream: RandomStream;
  /** The group that the others are held against in signed numbers (0). */
  readonly reference?: number | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
  /** Bootstrap resamples (1000); 0 for no intervals of gaps. */
  readonly replicates?: number | undefined;
  /** A rate of fewer rows than this (10) is shown, with `tooSmall`, and not compared. */
  readonly leastRows?: number | undefined;
}

export interface GroupRates {
  readonly name: string;
  /** Rows, whatever their weights. */
  readonly size: number;
  /** It has too few rows to say anything; `reason` says so. A rate may be too small by itself, too. */
  readonly tooSmall: boolean;
  readonly reason: string | undefined;
  readonly rates: Rates;
}

export interface MetricsByGroup {
  readonly positive: number;
  /** Rows whose group is known, and rows that were left out because it is not. */
  readonly rows: number;
  readonly unknown: number;
  readonly level: number;
  readonly replicates: number;
  readonly leastRows: number;
  readonly groups: readonly GroupRates[];
  /** All rows whose group is known, as one group. */
  readonly overall: Rates;
  /** Every rate compared between the groups, from which the four below are taken. */
  readonly comparisons: Readonly<Record<RateName, RateComparison>>;
  /** Equal selection rates. */
  readonly demographicParity: RateComparison;
  /** Equal true and false positive rates; the difference and ratio are those of the worse of the two. */
  readonly equalisedOdds: {
    readonly truePositiveRate: RateComparison;
    readonly falsePositiveRate: RateComparison;
    readonly difference: Gap;
    readonly ratio: Gap;
  };
  /** Equal true positive rates. */
  readonly equalOpportunity: RateComparison;
  /** Equal precision. */
  readonly predictiveParity: RateComparison;
  /** Present where scores were given. */
  readonly scores: ScoreGaps | undefined;
}

const requireInput = (
  { predicted, actual, scores, groups, groupNames, weights }: GroupedPredictions,
  {
    reference,
    level,
    replicates,
    leastRows,
  }: { reference: number; level: number; replicates: number; leastRows: number },
): void => {
  const rows = predicted.length;
  requireLength("actual", actual, rows);
  requireLength("scores", scores, rows);
  requireLength("groups", groups, rows);
  requireLength("weights", weights, rows);
  if (groupNames.length < 1) throw new InputError("groups", groupTexts.fewGroups(groupNames.length));
  requireLabels(groups, groupNames.length);
  if (!groups.some((group) => group >= 0)) throw new InputError("groups", groupTexts.noRows);
  scores?.forEach((score, row) => {
    if (!(score >= 0 && score <= 1)) throw new InputError("group-score", groupTexts.score(row, score));
  });
  weights?.forEach((weight, row) => {
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new InputError("group-weight", groupTexts.weight(row, weight));
    }
  });
  if (weights !== undefined && !groups.some((group, row) => group >= 0 && weights[row] > 0)) {
    throw new InputError("group-weight", groupTexts.noWeight);
  }
  if (!Number.isInteger(reference) || reference < 0 || reference >= groupNames.length) {
    throw new InputError("reference-group", groupTexts.reference(reference, groupNames.length));
  }
  if (!(level > 0 && level < 1)) throw new InputError("level", badLevelText(level));
  if (!Number.isInteger(replicates) || (replicates !== 0 && replicates < 100)) {
    throw new InputError("group-replicates", groupTexts.replicates(replicates));
  }
  if (!Number.isInteger(leastRows) || leastRows < 1) {
    throw new InputError("least-rows", groupTexts.leastRows(leastRows));
  }
};

/** The cell [group, CELLS] of each row whose group is known, with its weight. */
const cellsOf = ({ predicted, actual, groups, weights }: GroupedPredictions, positive: number) => {
  const known = Array.from(groups.keys()).filter((row) => groups[row] >= 0);
  return {
    cells: Int32Array.from(
      known,
      (row) =>
        groups[row] * CELLS +
        cellOf(predicted[row] === positive, actual?.[row] === positive, actual?.[row] === predicted[row]),
    ),
    weights: weights === undefined ? undefined : Float64Array.from(known, (row) => weights[row]),
  };
};

const countCells = (cells: Int32Array, count: number, weights: Float64Array | undefined): CellCounts => {
  const sumOf = (value: (i: number) => number): Float64Array => {
    const sums = new Float64Array(count);
    cells.forEach((cell, i) => {
      sums[cell] += value(i);
    });
    return sums;
  };
  return {
    rows: sumOf(() => 1),
    weighted:
      weights === undefined
        ? undefined
        : { weights: sumOf((i) => weights[i]), squares: sumOf((i) => weights[i] * weights[i]) },
  };
};

/** The groups as one. */
const pooled = (counts: Float64Array): Float64Array => {
  const sums = new Float64Array(CELLS);
  counts.forEach((count, cell) => {
    sums[cell % CELLS] += count;
  });
  return sums;
};

/**
 * Rates per group and gaps between the groups, of hard predictions and, where given, of scores.
 *
 * The resamples draw whole rows with replacement, so the groups' sizes vary too. Rates and score gaps draw from the
 * streams "rates" and "scores" below the given one, which does not move. Every array of the input is [rows].
 *
 * @example
 * ```ts
 * import { groupMetrics, seededStream } from "fairbed/fairness";
 *
 * const groups = Int32Array.from({ length: 40 }, (_, row) => row % 2);
 * const actual = Int32Array.from(groups, (_, row) => Number(row % 4 < 2));
 * const predicted = Int32Array.from(groups, (group, row) => Number(row < 20 || group === 1));
 * const { demographicParity, groups: rates } = groupMetrics(
 *   { predicted, actual, groups, groupNames: ["a", "b"] },
 *   { stream: seededStream(0) },
 * );
 * console.log(rates[0].rates.selectionRate.value, demographicParity.difference.value); // 0.5 0.5
 * ```
 */
export const groupMetrics = (input: GroupedPredictions, options: GroupMetricsOptions): MetricsByGroup =>
  unpaced(groupMetricsSteps(input, options));

/** {@link groupMetrics}, resample by resample: a caller that must let go of the thread now and then walks it. */
export function* groupMetricsSteps(
  input: GroupedPredictions,
  options: GroupMetricsOptions,
): Generator<number, MetricsByGroup> {
  const { reference = 0, level = 0.95, replicates = 1000, leastRows = 10, stream } = options;
  requireInput(input, { reference, level, replicates, leastRows });
  const { groups: labels, groupNames, positive = 1, actual, scores } = input;

  const { cells, weights } = cellsOf(input, positive);
  const size = groupNames.length * CELLS;
  const counts = countCells(cells, size, weights);
  const rules = { level, leastRows, hasActual: actual !== undefined };
  const groups = groupNames.map((name, g): GroupRates => {
    const rows = counts.rows.subarray(g * CELLS, (g + 1) * CELLS).reduce((sum, count) => sum + count, 0);
    const tooSmall = rows < leastRows;
    const few = rows === 0 ? reasonTexts.nobody("rows") : reasonTexts.few(rows, "rows", leastRows);
    return {
      name,
      size: rows,
      tooSmall,
      reason: tooSmall ? few : undefined,
      rates: ratesOf(counts, g * CELLS, rules),
    };
  });

  const drawn = new Float64Array(replicates * size);
  const resample = resampleOf(cells, size, weights);
  const rateStream = stream.split("rates");
  for (let r = 0; r < replicates; r++) {
    resample(rateStream, drawn.subarray(r * size, (r + 1) * size));
    yield r;
  }
  const resamples: Replicates = {
    count: replicates,
    level,
    rate(name, group, r) {
      const [numerator, denominator] = fractionOf(name, drawn, r * size + group * CELLS);
      return numerator / denominator;
    },
  };
  const comparisons = Object.fromEntries(
    RATE_NAMES.map((name) => [name, compareRate(groups, name, reference, resamples)]),
  ) as unknown as Record<RateName, RateComparison>;

  return {
    positive,
    rows: cells.length,
    unknown: labels.length - cells.length,
    level,
    replicates,
    leastRows,
    groups,
    overall: ratesOf(
      {
        rows: pooled(counts.rows),
        weighted:
          counts.weighted === undefined
            ? undefined
            : { weights: pooled(counts.weighted.weights), squares: pooled(counts.weighted.squares) },
      },
      0,
      rules,
    ),
    comparisons,
    demographicParity: comparisons.selectionRate,
    equalisedOdds: {
      truePositiveRate: comparisons.truePositiveRate,
      falsePositiveRate: comparisons.falsePositiveRate,
      ...worstGaps(groups, ["truePositiveRate", "falsePositiveRate"], resamples),
    },
    equalOpportunity: comparisons.truePositiveRate,
    predictiveParity: comparisons.precision,
    scores:
      scores === undefined
        ? undefined
        : scoreGaps({
            scores,
            groups: labels,
            weights: input.weights,
            groupNames,
            reference,
            leastRows,
            level,
            replicates,
            stream: stream.split("scores"),
          }),
  };
}

/**
 * Group metrics of an outcome with several classes, each in turn the positive one against the rest, by class; the
 * accuracy is that of all classes in each. Scores, which are of one class, are not taken. The result is [classes].
 *
 * @example
 * ```ts
 * import { oneAgainstRest, seededStream } from "fairbed/fairness";
 *
 * const groups = Int32Array.from({ length: 60 }, (_, row) => row % 2);
 * const actual = Int32Array.from(groups, (_, row) => row % 3);
 * const byClass = oneAgainstRest(
 *   { predicted: actual, actual, groups, groupNames: ["a", "b"] },
 *   3,
 *   { stream: seededStream(0), replicates: 100 },
 * );
 * console.log(byClass.map(({ overall }) => overall.accuracy.value)); // [ 1, 1, 1 ]
 * ```
 */
export const oneAgainstRest = (
  input: Omit<GroupedPredictions, "positive" | "scores">,
  classes: number,
  options: GroupMetricsOptions,
): readonly MetricsByGroup[] => {
  if (!Number.isInteger(classes) || classes < 2) {
    throw new InputError("classes", groupTexts.classes(classes));
  }
  return Array.from({ length: classes }, (_, positive) =>
    groupMetrics(
      { ...input, positive, scores: undefined },
      { ...options, stream: options.stream.split(`class ${positive}`) },
    ),
  );
};
