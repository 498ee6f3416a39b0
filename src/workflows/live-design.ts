/**
 * What designs tell and give away while they are moved by hand: an answer within some milliseconds on one thread, and a
 * finer one afterwards.
 */
import { Workspace } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { type EstimateMethod, estimatePolicy, type InformationEstimate } from "../design/estimate.js";
import { type EvidenceSamples, estimateObjective, estimateQuantity } from "../design/evidence-samples.js";
import { closedForm } from "../design/exact/closed-form.js";
import { withoutSampling } from "../design/exact/exact.js";
import { canKeepEnumerating, KeptEnumeration } from "../design/exact/kept-enumeration.js";
import { KeptNested } from "../design/kept-nested.js";
import type { Model } from "../design/model.js";
import { nearestAllowed, staticPolicy } from "../design/policy.js";
import { INFORMATION, type ObjectiveKind } from "../design/quantity.js";
import { requireTrainable } from "../design/training.js";
import { TRAIN_POLICY_DEFAULTS } from "./policy-defaults.js";

export interface LiveDesignOptions {
  /** How many observations. Default 10. */
  readonly horizon?: number | undefined;
  /** What a nat of leakage costs in the objective. Default 0.8. */
  readonly beta?: number | undefined;
  /** Leakage given the target (R_c, the default), or by itself (R_u). */
  readonly objective?: ObjectiveKind | undefined;
  /** Where the random streams start. Default 0. */
  readonly seed?: number | undefined;
  /** Default 1: a page has other things to do. */
  readonly threads?: number | undefined;
}

/** Nats, between bounds; `interval` has what sampling may be wrong by, too. */
export interface LiveInformation {
  readonly target: InformationEstimate;
  readonly sensitive: InformationEstimate;
  readonly sensitiveGivenTarget: InformationEstimate;
  readonly objective: InformationEstimate;
  readonly method: EstimateMethod;
  /** Whether nothing was sampled. */
  readonly exact: boolean;
}

export interface RefineOptions extends RunOptions {
  /** Called with every answer that is finer than the one before, the last one included. */
  readonly onFiner?: ((information: LiveInformation) => unknown) | undefined;
}

/** Designs are [horizon][variables]; what a variable does not allow is taken to the nearest that it does. */
export interface LiveDesignSession {
  readonly horizon: number;
  information(designs: readonly (readonly number[])[]): LiveInformation;
  /** The same with tighter bounds, in a second or some; the signal stops it once the designs have moved on. */
  refine(designs: readonly (readonly number[])[], options?: RefineOptions): Promise<LiveInformation>;
  /** Other costs of leakage change the objective only: no sample is drawn again. */
  price(beta: number, objective: ObjectiveKind): void;
  dispose(): void;
}

export const liveDesignTexts = {
  rows: (given: number, horizon: number) =>
    `${given} designs were given and the horizon is ${horizon}: give one for each observation`,
  numbers: (row: number, variables: number) =>
    `design ${row + 1} is not ${variables} finite numbers: give one number for each design variable`,
  disposed: "this live design was disposed of: make a new one",
};

/**
 * Enough to show what a move does: the error of the experiments, not of the inner samples, is what is seen. Of long
 * experiments there are fewer, so that a move of any shipped model takes less than a tenth of a second.
 */
const atOnce = (horizon: number) => ({
  outer: horizon <= 8 ? 128 : horizon <= 16 ? 64 : 32,
  batches: 8,
  inner: 500,
});
/** First what is had within a second, then what is had within some. */
const FINER = [
  { outer: 256, batches: 16, inner: 4000 },
  { outer: 512, batches: 16, inner: 8000 },
];

interface Evaluator {
  readonly method: EstimateMethod;
  evaluate(designs: Float64Array): EvidenceSamples | undefined;
  dispose(): void;
}

/**
 * What designs tell while they are moved. Exact where that takes milliseconds (a closed form, or few sequences of
 * outcomes); bounds by nested sampling elsewhere, always on the same samples, so that they follow a move smoothly.
 *
 * @example
 * ```ts
 * import { liveDesign } from "fairbed";
 * import { locationFinding } from "fairbed/design";
 *
 * const live = liveDesign(locationFinding(), { horizon: 1 });
 * const near = live.information([[3, 2.5]]);
 * const far = live.information([[3, 30]]);
 * console.log(near.target.lower > far.target.upper); // true
 * live.dispose();
 * ```
 */
