import type { ObjectiveKind } from "./quantity.js";

/** What training does unless it is told otherwise, whatever calls it. */
export const TRAINING_DEFAULTS = {
  objective: "conditional",
  beta: 0.8,
  horizon: 10,
  seed: 0,
  static: { steps: 6000, starts: 24, rate: 0.05 },
  /** The paper's (appendix F.1). */
  dad: { steps: 10_000, rate: 5e-5 },
  /**
   * Of a network that starts from static designs; its rate decays. Gradients have heavy tails where designs come near
   * a source, and at this rate one of them unclipped can undo all that was learnt.
   */
  dadFromStatic: { steps: 10_000, rate: 1e-3, clip: 1 },
} as const satisfies { readonly objective: ObjectiveKind; readonly [name: string]: unknown };
