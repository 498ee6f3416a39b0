/** log and log1p. Coefficients: scripts/minimax.mjs. */
import type { VectorGraph, VectorNode } from "../vector.js";
import { MANTISSA_BITS, SIGN_BIT, SUBNORMAL_SHIFT, TINY } from "./float32.js";
import { EVERYTHING, type Range } from "./range.js";

/** (2 atanh(s) - 2 s) / s^3 in z = s^2, s = f / (2 + f), sqrt(1/2) <= 1 + f < sqrt(2): relative error 8.1e-10. */
const ATANH = [0.6666677594184875, 0.3997758626937866, 0.29870694875717163];

const BITS_OF_ONE = 0x3f800000;
const BITS_OF_FOUR = 0x40800000;
const BITS_OF_ROOT_HALF = 0x3f3504f3;
const EXPONENT_BITS = 0xff800000;
const LEAST_NORMAL = 2 ** -126;
/** Up to here the reciprocal of the power of two in x is a normal number. */
const GREATEST_RECIPROCAL = 2 ** 126;

/** k 2^23 as an integer, where u = 2^k m with sqrt(1/2) <= m < sqrt(2), for normal and positive u. */
const exponentOf = (g: VectorGraph, u: VectorNode): VectorNode =>
  g.apply("v128.and", g.apply("i32x4.sub", u, g.bits(BITS_OF_ROOT_HALF)), g.bits(EXPONENT_BITS));

/** 2^-k of `exponentOf`. */
const reciprocalPower = (g: VectorGraph, exponent: VectorNode): VectorNode =>
  g.apply("i32x4.sub", g.bits(BITS_OF_ONE), exponent);

/**
 * k ln 2 + log(1 + f), as f - s (f - s^2 T(s^2)) with s = f / (2 + f): a division and two coefficients instead
 * of eight coefficients. One float32 is enough for ln 2: its relative error is 3e-9.
 */
const assemble = (g: VectorGraph, exponent: VectorNode, f: VectorNode): VectorNode => {
  const s = g.div(f, g.add(f, g.float(2)));
  const z = g.mul(s, s);
  const mantissa = g.nmadd(s, g.nmadd(z, g.polynomial(z, ATANH), f), f);
  return g.madd(
    g.apply("f32x4.convert_i32x4_s", exponent),
    g.float(Math.LN2 * 2 ** -MANTISSA_BITS),
    mantissa,
  );
};

/**
 * x = 2^k (1 + f) for finite x > 0, exact; `exponent` is k 2^23 as an integer. What comes of other x is no number
 * to use.
 */
export const split = (
  g: VectorGraph,
  x: VectorNode,
  range: Range,
): { readonly exponent: VectorNode; readonly f: VectorNode } => {
  if (range.low >= LEAST_NORMAL) {
    const exponent = exponentOf(g, x);
    return { exponent, f: g.sub(g.apply("i32x4.sub", x, exponent), g.float(1)) };
  }
  const tiny = g.apply("f32x4.lt", x, g.float(LEAST_NORMAL));
  const normal = g.select(tiny, g.mul(x, g.float(2 ** SUBNORMAL_SHIFT)), x);
  const shifted = exponentOf(g, normal);
  const correction = g.apply("v128.and", tiny, g.bits(SUBNORMAL_SHIFT << MANTISSA_BITS));
  return {
    exponent: g.apply("i32x4.sub", shifted, correction),
    f: g.sub(g.apply("i32x4.sub", normal, shifted), g.float(1)),
  };
};

/**
 * log x: -Infinity at 0, NaN below. Within 1 ulp with FMA and 1.25 ulp without on every float32,
 * subnormal ones included.
 *
 * A range inside [2^-126, 2^126] has nothing but the formula left, and of the rest only what the range asks for.
 */
export const log = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  if (range.low >= LEAST_NORMAL && range.high <= GREATEST_RECIPROCAL) {
    // m as a product, and not from the bits of x, so that NaN goes through.
    const exponent = exponentOf(g, x);
    return assemble(g, exponent, g.madd(x, reciprocalPower(g, exponent), g.float(-1)));
  }
  const { exponent, f } = split(g, x, range);
  // Infinity and NaN are not below Infinity: they are their own logarithms.
  const positive = g.select(g.apply("f32x4.lt", x, g.float(Infinity)), assemble(g, exponent, f), x);
  if (range.low > 0) return positive;
  const above = g.select(g.apply("f32x4.eq", x, g.float(0)), g.float(-Infinity), positive);
  return range.low >= 0 ? above : g.apply("v128.or", above, g.apply("f32x4.lt", x, g.float(0)));
};

/**
 * log(1 + x): -Infinity at -1, NaN below. Within 1.75 ulp on every float32; keeps the sign of 0.
 *
 * With f = 2^-k (1 + x) - 1 = 2^-k x + (2^-k - 1) the rounding of 1 + x has no part but in the choice of k.
 */
export const log1p = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const exponent = exponentOf(g, g.add(x, g.float(1)));
  let result: VectorNode;
  if (range.high <= GREATEST_RECIPROCAL) {
    const power = reciprocalPower(g, exponent);
    const inner = assemble(g, exponent, g.madd(x, power, g.sub(power, g.float(1))));
    result = range.low > 0 ? inner : g.apply("v128.or", inner, g.apply("v128.and", x, g.bits(SIGN_BIT)));
  } else {
    // 2^-k may be subnormal, 2^(2 - k) is not.
    const quarter = g.float(0.25);
    const power = g.apply("i32x4.sub", g.bits(BITS_OF_FOUR), exponent);
    const f = g.madd(g.mul(x, quarter), power, g.sub(g.mul(power, quarter), g.float(1)));
    const inner = assemble(g, exponent, f);
    const tiny = g.apply("f32x4.lt", g.apply("f32x4.abs", x), g.float(TINY));
    const near = range.low >= TINY ? inner : g.select(tiny, x, inner);
    result = range.high < Infinity ? near : g.select(g.apply("f32x4.lt", x, g.float(Infinity)), near, x);
  }
  if (range.low > -1) return result;
  const above = g.select(g.apply("f32x4.eq", x, g.float(-1)), g.float(-Infinity), result);
  return range.low >= -1 ? above : g.apply("v128.or", above, g.apply("f32x4.lt", x, g.float(-1)));
};
