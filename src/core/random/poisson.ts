import { stirlingRemainder } from "../math/lgamma.js";
import { exp, lgamma, log } from "../math.js";
import type { RandomStream } from "./stream.js";

/** Means above this are refused: the counts would no longer be resolved by the 52 bits of a uniform. */
export const LARGEST_POISSON_MEAN = 1e15;

const LOG_TWO_PI = 1.8378770664093456;

/**
 * x log(x / mean) + mean - x without cancellation for x near the mean: with v = (x - mean) / (x + mean),
 * (x - mean) v + 2 x (v^3 / 3 + v^5 / 5 + ...) (Loader, "Fast and accurate computation of binomial probabilities",
 * 2000).
 */
const deviance = (x: number, mean: number): number => {
  const v = (x - mean) / (x + mean);
  if (v > 0.1 || v < -0.1) return x * log(x / mean) + mean - x;
  let sum = (x - mean) * v;
  let power = 2 * x * v;
  for (let k = 3; ; k += 2) {
    power *= v * v;
    const next = sum + power / k;
    if (next === sum) return sum;
    sum = next;
  }
};

/**
 * log of the Poisson probability of k. From k = 10 by Loader's saddle-point form, whose error does not grow with the
 * mean as that of k log(mean) - mean - log k! does.
 */
export const poissonLogProbability = (k: number, mean: number): number =>
  k < 10
    ? k * log(mean) - mean - lgamma(k + 1)
    : -0.5 * (LOG_TWO_PI + log(k)) - stirlingRemainder(k) - deviance(k, mean);

/** Counts uniforms until their product falls to e^-mean (Knuth, TAOCP 3.4.1): mean + 1 of them on average. */
const poissonByProducts = (stream: RandomStream, mean: number): number => {
  const limit = exp(-mean);
  let count = 0;
  for (let product = stream.uniform(); product > limit; product *= stream.uniform()) count++;
  return count;
};

/**
 * Transformed rejection with squeeze, algorithm PTRS of Hormann, "The transformed rejection method for generating
 * Poisson random variables" (Insurance: Mathematics and Economics 12, 1993), for means of at least 10.
 */
const poissonByRejection = (stream: RandomStream, mean: number): number => {
  const b = 0.931 + 2.53 * Math.sqrt(mean);
  const a = -0.059 + 0.02483 * b;
  const inverseAlpha = 1.1239 + 1.1328 / (b - 3.4);
  const squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const u = stream.uniform() - 0.5;
    const v = stream.uniform();
    const us = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log((v * inverseAlpha) / (a / (us * us) + b)) <= poissonLogProbability(k, mean)) return k;
  }
};

/** A Poisson variate, 0 <= mean <= {@link LARGEST_POISSON_MEAN}. */
export const poissonVariate = (stream: RandomStream, mean: number): number =>
  mean < 10 ? poissonByProducts(stream, mean) : poissonByRejection(stream, mean);
