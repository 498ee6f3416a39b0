/** Bayesian experimental design: models with roles, estimators, objectives, policies and what trains them. */

export { type Gpu, type GpuInfo, type Value, Workspace, type WorkspaceOptions } from "../compute/index.js";
export * from "../compute/operations.js";
export { type RandomStream, seededStream } from "../core/random.js";
export {
  type DadCheckpoint,
  type RefineDadOptions,
  refineDad,
  type TrainDadOptions,
  type TrainedDad,
  trainDad,
} from "./dad.js";
export {
  type DadNetwork,
  type DadWidths,
  dadPolicy,
  type NetworkPolicy,
  PAPER_WIDTHS,
} from "./dad-network.js";
export type { DrawParameters } from "./dad-rollout.js";
export type { DesignScale, Scale } from "./design-scale.js";
export type { SearchRange } from "./design-search.js";
export {
  type BaseNoise,
  bernoulli,
  binomial,
  categorical,
  type Distribution,
  type LogitOrProbability,
  type LogitsOrProbabilities,
  logNormal,
  normal,
  poisson,
  type RateOrLogRate,
  type StudentTArguments,
  studentT,
  uniform,
} from "./distribution.js";
export {
  type EstimateDiagnostics,
  type EstimateMethod,
  type EstimateOptions,
  estimatePolicy,
  exactInformation,
  type InformationEstimate,
  type LeakageName,
  type PolicyEstimate,
  type RatioEstimate,
} from "./estimate.js";
export type { EvidenceMethod, ExactMethod } from "./exact/exact.js";
export { type FairnessMeasure, type FairnessOptions, fairness, type WorstCase } from "./fairness-measures.js";
export { type AdaptivePolicy, type GreedyOptions, greedyPolicy } from "./greedy.js";
export { readHistory } from "./history-file.js";
export {
  type BudgetOptions,
  type BudgetResult,
  type FrontierPoint,
  type MeasuredPolicy,
  withinLeakageBudget,
} from "./leakage-budget.js";
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
  type Values,
} from "./model.js";
export {
  identityOf,
  MODEL_NAMES,
  type ModelIdentity,
  type ModelOptions,
  shippedModel,
} from "./model-catalogue.js";
export { type LinearGaussianOptions, linearGaussian } from "./models/linear-gaussian.js";
export { type LocationOptions, locationFinding } from "./models/location.js";
export { type PharmacokineticsOptions, pharmacokinetics } from "./models/pharmacokinetics.js";
export { type PsychometricOptions, psychometric } from "./models/psychometric.js";
export {
  type Arrays,
  type ByGiven,
  Nested,
  type NestedEstimate,
  type NestedOptions,
  type PriorWeight,
} from "./nested.js";
export {
  type Noise,
  type Objective,
  PAPER_SIZES,
  SampledObjective,
  type SampleSizes,
} from "./objective.js";
export { type OutcomeInputs, Outcomes, type OutcomesOptions } from "./outcomes.js";
export type { Numbers } from "./parity/by-role.js";
export type { ConditionalFairness } from "./parity/conditional-leakage.js";
export type { Measured } from "./parity/posteriors.js";
export type { Covariates } from "./parity/predictions.js";
export {
  checkParity,
  type Parity,
  type ParityOptions,
  type ParityReason,
  type Predictor,
} from "./parity.js";
export {
  type History,
  type Policy,
  type RandomDesigns,
  randomPolicy,
  type Simulation as PolicySimulation,
  simulate as simulatePolicy,
  staticPolicy,
} from "./policy.js";
export {
  type DadPolicyFile,
  decodePolicy,
  encodePolicy,
  type GreedyPolicyFile,
  matchModel,
  type PolicyFile,
  type PolicyRecord,
  policyOf,
  type RandomPolicyFile,
  type ReachedBounds,
  type StaticPolicyFile,
} from "./policy-file.js";
export { type Posterior, particlesGiven, posteriorGiven } from "./posterior.js";
export type { PosteriorOptions } from "./posterior-options.js";
export {
  type Bound,
  type Given,
  INFORMATION,
  type InformationName,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./quantity.js";
export type { Climb, SettledRule, Settling } from "./static-ascent.js";
export { type StaticObjectiveOptions, staticObjective } from "./static-objective.js";
export {
  type StaticCheckpoint,
  type TrainedStatic,
  type TrainStaticOptions,
  trainStatic,
} from "./train-static.js";
export {
  TrainingError,
  type TrainingProgress,
  type TrainingRunOptions,
  type TrainingSettings,
} from "./training.js";
