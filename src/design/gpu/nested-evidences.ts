/** Nested samples of the evidences of static designs on a GPU: the experiments and inner samples of nested-evidences.ts. */
import type { Gpu } from "../../compute/webgpu/device.js";
import { NestedEvidences } from "../../compute/webgpu/nested/values.js";
import { exp } from "../../core/math.js";
import type { RunOptions } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { quantile } from "../../core/stats.js";
import type { EvidenceSamples } from "../evidence-samples.js";
import type { Model } from "../model.js";
import type { Policy } from "../policy.js";
import type { Given } from "../quantity.js";
import { describeNested, integrated, requireGpuPolicy } from "./describe.js";
import { boundOf } from "./static-values.js";

export interface GpuEvidenceOptions extends RunOptions {
  readonly gpu: Gpu;
  /** Simulated experiments in a batch, which share their inner samples. */
  readonly outer: number;
  readonly batches: number;
  readonly contrastive: number;
  readonly marginal: number;
  readonly given: readonly Given[];
  /** Batch i draws from its child i. */
  readonly stream: RandomStream;
}

/** Batches between two reports of progress. */
const TOGETHER = 8;

export const nestedEvidencesOnGpu = async (
  model: Model,
  policy: Policy,
  options: GpuEvidenceOptions,
): Promise<{ samples: EvidenceSamples; effective: Partial<Record<Given, number>> }> => {
  const { gpu, outer, batches, contrastive, marginal, given, stream, signal, onProgress } = options;
  const designs = requireGpuPolicy(model, policy);
  const sizes = { outer, contrastive, marginal };
  const description = describeNested(model, given, policy.horizon, sizes);
  const names = integrated(model, given);
  const values = await NestedEvidences.create(gpu, description, Math.min(batches, TOGETHER), "estimate");
  const under: Partial<Record<Given, Float64Array>> = {};
  const over: Partial<Record<Given, Float64Array>> = {};
  for (const each of given) {
    under[each] = new Float64Array(outer * batches);
    over[each] = new Float64Array(outer * batches);
  }
  const effective: Partial<Record<Given, number>> = {};
  try {
    for (let from = 0; from < batches; from += TOGETHER) {
      signal?.throwIfAborted();
      const count = Math.min(TOGETHER, batches - from);
      const rows = Array.from({ length: count }, (_, i) => ({ designs, key: stream.key, number: from + i }));
      for (const [i, found] of (await values.evaluate(rows)).entries()) {
        for (const each of given) {
          under[each]?.set(boundOf(found, names, { [each]: 1 }, "lower", sizes), (from + i) * outer);
          over[each]?.set(boundOf(found, names, { [each]: 1 }, "upper", sizes), (from + i) * outer);
        }
        if (from + i > 0) continue;
        // (sum w)^2 / sum w^2 of the inner samples' likelihoods.
        names.forEach((each, e) => {
          const inner = each === "none" ? contrastive : marginal;
          const own = found.fresh[e].map((value, b) => inner * exp(2 * value - found.squared[e][b]));
          effective[each] = quantile(own, 0.5);
        });
      }
      await onProgress?.({ done: from + count, total: batches, label: "batches" });
    }
  } finally {
    values.dispose();
  }
  return { samples: { under, over, batches, outer, experiments: "bounded" }, effective };
};
