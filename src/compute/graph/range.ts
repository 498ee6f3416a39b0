/**
 * Interval arithmetic on the expression graph. An interval bounds every value that is a number; NaN is always
 * possible beside it. Float32 rounding can pass a bound by one part in 10^7, so users of a range compare with room
 * to spare (is it above the smallest normal number? is it finite?). Zero has no sign here: one divided by an interval
 * from zero up is taken to be positive.
 */
import { exp, expm1, log, log1p, tanh } from "../../core/math.js";
import type { Elementwise } from "./scalar.js";

export interface Range {
  readonly low: number;
  readonly high: number;
}

export const ANYTHING: Range = { low: -Infinity, high: Infinity };
const UNIT: Range = { low: 0, high: 1 };

/** Bounds with NaN (as from inf - inf) opened to the widest. */
const between = (low: number, high: number): Range => ({
  low: Number.isNaN(low) ? -Infinity : low,
  high: Number.isNaN(high) ? Infinity : high,
});

const hull = (values: readonly number[]): Range =>
  values.some(Number.isNaN) ? ANYTHING : { low: Math.min(...values), high: Math.max(...values) };

const products = (a: Range, b: Range): Range =>
  hull([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]);

/** A product of intervals where 0 * infinity counts as 0 at an end that is only approached. */
const multiply = (a: Range, b: Range): Range => {
  if (a.low >= 0 && b.low >= 0)
    return between(a.low * b.low, a.high === 0 || b.high === 0 ? 0 : a.high * b.high);
  return products(a, b);
};

const negate = ({ low, high }: Range): Range => ({ low: 0 - high, high: 0 - low });

/** A quotient of intervals, not by way of the reciprocal: that of a subnormal number is infinite. */
const divide = (a: Range, b: Range): Range => {
  if (b.high < 0) return negate(divide(a, negate(b)));
  if (a.low < 0 && a.high <= 0) return negate(divide(negate(a), b));
  if (b.low < 0) return ANYTHING;
  const nearest = Math.abs(b.low); // zero without a sign
  if (a.low >= 0) return between(a.low / b.high, a.high === 0 ? 0 : a.high / nearest);
  return nearest === 0 ? ANYTHING : between(a.low / nearest, a.high / nearest);
};

const absolute = ({ low, high }: Range): Range => ({
  low: low > 0 ? low : high < 0 ? -high : 0,
  high: Math.max(Math.abs(low), Math.abs(high)),
});

const square = (range: Range): Range => {
  const { low, high } = absolute(range);
  return { low: low * low, high: high * high };
};

const monotone = (f: (x: number) => number, { low, high }: Range): Range => between(f(low), f(high));

export const rangeOf = (op: Elementwise, args: readonly Range[]): Range => {
  const [a = ANYTHING, b = ANYTHING, c = ANYTHING] = args;
  switch (op) {
    case "add":
      return between(a.low + b.low, a.high + b.high);
    case "sub":
      return between(a.low - b.high, a.high - b.low);
    case "mul":
      return multiply(a, b);
    case "div":
      return divide(a, b);
    case "neg":
      return negate(a);
    case "square":
      return square(a);
    case "sqrt":
      return { low: Math.sqrt(Math.max(a.low, 0)), high: Math.sqrt(Math.max(a.high, 0)) };
    case "exp":
      return monotone(exp, a);
    case "log":
      return { low: log(Math.max(a.low, 0)), high: log(Math.max(a.high, 0)) };
    case "log1p":
      return { low: log1p(Math.max(a.low, -1)), high: log1p(Math.max(a.high, -1)) };
    case "expm1":
      return monotone(expm1, a);
    case "tanh":
      return monotone(tanh, a);
    case "sigmoid":
      return UNIT;
    case "softplus":
      return { low: Math.max(0, a.low), high: Math.max(0, a.high) + Math.LN2 };
    case "abs":
      return absolute(a);
    case "min":
      return { low: Math.min(a.low, b.low), high: Math.min(a.high, b.high) };
    case "max":
      return { low: Math.max(a.low, b.low), high: Math.max(a.high, b.high) };
    case "select":
      return { low: Math.min(b.low, c.low), high: Math.max(b.high, c.high) };
    case "less":
    case "lessEqual":
    case "greater":
    case "greaterEqual":
    case "equal":
    case "notEqual":
      return UNIT;
    case "erf":
      return { low: -1, high: 1 };
    case "trigamma":
      return { low: 0, high: Infinity };
    case "pow":
    case "lgamma":
    case "digamma":
      return ANYTHING;
  }
};
