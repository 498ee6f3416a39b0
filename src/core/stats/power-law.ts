/**
 * An inverse power law fitted to a learning curve: value(n) = limit - drop n^-rate.
 *
 * For a given rate it is linear in the other two (weighted least squares, within their bounds), so that only the rate is
 * searched for. Few noisy points say little about a rate, and small ones promise gains without end: it is held to what
 * learning curves have, log rate ~ N(log 1/2, 0.7^2), against the noise of the points about the best law. Points without
 * noise give the law itself.
 */
import { InputError } from "../errors.js";
import { exp, log } from "../math.js";
import type { Interval } from "./intervals.js";

export interface CurvePoint {
  /** Above 0. */
  readonly n: number;
  readonly value: number;
  /** How much it counts; 1 unless given. */
  readonly weight?: number | undefined;
}

export interface PowerLaw {
  /** What it tends to. */
  readonly limit: number;
  /** Above 0 where it rises, below 0 where it falls, 0 where it is level. */
  readonly drop: number;
  readonly rate: number;
}

export interface PowerLawOptions {
  /** What values can be. */
  readonly range: Interval;
  /** Whether it may fall (no). */
  readonly mayFall?: boolean | undefined;
}

export const powerLawTexts = {
  points: (given: number) =>
    `A power law got ${given} points, but needs at least 2 with finite values and numbers above 0; give more of the curve.`,
};

const USUAL_RATE = 0.5;
const RATE_SPREAD = 0.7;
const RATES: Interval = [0.05, 2];
const GRID = 24;
/** Steps of golden sections: each takes off 0.382 of what is left. */
const SECTIONS = 28;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** n^-rate */
const shrunk = (n: number, rate: number): number => exp(-rate * log(n));

export const powerLawAt = ({ limit, drop, rate }: PowerLaw, n: number): number =>
  drop === 0 ? limit : limit - drop * shrunk(n, rate);

/** The place of the least value of a function over an interval that has one valley near the best of a grid. */
const leastOver = (f: (x: number) => number, [from, to]: Interval): number => {
  const step = (to - from) / GRID;
  let best = 0;
  let least = Infinity;
  for (let i = 0; i <= GRID; i++) {
    const value = f(from + i * step);
    if (value < least) [best, least] = [i, value];
  }
  let low = from + Math.max(0, best - 1) * step;
  let high = from + Math.min(GRID, best + 1) * step;
  let [a, b] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
  let [atA, atB] = [f(a), f(b)];
  for (let i = 0; i < SECTIONS; i++) {
    if (atA <= atB) {
      high = b;
      [b, atB] = [a, atA];
      a = high - GOLDEN * (high - low);
      atA = f(a);
    } else {
      low = a;
      [a, atA] = [b, atB];
      b = low + GOLDEN * (high - low);
      atB = f(b);
    }
  }
  const middle = (low + high) / 2;
  return f(middle) <= least ? middle : from + best * step;
};

export const fitPowerLaw = (
  points: readonly CurvePoint[],
  { range: [least, most], mayFall = false }: PowerLawOptions,
): PowerLaw => {
  if (points.length < 2 || points.some(({ n, value }) => !(n > 0) || !Number.isFinite(value)))
    throw new InputError("power-law", powerLawTexts.points(points.length));
  const within = (value: number): number => Math.min(most, Math.max(least, value));
  // In units of the largest n, so that no power is far from 1.
  const largest = Math.max(...points.map(({ n }) => n));
  const weights = points.map(({ weight = 1 }) => weight);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = (of: (at: number) => number): number =>
    weights.reduce((sum, weight, at) => sum + weight * of(at), 0) / whole;
  const middle = mean((at) => points[at].value);

  /** The best limit and drop at a rate. */
  const linear = (rate: number) => {
    const x = points.map(({ n }) => shrunk(n / largest, rate));
    const xMean = mean((at) => x[at]);
    const spread = mean((at) => (x[at] - xMean) ** 2);
    const slope = spread === 0 ? 0 : mean((at) => (x[at] - xMean) * (points[at].value - middle)) / spread;
    let [limit, drop] = [middle - slope * xMean, -slope];
    if (limit !== within(limit)) {
      limit = within(limit);
      drop = mean((at) => x[at] * (limit - points[at].value)) / mean((at) => x[at] ** 2);
    }
    if (drop < 0 && !mayFall) [limit, drop] = [within(middle), 0];
    const squares = mean((at) => (points[at].value - limit + drop * x[at]) ** 2);
    return { limit, drop, squares };
  };
  const logs: Interval = [log(RATES[0]), log(RATES[1])];
  const free = leastOver((logRate) => linear(exp(logRate)).squares, logs);
  const noise = (linear(exp(free)).squares * points.length) / Math.max(1, points.length - 3);
  const held = leastOver(
    (logRate) =>
      linear(exp(logRate)).squares * points.length + noise * ((logRate - log(USUAL_RATE)) / RATE_SPREAD) ** 2,
    logs,
  );
  const rate = exp(held);
  const { limit, drop } = linear(rate);
  return { limit, drop: drop === 0 ? 0 : drop * exp(rate * log(largest)), rate };
};
