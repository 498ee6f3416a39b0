/**
 * Interval arithmetic on the expression graph. An interval bounds every value that is a number; NaN is always
 * possible beside it. Float32 rounding can pass a bound by one part in 10^7, so users of a range compare with room
 * to spare (is it above the smallest normal number? is it finite?).
 */
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

const reciprocal = ({ low, high }: Range): Range => {
  if (low > 0) return { low: 1 / high, high: 1 / low };
  if (low === 0) return { low: high === 0 ? Infinity : 1 / high, high: Infinity };
  if (high < 0) return { low: 1 / high, high: 1 / low };
  return ANYTHING;
};

const square = ({ low, high }: Range): Range => {
  const nearest = low > 0 ? low : high < 0 ? -high : 0;
  return { low: nearest * nearest, high: Math.max(low * low, high * high) };
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
      return multiply(a, reciprocal(b));
    case "neg":
      return { low: -a.high, high: -a.low };
    case "square":
      return square(a);
    case "sqrt":
      return { low: Math.sqrt(Math.max(a.low, 0)), high: Math.sqrt(Math.max(a.high, 0)) };
    case "exp":
      return monotone(Math.exp, a);
    case "log":
      return { low: Math.log(Math.max(a.low, 0)), high: Math.log(Math.max(a.high, 0)) };
    case "log1p":
      return { low: Math.log1p(Math.max(a.low, -1)), high: Math.log1p(Math.max(a.high, -1)) };
    case "expm1":
      return monotone(Math.expm1, a);
    case "tanh":
      return monotone(Math.tanh, a);
    case "sigmoid":
      return UNIT;
    case "softplus":
      return { low: Math.max(0, a.low), high: Math.max(0, a.high) + Math.LN2 };
    case "abs": {
      const squared = square(a);
      return { low: Math.sqrt(squared.low), high: Math.max(Math.abs(a.low), Math.abs(a.high)) };
    }
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
