/**
 * y_t = a(x_t) theta + b(x_t) phi + noise with standard normal theta, phi and noise: with A = [a b], [horizon, 2],
 *
 *     2 EIG_theta       = log det(I + A'A) - log(1 + b'b)
 *     2 EIG_{phi|theta} = log(1 + b'b)
 *
 * so that the best designs among finitely many can be found by going through all of them.
 */
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
