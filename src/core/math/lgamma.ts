import { log, log1p } from "./log.js";
import { polynomial } from "./polynomial.js";
import { sinPi } from "./sinpi.js";

/** log Gamma(2 + t) / t = (1 - gamma) + sum over k >= 2 of (-1)^k (zeta(k) - 1) t^(k-1) / k (A&S 6.1.33 at 2 + t). */
const AT_TWO = [
  0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
  0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939,
  9.945751278180853e-5, -4.492623673813314e-5, 2.050721277567069e-5, -9.439488275268397e-6,
  4.374866789907488e-6, -2.039215753801366e-6, 9.55141213040742e-7, -4.492469198764566e-7,
  2.1207184805554665e-7, -1.0043224823968099e-7, 4.7698101693639804e-8, -2.2711094608943164e-8,
  1.0838659214896955e-8, -5.183475041970047e-9, 2.4836745438024785e-9, -1.1921401405860912e-9,
  5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10, -6.4229645638381e-11,
] as const;

/** B(2k) / (2k (2k - 1)), k = 1, 2, ...: Stirling's series (A&S 6.1.40). */
const STIRLING = [
  0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
  0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
] as const;

const LOG_PI = 1.1447298858494002;
/** (log(2 pi) - 1) / 2. */
const HALF_LOG_TWO_PI_LESS_HALF = 0.4189385332046727;
const TWO_M60 = 8.673617379884035e-19;

/** log Gamma(2 + t) for |t| <= 1/2; exactly 0 at t = 0. */
const lgammaNearTwo = (t: number): number => t * polynomial(AT_TWO, t);

/** log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 10, absolute error below 1e-17. */
export const stirlingRemainder = (x: number): number => polynomial(STIRLING, 1 / (x * x)) / x;

/**
 * log |Gamma(x)|, relative error below 1e-14 for x > 0, including near the zeros 1 and 2; for x < 0 below 1e-14
 * relative or 1e-15 |x| absolute near the zeros there. Infinity at 0, -1, -2, ... and at ±Infinity.
 */
export const lgamma = (x: number): number => {
  if (Number.isNaN(x)) return x;
  if (x < TWO_M60) {
    if (x > -TWO_M60) return -log(x < 0 ? -x : x);
    const sine = sinPi(x);
    // A&S 6.1.17, Gamma(x) Gamma(1 - x) = pi / sin(pi x).
    return sine === 0 || Number.isNaN(sine)
      ? Number.POSITIVE_INFINITY
      : LOG_PI - log(sine < 0 ? -sine : sine) - lgamma(1 - x);
  }
  if (x < 0.5) return lgammaNearTwo(x) - log1p(x) - log(x);
  if (x < 1.5) return lgammaNearTwo(x - 1) - log1p(x - 1);
  if (x < 10) {
    let product = 1;
    while (x > 2.5) {
      x -= 1;
      product *= x;
    }
    return lgammaNearTwo(x - 2) + log(product);
  }
  if (x === Number.POSITIVE_INFINITY) return x;
  return (x - 0.5) * (log(x) - 1) + (HALF_LOG_TWO_PI_LESS_HALF + stirlingRemainder(x));
};
