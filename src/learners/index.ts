/** Classifiers behind one interface, which answer with the probabilities of each of their members. */

export { type RandomStream, randomStream } from "../core/random.js";
export { Boosting, type BoostingLearner, type BoostingOptions, boosting } from "./boosting.js";
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
  Forest,
  type ForestLearner,
  type ForestOptions,
  forest,
  loadForest,
  type SavedForest,
  saveForest,
} from "./forest.js";
export {
  type LogisticLearner,
  type LogisticOptions,
  LogisticRegression,
  logistic,
} from "./logistic.js";
export { Mlp, type MlpLearner, type MlpOptions, mlp } from "./mlp.js";
export { Svm, type SvmLearner, type SvmOptions, svm } from "./svm.js";
