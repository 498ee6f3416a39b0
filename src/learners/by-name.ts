/** From a learner's name and options to the learner, and from a fitted one to its file and back: the one place. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import {
  type BoostingOptions,
  boosting,
  FittedBoosting,
  loadBoosting,
  type SavedBoosting,
  saveBoosting,
} from "./boosting.js";
import type { Classifier, Learner } from "./classifier.js";
import {
  FittedForest,
  type ForestOptions,
  forest,
  loadForest,
  type SavedForest,
  saveForest,
} from "./forest.js";
import { LEARNER_NAMES, type LearnerName } from "./learner-names.js";
import {
  type LogisticOptions,
  LogisticRegression,
  loadLogistic,
  logistic,
  type SavedLogistic,
  saveLogistic,
} from "./logistic.js";
import { FittedMlp, loadMlp, type MlpOptions, mlp, type SavedMlp, saveMlp } from "./mlp.js";
import { FittedSvm, loadSvm, type SavedSvm, type SvmOptions, saveSvm, svm } from "./svm.js";

export { LEARNER_NAMES, type LearnerName } from "./learner-names.js";

/** What each learner may be told; every default is its own. */
export interface LearnerOptions {
  readonly forest: ForestOptions;
  readonly logistic: LogisticOptions;
  readonly boosting: BoostingOptions;
  readonly mlp: MlpOptions;
  readonly svm: SvmOptions;
}

export const learnerTexts = {
  unknown: (given: string, near: string | undefined) =>
    `there is no learner "${given}"${near === undefined ? "" : ` (did you mean "${near}"?)`}: choose from ${LEARNER_NAMES.join(", ")}`,
  saved: `this is no saved classifier of the learners ${LEARNER_NAMES.join(", ")}: give what saveClassifier returned`,
  foreign: "only classifiers of the library's own learners can be saved: fit one of them",
};

const LEARNERS: { readonly [Name in LearnerName]: (options?: LearnerOptions[Name]) => Learner } = {
  forest,
  logistic,
  boosting,
  mlp,
  svm,
};

/** One of the names, whoever wrote it. */
export const learnerName = (given: string): LearnerName => {
  const name = LEARNER_NAMES.find((each) => each === given);
  if (name === undefined)
    throw new InputError("learner", learnerTexts.unknown(given, nearestName(given, LEARNER_NAMES)));
  return name;
};

/**
 * The learner of that name, with its own defaults for what is not given.
 *
 * @example
 * ```ts
 * import { learnerNamed, seededStream } from "fairbed/learners";
 *
 * const features = { values: Float32Array.of(0, 1, 2, 3, 4, 5), rows: 6, columns: 1 };
 * const labels = Int32Array.of(0, 0, 0, 1, 1, 1);
 * const fitted = learnerNamed("logistic", { members: 10 }).fit({ features, labels, classes: 2 }, seededStream(0));
 * console.log(fitted.predict(features)[1] < 0.5); // true
 * ```
 */
export const learnerNamed = <Name extends LearnerName>(name: Name, options?: LearnerOptions[Name]): Learner =>
  LEARNERS[learnerName(name) as Name](options);

/** A fitted classifier as JSON can carry it: plain numbers, finite all. */
export type SavedClassifier = SavedForest | SavedLogistic | SavedBoosting | SavedMlp | SavedSvm;

/** What {@link loadClassifier} makes the same classifier of, bit for bit, here and on any other machine. */
export const saveClassifier = (classifier: Classifier): SavedClassifier => {
  if (classifier instanceof FittedForest) return saveForest(classifier);
  if (classifier instanceof LogisticRegression) return saveLogistic(classifier);
  if (classifier instanceof FittedBoosting) return saveBoosting(classifier);
  if (classifier instanceof FittedMlp) return saveMlp(classifier);
  if (classifier instanceof FittedSvm) return saveSvm(classifier);
  throw new InputError("foreign-classifier", learnerTexts.foreign);
};

/** The classifier that was saved; what is not one, or was damaged, is refused. */
export const loadClassifier = (saved: SavedClassifier): Classifier => {
  switch (saved?.format) {
    case "fairbed-forest-1":
      return loadForest(saved);
    case "fairbed-logistic-1":
      return loadLogistic(saved);
    case "fairbed-boosting-1":
      return loadBoosting(saved);
    case "fairbed-mlp-1":
      return loadMlp(saved);
    case "fairbed-svm-1":
      return loadSvm(saved);
    default:
      throw new InputError("saved-classifier", learnerTexts.saved);
  }
};
