/** What a training set is worth: a model of the target and one of the sensitive label, judged on rows held out. */

import { fit, type PoolLabel } from "../active/pool-models.js";
import type { RandomStream } from "../core/random.js";
import { DIFFERENCE_RANGE, FROM_ZERO, type Interval, UNIT_RANGE } from "../core/stats.js";
import { acquiredLeakage } from "../fairness/acquired-leakage.js";
import { atSelectionRate, parityRatios } from "../fairness/group-metrics.js";
import { scoreDistances } from "../fairness/score-distances.js";
import type { FeatureMatrix, Learner } from "../learners/classifier.js";
import { accuracyAtParity } from "../mitigation/parity-frontier.js";

/** One number for each; undefined where it has no value (no positive prediction in any group, say). */
export interface Evaluation {
  readonly accuracy: number | undefined;
  /** Of a model of the sensitive label, fitted on the same rows: what they give away. */
  readonly sensitiveAccuracy: number | undefined;
  readonly dpRatio: number | undefined;
  readonly tprRatio: number | undefined;
  readonly fprRatio: number | undefined;
  /** Class 1 of the sensitive label over class 0. */
  readonly dpSigned: number | undefined;
  readonly dpDifference: number | undefined;
  readonly selectionRate: number | undefined;
  /** Between the groups' distributions of P(positive): the area and the largest distance. */
  readonly gapArea: number | undefined;
  readonly gapLargest: number | undefined;
  /** The same where as many are selected as are truly positive: methods are compared at one selection rate. */
  readonly matchedAccuracy: number | undefined;
  readonly matchedDpRatio: number | undefined;
  readonly matchedDpDifference: number | undefined;
  /** What the rows give away about the sensitive label at the population's shares, in nats: see `acquiredLeakage`. */
  readonly leakage: number | undefined;
  /** The same as the AUC of telling the groups apart: 0.5 is nothing. */
  readonly leakageAuc: number | undefined;
  /**
   * The highest accuracy at a demographic parity of 0.8 and the matched selection rate, by the fair decision rule with the
   * group probabilities of a model of the same rows: see `accuracyAtParity`. Undefined where no rule reaches it.
   */
  readonly accuracyAtParity: number | undefined;
}

export const EVALUATION_NAMES = [
  "accuracy",
  "sensitiveAccuracy",
  "dpRatio",
  "tprRatio",
  "fprRatio",
  "dpSigned",
  "dpDifference",
  "selectionRate",
  "gapArea",
  "gapLargest",
  "matchedAccuracy",
  "matchedDpRatio",
  "matchedDpDifference",
  "leakage",
  "leakageAuc",
  "accuracyAtParity",
] as const satisfies readonly (keyof Evaluation)[];

/** What each can be: shares, ratios and areas, except a signed difference and nats. */
export const EVALUATION_RANGES: Readonly<Record<(typeof EVALUATION_NAMES)[number], Interval>> = {
  ...(Object.fromEntries(EVALUATION_NAMES.map((name) => [name, UNIT_RANGE])) as Record<
    (typeof EVALUATION_NAMES)[number],
    Interval
  >),
  dpSigned: DIFFERENCE_RANGE,
  leakage: FROM_ZERO,
};

/** Where accuracy is compared: the ratio that US law asks for, at the selection rate of the true positives. */
export const PARITY_JUDGED = { metric: "dp", level: 0.8, selectionRate: "matched" } as const;

export interface EvaluationOptions {
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  readonly sensitive: PoolLabel;
  /** Rows to learn from, and rows to judge on. */
  readonly labelled: Int32Array;
  readonly test: Int32Array;
  /** How much each row counts, [all rows], in the fits and in every metric; 1 unless given. */
  readonly weights?: Float64Array | undefined;
  /** The same in the fit of the target alone, where it differs there. */
  readonly targetWeights?: Float64Array | undefined;
  readonly learner: Learner;
  readonly sensitiveLearner: Learner;
  readonly stream: RandomStream;
}

/** The class with the largest probability for each row; the first of equals. */
export const mostProbable = (probabilities: Float64Array, classes: number): Int32Array =>
  Int32Array.from({ length: probabilities.length / classes }, (_, row) => {
    let best = 0;
    for (let c = 1; c < classes; c++) {
      if (probabilities[row * classes + c] > probabilities[row * classes + best]) best = c;
    }
    return best;
  });

/** The share of the rows, by their weights, for which something holds. */
const shareWhere = (
  rows: number,
  holds: (row: number) => boolean,
  weights: Float64Array | undefined,
): number => {
  let [part, whole] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const weight = weights?.[row] ?? 1;
    whole += weight;
    if (holds(row)) part += weight;
  }
  return part / whole;
};

