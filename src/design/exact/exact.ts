/**
 * Evidences without inner samples, by whichever way applies. A closed form and an enumeration are exact: nothing is
 * sampled. A quadrature has the evidences of sampled experiments: its estimates have a standard error.
 */

import type { Workspace } from "../../compute/index.js";
import { InputError } from "../../core/errors.js";
import { wholePower } from "../../core/math.js";
import { pacer, type RunOptions } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import type { EvidenceSamples } from "../evidence-samples.js";
import type { Model } from "../model.js";
import { type Policy, sharedDesigns, simulate } from "../policy.js";
import { trialOf } from "../priors.js";
import type { Given } from "../quantity.js";
import { closedForm } from "./closed-form.js";
import { worthEnumerating } from "./cost.js";
import { enumerate, outcomeCombinations } from "./enumeration.js";
import { isContinuous, onGrid } from "./grid.js";
import { MOST_DIMENSIONS, type Quadrature, quadrature } from "./quadrature.js";

/** What may be asked for. */
export type ExactMethod = "closed form" | "enumeration" | "quadrature";

/** What was done: quadrature is called after what is left of sampling in it. */
export type EvidenceMethod = "closed form" | "enumeration" | "quadrature of sampled experiments";

export interface ExactOptions extends RunOptions {
  /** Experiments that the outer expectation of quadrature is over: batches * outer. */
  readonly outer: number;
  readonly batches: number;
  readonly stream: RandomStream;
  readonly workspace: Workspace;
  readonly given: readonly Given[];
  /** Only this method. */
  readonly method?: ExactMethod | undefined;
}

export interface ExactEvidences {
  readonly samples: EvidenceSamples;
  readonly method: EvidenceMethod;
  /** How far the log evidences of half as fine a grid are, in nats. */
  readonly discretisation: number;
}

export const exactTexts = {
  none: (model: string) =>
    `no exact method applies to the model "${model}" with this policy: a closed form needs a linear-Gaussian model and designs fixed in advance, enumeration at most ${MOST_SEQUENCES} sequences of outcomes and at most 2 continuous parameters, quadrature at most ${MOST_DIMENSIONS} continuous parameters with normal or uniform priors; use nested sampling`,
};

/** 14 binary outcomes. */
export const MOST_SEQUENCES = 2 ** 14;

/** Evidences without inner samples: exact where that is to be had cheaply (cost.ts), else of sampled experiments. */
export const exactEvidences = async (
  model: Model,
  policy: Policy,
  options: ExactOptions,
): Promise<ExactEvidences> => {
  const allowed = (method: ExactMethod) => options.method === undefined || options.method === method;
  if (allowed("closed form") && policy.designs !== undefined) {
    const expected = closedForm(model, policy.designs);
    if (expected !== undefined) {
      return { samples: withoutSampling(expected), method: "closed form", discretisation: 0 };
    }
  }
  const { given, outer, batches } = options;
  const enumerates =
    options.method === "enumeration" ||
    (allowed("enumeration") && worthEnumerating(model, policy, given, outer * batches));
  if (enumerates && canEnumerate(model, policy)) {
    const { expected, discretisation } = await enumerate({ model, policy, given }, options);
    return { samples: withoutSampling(expected), method: "enumeration", discretisation };
  }
  if (allowed("quadrature") && canIntegrate(model, MOST_DIMENSIONS)) {
    return byQuadrature(model, policy, options);
  }
  throw new InputError("exact", exactTexts.none(model.name));
};

/** An expectation that is known is one experiment that always comes out the same. */
export const withoutSampling = (expected: Readonly<Partial<Record<Given, number>>>): EvidenceSamples => {
  const values = Object.fromEntries(
    Object.entries(expected).map(([given, value]) => [given, Float64Array.of(value)]),
  );
  return { under: values, over: values, batches: 1, outer: 1, experiments: "all" };
};

const canIntegrate = (model: Model, most: number): boolean =>
  model.parameters.every(({ name }) => onGrid(trialOf(model, name))) &&
  model.parameters.filter(({ name }) => isContinuous(model, name)).length <= most;

/** Others draw: an enumeration would be of one of their draws. */
const canEnumerate = (model: Model, { kind, horizon }: Policy): boolean =>
  (kind === "static" || kind === "dad") && canEnumerateModel(model, horizon);

/** Whether so many outcomes of the model can be gone through, and its parameters be put on a grid. */
export const canEnumerateModel = (model: Model, horizon: number): boolean => {
  const combinations = outcomeCombinations(model);
  return (
    combinations !== undefined &&
    wholePower(combinations.length, horizon) <= MOST_SEQUENCES &&
    !model.dependentPriors &&
    canIntegrate(model, 2)
  );
};

const byQuadrature = async (
  model: Model,
  policy: Policy,
  { outer, batches, stream, workspace, given, signal, onProgress }: ExactOptions,
): Promise<ExactEvidences> => {
  const pace = pacer({ signal, onProgress });
  const { horizon } = policy;
  const shared = sharedDesigns(model, policy);
  const values: Partial<Record<Given, Float64Array>> = {};
  const grids = new Map<Given, Quadrature>();
  for (const each of given) {
    values[each] = new Float64Array(outer * batches);
    const designs = shared === undefined ? "perOuter" : "shared";
    grids.set(each, quadrature({ model, workspace, given: each, outer, horizon, designs }));
  }
  try {
    for (let batch = 0; batch < batches; batch++) {
      const own = stream.split("batch").split(batch).split("experiments");
      const pause = () => pace.step({ done: batch, total: batches, label: "batches" });
      const { parameters, designs, outcomes } = await simulate(model, policy, {
        outer,
        stream: own,
        workspace,
        signal,
      });
      const data = { parameters, designs: shared ?? designs, outcomes };
      for (const [each, grid] of grids) {
        if (batch === 0) await grid.refine(data, pause);
        values[each]?.set(await grid.evaluate(data, pause), batch * outer);
      }
      await pace.step({ done: batch + 1, total: batches, label: "batches" });
    }
    const discretisation = Math.max(0, ...[...grids.values()].map((grid) => grid.discretisation));
    // No inner samples are shared: all experiments are independent, as if of one batch.
    return {
      samples: { under: values, over: values, batches: 1, outer: outer * batches, experiments: "sampled" },
      method: "quadrature of sampled experiments",
      discretisation,
    };
  } finally {
    for (const grid of grids.values()) grid.dispose();
  }
};
