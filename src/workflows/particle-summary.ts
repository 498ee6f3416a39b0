/** What weighted particles say of one number. */
import type { Interval } from "../core/stats.js";

export interface ParticleSummary {
  readonly mean: number;
  readonly sd: number;
  /** From the 2.5 % to the 97.5 % quantile. */
  readonly interval: Interval;
}

/** Of values [particles] with weights [particles] whose sum is 1. */
export const summariseParticles = (values: Float64Array, weights: Float64Array): ParticleSummary => {
  let mean = 0;
  for (let i = 0; i < values.length; i++) mean += weights[i] * values[i];
  let variance = 0;
  for (let i = 0; i < values.length; i++) variance += weights[i] * (values[i] - mean) ** 2;
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  const quantile = (probability: number): number => {
    let below = 0;
    for (const i of order) {
      below += weights[i];
      if (below >= probability) return values[i];
    }
    return values[order[order.length - 1]];
  };
  return { mean, sd: Math.sqrt(variance), interval: [quantile(0.025), quantile(0.975)] };
};

/**
 * So many draws of equal weight from particles [particles] with weights [particles] whose sum is 1: systematic resampling
 * at the middles of equal shares, so that nothing is left to chance.
 */
export const evenDraws = (
  parameters: Readonly<Record<string, Float64Array>>,
  weights: Float64Array,
  count: number,
): Record<string, readonly number[]> => {
  const chosen: number[] = [];
  let below = 0;
  for (let i = 0; i < weights.length; i++) {
    below += weights[i];
    while (chosen.length < count && (chosen.length + 0.5) / count <= below) chosen.push(i);
  }
  // Rounding may leave the sum of the weights just below the last of the shares.
  while (chosen.length < count) chosen.push(weights.length - 1);
  return Object.fromEntries(
    Object.entries(parameters).map(([name, values]) => [name, chosen.map((i) => values[i])]),
  );
};
