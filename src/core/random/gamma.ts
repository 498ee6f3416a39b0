import { exp, log } from "../math.js";
import type { RandomStream } from "./stream.js";

/**
 * A gamma variate with shape >= 1 and scale 1: Marsaglia and Tsang, "A simple method for generating gamma variables"
 * (ACM TOMS 26, 2000). One normal and one uniform a trial; at least 95 % of trials succeed.
 */
const gammaFromOne = (stream: RandomStream, shape: number): number => {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = stream.normal();
    const root = 1 + c * x;
    const u = stream.uniform();
    if (root <= 0) continue;
    const v = root * root * root;
    const x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2 || log(u) < 0.5 * x2 + d * (1 - v + log(v))) return d * v;
  }
};

/**
 * The logarithm of a gamma variate with this shape and scale 1.
 *
 * Below shape 1 it is log g + log(u) / shape with g of shape + 1 (Marsaglia and Tsang, section 6), which stays
 * finite where the variate itself, about u^(1 / shape), is below the smallest float64.
 */
const logGammaVariate = (stream: RandomStream, shape: number): number => {
  if (shape >= 1) return log(gammaFromOne(stream, shape));
  const boost = log(stream.uniform()) / shape;
  return log(gammaFromOne(stream, shape + 1)) + boost;
};

/** A gamma variate with this shape > 0 and scale 1; 0 where it is below the smallest float64. */
export const gammaVariate = (stream: RandomStream, shape: number): number =>
  shape >= 1 ? gammaFromOne(stream, shape) : exp(logGammaVariate(stream, shape));

/** A beta variate x / (x + y) = 1 / (1 + e^(log y - log x)), where x and y are gamma variates of shape a and b. */
export const betaVariate = (stream: RandomStream, a: number, b: number): number => {
  const logX = logGammaVariate(stream, a);
  const logY = logGammaVariate(stream, b);
  return 1 / (1 + exp(logY - logX));
};
