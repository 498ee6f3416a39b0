/** The search over multipliers: along a line all orders of the rows that matter, line after line. */
import type { Pacer } from "../../core/options.js";
import { bestCut, isBetter, type RuleGoal, type TriedRule } from "./cuts.js";
import type { CountedRows } from "./rule-rows.js";

/** Pairs of this many rows say where their order changes; with so few rows no order is left out. */
const ROWS_TO_PAIR = 100;
/** As many places on a line are tried at once, more of few rows; then those between the neighbours of the best one. */
const triedAtOnce = (rows: number): number => Math.max(60, Math.min(5000, Math.floor(300_000 / rows)));
const ROUNDS = 3;
/** Rounds over the groups where there are more than two, and steps towards equal rates before. */
const PASSES = 2;
const STEPS = 40;

/**
 * w_g(x) = m(x) (q_g(x) / S_g - 1 / sum of S), [rows, groups]: how much more a row counts in the rate of the group than
 * in that of the population. m = 1 for "dp" and eta(x) for "eopp"; 0 for a group that is not there.
 */
export const groupWeights = (
  eta: Float64Array,
  probabilities: Float64Array,
  shares: readonly number[],
  metric: "dp" | "eopp",
): Float64Array => {
  const groups = shares.length;
  const whole = shares.reduce((sum, share) => sum + share, 0);
  return probabilities.map((probability, at) => {
    const g = at % groups;
    if (shares[g] === 0) return 0;
    const m = metric === "dp" ? 1 : eta[(at - g) / groups];
    return m * (probability / shares[g] - 1 / whole);
  });
};

/** eta(x) - sum_g lambda_g w_g(x), [rows]. */
export const fairScores = (
  eta: Float64Array,
  w: Float64Array,
  multipliers: readonly number[],
): Float64Array => {
  const groups = multipliers.length;
  return eta.map((score, row) => {
    let sum = score;
    for (let g = 0; g < groups; g++) sum -= multipliers[g] * w[row * groups + g];
    return sum;
  });
};

/** A number below every score that these multipliers can give: w_g is within 1 / S_g. */
const everybodyAt = (multipliers: readonly number[], shares: readonly number[]): number =>
  multipliers.reduce((sum, each, g) => (shares[g] === 0 ? sum : sum - Math.abs(each) / shares[g]), -1);

/** Places between the crossings of the lines a - s b of rows, ascending, and 0: one for each order of those rows. */
export const placesBetweenCrossings = (a: Float64Array, b: Float64Array): Float64Array => {
  const order = Uint32Array.from(a.keys()).sort((i, j) => a[i] - a[j] || b[i] - b[j]);
  const distinct = order.filter(
    (row, k) => k === 0 || a[row] !== a[order[k - 1]] || b[row] !== b[order[k - 1]],
  );
  const count = Math.min(distinct.length, ROWS_TO_PAIR);
  const chosen = Array.from({ length: count }, (_, k) =>
    count === distinct.length ? distinct[k] : distinct[Math.floor(((k + 0.5) * distinct.length) / count)],
  );
  const crossings: number[] = [];
  for (let i = 0; i < count; i++)
    for (let j = 0; j < i; j++) {
      const at = (a[chosen[i]] - a[chosen[j]]) / (b[chosen[i]] - b[chosen[j]]);
      if (Number.isFinite(at)) crossings.push(at);
    }
  const sorted = Float64Array.from(crossings).sort();
  if (sorted.length === 0) return Float64Array.of(0);
  const places = [sorted[0] - 1];
  for (let k = 1; k < sorted.length; k++)
    // Crossings of the same place differ by their rounding, and there is nothing between them.
    if (sorted[k] - sorted[k - 1] > 1e-12) places.push((sorted[k] + sorted[k - 1]) / 2);
  return Float64Array.from([...places, sorted[sorted.length - 1] + 1, 0]).sort();
};

/** `most` indices from `from` to `to`, evenly, both included. */
const evenly = (from: number, to: number, most: number): readonly number[] => {
  const count = Math.min(most, to - from + 1);
  if (count === 1) return [from];
  return Array.from({ length: count }, (_, k) => from + Math.round((k * (to - from)) / (count - 1)));
};

