/** What data and predictions give away or treat unequally: group metrics, leakage (F_u, F_c), parity. */

export { type RandomStream, seededStream } from "../core/random.js";
export {
  type AcquiredLeakageOptions,
  type AcquiredRows,
  acquiredLeakage,
  type GroupGuesses,
  type JudgedGuesses,
  type JudgeGuessesOptions,
  judgeGuesses,
  type LeakageOfAcquired,
} from "./acquired-leakage.js";
export { type Auc, type AucOptions, groupAuc } from "./auc.js";
export { type BaseRateInput, type BaseRateTest, type DifferingRate, testBaseRates } from "./base-rates.js";
export {
  type AcquiredShare,
  type AttributeComposition,
  type CellComposition,
  type ComposedRows,
  type CompositionWords,
  compositionOf,
  compositionWarnings,
  type GroupComposition,
  type NamedLabel,
} from "./composition.js";
export {
  atSelectionRate,
  type Distances,
  type Gap,
  type GroupAgainst,
  type GroupedPredictions,
  type GroupLabels,
  type GroupMetricsOptions,
  type GroupRates,
  groupMetrics,
  type IntersectedGroups,
  intersectGroups,
  type MetricsByGroup,
  oneAgainstRest,
  type ParityRatioOptions,
  type ParityRatioValues,
  parityRatios,
  type Rate,
  type RateComparison,
  type RateName,
  type Rates,
  type ScoreGaps,
  type Selection,
} from "./group-metrics.js";
export {
  type Adversaries,
  type Adversary,
  type AdversaryEstimate,
  auditLeakage,
  auditParity,
  type BinnedAttribute,
  type ColumnLeakage,
  type ComparedLeakage,
  defaultAdversaries,
  type GroupSummary,
  type LeakageAudit,
  type LeakageAuditInput,
  type LeakageAuditOptions,
  type LeakageEstimate,
  type LeakageRecords,
  leakageDifference,
  lookup,
  type ParityAudit,
  type ParityAuditInput,
  type ParityAuditOptions,
  type PredictorParity,
  quantileBins,
  type RowLeakage,
} from "./leakage.js";
export {
  type DecompositionOptions,
  decomposeParity,
  type GapPart,
  type GroupDecomposition,
  type PredictionsByGroup,
} from "./parity-decomposition.js";
export { type DistributionDistances, scoreDistances } from "./score-distances.js";
