/**
 * Every elementwise operation on plain float64 numbers: the meaning that all backends share, the constant folder,
 * and what runs when a model is called with numbers instead of traced values.
 */
import { digamma, erf, exp, expm1, lgamma, log, log1p, tanh, trigamma } from "../../core/math.js";

const COMPARISONS = ["less", "lessEqual", "greater", "greaterEqual", "equal", "notEqual"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Logistic function 1 / (1 + e^-x), without overflow on either side. */
const sigmoid = (x: number): number => {
  if (x >= 0) return 1 / (1 + exp(-x));
  const e = exp(x);
  return e / (1 + e);
};

/** log(1 + e^x), without overflow and without losing small values. */
const softplus = (x: number): number => Math.max(x, 0) + log1p(exp(-Math.abs(x)));

export const scalar = {
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
  neg: (a: number) => -a,
  square: (a: number) => a * a,
  sqrt: Math.sqrt,
  pow: (a: number, b: number) => a ** b,
  exp,
  log,
  log1p,
  expm1,
  tanh,
  sigmoid,
  softplus: (x: number) => (Number.isNaN(x) ? x : softplus(x)),
  abs: Math.abs,
  min: (a: number, b: number) => Math.min(a, b),
  max: (a: number, b: number) => Math.max(a, b),
  select: (condition: number, a: number, b: number) => (condition !== 0 ? a : b),
  less: (a: number, b: number) => Number(a < b),
  lessEqual: (a: number, b: number) => Number(a <= b),
  greater: (a: number, b: number) => Number(a > b),
  greaterEqual: (a: number, b: number) => Number(a >= b),
  equal: (a: number, b: number) => Number(a === b),
  notEqual: (a: number, b: number) => Number(a !== b),
  lgamma,
  digamma,
  trigamma,
  erf,
} satisfies Record<string, (...args: never[]) => number>;

export type Elementwise = keyof typeof scalar;

/** An operation on numbers, whatever its arity. */
export const computeScalar = (op: Elementwise, args: readonly number[]): number =>
  (scalar[op] as (...args: readonly number[]) => number)(...args);

export const isElementwise = (op: string): op is Elementwise => Object.hasOwn(scalar, op);
export const isComparison = (op: Elementwise): op is Comparison =>
  (COMPARISONS as readonly string[]).includes(op);
