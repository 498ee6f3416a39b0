/** What one set of predictions is worth by the weights of the rows, as plain numbers: resamples ask for it many times. */
import { log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { judgeGuesses } from "../fairness/acquired-leakage.js";

/** Predictions for the rows that judge, [rows] and [rows, groups]. */
export interface JudgedPredictions {
  readonly predicted: Int32Array;
  readonly guesses: Float64Array | undefined;
}

export interface JudgingRows {
  /** The true classes, and the groups, -1 where they are not known; [rows]. */
  readonly actual: Int32Array;
  readonly groups: Int32Array;
  readonly groupClasses: number;
  /** Deals the rows into halves. */
  readonly stream: RandomStream;
}

export interface FitWorth {
  readonly accuracy: number;
  /** The logarithm of each group's selection rate, [groups]. */
  readonly logRates: readonly number[];
  /** Of guessing the attribute; 0 without guesses. As it came out: below 0 where the guesses are worse than base rates. */
  readonly nats: number;
  readonly auc: number;
}

/**
 * A group in which nobody is selected has no logarithm of its rate: to every group one row is added of which `selected` is
 * selected, the share of all.
 */
export const fitWorth = (
  { predicted, guesses }: JudgedPredictions,
  { actual, groups, groupClasses, stream }: JudgingRows,
  weights: Float64Array,
  selected: number,
): FitWorth => {
  let whole = 0;
  let right = 0;
  let counted = 0;
  const totals = new Float64Array(groupClasses);
  const chosen = new Float64Array(groupClasses);
  for (let i = 0; i < predicted.length; i++) {
    whole += weights[i];
    if (weights[i] > 0) counted += 1;
    if (predicted[i] === actual[i]) right += weights[i];
    if (groups[i] < 0) continue;
    totals[groups[i]] += weights[i];
    if (predicted[i] === 1) chosen[groups[i]] += weights[i];
  }
  const one = whole / Math.max(1, counted);
  const judged =
    guesses === undefined
      ? undefined
      : judgeGuesses(
          { probabilities: guesses, groups, classes: groupClasses, weights },
          { stream, interval: false },
        );
  return {
    accuracy: right / whole,
    logRates: Array.from(totals, (total, g) => log((chosen[g] + one * selected) / (total + one))),
    nats: judged?.rawNats ?? 0,
    auc: judged?.auc ?? 0.5,
  };
};
