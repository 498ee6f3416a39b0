/** The public surface that runs unchanged in a browser; bundlers pick it through the `browser` condition. */
export * from "./compute/index.js";
export { at, type FloatArray, floatArray, fromRows, reshape, row, zeros } from "./core/array.js";
export { EnvironmentError, FairbedError, InputError, TraceError } from "./core/errors.js";
export {
  fillNormal,
  fillUniform,
  philox4x32,
  type RandomStream,
  randomStream,
  restoreStream,
  type StreamState,
} from "./core/random.js";
export {
  type BootstrapEstimate,
  bootstrap,
  type Interval,
  logMeanExp,
  logSumExp,
  type MeanEstimate,
  meanEstimate,
  quantile,
  quantiles,
  wilsonInterval,
} from "./core/stats.js";
export {
  type ConditionalStep,
  type ConditionalStepOptions,
  conditionalStep,
  type StepEstimate,
} from "./design/conditional-step.js";
export {
  LOCATION_DEFAULTS,
  type LocationPoint,
  type LocationSettings,
  locationLogLikelihood,
  logIntensity,
} from "./design/location.js";
export { optimiseStaticDesign, type StaticDesign, type StaticDesignOptions } from "./design/static-design.js";
