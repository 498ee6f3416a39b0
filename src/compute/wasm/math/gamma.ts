/** lgamma and its first two derivatives. */
import { COSPI, DIGAMMA, LGAMMA, SINPI, STIRLING, TRIGAMMA } from "../../gamma-coefficients.js";
import type { VectorGraph, VectorNode } from "../vector.js";
import { SIGN_BIT } from "./float32.js";
import { log } from "./logarithm.js";
import { EVERYTHING, type Range } from "./range.js";

const HALF_LOG_TWO_PI = 0.9189385332046727;
/** Where the asymptotic series begin. */
const LGAMMA_FAR = 4.5;
const FAR = 3;
/** lgamma takes larger arguments by recurrence and smaller ones by reflection. */
const LGAMMA_REFLECT = -0.5;

/** r = x - n for the integer n nearest to x; exact. */
const fraction = (g: VectorGraph, x: VectorNode): VectorNode => g.sub(x, g.apply("f32x4.nearest", x));

/** sin(pi r) for |r| <= 1/2. */
const sinpi = (g: VectorGraph, r: VectorNode): VectorNode => g.mul(r, g.polynomial(g.mul(r, r), SINPI));

/** (t - 1/2) (log t - 1) + log(2 pi) / 2 - 1/2 + ..., Stirling's series, given log t. */
const stirling = (g: VectorGraph, t: VectorNode, logT: VectorNode): VectorNode => {
  const inverse = g.div(g.float(1), t);
  const rest = g.madd(
    inverse,
    g.polynomial(g.mul(inverse, inverse), STIRLING),
    g.float(HALF_LOG_TWO_PI - 0.5),
  );
  return g.madd(g.sub(t, g.float(0.5)), g.sub(logT, g.float(1)), rest);
};

/**
 * lgamma t for t > -1/2. Below 4.5 it is lgamma(2 + d) for d = t - n, where n is the integer nearest to t, plus
 * or minus the logarithm of the factors between Gamma(2 + d) and Gamma(n + d); there is one logarithm for all.
 */
const lgammaRight = (g: VectorGraph, t: VectorNode, range: Range): VectorNode => {
  if (range.low >= LGAMMA_FAR) return stirling(g, t, log(g, t, range));
  const below = (limit: number) => g.apply("f32x4.lt", t, g.float(limit));
  const n = g.apply("f32x4.nearest", t);
  const is = (integer: number) => g.apply("f32x4.eq", n, g.float(integer));
  const one = g.float(1);
  const far = g.apply("f32x4.ge", t, g.float(LGAMMA_FAR));
  const down = g.sub(t, one);
  let factors = g.select(is(4), g.mul(down, g.sub(t, g.float(2))), t);
  factors = g.select(is(3), down, factors);
  factors = g.select(is(2), one, factors);
  if (range.low <= 0.5) factors = g.select(is(0), g.apply("f32x4.abs", g.mul(t, g.add(t, one))), factors);
  const logarithm = log(g, g.select(far, t, factors), {
    low: range.low > 0 ? Math.min(range.low, 0.5) : 0,
    high: Math.max(range.high, LGAMMA_FAR ** 2),
  });
  const d = g.sub(t, n);
  const signed = g.apply("v128.xor", logarithm, g.apply("v128.and", below(1.5), g.bits(SIGN_BIT)));
  const near = g.madd(d, g.polynomial(d, LGAMMA), signed);
  return g.select(far, stirling(g, t, logarithm), near);
};

/**
 * log |Gamma(x)|: +Infinity at 0, at the negative integers (every float32 below -2^23 is one) and at both
 * infinities.
 *
 * For x > 0 within 6 ulp with FMA and 8 ulp without, next to the zeros at 1 and 2 too. For x < 0 within 3.5 ulp of
 * max(1, |lgamma x|, lgamma |x|): next to the zeros on that side the error is absolute.
 */
export const lgamma = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  if (range.low > LGAMMA_REFLECT) return lgammaRight(g, x, range);
  // |Gamma(x)| = pi / (|x sin(pi x)| Gamma(|x|)).
  const left = g.apply("f32x4.le", x, g.float(LGAMMA_REFLECT));
  const size = g.apply("f32x4.abs", x);
  const right = lgammaRight(g, g.select(left, size, x), EVERYTHING);
  const sine = g.apply("f32x4.abs", sinpi(g, fraction(g, x)));
  const quotient = g.div(g.float(Math.PI), g.mul(size, sine));
  const reflected = g.sub(log(g, quotient, { low: 2 ** -126, high: 2 ** 126 }), right);
  const integer = g.apply("f32x4.eq", x, g.apply("f32x4.nearest", x));
  return g.select(left, g.select(integer, g.float(Infinity), reflected), right);
};

