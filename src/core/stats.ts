/** Statistics that come with their errors. */
export {
  type Agreement,
  type AgreementOptions,
  type AgreementScale,
  agreementTexts,
  krippendorffAlpha,
  type Rating,
} from "./stats/agreement.js";
export { blockMeans } from "./stats/blocks.js";
export {
  type BootstrapEstimate,
  type BootstrapOptions,
  bootstrap,
  bootstrapBiasText,
  bootstrapInSteps,
  bootstrapReplicatesText,
  bootstrapRowsText,
  bootstrapStatisticText,
  type RowStatistic,
} from "./stats/bootstrap.js";
export {
  ANYWHERE,
  DIFFERENCE_RANGE,
  type EstimatedMean,
  FROM_ZERO,
  type Interval,
  intervalWithin,
  meanEstimate,
  UNIT_RANGE,
  wilsonInterval,
  wilsonText,
} from "./stats/intervals.js";
export { logMeanExp, logSumExp } from "./stats/log-sum-exp.js";
export {
  addValue,
  type Moments,
  mergeMoments,
  momentsOf,
  NO_VALUES,
  sampleVariance,
  standardError,
} from "./stats/moments.js";
export {
  type CurvePoint,
  fitPowerLaw,
  type PowerLaw,
  type PowerLawOptions,
  powerLawAt,
  powerLawTexts,
} from "./stats/power-law.js";
export { quantile, quantileNaNText, quantileProbabilityText, quantiles } from "./stats/quantile.js";
export { studentFreedomText, studentProbabilityText, studentTQuantile } from "./stats/student.js";
export { badLevelText, badValueText, fewValuesText } from "./stats/values.js";
