/** Predictions for labelled rows by models that have not seen them. */
import { fit, type LabelledRows } from "../active/pool-models.js";
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, Learner } from "../learners/classifier.js";
import { allOf } from "./group-model.js";

/** P(class) of rows, [rows, classes]: by a classifier, or all of the one class that its training rows have. */
type Predictor = (rows: Int32Array) => Float64Array;

/** A label to learn, and what learns it. */
export interface LearntLabel extends LabelledRows {
  readonly learner: Learner;
}

/** The classifier of a label; undefined where fewer than two classes are among the rows. */
export const fitWhereTwo = (
  { learner, ...labelled }: LearntLabel,
  stream: RandomStream,
): Classifier | undefined => {
  const { rows, labels, weights } = labelled;
  const counts = (row: number) => labels[row] >= 0 && (weights?.[row] ?? 1) > 0;
  const first = rows.find(counts);
  if (first === undefined || rows.every((row) => !counts(row) || labels[row] === labels[first]))
    return undefined;
  return fit(learner, labelled, stream);
};

/** The class of the first row that has one; 0 where none has. */
export const firstClass = ({ rows, labels }: Pick<LabelledRows, "rows" | "labels">): number =>
  labels[rows.find((row) => labels[row] >= 0) ?? -1] ?? 0;

/** What a classifier says of rows, or, without one, the only class that is there. */
const predictorOf = (classifier: Classifier | undefined, labelled: LabelledRows): Predictor =>
  classifier === undefined
    ? (of) => allOf(of.length, labelled.classes, firstClass(labelled))
    : (of) => classifier.predict(labelled.features, of);

/**
 * P(class) of all rows of the folds, [rows of all folds, classes], fold after fold, each by a model of the others'.
 * `learntFrom` says what is learnt from rows: which of them, and how much they count.
 */
export const outOfFold = async (
  folds: readonly Int32Array[],
  learntFrom: (rows: Int32Array) => LearntLabel,
  stream: RandomStream,
  pace: Pacer,
): Promise<Float64Array> => {
  const parts: Float64Array[] = [];
  for (const [k, fold] of folds.entries()) {
    const others = folds.filter((_, other) => other !== k).flatMap((rows) => [...rows]);
    const learnt = learntFrom(Int32Array.from(others).sort());
    parts.push(predictorOf(fitWhereTwo(learnt, stream.split(k)), learnt)(fold));
    await pace.pause();
  }
  const out = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
};
