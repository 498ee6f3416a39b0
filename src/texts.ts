/** What errors say: functions of what was given, as `texts` on the public surface, to match a message in a test. */
export { adamTexts } from "./compute/adam.js";
export { backendTexts } from "./compute/backend.js";
export { denseTexts } from "./compute/dense.js";
export { texts as expressionTexts } from "./compute/graph/expression.js";
export { gradientTexts } from "./compute/graph/gradient.js";
export { traceTexts } from "./compute/graph/trace.js";
export { sourceTexts } from "./compute/js/point-function.js";
export { planTexts } from "./compute/logmeanexp/plan.js";
export { programTexts } from "./compute/logmeanexp/program.js";
export { compileTexts } from "./compute/program/program.js";
export { workspaceTexts } from "./compute/workspace.js";
export {
  drawArgumentText,
  streamNameText,
  streamStateText,
  weightSumText,
  weightText,
} from "./core/random.js";
export { rareTexts } from "./core/rare-values.js";
export {
  badLevelText,
  badValueText,
  bootstrapBiasText,
  bootstrapReplicatesText,
  bootstrapRowsText,
  bootstrapStatisticText,
  fewValuesText,
  quantileNaNText,
  quantileProbabilityText,
  studentFreedomText,
  studentProbabilityText,
  wilsonText,
} from "./core/stats.js";
