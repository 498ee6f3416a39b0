// The same step with designs xi[B, T, 2] of each outer sample's own, as under an adaptive policy: nothing can
// be hoisted out of the batch.
import { settings, stepInputs, stepOf } from "./location.mjs";
import { conditionalStep } from "./reference.mjs";

export default {
  peer: "torch",
  threads: 2,
  settings,
  inputs: () => stepInputs({ adaptive: true }),
  reference: conditionalStep,
  setup: stepOf({ adaptive: true, relaxed: true }),
};
