/** The checks that every learner makes of its training set, and what they leave of it. */
import { InputError } from "../core/errors.js";
import type { TrainingSet } from "./classifier.js";
import { requireFeatures, requireRows } from "./features.js";

export const trainingTexts = {
  classes: (given: unknown) =>
    `classes was ${String(given)}: give how many classes there are, a whole number of at least 2`,
  lengths: (what: string, given: number, rows: number) =>
    `there are ${given} ${what} for ${rows} training rows: give one for each`,
  label: (label: number, position: number, classes: number) =>
    `label ${position} is ${label}, but classes are numbered 0 to ${classes - 1}: number them from 0, or raise classes`,
  oneClass: (rows: number) =>
    `all ${rows} training rows that count have the same class, so there is nothing to learn: give at least one row of another class`,
  weight: (weight: number, position: number) =>
    `weight ${position} is ${weight}: weights are finite and not negative`,
};

/** Rows with a positive weight, their classes and weights. */
export interface CheckedTraining {
  readonly rows: Int32Array;
  readonly labels: Int32Array;
  readonly weights: Float64Array;
}

/** Checks everything; rows without weight are left out, as if they had not been given. */
export const checkTraining = ({
  features,
  rows: given,
  labels,
  classes,
  weights,
}: TrainingSet): CheckedTraining => {
  requireFeatures(features);
  if (!Number.isInteger(classes) || classes < 2)
    throw new InputError("classes", trainingTexts.classes(classes));
  const rows = given ?? Int32Array.from({ length: features.rows }, (_, i) => i);
  requireRows(rows, features);
  if (labels.length !== rows.length)
    throw new InputError("shape", trainingTexts.lengths("labels", labels.length, rows.length));
  labels.forEach((label, i) => {
    if (label < 0 || label >= classes) throw new InputError("label", trainingTexts.label(label, i, classes));
  });
  const checked =
    weights === undefined
      ? { rows, labels, weights: new Float64Array(rows.length).fill(1) }
      : positive(rows, labels, weights);
  if (checked.labels.every((label) => label === checked.labels[0]))
    throw new InputError("one-class", trainingTexts.oneClass(checked.rows.length));
  return checked;
};

const positive = (rows: Int32Array, labels: Int32Array, weights: Float64Array): CheckedTraining => {
  if (weights.length !== rows.length)
    throw new InputError("shape", trainingTexts.lengths("weights", weights.length, rows.length));
  weights.forEach((weight, i) => {
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw new InputError("weight", trainingTexts.weight(weight, i));
  });
  const keeps = (_: number, i: number) => weights[i] > 0;
  return { rows: rows.filter(keeps), labels: labels.filter(keeps), weights: weights.filter(keeps) };
};

/** How much each class counts: given, or "balanced", n / (classes present x rows of the class) as in scikit-learn. */
export type ClassWeights = "balanced" | readonly number[];

export const classWeightTexts = {
  given: (given: readonly number[], classes: number) =>
    `the class weights were [${given.join(", ")}]: give "balanced", or one positive number for each of the ${classes} classes`,
};

/** The weights with each class's weight multiplied in. */
export const weighClasses = (
  { labels, weights }: CheckedTraining,
  classes: number,
  classWeights: ClassWeights | undefined,
): Float64Array => {
  if (classWeights === undefined) return weights;
  if (classWeights !== "balanced") {
    const right = classWeights.length === classes && classWeights.every((w) => w > 0 && Number.isFinite(w));
    if (!right) throw new InputError("class-weights", classWeightTexts.given(classWeights, classes));
    return weights.map((weight, i) => weight * classWeights[labels[i]]);
  }
  const counts = new Float64Array(classes);
  for (const label of labels) counts[label]++;
  const present = counts.filter((count) => count > 0).length;
  return weights.map((weight, i) => (weight * labels.length) / (present * counts[labels[i]]));
};
