import { powerOfTwo } from "./bits.js";
import { LN2_HI, LN2_LO } from "./log.js";

/**
 * P(z), with r (e^r + 1) / (e^r - 1) = 2 + z P(z) at z = r^2, for |r| <= ln(2) / 2: the Chebyshev interpolant,
 * absolute error below 2^-54 in P.
 */
const EXP_COEFFICIENTS = [
  0.1666666666666666, -0.0027777777777562864, 6.613756470855508e-5, -1.6534058842837582e-6,
  4.1437096880780196e-8,
] as const;

// Read from a typed array because engines load that faster than constants of a module.
const C = Float64Array.from(EXP_COEFFICIENTS);
const INVERSE_LN2 = Math.LOG2E;
/** Beyond these the result is Infinity, or rounds to 0. */
const OVERFLOW = 709.782712893384;
const UNDERFLOW = -745.1332191019412;

/** The integer nearest to x / ln 2, for |x| < 2^20. */
const exponentOf = (x: number): number => (x * INVERSE_LN2 + (x < 0 ? -0.5 : 0.5)) | 0;

/**
 * e^r - 1 for r = hi - lo, |r| <= ln(2) / 2: with c = r - z P(z), z = r^2, e^r = 1 + 2 r / (2 - c - ... ) rearranged
 * to r + r c / (2 - c), as in fdlibm's e_exp, so that r itself enters last and unrounded.
 */
const reducedExpm1 = (hi: number, lo: number): number => {
  const r = hi - lo;
  const z = r * r;
  const c = r - z * ((((C[4] * z + C[3]) * z + C[2]) * z + C[1]) * z + C[0]);
  return (r * c) / (2 - c) - lo + hi;
};

/** y 2^k for 1/2 <= y <= 2 and -1075 <= k <= 1024; exact, or rounded once where the result is subnormal. */
const scale = (y: number, k: number): number => {
  if (k > 1023) return 2 * y * powerOfTwo(k - 1);
  if (k < -1074) return 0.5 * y * powerOfTwo(k + 1);
  return y * powerOfTwo(k);
};

/** e^x, within 1 ulp (subnormal results within 1 unit of 2^-1074); the same bits in every engine. */
export const exp = (x: number): number => {
  if (x > OVERFLOW) return Number.POSITIVE_INFINITY;
  if (x < UNDERFLOW) return 0;
  if (Number.isNaN(x)) return x;
  const k = exponentOf(x);
  return scale(1 + reducedExpm1(x - k * LN2_HI, k * LN2_LO), k);
};

const TWO_M54 = 5.551115123125783e-17;

/** e^x - 1, within 2 ulp, also for tiny x; expm1(-Infinity) = -1, expm1(±0) = ±0. */
export const expm1 = (x: number): number => {
  if (x > OVERFLOW) return Number.POSITIVE_INFINITY;
  if (x < -40) return -1;
  if (Number.isNaN(x) || (x < TWO_M54 && x > -TWO_M54)) return x;
  const k = exponentOf(x);
  const y = reducedExpm1(x - k * LN2_HI, k * LN2_LO);
  if (k === 0) return y;
  // 2^k (1 + y) - 1 = 2^k (y + (1 - 2^-k)); beyond 2^54 the -1 is lost anyway.
  if (k > 54) return scale(1 + y, k);
  return (y + (1 - powerOfTwo(-k))) * powerOfTwo(k);
};
