/** The machinery: the compiler with the operations to write a model in, random streams, and statistics. */

export { FairbedError, TraceError } from "../core/errors.js";
export type { Filled, Progress, RunOptions, StopSignal } from "../core/options.js";
export {
  fillNormal,
  fillUniform,
  philox4x32,
  type RandomStream,
  restoreStream,
  type StreamKey,
  type StreamName,
  type StreamState,
  seededStream,
} from "../core/random.js";
export {
  addValue,
  type BootstrapEstimate,
  type BootstrapOptions,
  bootstrap,
  type EstimatedMean,
  type Interval,
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
} from "../core/stats.js";
export { type AdamOptions, type AdamState, adam, type Floats, type Optimiser } from "./adam.js";
export type { Backend } from "./backend.js";
export {
  type Activation,
  createDense,
  type Dense,
  type DenseOptions,
  type DensePort,
  type ForwardRange,
  type RowRange,
} from "./dense.js";
export { detectFeatures, type Features } from "./features.js";
export { Traced, type Value } from "./graph/expression.js";
export type { InputAxes, Outputs, TracedFunction } from "./graph/trace.js";
export type { Axis, Sizes } from "./logmeanexp/axes.js";
export {
  type Adjoint,
  compileLogMeanExp,
  type LogMeanExp,
  type LogMeanExpOptions,
} from "./logmeanexp/program.js";
export * from "./operations.js";
export { type CompileOptions, compile, type Program } from "./program/program.js";
export { type Gpu, type GpuInfo, openGpu } from "./webgpu/device.js";
export { mapOnGpu } from "./webgpu/map.js";
export { type Pause, Workspace, type WorkspaceOptions } from "./workspace.js";
