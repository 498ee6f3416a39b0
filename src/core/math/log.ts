import { highHalf, powerOfTwo } from "./bits.js";

/** ln 2 = LN2_HI + LN2_LO, where LN2_HI has 33 bits, so that k LN2_HI is exact for every exponent k. */
export const LN2_HI = 0.6931471804855391;
export const LN2_LO = 7.440617110012397e-11;

/**
 * P(z) = c[0] + c[1] z + ... + c[6] z^6, with (log((1 + s) / (1 - s)) - 2 s) / s = z P(z) at z = s^2, for
 * |s| <= (sqrt 2 - 1) / (sqrt 2 + 1): the Chebyshev interpolant, absolute error below 2^-51 in P, hence below
 * 2^-57 relative in the logarithm.
 */
export const LOG_COEFFICIENTS = [
  0.666666666666667, 0.39999999999899444, 0.2857142862600327, 0.22222211130259878, 0.18182889455674947,
  0.15331710618210773, 0.14616585424888623,
] as const;

// Read from a typed array because engines load that faster than constants of a module.
const C = Float64Array.from(LOG_COEFFICIENTS);

/** z P(z), Horner from the highest coefficient. */
const remainder = (z: number): number =>
  z * ((((((C[6] * z + C[5]) * z + C[4]) * z + C[3]) * z + C[2]) * z + C[1]) * z + C[0]);

const SMALLEST_NORMAL = 2.2250738585072014e-308;
const TWO_54 = 18014398509481984;
/** High half of sqrt(1/2), and its distance to the high half of 1. */
const LOG_SQRT_HALF_HIGH = 0x3fe6a09e;
const TO_ONE = 0x3ff00000 - LOG_SQRT_HALF_HIGH;

/**
 * Natural logarithm, within 1 ulp; the same bits in every engine.
 *
 * x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2): from the high half of the bits, by integer arithmetic,
 * k = ((high(x) + 0x3ff00000 - LOG_SQRT_HALF_HIGH) >> 20) - 1023, and then 1 + f = x 2^-k exactly. The rest is, in
 * exactly this order of rounded operations (the method of fdlibm's e_log, with coefficients of our own):
 *
 *     s = f / (2 + f),  z = s * s,  R = z * P(z) (Horner),  h = (0.5 * f) * f
 *     log x = (((s * (h + R) + k * LN2_LO) - h) + f) + k * LN2_HI
 *
 * Subnormal x is first multiplied by 2^54. log(±0) = -Infinity, log(x < 0) = NaN, log(Infinity) = Infinity.
 */
export const log = (x: number): number => {
  let shift = 0;
  if (!(x >= SMALLEST_NORMAL && x < Number.POSITIVE_INFINITY)) {
    if (x === 0) return Number.NEGATIVE_INFINITY;
    if (!(x > 0)) return Number.NaN;
    if (x === Number.POSITIVE_INFINITY) return x;
    x *= TWO_54;
    shift = 54;
  }
  const exponent = ((highHalf(x) + TO_ONE) >> 20) - 1023;
  const k = exponent - shift;
  const f = x * powerOfTwo(-exponent) - 1;
  const s = f / (2 + f);
  const h = 0.5 * f * f;
  return s * (h + remainder(s * s)) + k * LN2_LO - h + f + k * LN2_HI;
};

const TWO_M54 = 5.551115123125783e-17;

/**
 * log(1 + x), within 2 ulp, also for tiny x where 1 + x rounds; log1p(-1) = -Infinity, log1p(x < -1) = NaN.
 *
 * As {@link log} of u = 1 + x, with the rounding error of u, divided by u, added to the low part; for 1 + x in
 * [sqrt(1/2), sqrt 2) f is x itself and there is no such error.
 */
export const log1p = (x: number): number => {
  if (!(x > -1)) return x === -1 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === Number.POSITIVE_INFINITY || (x < TWO_M54 && x > -TWO_M54)) return x;
  let k = 0;
  let f = x;
  let correction = 0;
  if (!(x > -0.29289 && x < 0.41421)) {
    const u = 1 + x;
    correction = (x < 1 ? x - (u - 1) : 1 - (u - x)) / u;
    k = ((highHalf(u) + TO_ONE) >> 20) - 1023;
    f = u * powerOfTwo(-k) - 1;
  }
  const s = f / (2 + f);
  const h = 0.5 * f * f;
  return s * (h + remainder(s * s)) + (k * LN2_LO + correction) - h + f + k * LN2_HI;
};
