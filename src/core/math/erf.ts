import { withoutLowHalf } from "./bits.js";
import { exp } from "./exp.js";
import { chebyshev, polynomial } from "./polynomial.js";

/** P(z), with erf(x) = x + x P(x^2) for |x| <= 1: the Chebyshev interpolant, absolute error below 2^-62. */
const ERF_COEFFICIENTS = [
  0.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792, 0.0052239776248180145,
  -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-5, 1.6461000484121368e-6,
  -1.6350312701054695e-7, 1.4659775274047436e-8, -1.1372848856791674e-9, 5.957176147748911e-11,
] as const;

/**
 * Chebyshev coefficients of (1 + 2 x) e^(x^2) erfc(x) in t = (x - 3.75) / (x + 3.75), for all x >= 0; the omitted
 * terms are below 2^-64. The form is that of Shepherd and Laframboise (Math. Comp. 36, 1981); the numbers were
 * computed anew in 60-digit arithmetic.
 */
const ERFC_COEFFICIENTS = [
  1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189, -0.026658668435305753,
  0.009074997670705265, -0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-5,
  4.13902798607301e-6, 7.74038306619849e-7, -2.1886401049234397e-7, 1.076499946567091e-8,
  4.521959811218287e-9, -7.754400208831351e-10, -6.318088340886684e-11, 2.86879501093067e-11,
  1.9455868545777347e-13, -9.65469674843344e-13, 3.25254814814874e-14, 3.3478119482868056e-14,
  -1.864562880419313e-15, -1.2507950530688648e-15, 7.418235256624044e-17, 5.068148904796111e-17,
  -2.2370566594359995e-18, -2.187342944303018e-18,
] as const;

/** Beyond this erfc rounds to 0. */
const ERFC_UNDERFLOW = 27.3;

/** e^(-x^2) without the error of the rounded square: x = h + (x - h), where h^2 is exact. */
const gaussian = (x: number): number => {
  const h = withoutLowHalf(x);
  return exp(-h * h) * exp((h - x) * (h + x));
};

/** erfc(x) for 0.5 <= x <= {@link ERFC_UNDERFLOW}. */
const erfcTail = (x: number): number =>
  (gaussian(x) * chebyshev(ERFC_COEFFICIENTS, (x - 3.75) / (x + 3.75))) / (1 + 2 * x);

/** The error function 2 / sqrt(pi) * integral from 0 to x of e^(-t^2), relative error below 5e-16. */
export const erf = (x: number): number => {
  if (x < 0) return -erf(-x);
  if (x < 1) return x + x * polynomial(ERF_COEFFICIENTS, x * x);
  if (x < 6) return 1 - erfcTail(x);
  return Number.isNaN(x) ? x : 1;
};

/**
 * 1 - erf(x) without cancellation, relative error below 2e-15 while the result is a normal number (x < 26.5);
 * erfc(-Infinity) = 2, erfc(Infinity) = 0.
 */
export const erfc = (x: number): number => {
  if (x < 0.5) return 1 - erf(x);
  if (x < ERFC_UNDERFLOW) return erfcTail(x);
  return Number.isNaN(x) ? x : 0;
};

const SQRT_HALF = Math.SQRT1_2;
const SQRT_HALF_ERROR = -4.833646656726457e-17;
const TWO_OVER_SQRT_PI = 1.1283791670955126;

/** a b - fl(a b), exactly (Dekker's product with Veltkamp's splitting), for |a|, |b| < 2^900. */
const productError = (a: number, b: number, product: number): number => {
  const a1 = 134217729 * a - (134217729 * a - a);
  const b1 = 134217729 * b - (134217729 * b - b);
  const a2 = a - a1;
  const b2 = b - b1;
  return a2 * b2 - (product - a1 * b1 - a2 * b1 - a1 * b2);
};

/**
 * Standard normal distribution function, erfc(-x / sqrt 2) / 2, relative error below 2e-15 for x > -37.5.
 *
 * In the lower tail the rounding error d of -x / sqrt 2 would cost x^2 units in the last place, so the first-order
 * term -2 / sqrt(pi) e^(-y^2) d of erfc(y + d) is added.
 */
export const normalCdf = (x: number): number => {
  if (!(x < -0.5 && x > -40)) return 0.5 * erfc(-x * SQRT_HALF);
  const y = -x * SQRT_HALF;
  const d = productError(-x, SQRT_HALF, y) - x * SQRT_HALF_ERROR;
  return 0.5 * (erfc(y) - TWO_OVER_SQRT_PI * gaussian(y) * d);
};
