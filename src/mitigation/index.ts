/** What is done about unfairness after the data is there: fair representations, the reject option, fair rules, weights. */

export type { Progress, RunOptions, StopSignal } from "../core/options.js";
export { type RandomStream, seededStream } from "../core/random.js";
export type { Interval } from "../core/stats.js";
export { softFairRule } from "./fair-rule/soft-boundary.js";
export {
  applyFairRule,
  type BlindRows,
  type FairMetric,
  type FairRule,
  type FairRuleOptions,
  type FairRuleRows,
  type FittedFairRule,
  fairMargins,
  fitFairRule,
  type JudgedRule,
  type JudgeRuleOptions,
  judgeFairRule,
  type RuleOutcome,
} from "./fair-rule.js";
export {
  type CalibrationOptions,
  type CalibrationRows,
  calibratedGroups,
  calibrateGroups,
  type GroupCalibration,
  type KnownGroups,
} from "./group-calibration.js";
export type { StopReason } from "./lbfgs.js";
export {
  aif360Representation,
  applyRepresentation,
  type FairRepresentation,
  type FeatureScaling,
  type LossParts,
  learnFairRepresentation,
  predictFromRepresentation,
  type RepresentationOptions,
  type RepresentationStart,
  type RepresentationTraining,
} from "./learned-fair-representation.js";
export {
  type AccuracyAtParityOptions,
  accuracyAtParity,
  type EstimateAtParityOptions,
  estimateAtParity,
  type FrontierRows,
  type ParityAccuracy,
  type ParityAccuracyEstimate,
  type ParityFrontierOptions,
  type ParityPoint,
  type ParityTradeOff,
  parityFrontier,
} from "./parity-frontier.js";
export {
  applyRejectOption,
  type FittedRejectOption,
  fitRejectOption,
  type RejectOptionOptions,
  type RejectOptionRule,
} from "./reject-option.js";
export { type ReweighedCell, type ReweighedRows, type ReweighingRows, reweigh } from "./reweighing.js";
