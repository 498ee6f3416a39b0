/** Populations of a few kinds of people, whose best constrained classifier is enumerated. */
import type { FairMetric } from "../../src/mitigation/fair-rule.js";

/** A population of a few kinds of people: how many, P(y = 1 | x), P(group 1 | x) or P(group 1 | x, y = 1). */
export interface Kind {
  readonly mass: number;
  readonly eta: number;
  readonly second: number;
}
export const rowsOf = (kinds: readonly Kind[]) => ({
  scores: kinds.map(({ eta }) => eta),
  groupProbabilities: kinds.flatMap(({ second }) => [1 - second, second]),
  weights: kinds.map(({ mass }) => mass),
});

/** Accuracy and both rates of a randomised classifier f, from their definitions. */
export const judge = (kinds: readonly Kind[], f: readonly number[], metric: FairMetric) => {
  const sum = (value: (kind: Kind, i: number) => number) =>
    kinds.reduce((total, kind, i) => total + kind.mass * value(kind, i), 0);
  const relevant = ({ eta }: Kind) => (metric === "dp" ? 1 : eta);
  const rate = (member: (kind: Kind) => number) =>
    sum((kind, i) => f[i] * relevant(kind) * member(kind)) / sum((kind) => relevant(kind) * member(kind));
  return {
    accuracy: sum(({ eta }, i) => f[i] * eta + (1 - f[i]) * (1 - eta)) / sum(() => 1),
    rates: [rate(({ second }) => 1 - second), rate(({ second }) => second)] as const,
  };
};
export const isFair = ([a, b]: readonly [number, number], level: number) =>
  Math.max(a, b) > 0 && Math.min(a, b) >= level * Math.max(a, b) - 1e-9;

export const deterministic = (count: number): readonly (readonly number[])[] =>
  Array.from({ length: 2 ** count }, (_, code) => Array.from({ length: count }, (_, i) => (code >> i) & 1));

/**
 * The most accurate randomised classifier whose rates are fair. A linear program with two constraints beside the box, of
 * which one binds where anybody is selected, so that some optimum decides all kinds but one for sure: enumerated.
 */
export const bestRandomised = (kinds: readonly Kind[], level: number, metric: FairMetric) => {
  let best: { readonly f: readonly number[]; readonly accuracy: number } | undefined;
  const offer = (f: readonly number[]) => {
    const { accuracy, rates } = judge(kinds, f, metric);
    const fair = f.every((each) => each === 0) || isFair(rates, level);
    if (fair && (best === undefined || accuracy > best.accuracy)) best = { f, accuracy };
  };
  for (const f of deterministic(kinds.length)) {
    offer(f);
    for (let i = 0; i < f.length; i++) {
      if (f[i] === 1) continue;
      const [low, high] = [0, 1].map((at) => judge(kinds, f.with(i, at), metric).rates);
      for (const [g, h] of [
        [0, 1],
        [1, 0],
      ]) {
        // rate_g - level rate_h is linear in f_i.
        const [from, to] = [low[g] - level * low[h], high[g] - level * high[h]];
        const at = from / (from - to);
        if (at > 0 && at < 1) offer(f.with(i, at));
      }
    }
  }
  return best ?? { f: kinds.map(() => 0), accuracy: 0 };
};
