import { polynomial } from "./polynomial.js";
import { sinPi } from "./sinpi.js";

/** B(2k), k = 1, 2, ...: the asymptotic series (A&S 6.4.12). */
const BERNOULLI = [
  0.16666666666666666, -0.03333333333333333, 0.023809523809523808, -0.03333333333333333, 0.07575757575757576,
  -0.2531135531135531, 1.1666666666666667, -7.092156862745098, 54.971177944862156,
] as const;

/**
 * The derivative of {@link digamma}, relative error below 1e-14; Infinity at the poles 0, -1, -2, ..., 0 at
 * Infinity, NaN at -Infinity.
 */
export const trigamma = (x: number): number => {
  if (x < 0) {
    const sine = sinPi(x);
    // A&S 6.4.7.
    return (Math.PI / sine) * (Math.PI / sine) - trigamma(1 - x);
  }
  let sum = 0;
  for (; x < 10; x += 1) sum += 1 / (x * x);
  const z = 1 / (x * x);
  return sum + (1 / x + 0.5 * z + (z / x) * polynomial(BERNOULLI, z));
};
