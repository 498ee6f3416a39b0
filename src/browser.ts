/** The public surface that runs unchanged in a browser; bundlers pick it through the `browser` condition. */

export {
  type BatchOptions,
  type Costs,
  type Selected,
  selectBatch,
} from "./active/batch.js";
export { type BetaControl, type BetaGoal, betaControl } from "./active/beta-control.js";
export { type ConditionalOptions, conditionalFairbedEpig } from "./active/conditional.js";
export type { Correction } from "./active/correction.js";
export { type EpigOptions, epig } from "./active/epig.js";
export {
  type FairnessOptions as LeakageOptions,
  fairbedBald,
  fairbedEpig,
  fairbedSet,
  hfe,
  type Prediction,
  type ScoreParts,
} from "./active/fairbed.js";
export { type JointBatchOptions, selectJointBatch } from "./active/joint-batch.js";
export {
  type Acquisition,
  type AcquisitionOptions,
  type AcquisitionStep,
  acquire,
  type PoolLabel,
  type SensitiveModel,
} from "./active/loop.js";
export { type ExactMembers, type Members, requireProbabilities } from "./active/members.js";
export { type BestCandidates, type BestOptions, bestCandidates } from "./active/pruned.js";
export type { Constraints, Quota } from "./active/quotas.js";
export { createBest, createRanker, type Ranked, type Ranker, type RankerOptions } from "./active/ranker.js";
export { bald, predictiveEntropy } from "./active/scores.js";
export { setLeakage } from "./active/set-leakage.js";
export { type Split, type SplitOptions, splitRows } from "./active/split.js";
export { type Strategy, type StrategyName, strategies, strategyNames } from "./active/strategies.js";
export * from "./compute/index.js";
export { EnvironmentError, FairbedError, InputError, TraceError } from "./core/errors.js";
export {
  fillNormal,
  fillUniform,
  philox4x32,
  type RandomStream,
  randomStream,
  restoreStream,
  type StreamKey,
  type StreamName,
  type StreamState,
} from "./core/random.js";
export {
  addValue,
  type BootstrapEstimate,
  type BootstrapOptions,
  bootstrap,
  type Interval,
  logMeanExp,
  logSumExp,
  type MeanEstimate,
  type Moments,
  meanEstimate,
  mergeMoments,
  momentsOf,
  NO_VALUES,
  quantile,
  quantiles,
  type RowStatistic,
  sampleVariance,
  standardError,
  wilsonInterval,
} from "./core/stats.js";
export {
  type DadCheckpoint,
  type DadNetwork,
  type DadProgress,
  type DadWidths,
  dadPolicy,
  PAPER_WIDTHS,
  refineDad,
  type TrainDadOptions,
  trainDad,
} from "./design/dad.js";
export {
  type BaseNoise,
  bernoulli,
  binomial,
  categorical,
  type Distribution,
  logNormal,
  normal,
  poisson,
  studentT,
  uniform,
} from "./design/distribution.js";
export {
  type EstimateDiagnostics,
  type EstimateMethod,
  type EstimateOptions,
  estimatePolicy,
  exactInformation,
  type InformationEstimate,
  type PolicyEstimate,
  type RatioEstimate,
} from "./design/estimate.js";
export { type Fairness, type FairnessOptions, fairness, type WorstCase } from "./design/fairness-measures.js";
export { type GreedyOptions, type GreedyPolicy, greedyPolicy } from "./design/greedy.js";
export { readHistory } from "./design/history-file.js";
export {
  type BudgetOptions,
  type BudgetResult,
  type FrontierPoint,
  withinLeakageBudget,
} from "./design/leakage-budget.js";
export {
  type DesignVariable,
  defineModel,
  type Model,
  type ModelDefinition,
  nuisance,
  oneOf,
  type Parameter,
  type Prior,
  priorPredictive,
  type Role,
  real,
  sensitive,
  target,
} from "./design/model.js";
export {
  identityOf,
  MODEL_NAMES,
  type ModelIdentity,
  type ModelOptions,
  shippedModel,
} from "./design/model-catalogue.js";
export { type LinearGaussianOptions, linearGaussian } from "./design/models/linear-gaussian.js";
export { type LocationOptions, locationFinding } from "./design/models/location.js";
export { type PharmacokineticsOptions, pharmacokinetics } from "./design/models/pharmacokinetics.js";
export { type PsychometricOptions, psychometric } from "./design/models/psychometric.js";
export { Nested, type NestedEstimate, type NestedOptions } from "./design/nested.js";
export {
  type Noise,
  type Objective,
  PAPER_SIZES,
  type SampleSizes,
  StaticObjective,
} from "./design/objective.js";
export { Outcomes, type OutcomesOptions } from "./design/outcomes.js";
export {
  checkParity,
  type Parity,
  type ParityOptions,
  type ParityReason,
  type Predictor,
} from "./design/parity.js";
export {
  type History,
  type Policy,
  randomPolicy,
  type Simulation,
  simulate,
  staticPolicy,
} from "./design/policy.js";
export {
  type DadPolicyFile,
  decodePolicy,
  encodePolicy,
  type GreedyPolicyFile,
  matchModel,
  type PolicyFile,
  policyOf,
  type RandomPolicyFile,
  type ReachedBounds,
  type StaticPolicyFile,
} from "./design/policy-file.js";
export { type Posterior, type PosteriorOptions, posteriorGiven } from "./design/posterior.js";
export {
  type Bound,
  type Given,
  INFORMATION,
  type InformationName,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./design/quantity.js";
export { type StaticObjectiveOptions, staticObjective } from "./design/static-objective.js";
export {
  type SettledRule,
  type StaticCheckpoint,
  type TrainedStatic,
  type TrainingProgress,
  type TrainStaticOptions,
  trainStatic,
} from "./design/train-static.js";
export {
  atSelectionRate,
  type GroupedPredictions,
  type GroupMetrics,
  type GroupMetricsOptions,
  groupMetrics,
  intersectGroups,
  oneAgainstRest,
  type ParityRatios,
  parityRatios,
} from "./fairness/group-metrics.js";
export {
  auditLeakage,
  auditParity,
  defaultAdversaries,
  type LeakageAudit,
  leakageDifference,
  lookup,
  type ParityAudit,
  quantileBins,
} from "./fairness/leakage.js";
export { decomposeParity } from "./fairness/parity-decomposition.js";
export { type ScoreDistances, scoreDistances } from "./fairness/score-distances.js";
export { Boosting, type BoostingLearner, type BoostingOptions, boosting } from "./learners/boosting.js";
export type {
  Classifier,
  DenseMembers,
  FeatureMatrix,
  Learner,
  MemberProbabilities,
  TrainingSet,
  VoteMembers,
} from "./learners/classifier.js";
export {
  Forest,
  type ForestLearner,
  type ForestOptions,
  forest,
  loadForest,
  type SavedForest,
  saveForest,
} from "./learners/forest.js";
export {
  type LogisticLearner,
  type LogisticOptions,
  LogisticRegression,
  logistic,
} from "./learners/logistic.js";
export { Mlp, type MlpLearner, type MlpOptions, mlp } from "./learners/mlp.js";
export { Svm, type SvmLearner, type SvmOptions, svm } from "./learners/svm.js";
export { type MinimiseOptions, type Minimum, minimise, minimiseSteps } from "./mitigation/lbfgs.js";
export {
  aif360Representation,
  applyRepresentation,
  type FairRepresentation,
  fairRepresentationSteps,
  learnFairRepresentation,
  predictFromRepresentation,
  type RepresentationOptions,
} from "./mitigation/learned-fair-representation.js";
export {
  applyRejectOption,
  type FittedRejectOption,
  fitRejectOption,
  type RejectOptionOptions,
  type RejectOptionRule,
} from "./mitigation/reject-option.js";
export * as texts from "./texts.js";
