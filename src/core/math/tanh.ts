import { expm1 } from "./exp.js";

/** Beyond this tanh x rounds to 1. */
const LARGEST = 22;

/** For 0 < x: either form loses no digits where it is used, the first far from 0 and the second near it. */
const inside = (x: number): number => {
  if (x >= 1) return 1 - 2 / (expm1(2 * x) + 2);
  const t = expm1(-2 * x);
  return -t / (t + 2);
};

/** Hyperbolic tangent, within 2 ulp; the same bits in every engine. tanh(±0) = ±0. */
export const tanh = (x: number): number => {
  if (Number.isNaN(x) || x === 0) return x;
  const size = Math.abs(x);
  const value = size > LARGEST ? 1 : inside(size);
  return x < 0 ? -value : value;
};
