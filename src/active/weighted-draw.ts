import { log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";

/**
 * `count` places drawn without replacement, each next one with a probability proportional to its weight among those that
 * are left: the largest of log(u) / w (Efraimidis and Spirakis, Information Processing Letters 97, 2006).
 */
export const drawWeighted = (weights: ArrayLike<number>, count: number, stream: RandomStream): Int32Array => {
  const keys = Float64Array.from(weights, (weight) => log(stream.uniform()) / weight);
  const order = Int32Array.from(keys.keys()).sort((a, b) => keys[b] - keys[a] || a - b);
  return order.slice(0, count);
};
