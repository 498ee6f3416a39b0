/** What data and predictions give away or treat unequally: group metrics, leakage (F_u, F_c), parity. */

export { type RandomStream, randomStream } from "../core/random.js";
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
} from "./group-metrics.js";
export {
  auditLeakage,
  auditParity,
  defaultAdversaries,
  type LeakageAudit,
  leakageDifference,
  lookup,
  type ParityAudit,
  quantileBins,
} from "./leakage.js";
export { decomposeParity } from "./parity-decomposition.js";
export { type ScoreDistances, scoreDistances } from "./score-distances.js";
