/**
 * What a model says of a person's group, turned into probabilities by which rates may be counted. With m(c | x) what the
 * model says and s(x) the log odds of the favourable outcome,
 *
 *     log p(c | x) = a log m(c | x) + k_c + d_c s(x) - a constant,   k_0 = d_0 = 0
 *
 * with a, k and d chosen on rows that the models had not seen. A rate counted by p is right where p is right among those
 * who are selected, and who is selected goes by s: that is what d is for. k puts the shares of the groups right.
 */

import { InputError } from "../core/errors.js";
import { factorise, solveLower, solveUpper } from "../core/math/cholesky.js";
import { exp, log } from "../core/math.js";
import { mitigationTexts } from "./groups.js";

/** Plain data, which JSON carries. */
export interface GroupCalibration {
  /** a, never below 0: 1 believes the model as it is, 0 not at all. */
  readonly strength: number;
  /** k, [groups]. */
  readonly shifts: readonly number[];
  /** d, [groups]. */
  readonly slopes: readonly number[];
}

/** Rows that the models were not trained on. */
export interface CalibrationRows {
  /** What the model of the outcome says, [rows]. */
  readonly scores: ArrayLike<number>;
  /** What the model of the group says, row-major [rows, groups]. */
  readonly groupProbabilities: ArrayLike<number>;
}

export interface KnownGroups extends CalibrationRows {
  /** [rows]: -1 is unknown, and left out. */
  readonly groups: ArrayLike<number>;
  /** [rows]: how much each row counts; 1 unless given. */
  readonly weights?: ArrayLike<number> | undefined;
}

export interface CalibrationOptions {
  /** Chooses k alone, near that of this one, with its a and d; all of them unless given. */
  readonly from?: GroupCalibration | undefined;
  /** Whether d may differ from 0 (true). */
  readonly byOutcome?: boolean | undefined;
}

export const groupCalibrationTexts = {
  nobody: "no row has a known group and a weight, so there is nothing to calibrate on: give rows with groups",
};

/** This share of a uniform distribution is mixed into what a model says, so that no logarithm is infinite. */
const MIXED = 0.01;
/**
 * Precisions of normal priors: a around 1 and d around 0, with a standard deviation of 1; k is nearly free, or around
 * what it was with a standard deviation of 1.
 */
const PRIOR = { strength: 1, shift: 0.01, slope: 1, shiftAgain: 1 };
const MOST_STEPS = 50;
/** A precision that lets nothing move. */
const HELD = 1e15;

/** log m(c | x), [rows, groups]. */
const logarithms = (probabilities: ArrayLike<number>, groups: number): Float64Array =>
  Float64Array.from(probabilities, (p) => log((1 - MIXED) * p + MIXED / groups));

const logOdds = (scores: ArrayLike<number>): Float64Array =>
  Float64Array.from(scores, (score) => {
    const mixed = (1 - MIXED) * score + MIXED / 2;
    return log(mixed / (1 - mixed));
  });

const groupsOf = ({ scores, groupProbabilities }: CalibrationRows): number => {
  const groups = groupProbabilities.length / scores.length;
  if (scores.length === 0) throw new InputError("no-rows", mitigationTexts.noRows());
  if (!Number.isInteger(groups) || groups < 1)
    throw new InputError(
      "shape",
      mitigationTexts.lengths("group probabilities", groupProbabilities.length, scores.length),
    );
  return groups;
};

/**
 * a, k and d with the highest posterior density on these rows, which the models must not have seen.
 *
 * @example
 * ```ts
 * import { calibratedGroups, calibrateGroups } from "fairbed/mitigation";
 *
 * // A model that is far too sure: of those it gives 0.9, six of ten are of group 1.
 * const groups = Array.from({ length: 200 }, (_, i) => (i < 100 ? Number(i < 60) : Number(i < 140)));
 * const scores = groups.map(() => 0.5);
 * const groupProbabilities = groups.flatMap((_, i) => (i < 100 ? [0.1, 0.9] : [0.9, 0.1]));
 * const calibration = calibrateGroups({ scores, groupProbabilities, groups });
 * const [, p] = calibratedGroups(calibration, { scores: [0.5], groupProbabilities: [0.1, 0.9] });
 * console.log(p.toFixed(2)); // 0.60
 * ```
 */
export const calibrateGroups = (known: KnownGroups, options: CalibrationOptions = {}): GroupCalibration => {
  const found = calibrateAt(known, options, undefined);
  // Where nothing can be told, models of other rows are wrong more often than right about those left out: a model that
  // has learnt nothing is not one that has learnt the opposite.
  return found.strength < 0 && options.from === undefined ? calibrateAt(known, options, 0) : found;
};

