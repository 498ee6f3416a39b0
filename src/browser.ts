/**
 * The root of the public surface in a browser. It has the same names as `index.ts`, which Node gets; bundlers pick this
 * one through the `browser` condition. TypeScript sees the declarations of `index.ts` for both, so what type-checks also
 * bundles.
 */
export { EnvironmentError, FairbedError, InputError } from "./core/errors.js";
export type { LeftOutGroup } from "./core/left-out.js";
export type { Optional } from "./core/options.js";
export { type RandomStream, seededStream } from "./core/random.js";
export { defineModel, type Model, type ModelDefinition } from "./design/model.js";
export type { DialectSettings } from "./tables/dialect.js";
export type { LabelChoice } from "./tables/label.js";
export { type ParseTableOptions, parseTable } from "./tables/parse-table.js";
export { readTable } from "./tables/read-in-page.js";
export { type SyntheticData, type SyntheticOptions, syntheticPool } from "./tables/synthetic.js";
export type { Table } from "./tables/table.js";
export { type RecordValue, type TableRecord, tableOf } from "./tables/table-of.js";
export {
  type AcquisitionOptions,
  type AcquisitionRunOptions,
  type AcquisitionSession,
  acquisition,
  type Candidate,
  type LabelValue,
  type LabelValues,
  type NamedModels,
  type OracleAnswer,
  type ResumeOptions,
  type SavedAcquisition,
  type SensitiveModelChoice,
  type Told,
} from "./workflows/acquisition.js";
export type {
  AcquisitionSettings,
  CompositionChoice,
  GoalChoice,
  SensitiveForestChoice,
  SensitiveModelName,
  SharesChoice,
  SimulationSettings,
} from "./workflows/acquisition-settings.js";
export type {
  AgainstRandom,
  ComparedMeasure,
  MeasureDifference,
  MethodAgainstRandom,
} from "./workflows/against-random.js";
export type {
  AgainstReference,
  GroupAgainstReference,
  ReferenceGap,
} from "./workflows/against-reference.js";
export {
  type AttributeAudit,
  type AuditComparison,
  type AuditFinding,
  type AuditOptions,
  auditTable,
  type TableAudit,
} from "./workflows/audit-table.js";
export {
  type DesignFrontierOptions,
  type DesignFrontierPoint,
  type DesignFrontierProgress,
  designFrontier,
} from "./workflows/design-frontier.js";
export type { ComputeDevice, UsedDevice } from "./workflows/device.js";
export type { EstimatedValue, PoolEstimate } from "./workflows/estimate-acquired.js";
export {
  type EvaluatePolicyOptions,
  type EvaluatePolicySettings,
  evaluatePolicy,
  type PolicyReport,
} from "./workflows/evaluate-policy.js";
export type { Evaluation } from "./workflows/evaluation.js";
export type { EvaluationSizes } from "./workflows/evaluation-defaults.js";
export type { MitigationChoices, RuleOptions } from "./workflows/fit-mitigations.js";
export { type FitOptions, type FitTaskOptions, fitModel } from "./workflows/fit-model.js";
export {
  type FittedModel,
  type HeldOutGroups,
  type HeldOutMetrics,
  type HeldOutRate,
  type HeldOutRates,
  type ModelRejectOption,
  type ModelRule,
  readModel,
} from "./workflows/fitted-model.js";
export type {
  Forecast,
  ForecastAdvice,
  ForecastGain,
  ForecastOptions,
  ForecastPoint,
  ForecastRequirement,
  MeasureForecast,
  RequirementForecast,
} from "./workflows/forecast.js";
export type { GoalOutcome } from "./workflows/goal-outcome.js";
export type { ColumnQuotas } from "./workflows/groups-by.js";
export type { ParityMetrics } from "./workflows/judge-parity.js";
export type { CurveValues, LabelsNeeded } from "./workflows/labels-needed.js";
export {
  type LiveDesignOptions,
  type LiveDesignSession,
  type LiveInformation,
  liveDesign,
  type RefineOptions,
} from "./workflows/live-design.js";
export type { ParityPlan, PlanAnswer } from "./workflows/parity-plan.js";
export type { ParticleSummary } from "./workflows/particle-summary.js";
export { type PlanOptions, plan } from "./workflows/plan.js";
export { type LevelChoice, planAtLevel, recipeAtLevel } from "./workflows/plan-at-level.js";
export type { CurvePointEstimates, CurveSetting } from "./workflows/plan-curves.js";
export type { OuterDifference, OuterEstimates, PlanEstimate } from "./workflows/plan-estimates.js";
export type { PlanTrial, PlanTrialPoint, TrialRunOptions } from "./workflows/plan-progress.js";
export type { PlannedRound } from "./workflows/plan-rounds.js";
export type { PlannedLeakage, PlannedSet } from "./workflows/plan-sets.js";
export type { PlanVerdict } from "./workflows/plan-verdict.js";
export type { FrontierSetting, PlannedRecipe, RecipeFrontier } from "./workflows/planned-recipe.js";
export type { CheckpointedSettings, PolicyCheckpoint } from "./workflows/policy-checkpoint.js";
export type { PolicyKind } from "./workflows/policy-defaults.js";
export type { PolicyStart, StartDesigns, TrainPolicySettings } from "./workflows/policy-settings.js";
export { type Predictions, type PredictOptions, predict } from "./workflows/predict.js";
export type { RankComposition } from "./workflows/rank-composition.js";
export {
  type Pool,
  type RankedCandidate,
  type Ranking,
  type RankOptions,
  rankPool,
} from "./workflows/rank-pool.js";
export type { RankBatchKind, RankChoices, RankSettings } from "./workflows/rank-settings.js";
export {
  type Recipe,
  type RecipeAcquisition,
  type RecipeFit,
  type RecipeNumber,
  readRecipe,
} from "./workflows/recipe.js";
export type { AskedRow, RowSessionState } from "./workflows/row-session.js";
export {
  type GivenNumbers,
  type NamedNumbers,
  type Observation,
  type ParameterPosterior,
  type PolicySession,
  type PosteriorRunOptions,
  type RunPolicyOptions,
  runPolicy,
  type SavedSession,
  type SessionPosterior,
} from "./workflows/run-policy.js";
export type { RevealedModelName } from "./workflows/sensitive-models.js";
export {
  type SharedSettings,
  type SimulatedMethod,
  type SimulatedParity,
  type SimulateOptions,
  type Simulation,
  simulate,
} from "./workflows/simulate.js";
export type { CellShare, GroupShare, SimulatedComposition } from "./workflows/simulated-composition.js";
export type { MetricSummaries, MetricSummary, SuppliedMembers } from "./workflows/simulation.js";
export {
  type TrainPolicyOptions,
  type TrainPolicyProgress,
  trainPolicy,
} from "./workflows/train-policy.js";
export type { RuleCounting } from "./workflows/tune-rule.js";
