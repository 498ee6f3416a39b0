/** exp, expm1 and the functions that are made of them. Coefficients: scripts/minimax.mjs. */
import type { VectorGraph, VectorNode } from "../vector.js";
import { MANTISSA_BITS, SIGN_BIT, SUBNORMAL_SHIFT, TINY } from "./float32.js";
import { EVERYTHING, type Range } from "./range.js";

/** exp r for |r| <= ln 2 / 2: relative error 3.7e-9. */
const EXP = [
  1, 1, 0.4999999403953552, 0.1666652113199234, 0.04166818782687187, 0.008368896320462227,
  0.0013832036638632417,
];
/** (expm1 r - r) / r^2 for |r| <= ln 2 / 2: relative error of expm1 1.4e-8. */
const EXPM1 = [0.5, 0.1666654795408249, 0.04166687652468681, 0.008366161026060581, 0.0013896515592932701];
/** (2 atanh s - 2 s) / s^3 in s^2, s <= 1/3: relative error 4.5e-9. */
const SOFTPLUS = [0.666664183139801, 0.40021437406539917, 0.2800302505493164, 0.2800678014755249];

/** ln 2 in two parts; the first has 16 bits, so that its product with an exponent is exact. */
const LN2_HIGH = 0.693145751953125;
const LN2_LOW = 1.428606765330187e-6;
/** Adding it rounds a float32 to an integer, whose lowest bits are then those of the sum. */
const ROUND = 1.5 * 2 ** 23;
/** The greatest exponent of a float32, and the bias of its bits. */
const GREATEST_EXPONENT = 127;

/** Beyond, exp rounds to 0 or to Infinity. */
const EXP_ENDS: Range = { low: -104, high: 89 };
/** Inside, exp is a normal number. */
const EXP_NORMAL: Range = { low: -87, high: 88 };
/** Up to here 2^24 exp is finite. */
const EXP_SHIFTED_HIGH = 71;
/** Below, expm1 rounds to -1. */
const EXPM1_LOW = -20;
/** Beyond, tanh(x / 2) rounds to -1 or 1. */
const TANH_ENDS: Range = { low: -20, high: 20 };

/** Limits x where its range asks for it; NaN stays. */
const clamp = (g: VectorGraph, x: VectorNode, range: Range, { low, high }: Range): VectorNode => {
  const above = range.low >= low ? x : g.apply("f32x4.pmax", x, g.float(low));
  return range.high <= high ? above : g.apply("f32x4.pmin", above, g.float(high));
};

/** x = n ln 2 + r with |r| <= ln 2 / 2. `sum` holds n + bias in its nine lowest bits. */
const reduce = (
  g: VectorGraph,
  x: VectorNode,
  bias: number,
): { readonly sum: VectorNode; readonly rest: VectorNode } => {
  const magic = g.float(ROUND + bias);
  const sum = g.madd(x, g.float(Math.LOG2E), magic);
  const n = g.sub(sum, magic);
  return { sum, rest: g.nmadd(n, g.float(LN2_LOW), g.nmadd(n, g.float(LN2_HIGH), x)) };
};

/** 2^(n - GREATEST_EXPONENT) where n is in the lowest bits of `sum`. */
const power = (g: VectorGraph, sum: VectorNode): VectorNode => g.shift("i32x4.shl", sum, MANTISSA_BITS);

/**
 * exp(r) 2^n for |r| <= ln 2 / 2 and -150 <= n <= 128; `sum` holds n + 254 in its nine lowest bits. The exponents
 * span more than one factor can, so there are two: half of n, rounded down, and what is left of it.
 */
export const scaledExp = (g: VectorGraph, rest: VectorNode, sum: VectorNode): VectorNode => {
  const half = g.shift("i32x4.shr_u", sum, 1);
  const other = g.apply("i32x4.sub", sum, half);
  return g.mul(g.mul(g.polynomial(rest, EXP), power(g, half)), power(g, other));
};

/** The bias with which `scaledExp` wants its exponent, as a float32 to add to the exponent. */
export const SCALED_EXP_ROUND = ROUND + 2 * GREATEST_EXPONENT;

