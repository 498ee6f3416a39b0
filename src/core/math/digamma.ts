import { log } from "./log.js";
import { polynomial } from "./polynomial.js";
import { cosPi, sinPi } from "./sinpi.js";

/** digamma(2 + t) = (1 - gamma) + sum over k >= 2 of (-1)^k (zeta(k) - 1) t^(k-1) (A&S 6.3.14 at 2 + t). */
const AT_TWO = [
  0.42278433509846713, 0.6449340668482264, -0.2020569031595943, 0.08232323371113819, -0.03692775514336993,
  0.01734306198444914, -0.008349277381922827, 0.00407735619794434, -0.0020083928260822143,
  0.0009945751278180853, -0.0004941886041194645, 0.0002460865533080483, -0.00012271334757848915,
  6.124813505870483e-5, -3.058823630702049e-5, 1.528225940865187e-5, -7.637197637899763e-6,
  3.81729326499984e-6, -1.908212716553939e-6, 9.539620338727962e-7, -4.769329867878064e-7,
  2.38450502727733e-7, -1.1921992596531106e-7, 5.960818905125948e-8, -2.980350351465228e-8,
  1.4901554828365043e-8, -7.45071178983543e-9, 3.725334024788457e-9, -1.862659723513049e-9,
  9.313274324196682e-10,
] as const;

/** The positive zero of digamma, as the sum of two numbers, and the Taylor coefficients there, from the linear one. */
const ROOT_HI = 1.4616321449683622;
const ROOT_LO = 9.549995429965697e-17;
const AT_ROOT = [
  0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652, 0.10782405069126237,
  -0.07219956125645471, 0.04880428816414311, -0.03316112647484736, 0.022597648232218104, -0.01542476590494896,
  0.010538791616612175, -0.007204534386356869, 0.004926781395729853, -0.003369801655439328,
  0.002305126326734928, -0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052,
  0.000504953265834602, -0.0003454680251063077, 0.00023635601564027053, -0.00016170622091974803,
  0.0001106337276874741, -7.569179582195066e-5, 5.178575795222081e-5, -3.5430070947659604e-5,
] as const;

/** B(2k) / (2k), k = 1, 2, ...: the asymptotic series (A&S 6.3.18). */
const ASYMPTOTIC = [
  0.08333333333333333, -0.008333333333333333, 0.003968253968253968, -0.004166666666666667,
  0.007575757575757576, -0.021092796092796094, 0.08333333333333333, -0.4432598039215686,
] as const;

/**
 * The logarithmic derivative of Gamma, relative error below 1e-14 for x > 0, including near its zero 1.4616...; for
 * x < 0 below 1e-14 relative or 1e-14 absolute near the zeros there.
 *
 * NaN at the poles -1, -2, ... and at -Infinity; digamma(0) = -Infinity and digamma(-0) = Infinity, the one-sided
 * limits.
 */
export const digamma = (x: number): number => {
  if (x <= 0) {
    if (x === 0) return -1 / x;
    const sine = sinPi(x);
    if (sine === 0 || Number.isNaN(sine)) return Number.NaN;
    // A&S 6.3.7.
    return digamma(1 - x) - (Math.PI * cosPi(x)) / sine;
  }
  const fromRoot = x - ROOT_HI - ROOT_LO;
  if (fromRoot < 0.3 && fromRoot > -0.3) return fromRoot * polynomial(AT_ROOT, fromRoot);
  if (x < 0.5) return polynomial(AT_TWO, x) - 1 / (1 + x) - 1 / x;
  if (x < 1.5) return polynomial(AT_TWO, x - 1) - 1 / x;
  if (x < 10) {
    let sum = 0;
    while (x > 2.5) {
      x -= 1;
      sum += 1 / x;
    }
    return polynomial(AT_TWO, x - 2) + sum;
  }
  const z = 1 / (x * x);
  return log(x) - 0.5 / x - z * polynomial(ASYMPTOTIC, z);
};
