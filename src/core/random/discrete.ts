import { InputError } from "../errors.js";
import type { RandomStream } from "./stream.js";

export const weightText = (weight: unknown, index: number): string =>
  `categorical got the weight ${String(weight)} at index ${index}, but weights must be finite and not negative; check the probabilities passed in.`;
export const weightSumText = (sum: number, n: number): string =>
  `categorical got ${n} weights that sum to ${sum}, but the sum must be positive and finite; give at least one positive weight and scale very large ones down.`;

/**
 * An index drawn with probability weights[i] / sum, by inversion of one uniform; weights need not sum to 1. O(n).
 * An index with weight 0 is never drawn.
 */
export const categoricalVariate = (stream: RandomStream, weights: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i];
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new InputError("categorical-weight", weightText(weight, i));
    }
    sum += weight;
  }
  if (!(sum > 0 && sum < Number.POSITIVE_INFINITY)) {
    throw new InputError("categorical-weight", weightSumText(sum, weights.length));
  }
  const target = stream.uniform() * sum;
  let cumulative = 0;
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    cumulative += weights[i];
    if (target < cumulative) return i;
    last = i;
  }
  return last;
};

/**
 * A whole number 0 <= i < n, 1 <= n <= 2^32, without bias: Lemire, "Fast random integer generation in an interval"
 * (ACM TOMACS 29, 2019), with the 64-bit product kept in two exact float64 halves. One word, rarely more.
 */
export const integerVariate = (stream: RandomStream, n: number): number => {
  for (;;) {
    const word = stream.uint32();
    // word * n = high * 2^32 + low, from the 16-bit halves of word: each product stays below 2^48.
    const lower = (word & 0xffff) * n;
    const upper = (word >>> 16) * n + Math.floor(lower / 65536);
    const high = Math.floor(upper / 65536);
    const low = (upper - high * 65536) * 65536 + (lower % 65536);
    // Only below n can low be one of the 2^32 mod n products that would favour some results.
    if (low >= n || low >= 4294967296 % n) return high;
  }
};

/**
 * The first k entries of a uniformly shuffled 0, ..., n - 1: the steps of Fisher and Yates, i swapped with a uniform
 * j in [i, n). Where k is much smaller than n, only the moved entries are stored, in O(k) time and memory; the
 * result is the same.
 */
export const shuffledPrefix = (stream: RandomStream, n: number, k: number): Uint32Array => {
  const chosen = new Uint32Array(k);
  if (k * 8 < n) {
    const moved = new Map<number, number>();
    for (let i = 0; i < k; i++) {
      const j = i + integerVariate(stream, n - i);
      chosen[i] = moved.get(j) ?? j;
      moved.set(j, moved.get(i) ?? i);
    }
    return chosen;
  }
  const items = new Uint32Array(n);
  for (let i = 0; i < n; i++) items[i] = i;
  for (let i = 0; i < k; i++) {
    const j = i + integerVariate(stream, n - i);
    chosen[i] = items[j];
    items[j] = items[i];
  }
  return chosen;
};
