/** P(X > x) of a chi-square variable: the regularised upper incomplete gamma function Q(freedom / 2, x / 2). */
import { exp } from "./exp.js";
import { lgamma } from "./lgamma.js";
import { log } from "./log.js";

const MOST_TERMS = 100_000;
const SMALL = 1e-300;

/** The power series of P(a, x), which converges fast for x < a + 1. */
const lowerSeries = (a: number, x: number): number => {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < MOST_TERMS && term > sum * 1e-17; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
};

/** Lentz's continued fraction of Q(a, x), for x >= a + 1. */
const upperFraction = (a: number, x: number): number => {
  let b = x + 1 - a;
  let c = 1 / SMALL;
  let d = 1 / b;
  let h = d;
  for (let n = 1; n < MOST_TERMS; n++) {
    const an = -n * (n - a);
    b += 2;
    d = an * d + b;
    if (Math.abs(d) < SMALL) d = SMALL;
    c = b + an / c;
    if (Math.abs(c) < SMALL) c = SMALL;
    d = 1 / d;
    const change = d * c;
    h *= change;
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return h;
};

/** Accurate far out in the tail too: a p of 1e-26 is not 0. */
export const chiSquareTail = (statistic: number, freedom: number): number => {
  if (!(statistic > 0)) return 1;
  const a = freedom / 2;
  const x = statistic / 2;
  const front = exp(a * log(x) - x - lgamma(a));
  return x < a + 1 ? Math.max(0, 1 - front * lowerSeries(a, x)) : Math.min(1, front * upperFraction(a, x));
};
