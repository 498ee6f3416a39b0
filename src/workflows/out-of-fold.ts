/** Predictions for labelled rows by models that have not seen them. */
import { fitSteps, type LabelledRows } from "../active/pool-models.js";
import { type Pacer, paced } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, Learner } from "../learners/classifier.js";
import { predictInSteps } from "../learners/in-steps.js";
import { allOf } from "./group-model.js";

/** A label to learn, and what learns it. */
export interface LearntLabel extends LabelledRows {
  readonly learner: Learner;
}

/** The classifier of a label; undefined where fewer than two classes are among the rows. */
export const fitWhereTwo = async (
  { learner, ...labelled }: LearntLabel,
  stream: RandomStream,
  pace: Pick<Pacer, "pause">,
): Promise<Classifier | undefined> => {
  const { rows, labels, weights } = labelled;
  const counts = (row: number) => labels[row] >= 0 && (weights?.[row] ?? 1) > 0;
  const first = rows.find(counts);
  if (first === undefined || rows.every((row) => !counts(row) || labels[row] === labels[first]))
    return undefined;
  return paced(fitSteps(learner, labelled, stream), pace);
};

/** The class of the first row that has one; 0 where none has. */
export const firstClass = ({ rows, labels }: Pick<LabelledRows, "rows" | "labels">): number =>
  labels[rows.find((row) => labels[row] >= 0) ?? -1] ?? 0;

/** What a classifier says of rows, [rows, classes], or, without one, the only class that is there. */
const predictionOf = async (
  classifier: Classifier | undefined,
  labelled: LabelledRows,
  rows: Int32Array,
  pace: Pick<Pacer, "pause">,
): Promise<Float64Array> =>
  classifier === undefined
    ? allOf(rows.length, labelled.classes, firstClass(labelled))
    : paced(predictInSteps(classifier, labelled.features, rows), pace);

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
    const classifier = await fitWhereTwo(learnt, stream.split(k), pace);
    parts.push(await predictionOf(classifier, learnt, fold, pace));
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