/**
 * e^x: within 1 ulp with FMA and 1.25 ulp without on every float32 (subnormal results: of the subnormal spacing).
 *
 * A range inside [-87, 88] needs neither limits nor subnormal results; one that ends at 71 or below, as the
 * weights of a log-sum-exp do, gets its subnormal results by one more product, which rounds them once.
 */
export const exp = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const inside = clamp(g, x, range, EXP_ENDS);
  if (range.low >= EXP_NORMAL.low && range.high <= EXP_NORMAL.high) {
    const { sum, rest } = reduce(g, inside, GREATEST_EXPONENT);
    return g.mul(g.polynomial(rest, EXP), power(g, sum));
  }
  if (range.high <= EXP_SHIFTED_HIGH) {
    const { sum, rest } = reduce(g, inside, GREATEST_EXPONENT + SUBNORMAL_SHIFT);
    return g.mul(g.mul(g.polynomial(rest, EXP), power(g, sum)), g.float(2 ** -SUBNORMAL_SHIFT));
  }
  const { sum, rest } = reduce(g, inside, 2 * GREATEST_EXPONENT);
  return scaledExp(g, rest, sum);
};

/** e^x - 1: within 1.75 ulp on every float32; keeps the sign of 0. */
export const expm1 = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const inside = clamp(g, x, range, { low: EXPM1_LOW, high: EXP_ENDS.high });
  // 2^128 is too great for a factor: half of everything, then, and the double of that.
  const halved = range.high > EXP_NORMAL.high;
  const { sum, rest } = reduce(g, inside, halved ? GREATEST_EXPONENT - 1 : GREATEST_EXPONENT);
  const scale = power(g, sum);
  const small = g.madd(g.mul(rest, rest), g.polynomial(rest, EXPM1), rest);
  const part = g.madd(scale, small, g.sub(scale, g.float(halved ? 0.5 : 1)));
  const whole = halved ? g.add(part, part) : part;
  if (range.low >= TINY || range.high <= -TINY) return whole;
  return g.select(g.apply("f32x4.lt", g.apply("f32x4.abs", x), g.float(TINY)), x, whole);
};

/** tanh x = e / (e + 2), e = expm1(2 x): within 2.75 ulp on every float32; keeps the sign of 0. */
export const tanh = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const double = { low: 2 * range.low, high: 2 * range.high };
  const e = expm1(g, clamp(g, g.add(x, x), double, TANH_ENDS), {
    low: Math.max(double.low, TANH_ENDS.low),
    high: Math.min(double.high, TANH_ENDS.high),
  });
  return g.div(e, g.add(e, g.float(2)));
};

/** exp(-|x|). */
const decay = (g: VectorGraph, x: VectorNode, { low, high }: Range): VectorNode =>
  exp(g, g.apply("v128.or", x, g.bits(SIGN_BIT)), { low: -Math.max(Math.abs(low), Math.abs(high)), high: 0 });

/**
 * 1 / (1 + e^-x): within 2.5 ulp on every float32 (subnormal results: of the subnormal spacing).
 */
export const sigmoid = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const z = decay(g, x, range);
  const one = g.float(1);
  // e^-|x| over 1 + e^-|x| below 0, and 1 over it above: nothing overflows.
  const numerator =
    range.low >= 0 ? one : range.high <= 0 ? z : g.select(g.apply("f32x4.lt", x, g.float(0)), z, one);
  return g.div(numerator, g.add(z, one));
};

/**
 * log(1 + e^x) = max(x, 0) + log1p(e^-|x|): within 2 ulp with FMA and 2.25 ulp without on every float32
 * (subnormal results: of the subnormal spacing).
 */
export const softplus = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const z = decay(g, x, range);
  const s = g.div(z, g.add(z, g.float(2)));
  const s2 = g.mul(s, s);
  const small = g.nmadd(s, g.nmadd(s2, g.polynomial(s2, SOFTPLUS), z), z);
  if (range.high <= 0) return small;
  return g.add(range.low >= 0 ? x : g.apply("f32x4.pmax", x, g.float(0)), small);
};
