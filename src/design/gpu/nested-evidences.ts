/**
 * Nested samples of the evidences of a policy's experiments on a GPU: the experiments and inner samples of
 * nested-evidences.ts. Those of policies that look at outcomes are simulated on the processor.
 */
import { Workspace } from "../../compute/index.js";
import type { Gpu } from "../../compute/webgpu/device.js";
import type { Row } from "../../compute/webgpu/nested/row-program.js";
import { NestedEvidences } from "../../compute/webgpu/nested/values.js";
import { exp } from "../../core/math.js";
import type { RunOptions } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { quantile } from "../../core/stats.js";
import { type EvidenceSamples, requireEvidences } from "../evidence-samples.js";
import type { Model } from "../model.js";
import { boundOf, requireNoDependentCount } from "../nested.js";
import { type Policy, type Simulation, simulate } from "../policy.js";
import type { Bound, Given } from "../quantity.js";
import { describeNested, integrated } from "./describe.js";
import { estimateOf } from "./static-values.js";

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
  requireNoDependentCount(model);
  const { designs } = policy;
  const sizes = { outer, contrastive, marginal };
  const description = describeNested(model, given, policy.horizon, sizes);
  const names = integrated(model, given);
  const values = await NestedEvidences.create(gpu, description, Math.min(batches, TOGETHER), {
    splitting: "estimate",
    designs: designs === undefined ? "perOuter" : "shared",
  });
  const workspace = new Workspace({ threads: 1 });
  const rowOf = async (number: number): Promise<Row> => {
    const row = { key: stream.key, number };
    if (designs !== undefined) return { ...row, designs };
    const from = stream.split(number).split("experiments");
    return {
      ...row,
      ...interleaved(model, await simulate(model, policy, { outer, stream: from, workspace, signal })),
    };
  };
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
      const rows: Row[] = [];
      for (let i = 0; i < count; i++) rows.push(await rowOf(from + i));
      for (const [i, found] of (await values.evaluate(rows)).entries()) {
        const estimate = estimateOf(found, names);
        const valuesOf = (each: Given, bound: Bound): Float64Array =>
          requireEvidences(each, boundOf(estimate, { [each]: 1 }, bound, sizes));
        for (const each of given) {
          under[each]?.set(valuesOf(each, "lower"), (from + i) * outer);
          over[each]?.set(valuesOf(each, "upper"), (from + i) * outer);
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
    workspace.dispose();
  }
  return { samples: { under, over, batches, outer, experiments: "bounded" }, effective };
};

/** Simulated experiments as the kernels read them: numbers of one side by side. */
const interleaved = (
  model: Model,
  { parameters, designs, outcomes }: Simulation,
): Required<Pick<Row, "designs" | "parameters">> => {
  const sideBySide = (columns: readonly Float64Array[]): Float32Array => {
    const all = new Float32Array(columns[0].length * columns.length);
    columns.forEach((column, c) => {
      for (let i = 0; i < column.length; i++) all[i * columns.length + c] = column[i];
    });
    return all;
  };
  return {
    designs: sideBySide([
      ...model.design.map(({ name }) => designs[name]),
      ...model.outcomes.map((name) => outcomes[name]),
    ]),
    parameters: sideBySide(model.parameters.map(({ name }) => parameters[name])),
  };
};
