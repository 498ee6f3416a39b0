/** Counter-based random streams: explicit values, split by name, the same in every engine and on every thread. */
export { drawArgumentText } from "./random/arguments.js";
export { weightSumText, weightText } from "./random/discrete.js";
export { fillNormal, fillUniform } from "./random/fill.js";
export { type StreamKey, type StreamName, streamNameText } from "./random/key.js";
export { philox4x32 } from "./random/philox.js";
export { LARGEST_POISSON_MEAN } from "./random/poisson.js";
export {
  type RandomStream,
  restoreStream,
  type StreamState,
  seededStream,
  streamStateText,
  uniformFromWords,
} from "./random/stream.js";
