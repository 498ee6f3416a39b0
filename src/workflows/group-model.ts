/** What a fair rule reads of rows: the score of the outcome, and calibrated probabilities of the group. */
import type { Classifier, FeatureMatrix } from "../learners/classifier.js";
import type { BlindRows } from "../mitigation/fair-rule.js";
import { calibratedGroups, type GroupCalibration } from "../mitigation/group-calibration.js";

export interface GroupModel {
  /** Undefined where only one group was there to learn from. */
  readonly classifier: Classifier | undefined;
  /** That group. */
  readonly only: number;
  readonly groups: number;
  readonly calibration: GroupCalibration;
}

/** P(favourable), the second of two classes, [rows]; means of float32 votes may be a little above 1. */
export const favourable = (probabilities: Float64Array): Float64Array =>
  Float64Array.from({ length: probabilities.length / 2 }, (_, row) =>
    Math.min(1, Math.max(0, probabilities[2 * row + 1])),
  );

/** All of one group, [rows, groups]. */
export const allOf = (rows: number, groups: number, only: number): Float64Array => {
  const out = new Float64Array(rows * groups);
  for (let row = 0; row < rows; row++) out[row * groups + only] = 1;
  return out;
};

/** Of some rows of the features, all unless given, by models of outcome and group. */
export const blindRowsOf = (
  outcome: Classifier,
  { classifier, only, groups, calibration }: GroupModel,
  features: FeatureMatrix,
  rows?: Int32Array,
): BlindRows => {
  const scores = favourable(outcome.predict(features, rows));
  const groupProbabilities = classifier?.predict(features, rows) ?? allOf(scores.length, groups, only);
  return {
    scores,
    groupProbabilities: calibratedGroups(calibration, { scores, groupProbabilities }),
  };
};
