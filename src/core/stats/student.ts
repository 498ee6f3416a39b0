import { InputError } from "../errors.js";
import { polynomial } from "../math/polynomial.js";
import { exp, log, log1p, normalQuantile } from "../math.js";

export const studentProbabilityText = (p: number): string =>
  `studentTQuantile got the probability ${p}, but it must lie strictly between 0 and 1; give for example 0.975.`;
export const studentFreedomText = (df: number): string =>
  `studentTQuantile got ${df} degrees of freedom, but they must be a positive number; use the number of values less 1.`;

/** log(Gamma(a + 1/2) / Gamma(a)) - log(a) / 2 = (c[0] + c[1] / a^2 + ...) / a, for a >= 20 to 1e-17. */
const HALF_STEP = [-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224] as const;

/** Gamma(a + 1/2) / Gamma(a), by a <- a + 1 up to the asymptotic series: no difference of large logarithms. */
const gammaHalfStep = (a: number): number => {
  let factor = 1;
  for (; a < 20; a += 1) factor *= a / (a + 0.5);
  return factor * Math.sqrt(a) * exp(polynomial(HALF_STEP, 1 / (a * a)) / a);
};

/** The continued fraction of the incomplete beta function (A&S 26.5.8, by Lentz's method), for x < (a+1)/(a+b+2). */
const betaFraction = (x: number, a: number, b: number): number => {
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < 100000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    const step = d * c;
    value *= step;
    if (Math.abs(step - 1) < 1e-16) break;
  }
  return value;
};

/**
 * P(0 < T < t), P(T > t) and the density at t > 0 for Student's t, from I_x(df/2, 1/2) / 2 = P(T > t) at
 * x = df / (df + t^2) (A&S 26.7.1); `ratio` = Gamma(a + 1/2) / Gamma(a), a = df / 2.
 */
const studentT = (
  t: number,
  df: number,
  ratio: number,
): { center: number; tail: number; density: number } => {
  const a = df / 2;
  const x = df / (df + t * t);
  const y = t / Math.sqrt(df + t * t);
  const front = exp(-a * log1p((t * t) / df)) * (ratio / Math.sqrt(Math.PI));
  const density = (front * Math.sqrt(x)) / Math.sqrt(df);
  if (x < (a + 1) / (a + 2.5)) {
    const tail = (0.5 * front * y * betaFraction(x, a, 0.5)) / a;
    return { center: 0.5 - tail, tail, density };
  }
  const center = front * y * betaFraction(y * y, 0.5, a);
  return { center, tail: 0.5 - center, density };
};

/**
 * The quantile for many degrees of freedom, from the normal one: z + g1(z) / df + ... + g4(z) / df^4 (A&S 26.7.5).
 *
 * There the continued fraction would lose digits: its argument df / (df + t^2) is next to 1.
 */
const expandedQuantile = (z: number, df: number): number => {
  const w = z * z;
  const g = [
    1,
    (w + 1) / 4,
    ((5 * w + 16) * w + 3) / 96,
    (((3 * w + 19) * w + 17) * w - 15) / 384,
    ((((79 * w + 776) * w + 1482) * w - 1920) * w - 945) / 92160,
  ];
  return z * polynomial(g, 1 / df);
};

const MANY_DEGREES = 5000;

/**
 * The t with P(T <= t) = p for Student's t with `df` > 0 degrees of freedom (not only whole ones), relative error
 * below 1e-12 for 1e-15 < p < 1 - 1e-15; the normal quantile at df = Infinity.
 *
 * Newton's method. For |p - 1/2| < 1/4 on P(0 < T < t), concave in t, from 0; else on log P(T > t) as a function of
 * log t, also concave, from the normal quantile: neither can leave the side it approaches the root from.
 */
export const studentTQuantile = (p: number, df: number): number => {
  if (!(p > 0 && p < 1)) throw new InputError("probability", studentProbabilityText(p));
  if (!(df > 0)) throw new InputError("degrees-of-freedom", studentFreedomText(df));
  if (df > MANY_DEGREES) return expandedQuantile(normalQuantile(p), df);
  if (p < 0.5) return -quantileAboveMedian(p, 0.5 - p, df);
  return quantileAboveMedian(1 - p, p - 0.5, df);
};

/** The t >= 0 with P(T > t) = tail and P(0 < T < t) = center. */
const quantileAboveMedian = (tail: number, center: number, df: number): number => {
  const ratio = gammaHalfStep(df / 2);
  let t = 0;
  if (center < 0.25) {
    for (let i = 0; i < 60; i++) {
      const at = studentT(t, df, ratio);
      const step = (center - at.center) / at.density;
      t += step;
      if (Math.abs(step) <= 1e-16 * t) break;
    }
    return t;
  }
  t = -normalQuantile(tail);
  for (let i = 0; i < 60; i++) {
    const at = studentT(t, df, ratio);
    const step = (log(at.tail / tail) * at.tail) / (at.density * t);
    t *= exp(step);
    if (Math.abs(step) <= 1e-16) break;
  }
  return t;
};