/**
 * As many of the highest scores as have this share of the weight, the nearest number of them; equal scores in an order
 * that is drawn.
 */
const selectShare = (
  scores: Float64Array,
  rate: number,
  stream: RandomStream,
  weights: Float64Array | undefined,
): Int32Array => {
  if (weights === undefined) return atSelectionRate(scores, rate, stream).predicted;
  const place = stream.permutation(scores.length);
  const order = Uint32Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || place[a] - place[b]);
  const wanted = rate * weights.reduce((sum, weight) => sum + weight, 0);
  const predicted = new Int32Array(scores.length);
  let selected = 0;
  for (const row of order) {
    if (selected + weights[row] / 2 > wanted) break;
    predicted[row] = 1;
    selected += weights[row];
  }
  return predicted;
};

export const evaluate = ({
  features,
  target,
  sensitive,
  labelled,
  test,
  weights,
  targetWeights = weights,
  learner,
  sensitiveLearner,
  stream,
}: EvaluationOptions): Evaluation => {
  const actual = test.map((row) => target.labels[row]);
  const groups = test.map((row) => sensitive.labels[row]);
  const tested = weights === undefined ? undefined : Float64Array.from(test, (row) => weights[row]);
  const classifier = fit(
    learner,
    { features, ...target, rows: labelled, weights: targetWeights },
    stream.split("target"),
  );
  const probabilities = classifier.predict(features, test);
  const predicted = mostProbable(probabilities, target.classes);
  const scores = Float64Array.from(predicted, (_, row) => probabilities[row * target.classes + 1]);
  const { dpRatio, tprRatio, fprRatio, dpSigned, dpDifference, selectionRate } = parityRatios(
    predicted,
    actual,
    groups,
    { weights: tested },
  );
  const positives = shareWhere(test.length, (row) => actual[row] === 1, tested);
  const matched = selectShare(scores, positives, stream.split("ties"), tested);
  const atMatched = parityRatios(
    matched,
    actual.map((label) => (label === 1 ? 1 : 0)),
    groups,
    { weights: tested },
  );
  const gaps = scoreDistances(scores, groups, sensitive.classes, tested);
  return {
    accuracy: shareWhere(test.length, (row) => predicted[row] === actual[row], tested),
    sensitiveAccuracy: sensitiveAccuracy(),
    dpRatio,
    tprRatio,
    fprRatio,
    dpSigned,
    dpDifference,
    selectionRate,
    gapArea: gaps?.area,
    gapLargest: gaps?.largest,
    matchedAccuracy: atMatched.accuracy,
    matchedDpRatio: atMatched.dpRatio,
    matchedDpDifference: atMatched.dpDifference,
    ...leakageAndParity(),
  };

  /** The model of the group that shows what leaks also tells the fair decision rule whom it decides about. */
  function leakageAndParity(): Pick<Evaluation, "leakage" | "leakageAuc" | "accuracyAtParity"> {
    const counts = (row: number): boolean => groups[row] >= 0 && (tested?.[row] ?? 1) > 0;
    if (!groups.some((_, row) => counts(row)))
      return { leakage: undefined, leakageAuc: undefined, accuracyAtParity: undefined };
    const leaked = acquiredLeakage(
      {
        features,
        sensitive: sensitive.labels,
        classes: sensitive.classes,
        acquired: labelled,
        test,
        weights,
      },
      { learner: sensitiveLearner, stream: stream.split("leakage"), interval: false },
    );
    const found =
      positives > 0 && positives < 1
        ? accuracyAtParity(
            {
              // Means of float32 votes may be above 1 by their rounding.
              scores: scores.map((score) => Math.min(1, score)),
              groupProbabilities: leaked.probabilities,
              groups,
              labels: actual.map((label) => Number(label === 1)),
              weights: tested,
            },
            PARITY_JUDGED,
          )
        : undefined;
    return { leakage: leaked.nats, leakageAuc: leaked.auc, accuracyAtParity: found?.accuracy };
  }

  function sensitiveAccuracy(): number {
    const known = labelled.filter((row) => sensitive.labels[row] >= 0);
    const classes = new Set(known.map((row) => sensitive.labels[row]));
    if (classes.size < 2) {
      const only = [...classes][0] ?? 0;
      return shareWhere(test.length, (row) => groups[row] === only, tested);
    }
    const adversary = fit(
      sensitiveLearner,
      { features, ...sensitive, rows: labelled, weights },
      stream.split("sensitive"),
    );
    const guessed = mostProbable(adversary.predict(features, test), sensitive.classes);
    return shareWhere(test.length, (row) => guessed[row] === groups[row], tested);
  }
};
