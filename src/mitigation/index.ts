/** What is done about unfairness after the data is there: fair representations, the reject option. */

export { type RandomStream, randomStream } from "../core/random.js";
export { type MinimiseOptions, type Minimum, minimise, minimiseSteps } from "./lbfgs.js";
export {
  aif360Representation,
  applyRepresentation,
  type FairRepresentation,
  learnFairRepresentation,
  predictFromRepresentation,
  type RepresentationOptions,
} from "./learned-fair-representation.js";
export {
  applyRejectOption,
  type FittedRejectOption,
  fitRejectOption,
  type RejectOptionOptions,
  type RejectOptionRule,
} from "./reject-option.js";