export const liveDesign = (model: Model, options: LiveDesignOptions = {}): LiveDesignSession => {
  const { horizon = TRAIN_POLICY_DEFAULTS.horizon, seed = TRAIN_POLICY_DEFAULTS.seed, threads = 1 } = options;
  let { beta = TRAIN_POLICY_DEFAULTS.beta, objective = TRAIN_POLICY_DEFAULTS.objective } = options;
  requireTrainable({ horizon }, beta);
  const stream = seededStream(seed).split("live design");
  let evaluator: Evaluator | undefined;
  let disposed = false;

  const flat = (designs: readonly (readonly number[])[]): Float64Array => {
    if (disposed) throw new InputError("live-design", liveDesignTexts.disposed);
    const variables = model.design.length;
    if (designs.length !== horizon) {
      throw new InputError("designs", liveDesignTexts.rows(designs.length, horizon));
    }
    const wrong = designs.findIndex((row) => row.length !== variables || !row.every(Number.isFinite));
    if (wrong >= 0) throw new InputError("designs", liveDesignTexts.numbers(wrong, variables));
    return Float64Array.from(designs.flatMap((row) => row.map((v, d) => nearestAllowed(model.design[d], v))));
  };
  const described = (samples: EvidenceSamples, method: EstimateMethod): LiveInformation => ({
    target: estimateQuantity(samples, INFORMATION.target),
    sensitive: estimateQuantity(samples, INFORMATION.sensitive),
    sensitiveGivenTarget: estimateQuantity(samples, INFORMATION.sensitiveGivenTarget),
    objective: estimateObjective(samples, objective, beta),
    method,
    exact: samples.experiments === "all",
  });
  const evaluate = (designs: Float64Array): LiveInformation => {
    evaluator ??= evaluatorFor(model, designs, horizon, () => sampled(model, horizon, stream, threads));
    let samples = evaluator.evaluate(designs);
    if (samples === undefined) {
      // A grid that is too coarse for these options, or designs where the model is linear no more.
      evaluator.dispose();
      evaluator = sampled(model, horizon, stream, threads);
      samples = evaluator.evaluate(designs);
    }
    if (samples === undefined) throw new RangeError("sampling always answers");
    return described(samples, evaluator.method);
  };
  return {
    horizon,
    information: (designs) => evaluate(flat(designs)),
    async refine(designs, { signal, onProgress, onFiner } = {}) {
      const at = flat(designs);
      let best = evaluate(at);
      if (best.exact) {
        await onFiner?.(best);
        return best;
      }
      const policy = staticPolicy(at, model.design.length);
      for (const [stage, { inner, ...sizes }] of FINER.entries()) {
        const { objective: objectiveOf, ...estimate } = await estimatePolicy(model, policy, {
          ...sizes,
          contrastive: inner,
          marginal: inner,
          stream: stream.split("finer").split(stage),
          threads,
          names: ["target", "sensitive", "sensitiveGivenTarget"],
          signal,
          onProgress: ({ done, total }) =>
            onProgress?.({ done: stage + done / total, total: FINER.length, label: "tightening the bounds" }),
        });
        const { target, sensitive, sensitiveGivenTarget, method, exact } = estimate;
        best = {
          ...{ target, sensitive, sensitiveGivenTarget, method, exact },
          objective: objectiveOf(objective, beta),
        };
        await onFiner?.(best);
      }
      return best;
    },
    price(nextBeta, nextObjective) {
      requireTrainable({ horizon }, nextBeta);
      beta = nextBeta;
      objective = nextObjective;
    },
    dispose() {
      disposed = true;
      evaluator?.dispose();
      evaluator = undefined;
    },
  };
};

/** Farther from half as fine a grid than this, in nats, an enumeration is not called exact. */
const COARSE = 5e-3;

const evaluatorFor = (
  model: Model,
  designs: Float64Array,
  horizon: number,
  otherwise: () => Evaluator,
): Evaluator => {
  if (closedForm(model, designs) !== undefined) {
    return {
      method: "closed form",
      evaluate: (at) => {
        const expected = closedForm(model, at);
        return expected && withoutSampling(expected);
      },
      dispose: () => undefined,
    };
  }
  if (canKeepEnumerating(model, horizon)) {
    const kept = new KeptEnumeration(model, horizon);
    return {
      method: "enumeration",
      evaluate: (at) => {
        const { expected, discretisation } = kept.evaluate(at);
        return discretisation > COARSE ? undefined : withoutSampling(expected);
      },
      dispose: () => kept.dispose(),
    };
  }
  return otherwise();
};

const sampled = (
  model: Model,
  horizon: number,
  stream: ReturnType<typeof seededStream>,
  threads: number,
): Evaluator => {
  const workspace = new Workspace({ threads });
  const kept = new KeptNested(model, {
    ...atOnce(horizon),
    horizon,
    workspace,
    stream: stream.split("at once"),
  });
  return {
    method: "nested sampling",
    evaluate: (at) => kept.evaluate(at),
    dispose: () => {
      kept.dispose();
      workspace.dispose();
    },
  };
};
