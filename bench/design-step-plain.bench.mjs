// One training step of the conditional objective of location finding: value and gradient in the static
// designs xi[T, 2], shared by the batch, without fused multiply-add. B = 100, L = M = 1000, T = 10.
import { settings, stepInputs, stepOf } from "./location.mjs";
import { conditionalStep } from "./reference.mjs";

export default {
  peer: "torch",
  peerBench: "design-step",
  threads: 2,
  settings,
  inputs: () => stepInputs({ adaptive: false }),
  reference: conditionalStep,
  setup: stepOf({ adaptive: false, relaxed: false }),
};
