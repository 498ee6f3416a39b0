/** The models that scores read: of the target, and of the sensitive labels from wherever they come. */
import type { RandomStream } from "../core/random.js";
import type { Classifier, FeatureMatrix, Learner, MemberProbabilities } from "../learners/classifier.js";
import { type Members, takeRows } from "./members.js";

/** A label of every row: places in `classes`, -1 where it is not known. */
export interface PoolLabel {
  readonly labels: Int32Array;
  readonly classes: number;
}

/**
 * Where the predictions of a sensitive label come from. Only "revealed" needs the sensitive label of what is acquired:
 * a fixed classifier (trained on other data before) and supplied members ([all rows]) need none.
 */
export type SensitiveModel =
  | { readonly kind: "revealed"; readonly learner: Learner }
  | { readonly kind: "fixed"; readonly classifier: Classifier }
  | { readonly kind: "supplied"; readonly members: MemberProbabilities };

/** Rows of a table to learn a label from: labels and weights are of all its rows. */
export interface LabelledRows extends PoolLabel {
  readonly features: FeatureMatrix;
  readonly rows: Int32Array;
  readonly weights?: Float64Array | undefined;
}

/** A classifier of a label, from those of the rows that have it. */
export const fit = (
  learner: Learner,
  { features, rows, labels, classes, weights }: LabelledRows,
  stream: RandomStream,
): Classifier => {
  const known = rows.filter((row) => labels[row] >= 0);
  const training = { features, rows: known, labels: known.map((row) => labels[row]), classes };
  if (weights === undefined) return learner.fit(training, stream);
  return learner.fit({ ...training, weights: Float64Array.from(known, (row) => weights[row]) }, stream);
};

/** The classifier of a sensitive label, or the one class that is among the labels. */
const fittedBy = (
  model: Exclude<SensitiveModel, { kind: "supplied" }>,
  labelled: LabelledRows,
  stream: RandomStream,
): Classifier | number => {
  if (model.kind === "fixed") return model.classifier;
  const { rows, labels } = labelled;
  const known = rows.filter((row) => labels[row] >= 0);
  const first = labels[known[0]] ?? 0;
  return known.every((row) => labels[row] === first) ? first : fit(model.learner, labelled, stream);
};

/** The members of a sensitive model for any rows; with one class among the labels, all say that class. */
export const membersBy = (
  model: SensitiveModel,
  labelled: LabelledRows,
  stream: RandomStream,
): ((rows: Int32Array) => MemberProbabilities) => {
  const { features, classes } = labelled;
  if (model.kind === "supplied") return (rows) => takeRows(model.members, rows) as MemberProbabilities;
  const fitted = fittedBy(model, labelled, stream);
  // Nothing to tell apart yet: unanimous members, which leak nothing.
  if (typeof fitted === "number") return (rows) => unanimous(rows.length, classes, fitted);
  return (rows) => fitted.predictMembers(features, rows);
};

/** The same with the mean of all members as the only one. */
export const meansBy = (
  model: SensitiveModel,
  labelled: LabelledRows,
  stream: RandomStream,
): ((rows: Int32Array) => Members) => {
  const { features, classes } = labelled;
  if (model.kind === "supplied") return (rows) => takeRows(model.members, rows);
  const fitted = fittedBy(model, labelled, stream);
  if (typeof fitted === "number") return (rows) => unanimous(rows.length, classes, fitted);
  return (rows) => ({
    kind: "dense",
    rows: rows.length,
    members: 1,
    classes,
    values: fitted.predict(features, rows),
  });
};

const unanimous = (rows: number, classes: number, which: number): MemberProbabilities => {
  const values = new Float32Array(rows * classes);
  for (let row = 0; row < rows; row++) values[row * classes + which] = 1;
  return { kind: "dense", rows, members: 1, classes, values };
};

/** The pair of two labels as one, class t * (sensitive classes) + s; -1 where either is not known. */
export const jointLabel = (target: PoolLabel, sensitive: PoolLabel): PoolLabel => ({
  labels: target.labels.map((label, row) =>
    label < 0 || sensitive.labels[row] < 0 ? -1 : label * sensitive.classes + sensitive.labels[row],
  ),
  classes: target.classes * sensitive.classes,
});
