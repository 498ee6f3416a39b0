/** The demographic parity of a model on rows whose groups are known, for a beta that is to reach one. */
import { parityRatios } from "../fairness/group-metrics.js";
import type { Classifier, FeatureMatrix } from "../learners/classifier.js";
import { mostProbable } from "./evaluation.js";

/** Demographic parity on rows whose sensitive labels are known, of a classifier of so many classes. */
export const parityOn =
  (
    features: FeatureMatrix,
    classes: number,
    sensitive: Int32Array,
    rows: Int32Array,
    weights: Float64Array | undefined,
  ) =>
  (classifier: Classifier): number | undefined => {
    const predicted = mostProbable(classifier.predict(features, rows), classes);
    const groups = rows.map((row) => sensitive[row]);
    const own = weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]);
    return parityRatios(predicted, predicted, groups, { weights: own }).dpRatio;
  };
