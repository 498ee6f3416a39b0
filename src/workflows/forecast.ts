/**
 * What further labels are expected to bring: accuracy, parity and leakage of a model of the labels acquired so far and of
 * so many more, with intervals that widen with the distance; whether to stop; and whether a requirement can be met.
 *
 * All of it rests on the labels that were drawn at random, as `estimateAcquired` does, and on the campaign's own learning
 * curve (`acquisition-curve.ts`). It takes for granted that the campaign goes on asking as it has. Each measure follows an
 * inverse power law where its curve supports one, and else stays at its level (`forecast-series.ts`).
 */
import { InputError } from "../core/errors.js";
import { exp } from "../core/math.js";
import { type Pacer, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { ANYWHERE, type Interval, UNIT_RANGE } from "../core/stats.js";
import { type AcquisitionCurve, acquisitionCurve, type CurveSeries } from "./acquisition-curve.js";
import { type EstimatedValue, type PoolEstimate, poolEstimateOf } from "./estimate-acquired.js";
import {
  adviceOf,
  FORECAST_WORTHWHILE,
  type ForecastAdvice,
  type ForecastGain,
  type ForecastRequirement,
  forecastTexts,
  type RequirementForecast,
  requirementForecast,
} from "./forecast-advice.js";
import { forecastSeries, type SeriesForecast } from "./forecast-series.js";
import {
  answeredOf,
  drawnOf,
  type EstimateInput,
  FEWEST_DRAWN,
  judgedAcquisition,
} from "./judged-acquisition.js";

export {
  FORECAST_WORTHWHILE,
  type ForecastAdvice,
  type ForecastGain,
  type ForecastRequirement,
  forecastTexts,
  type RequirementForecast,
} from "./forecast-advice.js";

export interface ForecastOptions extends RunOptions {
  /** How many labels are to be acquired in all, beyond the initial ones; no end unless given. */
  readonly budget?: number | undefined;
  /** Numbers of further labels; a quarter, a half and as many again as there are, and up to the end of the budget. */
  readonly at?: readonly number[] | undefined;
  /** A parity that the model must reach without a rule. */
  readonly requirement?: ForecastRequirement | undefined;
  /** The least gain in accuracy that is worth the rest of the budget (0.005). */
  readonly worthwhile?: number | undefined;
  /** What a label costs, in any unit. */
  readonly costPerLabel?: number | undefined;
}

export interface ForecastInput extends EstimateInput, ForecastOptions {}

export interface ForecastPoint extends EstimatedValue {
  /** All labels that the model would learn from, and how many of them are not there yet. */
  readonly labels: number;
  readonly further: number;
}

export interface MeasureForecast {
  /** Carried on by a power law, or at its level where the curve supports none. */
  readonly shape: "rising" | "falling" | "level";
  /**
   * Of a model of all labels that are there, as the curve has it: from fits to fewer labels too. `estimateAcquired` has the
   * value of one fit to four fifths of them.
   */
  readonly today: EstimatedValue;
  readonly at: readonly ForecastPoint[];
  /** What models of fewer labels are worth, in the order of their labels. */
  readonly curve: readonly { readonly labels: number; readonly value: number }[];
}

export interface Forecast {
  readonly labels: {
    /** That a model learns from today, and those of them that were drawn at random. */
    readonly known: number;
    readonly drawn: number;
    /** That can still be had: of the budget, or of the pool. */
    readonly left: number;
  };
  /** Null where it is too early. */
  readonly estimate: PoolEstimate | null;
  readonly accuracy: MeasureForecast | null;
  /** Null as in `PoolEstimate`. */
  readonly dpRatio: MeasureForecast | null;
  readonly leakage: MeasureForecast | null;
  readonly leakageAuc: MeasureForecast | null;
  readonly advice: ForecastAdvice;
  /** Null where none was asked for. */
  readonly requirement: RequirementForecast | null;
}

const FURTHER_SHARES = [0.25, 0.5, 1] as const;

const requireOptions = (input: ForecastInput): void => {
  const { budget, at = [], requirement, worthwhile = 0, costPerLabel = 0 } = input;
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 1;
  if (budget !== undefined && !isCount(budget))
    throw new InputError("budget", forecastTexts.count("the budget", budget));
  for (const further of at)
    if (!isCount(further))
      throw new InputError("at", forecastTexts.count("a number of further labels", further));
  if (!(worthwhile >= 0 && worthwhile < Infinity))
    throw new InputError("worthwhile", forecastTexts.worthwhile(worthwhile));
  if (!(costPerLabel >= 0 && costPerLabel < Infinity))
    throw new InputError("cost", forecastTexts.cost(costPerLabel));
  if (requirement === undefined) return;
  if (!(requirement.level > 0 && requirement.level <= 1))
    throw new InputError("requirement", forecastTexts.level(requirement.level));
  if (input.sensitive === undefined || input.target.classes !== 2)
    throw new InputError("requirement", forecastTexts.noGroups);
};

/** A measure at any number of labels. */
interface Carried {
  readonly shape: MeasureForecast["shape"];
  at(labels: number, level?: number): EstimatedValue;
  /** [sizes] */
  readonly curve: readonly number[];
}

const carriedSeries = (series: SeriesForecast, values: readonly number[], most: number): Carried => ({
  shape: series.direction,
  at: (labels, level) => ({ value: series.valueAt(labels), interval: series.intervalAt(labels, level) }),
  curve: values.map((value) => Math.min(most, Math.max(0, value))),
});

/** |d| in an interval of d. */
const sizesIn = ([low, high]: Interval): Interval => [
  low > 0 ? low : high < 0 ? -high : 0,
  Math.max(Math.abs(low), Math.abs(high)),
];

/**
 * The ratio of the lowest selection rate to the highest is exp(-max |d|) over all pairs of groups, d the logarithm of the
 * ratio of two. d has no ends and about no bias; |d| and the ratio do, so that the interval is one of d.
 */
const carriedParity = (
  pairs: readonly SeriesForecast[],
  curves: readonly (readonly number[])[],
  known: number,
): Carried => {
  const sizeAt = (pair: SeriesForecast, labels: number): number => Math.abs(pair.valueAt(labels));
  const ratioAt = (labels: number): number => exp(-Math.max(...pairs.map((pair) => sizeAt(pair, labels))));
  const far = pairs.reduce((worst, pair) => (sizeAt(pair, known) > sizeAt(worst, known) ? pair : worst));
  // The ratio falls as the pair that is furthest apart parts.
  const parts = (far.direction === "rising") === far.valueAt(known) > 0;
  return {
    shape: far.direction === "level" ? "level" : parts ? "falling" : "rising",
    at(labels, level) {
      const sizes = pairs.map((pair) => sizesIn(pair.intervalAt(labels, level)));
      const value = ratioAt(labels);
      const low = exp(-Math.max(...sizes.map(([, most]) => most)));
      const high = exp(-Math.max(...sizes.map(([least]) => least)));
      return { value, interval: [Math.min(low, value), Math.max(high, value)] };
    },
    curve: curves[0].map((_, j) => exp(-Math.max(...curves.map((values) => Math.abs(values[j]))))),
  };
};

const measuresOf = async (
  curve: AcquisitionCurve,
  { stream: given }: ForecastInput,
  { drawn, known }: Forecast["labels"],
  pace: Pacer,
) => {
  const stream = given.split("trend");
  const carried = (series: CurveSeries, own: RandomStream, range: Interval, mayFall: boolean) =>
    forecastSeries(series, { sizes: curve.sizes, drawn, range, mayFall, stream: own }, pace);
  const learnt = async (series: CurveSeries | null, name: string, most: number) =>
    series === null
      ? null
      : carriedSeries(await carried(series, stream.split(name), [0, most], false), series.values, most);
  const accuracy = await carried(curve.accuracy, stream.split("accuracy"), UNIT_RANGE, false);
  const pairs: SeriesForecast[] = [];
  for (const [i, series] of curve.logRatios.entries())
    pairs.push(await carried(series, stream.split("parity").split(i), ANYWHERE, true));
  const ratios = curve.logRatios.map(({ values }) => values);
  return {
    gain: (further: number) => accuracy.gain(known, known + further),
    accuracy: carriedSeries(accuracy, curve.accuracy.values, 1),
    dpRatio: pairs.length === 0 ? null : carriedParity(pairs, ratios, known),
    leakage: await learnt(curve.leakage, "leakage", curve.entropy),
    leakageAuc: await learnt(curve.leakageAuc, "auc", 1),
  };
};

/** See the top of this file; the same answer for the same stream, with or without `onProgress`. */
export const forecastAcquired = async (input: ForecastInput): Promise<Forecast> => {
  requireOptions(input);
  const { budget, requirement, worthwhile = FORECAST_WORTHWHILE, costPerLabel, asked, isRefused } = input;
  const acquired = answeredOf(input);
  const drawn = drawnOf(acquired);
  const refused = asked.filter(({ row }) => isRefused(row)).length;
  const inPool = Math.max(0, input.pool - acquired.length - refused);
  const left = budget === undefined ? inPool : Math.min(inPool, Math.max(0, budget - acquired.length));
  const initial = input.initial.filter((row) => input.target.labels[row] >= 0).length;
  const known = initial + acquired.length;
  const labels = { known, drawn, left };
  if (drawn < FEWEST_DRAWN) {
    return {
      labels,
      estimate: null,
      accuracy: null,
      dpRatio: null,
      leakage: null,
      leakageAuc: null,
      advice: {
        action: "too-early",
        reason: forecastTexts.tooEarly(drawn, FEWEST_DRAWN),
        worthwhile,
        gain: null,
      },
      requirement:
        requirement === undefined
          ? null
          : { ...requirement, verdict: "open", reason: forecastTexts.requirementEarly(requirement.level) },
    };
  }
  const pace = pacer(input);
  const judged = judgedAcquisition(input);
  const curve = await acquisitionCurve(input, judged, pace);
  const measures = await measuresOf(curve, input, labels, pace);

  const end = budget === undefined ? Math.min(inPool, known) : left;
  const further = furtherOf(input.at, known, left, end);
  const measured = (carried: Carried | null): MeasureForecast | null =>
    carried === null
      ? null
      : {
          shape: carried.shape,
          today: carried.at(known),
          at: further.map((more) => ({ labels: known + more, further: more, ...carried.at(known + more) })),
          curve: carried.curve.map((value, j) => ({ labels: curve.sizes[j], value })),
        };
  const gain: ForecastGain | null =
    end === 0
      ? null
      : {
          further: end,
          ...measures.gain(end),
          cost: costPerLabel === undefined ? null : end * costPerLabel,
        };
  const { dpRatio } = measures;
  const required =
    requirement === undefined
      ? null
      : requirementForecast(
          requirement,
          dpRatio === null
            ? undefined
            : {
                today: dpRatio.at(known),
                end: dpRatio.at(known + end),
                upperOf80: dpRatio.at(known + end, 0.8).interval[1],
              },
        );
  return {
    labels,
    estimate: await poolEstimateOf(input, judged, curve.said, pace),
    accuracy: measured(measures.accuracy),
    dpRatio: measured(dpRatio),
    leakage: measured(measures.leakage),
    leakageAuc: measured(measures.leakageAuc),
    advice: adviceOf(gain, worthwhile, known, required),
    requirement: required,
  };
};

/** Numbers of further labels in ascending order, none beyond what can be had unless they were asked for. */
const furtherOf = (
  at: readonly number[] | undefined,
  known: number,
  left: number,
  end: number,
): readonly number[] => {
  const usual = FURTHER_SHARES.map((share) => Math.max(1, Math.round(share * known)));
  const all = at ?? [...usual.filter((further) => further <= left), ...(end > 0 ? [end] : [])];
  return [...new Set(all)].sort((a, b) => a - b);
};
