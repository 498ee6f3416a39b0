/** Active learning: acquisition scores as functions of member probabilities, and the choice of batches. */

export type { Pacer } from "../core/options.js";
export { type RandomStream, seededStream } from "../core/random.js";
export {
  type BatchOptions,
  type Costs,
  type Selected,
  selectBatch,
} from "./batch.js";
export {
  type BetaController,
  type BetaGoal,
  type BetaState,
  betaControl,
  type Observed,
} from "./beta-control.js";
export { type ConditionalOptions, conditionalFairbedEpig } from "./conditional.js";
export type { Correction } from "./correction.js";
export { type EpigOptions, epig } from "./epig.js";
export {
  type FairnessOptions as LeakageOptions,
  fairbedBald,
  fairbedEpig,
  fairbedSet,
  hfe,
  type Prediction,
  type ScoreParts,
} from "./fairbed.js";
export { epigOnGpu } from "./gpu/epig-on-gpu.js";
export { type IncludedRow, inclusionWeights, poolMean } from "./inclusion.js";
export { type JointBatchOptions, selectJointBatch } from "./joint-batch.js";
export { type ExactMembers, type Members, requireProbabilities } from "./members.js";
export { minimaxEpig } from "./minimax.js";
export type { LabelledRows, PoolLabel, SensitiveModel, SingleModel } from "./pool-models.js";
export { type BestOptions, bestCandidates, type FoundCandidates } from "./pruned.js";
export type { Constraints, Quota } from "./quotas.js";
export {
  type BestSettings,
  createBest,
  createRanker,
  type Ranked,
  type Ranker,
  type RankerOptions,
} from "./ranker.js";
export { bald, predictiveEntropy } from "./scores.js";
export { setLeakage } from "./set-leakage.js";
export { apportion, type SharesOfBatch } from "./shares.js";
export { type Split, type SplitOptions, splitRows } from "./split.js";
export {
  type BatchKind,
  type BoundaryWeights,
  chooseStep,
  type Step,
  type StepInput,
  type StepSettings,
} from "./step.js";
export { type AcquisitionInput, type JointPrediction, type Strategy, strategies } from "./strategies.js";
export { type StrategyName, strategyNames } from "./strategy-names.js";
export { type RowKeys, tieKeys } from "./ties.js";
