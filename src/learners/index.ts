/** Classifiers behind one interface, which answer with the probabilities of each of their members. */

export { type RandomStream, seededStream } from "../core/random.js";
export type { RegressionTrees } from "./boosting/trees.js";
export {
  type BoostingLearner,
  type BoostingOptions,
  boosting,
  FittedBoosting,
  type SavedBoosting,
} from "./boosting.js";
export {
  LEARNER_NAMES,
  type LearnerName,
  type LearnerOptions,
  learnerNamed,
  loadClassifier,
  type SavedClassifier,
  saveClassifier,
} from "./by-name.js";
export type {
  Classifier,
  DenseMembers,
  FeatureMatrix,
  Learner,
  MemberProbabilities,
  TrainingSet,
  VoteMembers,
} from "./classifier.js";
export {
  FittedForest,
  type ForestLearner,
  type ForestOptions,
  forest,
  type SavedForest,
  type Trees,
} from "./forest.js";
export {
  type LogisticLearner,
  type LogisticOptions,
  LogisticRegression,
  logistic,
  type SavedLogistic,
} from "./logistic.js";
export type { Layer } from "./mlp/network.js";
export { FittedMlp, type MlpLearner, type MlpOptions, mlp, type SavedMlp } from "./mlp.js";
export type { Standardisation } from "./standardise.js";
export type { KernelRows } from "./svm/kernel.js";
export type { PlattSigmoid } from "./svm/platt.js";
export { FittedSvm, type SavedSvm, type SvmLearner, type SvmOptions, type SvmPair, svm } from "./svm.js";
export type { ClassWeights } from "./training.js";
