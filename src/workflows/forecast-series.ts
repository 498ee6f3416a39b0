/**
 * One measure carried on from its curve: by an inverse power law where the curve supports one, else at the level of its
 * later half, with room for the trend that it may still have.
 */
import { log } from "../core/math.js";
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import {
  type CurvePoint,
  fitPowerLaw,
  type Interval,
  momentsOf,
  type PowerLaw,
  powerLawAt,
  quantiles,
  sampleVariance,
  studentTQuantile,
} from "../core/stats.js";
import type { CurveSeries } from "./acquisition-curve.js";

/** A law is supported where at most this share of the resamples goes the other way, or nowhere. */
const AGAINST = 0.01;

export interface SeriesOptions {
  /** Labels that the points of the curve learnt from, [sizes]. */
  readonly sizes: readonly number[];
  readonly range: Interval;
  /** Whether it may fall as labels come; what is learnt from labels does not. */
  readonly mayFall: boolean;
  /** Rows drawn at random, which all of it rests on. */
  readonly drawn: number;
  /** For the trend that a level may have. */
  readonly stream: RandomStream;
}

export interface SeriesForecast {
  /** Of the values; "level" where no law is supported. */
  readonly direction: "rising" | "falling" | "level";
  valueAt(labels: number): number;
  /** That of a model of so many labels lies in it with this probability. */
  intervalAt(labels: number, level?: number): Interval;
  /** How much a law gains between two numbers of labels, whether it is supported or not. */
  gain(from: number, to: number): { readonly value: number; readonly interval: Interval };
}

interface Carried {
  readonly law: PowerLaw;
  readonly level: number;
  /** Of the values against log labels, and from where it is carried on. */
  readonly slope: number;
  readonly from: number;
  /** How much of the trend, or of what the law has still to gain, goes on: from none to all. */
  readonly part: number;
  /** How far a single fit lies from its law and from its level. */
  readonly offLaw: number;
  readonly offLevel: number;
}

/** The whole curve, or that of a resample, where chance (`drawn`) has a say in how it goes on. */
const carry = (
  values: readonly number[],
  { sizes, range, mayFall }: SeriesOptions,
  drawn?: RandomStream,
): Carried => {
  const points: CurvePoint[] = values.map((value, j) => ({ n: sizes[j], value, weight: sizes[j] }));
  const half = sizes[sizes.length - 1] / 2;
  const later = points.filter(({ n }) => n >= half);
  const mean = (of: readonly CurvePoint[], value: (point: CurvePoint) => number): number => {
    const whole = of.reduce((sum, { weight = 1 }) => sum + weight, 0);
    return of.reduce((sum, point) => sum + (point.weight ?? 1) * value(point), 0) / whole;
  };
  const place = mean(points, ({ n }) => log(n));
  const middle = mean(points, ({ value }) => value);
  const spread = mean(points, ({ n }) => (log(n) - place) ** 2);
  const slope =
    spread === 0 ? 0 : mean(points, ({ n, value }) => (log(n) - place) * (value - middle)) / spread;
  const law = fitPowerLaw(points, { range, mayFall });
  const level = mean(later, ({ value }) => value);
  const single = later[drawn?.integer(later.length) ?? 0];
  return {
    law,
    level,
    slope: mayFall ? slope : Math.max(0, slope),
    from: mean(later, ({ n }) => log(n)),
    part: drawn?.uniform() ?? 0,
    offLaw: drawn === undefined ? 0 : single.value - powerLawAt(law, single.n),
    offLevel: drawn === undefined ? 0 : single.value - level,
  };
};

const levelAt = ({ level, slope, from, part, offLevel }: Carried, labels: number): number =>
  level + part * slope * (log(labels) - from) + offLevel;

export const forecastSeries = async (
  { values, resampled, leastVariance }: CurveSeries,
  options: SeriesOptions,
  pace: Pick<Pacer, "pause">,
): Promise<SeriesForecast> => {
  const { range, mayFall, drawn, stream, sizes } = options;
  const whole = carry(values, options);
  const carried: Carried[] = [];
  for (const [r, curve] of resampled.entries()) {
    carried.push(carry(curve, options, stream.split(r)));
    await pace.pause();
  }
  const share = (holds: (drop: number) => boolean) =>
    carried.filter(({ law }) => holds(law.drop)).length / carried.length;
  const rises = whole.law.drop > 0 && share((drop) => drop <= 0) <= AGAINST;
  const falls = mayFall && whole.law.drop < 0 && share((drop) => drop >= 0) <= AGAINST;
  const direction = rises ? "rising" : falls ? "falling" : "level";
  const within = (value: number) => Math.min(range[1], Math.max(range[0], value));
  const end = sizes[sizes.length - 1];
  // Curves that rose by chance are among those that support a law: every second resample takes only a part of its gain.
  const at = (each: Carried, labels: number, r = 0): number => {
    if (direction === "level") return levelAt(each, labels);
    const reached = powerLawAt(each.law, end);
    const part = r % 2 === 0 ? 1 : each.part;
    return reached + part * (powerLawAt(each.law, labels) - reached) + each.offLaw;
  };
  // Few rows: Student's quantiles instead of the normal ones, and a variance that is not taken for less than it can be.
  const ends = resampled.map((curve) => curve[curve.length - 1]);
  const variance = Math.max(sampleVariance(momentsOf(ends)), leastVariance);
  const around = (value: number, draws: readonly number[], leastOf: number, level: number): Interval => {
    const tail = (1 - level) / 2;
    const t = -studentTQuantile(tail, drawn - 1);
    const wider = t / -studentTQuantile(tail, Infinity);
    const missing = Math.max(0, leastOf - sampleVariance(momentsOf(draws)));
    const reach = (distance: number) => Math.sqrt((wider * Math.max(0, distance)) ** 2 + t * t * missing);
    const [low, high] = quantiles(draws, [tail, 1 - tail]);
    return [value - reach(value - low), value + reach(high - value)];
  };
  return {
    direction,
    valueAt: (labels) => within(at(whole, labels)),
    intervalAt(labels, level = 0.95) {
      const draws = carried.map((each, r) => at(each, labels, r));
      const [low, high] = around(at(whole, labels), draws, variance, level);
      return [within(low), within(high)];
    },
    gain(from, to) {
      const of = ({ law }: Carried) => powerLawAt(law, to) - powerLawAt(law, from);
      // Rows none of which changed leave room for one in so many that would; of that the part that is still to come.
      const { rate } = whole.law;
      const unit = { limit: 0, drop: 1, rate };
      const part =
        (powerLawAt(unit, to) - powerLawAt(unit, from)) /
        (powerLawAt(unit, end) - powerLawAt(unit, sizes[0]));
      const value = of(whole);
      const [low, high] = around(value, carried.map(of), (part / drawn) ** 2, 0.95);
      return { value, interval: [Math.max(0, low), high] };
    },
  };
};
