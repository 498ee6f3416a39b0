/**
 * y_t = a(x_t) theta + b(x_t) phi + noise with standard normal theta, phi and noise: with A = [a b], [horizon, 2],
 *
 *     2 EIG_theta       = log det(I + A'A) - log(1 + b'b)
 *     2 EIG_{phi|theta} = log(1 + b'b)
 *
 * so that the best designs among finitely many can be found by going through all of them.
 */
import { add, exp, mul, square, sub } from "../../src/compute/index.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, oneOf, sensitive, target } from "../../src/design/model.js";

export interface Weights {
  readonly a: number;
  readonly b: number;
}

/** R_c = EIG_theta - beta EIG_{phi|theta}, in nats. */
export const objectiveOf = (observations: readonly Weights[], beta: number): number => {
  const sum = (of: (each: Weights) => number) => observations.reduce((total, each) => total + of(each), 0);
  const [aa, ab, bb] = [sum(({ a }) => a * a), sum(({ a, b }) => a * b), sum(({ b }) => b * b)];
  const joint = Math.log((1 + aa) * (1 + bb) - ab * ab);
  return (joint - (1 + beta) * Math.log(1 + bb)) / 2;
};

/**
 * Weights of the target that tell the most between the values 0, 1, 2 and 5: at 3.6, whose nearest value, 5, tells nothing.
 * The best of the values is 1.
 */
export const DECOY = [0, 1, 2, 5];
export const decoyWeights = (x: number): Weights => ({
  a: 5 * Math.exp(-4 * (x - 3.6) ** 2) + 2 * Math.exp(-4 * (x - 1) ** 2),
  b: 0.1,
});
export const decoy = defineModel({
  name: "decoy",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: oneOf(DECOY) },
  outcome: ({ theta, phi }, { x }) => {
    const bump = (at: number) => exp(mul(-4, square(sub(x, at))));
    return normal(add(mul(theta, add(mul(5, bump(3.6)), mul(2, bump(1)))), mul(0.1, phi)), 1);
  },
});

/** The best objective of all multisets of `horizon` designs. */
export const bestOf = <Design>(
  designs: readonly Design[],
  weights: (design: Design) => Weights,
  horizon: number,
  beta: number,
): number => {
  const all = designs.map(weights);
  let best = -Infinity;
  const extend = (from: number, chosen: readonly Weights[]): void => {
    if (chosen.length === horizon) {
      best = Math.max(best, objectiveOf(chosen, beta));
      return;
    }
    for (let k = from; k < all.length; k++) extend(k, [...chosen, all[k]]);
  };
  extend(0, []);
  return best;
};
