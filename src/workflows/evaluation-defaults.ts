import { TRAINING_DEFAULTS } from "../design/training-defaults.js";

/** How much a policy is evaluated unless it is said. */
export const EVALUATION_DEFAULTS = {
  /** The paper's: 100 experiments in each of 8 batches, 1e5 inner samples. */
  usual: { outer: 100, inner: 100_000, batches: 8 },
  /** A greedy policy takes a good part of a second for every design. */
  greedy: { outer: 10, inner: 10_000, batches: 8 },
  /** Where the policy does not say what beta it was made with. */
  beta: TRAINING_DEFAULTS.beta,
  seed: 0,
} as const;

export interface EvaluationSizes {
  /** Simulated experiments in a batch. Default 100, greedy 10. */
  readonly outer?: number | undefined;
  /** Inner samples of every bound. Default 100,000, greedy 10,000. */
  readonly inner?: number | undefined;
  /** Batches, each with fresh samples. Default 8. */
  readonly batches?: number | undefined;
}

/** How much a policy of a kind is evaluated, with what is given. */
export const evaluationSizes = (
  kind: "static" | "dad" | "greedy" | "random",
  { outer, inner, batches }: EvaluationSizes,
): Readonly<Record<keyof EvaluationSizes, number>> => {
  const usual = kind === "greedy" ? EVALUATION_DEFAULTS.greedy : EVALUATION_DEFAULTS.usual;
  return { outer: outer ?? usual.outer, inner: inner ?? usual.inner, batches: batches ?? usual.batches };
};
