/** What classifiers with a single member share: checks of what is to be predicted, and the answer's shape. */
import type { DenseMembers, FeatureMatrix } from "./classifier.js";
import { requireFeatures, requireRows, requireSameColumns } from "./features.js";

/** Checks a request for predictions; returns how many rows it has. */
export const requirePrediction = (
  features: FeatureMatrix,
  columns: number,
  rows: Int32Array | undefined,
): number => {
  requireFeatures(features);
  requireSameColumns(features, columns);
  if (rows === undefined) return features.rows;
  requireRows(rows, features);
  return rows.length;
};

/** The prediction [rows, classes] as the only member's. */
export const oneMember = (prediction: Float64Array, classes: number): DenseMembers => ({
  kind: "dense",
  rows: prediction.length / classes,
  members: 1,
  classes,
  values: Float32Array.from(prediction),
});

/** Classes that occur among the labels, in order, and the labels renumbered by their place in it. */
export const presentClasses = (
  labels: Int32Array,
  classes: number,
): { readonly present: readonly number[]; readonly labels: Int32Array } => {
  const place = new Int32Array(classes).fill(-1);
  for (const label of labels) place[label] = 0;
  const present: number[] = [];
  place.forEach((seen, c) => {
    if (seen === 0) place[c] = present.push(c) - 1;
  });
  return { present, labels: labels.map((label) => place[label]) };
};