/** The same with a given a, where there is one. */
const calibrateAt = (
  { scores, groupProbabilities, groups: given, weights }: KnownGroups,
  { from, byOutcome = true }: CalibrationOptions,
  fixed: number | undefined,
): GroupCalibration => {
  const groups = groupsOf({ scores, groupProbabilities });
  if (given.length !== scores.length)
    throw new InputError("shape", mitigationTexts.lengths("groups", given.length, scores.length));
  const rows = Int32Array.from({ length: scores.length }, (_, row) => row).filter(
    (row) => given[row] >= 0 && (weights?.[row] ?? 1) > 0,
  );
  if (rows.length === 0) throw new InputError("no-rows", groupCalibrationTexts.nobody);
  // Weights say how rows count against each other; there are as many as there are.
  const whole = rows.reduce((sum, row) => sum + (weights?.[row] ?? 1), 0);
  const weigh = (row: number) => ((weights?.[row] ?? 1) * rows.length) / whole;
  const m = logarithms(groupProbabilities, groups);
  const s = logOdds(scores);
  // Parameters: k of the groups from 1 on, then a, then d of the groups from 1 on.
  const free = from === undefined ? (byOutcome ? 2 * groups - 1 : groups) : groups - 1;
  const prior = Float64Array.from({ length: 2 * groups - 1 }, (_, i) => Number(i === groups - 1));
  const precision = Float64Array.from({ length: free }, (_, i) =>
    i >= groups
      ? PRIOR.slope
      : i === groups - 1
        ? PRIOR.strength
        : from === undefined
          ? PRIOR.shift
          : PRIOR.shiftAgain,
  );
  if (from !== undefined) {
    for (let c = 1; c < groups; c++) {
      prior[c - 1] = from.shifts[c] - from.shifts[0];
      prior[groups - 1 + c] = from.slopes[c] - from.slopes[0];
    }
    prior[groups - 1] = from.strength;
  }
  if (fixed !== undefined) {
    prior[groups - 1] = fixed;
    precision[groups - 1] = HELD;
  }
  const at = prior.slice();
  const p = new Float64Array(groups);
  const derivative = (row: number, c: number, i: number): number =>
    i < groups - 1
      ? Number(c === i + 1)
      : i === groups - 1
        ? m[row * groups + c]
        : c === i - groups + 1
          ? s[row]
          : 0;
  const lossAt = (parameters: Float64Array): number => {
    let loss = 0;
    for (let i = 0; i < free; i++) loss += (precision[i] * (parameters[i] - prior[i]) ** 2) / 2;
    for (const row of rows) {
      probabilitiesAt(parameters, row);
      loss -= weigh(row) * log(p[given[row]]);
    }
    return loss;
  };
  let loss = lossAt(at);
  for (let step = 0; step < MOST_STEPS; step++) {
    const gradient = Float64Array.from(precision, (each, i) => each * (at[i] - prior[i]));
    const hessian = new Float64Array(free * free);
    for (let i = 0; i < free; i++) hessian[i * free + i] = precision[i];
    for (const row of rows) {
      probabilitiesAt(at, row);
      const weight = weigh(row);
      const means = Float64Array.from({ length: free }, (_, i) => {
        let mean = 0;
        for (let c = 0; c < groups; c++) mean += p[c] * derivative(row, c, i);
        return mean;
      });
      for (let i = 0; i < free; i++) {
        gradient[i] += weight * (means[i] - derivative(row, given[row], i));
        for (let j = 0; j <= i; j++) {
          let product = 0;
          for (let c = 0; c < groups; c++) product += p[c] * derivative(row, c, i) * derivative(row, c, j);
          hessian[i * free + j] += weight * (product - means[i] * means[j]);
        }
      }
    }
    if (!factorise(hessian, free)) break;
    solveLower(hessian, free, gradient);
    solveUpper(hessian, free, gradient);
    // Newton's step, halved until it gains.
    let next = at.map((each, i) => (i < free ? each - gradient[i] : each));
    let nextLoss = lossAt(next);
    for (let half = 0.5; nextLoss > loss && half > 1e-6; half /= 2) {
      next = at.map((each, i) => (i < free ? each - half * gradient[i] : each));
      nextLoss = lossAt(next);
    }
    if (!(nextLoss < loss)) break;
    at.set(next);
    const gained = loss - nextLoss;
    loss = nextLoss;
    if (gained < 1e-10 * rows.length) break;
  }
  return {
    strength: fixed ?? at[groups - 1],
    shifts: [0, ...at.subarray(0, groups - 1)],
    slopes: [0, ...at.subarray(groups)],
  };

  function probabilitiesAt(parameters: Float64Array, row: number): void {
    const strength = parameters[groups - 1];
    for (let c = 0; c < groups; c++) {
      const own = c === 0 ? 0 : parameters[c - 1] + parameters[groups - 1 + c] * s[row];
      p[c] = strength * m[row * groups + c] + own;
    }
    normalise(p);
  }
};

/** exp of each over their sum, in place. */
const normalise = (values: Float64Array): void => {
  let most = values[0];
  for (const value of values) most = Math.max(most, value);
  let sum = 0;
  for (let c = 0; c < values.length; c++) {
    values[c] = exp(values[c] - most);
    sum += values[c];
  }
  for (let c = 0; c < values.length; c++) values[c] /= sum;
};

/**
 * p(group | x), row-major [rows, groups].
 *
 * @example
 * ```ts
 * import { calibratedGroups } from "fairbed/mitigation";
 *
 * const calibration = { strength: 0, shifts: [0, 0], slopes: [0, 0] }; // the model is not believed at all
 * console.log([...calibratedGroups(calibration, { scores: [0.5], groupProbabilities: [0.1, 0.9] })]); // [ 0.5, 0.5 ]
 * ```
 */
export const calibratedGroups = (
  { strength, shifts, slopes }: GroupCalibration,
  rows: CalibrationRows,
): Float64Array => {
  const groups = groupsOf(rows);
  const out = logarithms(rows.groupProbabilities, groups);
  const s = logOdds(rows.scores);
  for (let row = 0; row < s.length; row++) {
    const own = out.subarray(row * groups, (row + 1) * groups);
    for (let c = 0; c < groups; c++) own[c] = strength * own[c] + shifts[c] + slopes[c] * s[row];
    normalise(own);
  }
  return out;
};
