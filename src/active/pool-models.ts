/** The models that scores read: of the target, and of the sensitive labels from wherever they come. */
import type { RandomStream } from "../core/random.js";
import type {
  Classifier,
  FeatureMatrix,
  Learner,
  MemberProbabilities,
  TrainingSet,
} from "../learners/classifier.js";
import { fitInSteps, steppedLearner } from "../learners/in-steps.js";
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
  | { readonly kind: "supplied"; readonly members: MemberProbabilities }
  /** Several models of one label, for the most that any of them says leaks (the paper's worst case); groups by the first. */
  | { readonly kind: "worst"; readonly models: readonly SingleModel[] };

/** One that is not several. */
export type SingleModel = Exclude<SensitiveModel, { kind: "worst" }>;

/** Rows of a table to learn a label from: labels and weights are of all its rows. */
export interface LabelledRows extends PoolLabel {
  readonly features: FeatureMatrix;
  readonly rows: Int32Array;
  readonly weights?: Float64Array | undefined;
}

/** A classifier of a label, from those of the rows that have it. */
export const fit = (learner: Learner, labelled: LabelledRows, stream: RandomStream): Classifier =>
  learner.fit(trainingOf(labelled), stream);

/** The same in pieces. */
export const fitSteps = (
  learner: Learner,
  labelled: LabelledRows,
  stream: RandomStream,
): Generator<unknown, Classifier> => fitInSteps(learner, trainingOf(labelled), stream);

const trainingOf = ({ features, rows, labels, classes, weights }: LabelledRows): TrainingSet => {
  const known = rows.filter((row) => labels[row] >= 0);
  return {
    features,
    rows: known,
    labels: known.map((row) => labels[row]),
    classes,
    weights: weights === undefined ? undefined : Float64Array.from(known, (row) => weights[row]),
  };
};

/** The classifier of a sensitive label, or the one class that is among the labels. */
const fittedBy = (
  model: Exclude<SingleModel, { kind: "supplied" }>,
  labelled: LabelledRows,
  stream: RandomStream,
): Classifier | number => {
  if (model.kind === "fixed") return model.classifier;
  const { rows, labels } = labelled;
  const known = rows.filter((row) => labels[row] >= 0);
  const first = labels[known[0]] ?? 0;
  return known.every((row) => labels[row] === first) ? first : fit(model.learner, labelled, stream);
};

/** What a sensitive model says of any rows. */
export interface Predictor {
  /** All its members; with one class among the labels, all say that class. */
  members(rows: Int32Array): MemberProbabilities;
  /** The same with the mean of all members as the only one. */
  means(rows: Int32Array): Members;
}

/** A sensitive model, fitted where it has to be. */
export const predictorOf = (model: SingleModel, labelled: LabelledRows, stream: RandomStream): Predictor => {
  const { features, classes } = labelled;
  if (model.kind === "supplied") {
    const taken = (rows: Int32Array) => takeRows(model.members, rows) as MemberProbabilities;
    return { members: taken, means: taken };
  }
  const fitted = fittedBy(model, labelled, stream);
  if (typeof fitted === "number") {
    // Nothing to tell apart yet: unanimous members, which leak nothing.
    const all = (rows: Int32Array) => unanimous(rows.length, classes, fitted);
    return { members: all, means: all };
  }
  return {
    members: (rows) => fitted.predictMembers(features, rows),
    means: (rows) => ({
      kind: "dense",
      rows: rows.length,
      members: 1,
      classes,
      values: fitted.predict(features, rows),
    }),
  };
};

/** The same learner with every class counting the same in all, however many rows it has. */
export const classBalanced = (learner: Learner): Learner =>
  steppedLearner(`class-balanced ${learner.name}`, (training, stream) => {
    const { labels, classes, weights } = training;
    const sums = new Float64Array(classes);
    labels.forEach((label, i) => {
      sums[label] += weights?.[i] ?? 1;
    });
    const present = sums.filter((sum) => sum > 0).length;
    const whole = sums.reduce((total, sum) => total + sum, 0);
    const balanced = Float64Array.from(labels, (label, i) =>
      sums[label] > 0 ? ((weights?.[i] ?? 1) * whole) / (present * sums[label]) : 0,
    );
    return fitInSteps(learner, { ...training, weights: balanced }, stream);
  });

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
