/** The kinds of policy and objective, and what is trained unless it is said. A file of its own: the help reads it. */
import type { ObjectiveKind } from "../design/quantity.js";
import { TRAINING_DEFAULTS } from "../design/training-defaults.js";

export const POLICY_KINDS = ["static", "dad", "greedy", "random"] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

export const OBJECTIVE_KINDS = ["conditional", "unconditional"] as const satisfies readonly ObjectiveKind[];

/** What every setting is unless it is given; those of one kind of policy under its name. */
export const TRAIN_POLICY_DEFAULTS = { kind: "static", ...TRAINING_DEFAULTS } as const;

/** The betas that a frontier goes through unless they are given. */
export const FRONTIER_BETAS: readonly number[] = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** A search of seconds for somebody who waits, and bounds that are tight enough to see. */
export const QUICK_SEARCH = {
  steps: 1200,
  starts: 4,
  evaluation: { outer: 100, inner: 5000, batches: 10 },
} as const;
