/** Nested samples of the evidences of a policy's experiments, batch by batch. */
import type { Workspace } from "../compute/index.js";
import { pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { type EvidenceSamples, requireEvidences } from "./evidence-samples.js";
import type { Model } from "./model.js";
import { Nested } from "./nested.js";
import { type Policy, sharedDesigns, simulate } from "./policy.js";
import type { Bound, Given } from "./quantity.js";

export interface NestedEvidenceOptions extends RunOptions {
  /** Simulated experiments in a batch, which share their inner samples. */
  readonly outer: number;
  readonly batches: number;
  /** Inner samples for p(D), and for the evidences with something held. */
  readonly contrastive: number;
  readonly marginal: number;
  readonly workspace: Workspace;
  readonly given: readonly Given[];
  /** What the experiments and the inner samples of a batch are drawn from. */
  readonly streams: (batch: number) => { readonly experiments: RandomStream; readonly inner: RandomStream };
}

/** Under from fresh inner samples alone, over with the generating one among them. */
export const nestedEvidences = async (
  model: Model,
  policy: Policy,
  options: NestedEvidenceOptions,
): Promise<{ samples: EvidenceSamples; effective: Partial<Record<Given, number>> }> => {
  const { outer, batches, contrastive, marginal, workspace, given, streams, signal, onProgress } = options;
  const pace = pacer({ signal, onProgress });
  const { horizon } = policy;
  // Likelihoods of inner samples that all experiments share are computed once.
  const shared = sharedDesigns(model, policy);
  const designs = shared === undefined ? "perOuter" : "shared";
  const sizes = { outer, horizon, contrastive, marginal };
  const nested = new Nested({ model, workspace, ...sizes, designs, given, gradients: false });
  const under: Partial<Record<Given, Float64Array>> = {};
  const over: Partial<Record<Given, Float64Array>> = {};
  for (const each of given) {
    under[each] = new Float64Array(outer * batches);
    over[each] = new Float64Array(outer * batches);
  }
  let effective: Partial<Record<Given, number>> = {};
  try {
    for (let batch = 0; batch < batches; batch++) {
      const { experiments: stream, inner } = streams(batch);
      const simulation = await simulate(model, policy, { outer, stream, workspace, signal });
      const pause = () => pace.step({ done: batch, total: batches, label: "batches" });
      nested.setData(simulation.parameters, shared ?? simulation.designs, simulation.outcomes);
      nested.drawInner(inner, simulation.parameters);
      const estimate = await nested.evaluateInPieces(pause);
      const valuesOf = (each: Given, bound: Bound): Float64Array =>
        requireEvidences(each, nested.combine(estimate, { [each]: 1 }, bound));
      for (const each of given) {
        under[each]?.set(valuesOf(each, "lower"), batch * outer);
        over[each]?.set(valuesOf(each, "upper"), batch * outer);
      }
      if (batch === 0) effective = await nested.effectiveSamples(pause);
      await pace.step({ done: batch + 1, total: batches, label: "batches" });
    }
  } finally {
    nested.dispose();
  }
  return { samples: { under, over, batches, outer, experiments: "bounded" }, effective };
};
