/** What is done about unfairness after the data is there: fair representations, the reject option. */

export { type RandomStream, seededStream } from "../core/random.js";
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
  applyRejectOption,
  type FittedRejectOption,
  fitRejectOption,
  type RejectOptionOptions,
  type RejectOptionRule,
} from "./reject-option.js";
