/** Rules tried out on rows: what selecting by eta(x) - sum_g lambda_g w_g(x) comes to. */
import { ratioOfRates } from "../fair-rule/cuts.js";
import { groupWeights } from "../fair-rule/multipliers.js";
import type { CountedRows, FairMetric } from "../fair-rule/rule-rows.js";
import { cutAtWeight } from "./rate-cut.js";

/** What multipliers come to on some rows. */
export interface ParityPoint {
  /** The share of rows decided rightly. */
  readonly accuracy: number;
  readonly selectionRate: number;
  /** The lowest over the highest rate of a group: 1 is parity; 0 where nobody counts as selected. */
  readonly ratio: number;
  /** Of two groups' multipliers (-lambda, lambda); of more, half the sum of their absolute values. */
  readonly lambda: number;
  /** [groups] */
  readonly multipliers: readonly number[];
}

export interface Trial {
  readonly counted: CountedRows;
  /** [rows, groups], as in `groupWeights`. */
  readonly w: Float64Array;
  /** [rows], for the cut, which puts them in another order. */
  readonly scratch: { readonly values: Float64Array; readonly weights: Float64Array };
}

export const trialOf = (counted: CountedRows, metric: FairMetric): Trial => {
  const { eta, probabilities, shares, rows } = counted;
  return {
    counted,
    w: groupWeights(eta, probabilities, shares, metric),
    scratch: { values: new Float64Array(rows), weights: new Float64Array(rows) },
  };
};

/** sum_g lambda_g w_g(x), [rows]. */
export const weighted = (
  { counted: { groups, rows }, w }: Trial,
  multipliers: readonly number[],
): Float64Array => {
  const sums = new Float64Array(rows);
  for (let g = 0; g < groups; g++) {
    if (multipliers[g] === 0) continue;
    for (let row = 0; row < rows; row++) sums[row] += multipliers[g] * w[row * groups + g];
  }
  return sums;
};

/** Multipliers on a line, and the scores of any place on it from one product and one difference. */
export interface Line {
  at(s: number): { readonly multipliers: readonly number[]; readonly values: Float64Array };
}

export const lineOf = (trial: Trial, start: readonly number[], direction: readonly number[]): Line => {
  const { eta } = trial.counted;
  const bent = weighted(trial, start);
  const from = eta.map((score, row) => score - bent[row]);
  const along = weighted(trial, direction);
  const values = new Float64Array(eta.length);
  return {
    at(s) {
      for (let row = 0; row < values.length; row++) values[row] = from[row] - s * along[row];
      return { multipliers: start.map((each, g) => each + s * direction[g]), values };
    },
  };
};

const lambdaOf = (multipliers: readonly number[]): number =>
  multipliers.length === 2
    ? (multipliers[1] - multipliers[0]) / 2
    : multipliers.reduce((sum, each) => sum + Math.abs(each), 0) / 2;

/** What selecting the highest scores comes to where they are this share of the weight, and each group's rate. */
export const tryAtRate = (
  { counted, scratch }: Trial,
  { multipliers, values }: ReturnType<Line["at"]>,
  rate: number,
): { readonly point: ParityPoint; readonly rates: Float64Array } => {
  const { rows, groups, counts, totals, weights, weight, gains, rightAtNone } = counted;
  let kept = 0;
  for (let row = 0; row < rows; row++) {
    if (weights[row] === 0) continue;
    scratch.values[kept] = values[row];
    scratch.weights[kept++] = weights[row];
  }
  const { threshold, part } = cutAtWeight(
    scratch.values.subarray(0, kept),
    scratch.weights.subarray(0, kept),
    Math.min(weight, rate * weight),
  );
  const selected = new Float64Array(groups);
  let right = rightAtNone;
  for (let row = 0; row < rows; row++) {
    if (values[row] < threshold) continue;
    const taken = values[row] > threshold ? 1 : part;
    right += taken * gains[row];
    for (let g = 0; g < groups; g++) selected[g] += taken * counts[row * groups + g];
  }
  const point: ParityPoint = {
    accuracy: right / weight,
    selectionRate: rate,
    ratio: ratioOfRates(selected, totals),
    lambda: lambdaOf(multipliers),
    multipliers,
  };
  return { point, rates: selected.map((each, g) => (totals[g] > 0 ? each / totals[g] : 0)) };
};

/** Every cut of the rows in the order of their scores; equal ones are never parted, and somebody is selected. */
export const tryAllCuts = (
  { counted }: Trial,
  { multipliers, values }: ReturnType<Line["at"]>,
  offer: (point: ParityPoint) => void,
): void => {
  const { rows, groups, counts, totals, weights, weight, gains, rightAtNone } = counted;
  const lambda = lambdaOf(multipliers);
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const selected = new Float64Array(groups);
  let share = 0;
  let right = rightAtNone;
  for (let k = 0; k < rows; k++) {
    const row = order[k];
    for (let g = 0; g < groups; g++) selected[g] += counts[row * groups + g];
    share += weights[row];
    right += gains[row];
    if (k + 1 < rows && values[order[k + 1]] === values[row]) continue;
    offer({
      accuracy: right / weight,
      selectionRate: share / weight,
      ratio: ratioOfRates(selected, totals),
      lambda,
      multipliers,
    });
  }
};