/**
 * The arguments of the two halves of digamma and trigamma: `size` is x above 0 and 1 - x below; `y` is where the
 * asymptotic series takes it, FAR steps up if it is less than FAR.
 */
const shifted = (g: VectorGraph, x: VectorNode, range: Range) => {
  const left = range.low >= 0 ? undefined : g.apply("f32x4.lt", x, g.float(0));
  const size = left === undefined ? x : g.select(left, g.sub(g.float(1), x), x);
  const near = range.low >= FAR ? undefined : g.apply("f32x4.lt", size, g.float(FAR));
  const y = near === undefined ? size : g.select(near, g.add(size, g.float(FAR)), size);
  return { left, size, near, y };
};

/**
 * The derivative of lgamma: NaN at 0, at the negative integers and at -Infinity. Within 9 ulp of
 * max(1, |digamma x|), and for x < 0 of max(1, |digamma x|, digamma(1 - x)): next to its zeros (1.4616 and one
 * between every two poles) the error is absolute, about 1e-6.
 */
export const digamma = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const { left, size, near, y } = shifted(g, x, range);
  const one = g.float(1);
  const inverse = g.div(one, y);
  const w = g.mul(inverse, inverse);
  const logarithm = log(g, y, { low: FAR, high: left === undefined ? range.high : Infinity });
  let sum = g.nmadd(w, g.polynomial(w, DIGAMMA), g.nmadd(inverse, g.float(0.5), logarithm));
  if (near !== undefined) {
    // 1 / s + 1 / (s + 1) + 1 / (s + 2) over one denominator.
    const denominator = g.mul(size, g.mul(g.add(size, one), g.add(size, g.float(2))));
    const steps = g.div(g.polynomial(size, [2, 6, 3]), denominator);
    sum = g.sub(sum, g.apply("v128.and", near, steps));
  }
  if (range.low > 0) return sum;
  const zero = g.float(0);
  if (left === undefined) return g.apply("v128.or", sum, g.apply("f32x4.eq", x, zero));
  // digamma(x) = digamma(1 - x) - pi cot(pi x).
  const r = fraction(g, x);
  const cotangent = g.div(g.polynomial(g.mul(r, r), COSPI), g.mul(sinpi(g, r), g.float(1 / Math.PI)));
  const pole = g.apply("v128.and", g.apply("f32x4.le", x, zero), g.apply("f32x4.eq", r, zero));
  return g.apply("v128.or", g.sub(sum, g.apply("v128.and", left, cotangent)), pole);
};

/**
 * The second derivative of lgamma: +Infinity at 0 and at the negative integers, NaN at -Infinity. Within 4 ulp
 * for x > 0 and 8.5 ulp for x < 0 (subnormal results: of the subnormal spacing).
 */
export const trigamma = (g: VectorGraph, x: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const { left, size, near, y } = shifted(g, x, range);
  const one = g.float(1);
  const inverse = g.div(one, y);
  const w = g.mul(inverse, inverse);
  const series = g.madd(inverse, g.polynomial(w, TRIGAMMA), g.float(0.5));
  let sum = g.madd(w, series, inverse);
  if (near !== undefined) {
    // 1 / s^2, and 1 / (s + 1)^2 + 1 / (s + 2)^2 over one denominator.
    const first = g.div(one, size);
    const denominator = g.mul(g.add(size, one), g.add(size, g.float(2)));
    const others = g.div(g.polynomial(size, [5, 6, 2]), g.mul(denominator, denominator));
    sum = g.add(sum, g.apply("v128.and", near, g.madd(first, first, others)));
  }
  if (left === undefined) return sum;
  // trigamma(x) = (pi / sin(pi x))^2 - trigamma(1 - x).
  const cosecant = g.div(g.float(Math.PI), sinpi(g, fraction(g, x)));
  return g.select(left, g.sub(g.mul(cosecant, cosecant), sum), sum);
};