/** The best rule; of several groups one that no change of a single multiplier makes better, as far as was looked. */
export const searchMultipliers = async (
  counted: CountedRows,
  metric: "dp" | "eopp",
  goal: RuleGoal,
  pace: Pacer,
): Promise<{ readonly best: TriedRule; readonly plain: TriedRule }> => {
  const { eta, probabilities, shares, groups } = counted;
  const w = groupWeights(eta, probabilities, shares, metric);
  const present = shares.flatMap((share, g) => (share > 0 ? [g] : []));
  const lines = present.length < 2 ? 0 : present.length === 2 ? 1 : 1 + PASSES * present.length;
  const most = triedAtOnce(eta.length);
  const total = lines * ROUNDS * most;
  let done = 0;
  const order = Uint32Array.from(eta.keys());
  const tryOut = (multipliers: readonly number[], of: RuleGoal = goal): TriedRule =>
    bestCut(
      counted,
      fairScores(eta, w, multipliers),
      multipliers,
      everybodyAt(multipliers, shares),
      of,
      order,
    );

  const alongLine = async (start: readonly number[], direction: readonly number[], from: TriedRule) => {
    const at = (s: number) => start.map((each, g) => each + s * direction[g]);
    const b = fairScores(new Float64Array(eta.length), w, direction).map((each) => -each);
    const places = placesBetweenCrossings(fairScores(eta, w, start), b);
    let best = from;
    let low = 0;
    let high = places.length - 1;
    for (let round = 0; round < ROUNDS && high >= low; round++) {
      const indices = evenly(low, high, most);
      // 0 is never left out: the rule it gives is the simplest.
      if (round === 0 && !indices.includes(places.indexOf(0))) {
        const tried = tryOut(at(0));
        if (isBetter(tried, best, goal)) best = tried;
      }
      let bestOf: TriedRule | undefined;
      let found = 0;
      for (const [k, index] of indices.entries()) {
        const tried = tryOut(at(places[index]));
        if (isBetter(tried, bestOf, goal)) {
          bestOf = tried;
          found = k;
        }
        await pace.step({ done: Math.min(++done, total), total, label: "multipliers" });
      }
      if (bestOf !== undefined && isBetter(bestOf, best, goal)) best = bestOf;
      if (indices.length === high - low + 1) break;
      low = indices[Math.max(0, found - 1)];
      high = indices[Math.min(indices.length - 1, found + 1)];
    }
    return best;
  };

  const none = shares.map(() => 0);
  const unbent = tryOut(none);
  const plain = tryOut(none, { ...goal, level: 0 });
  if (present.length < 2) return { best: unbent, plain };
  const towards = (directions: readonly (readonly [number, number])[]) =>
    none.map((_, g) => directions.find(([each]) => each === g)?.[1] ?? 0);
  if (present.length === 2) {
    const pair = towards([
      [present[0], -1],
      [present[1], 1],
    ]);
    return { best: await alongLine(none, pair, unbent), plain };
  }
  let best = await alongLine(none, towardsEqualRates(), unbent);
  for (let pass = 0; pass < PASSES; pass++)
    for (const g of present) best = await alongLine(best.multipliers, towards([[g, 1]]), best);
  return { best, plain };

  /** Multipliers that make the rates of all groups about equal: steps along the gaps between them, ever shorter. */
  function towardsEqualRates(): readonly number[] {
    const rate = goal.selectionRate ?? plain.selectionRate;
    let multipliers = none;
    for (let step = 0; step < STEPS; step++) {
      const { threshold } = tryOut(multipliers, { level: 0, selectionRate: rate });
      const scores = fairScores(eta, w, multipliers);
      const { counts, totals } = counted;
      const selected = new Float64Array(groups);
      scores.forEach((score, row) => {
        if (score > threshold) for (let g = 0; g < groups; g++) selected[g] += counts[row * groups + g];
      });
      const all = selected.reduce((sum, each) => sum + each, 0) / totals.reduce((sum, each) => sum + each, 0);
      multipliers = multipliers.map((each, g) =>
        totals[g] > 0 && all > 0
          ? each + ((0.05 / Math.sqrt(step + 1)) * (selected[g] / totals[g] - all)) / all
          : each,
      );
    }
    return multipliers;
  }
};
