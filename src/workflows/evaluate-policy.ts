/** What a policy's experiments tell and give away, in nats, between bounds. */

import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { estimatePolicy, type InformationEstimate, type PolicyEstimate } from "../design/estimate.js";
import { type FairnessMeasure, fairness } from "../design/fairness-measures.js";
import { gpuModelTexts } from "../design/gpu/describe.js";
import type { Model } from "../design/model.js";
import { requireNoDependentCount } from "../design/nested.js";
import { checkParity, type Parity, type ParityOptions } from "../design/parity.js";
import type { Policy } from "../design/policy.js";
import type { PolicyFile, ReachedBounds } from "../design/policy-file.js";
import { INFORMATION_NAMES, type InformationName, type ObjectiveKind } from "../design/quantity.js";
import { asPolicy } from "./as-policy.js";
import { type ComputeDevice, DEFAULT_DEVICE, onDevice, storedDevice, type UsedDevice } from "./device.js";
import { EVALUATION_DEFAULTS, type EvaluationSizes, evaluationSizes } from "./evaluation-defaults.js";

/** Plain data. */
export interface EvaluatePolicySettings extends EvaluationSizes {
  /** By closed form, enumeration or quadrature, where the model allows it; an error where it does not. Default false. */
  readonly exact?: boolean | undefined;
  /** What leakage costs in the objectives. Default: what the policy was made with, or 0.8. */
  readonly beta?: number | undefined;
  /** Where the random streams start. Default 0. */
  readonly seed?: number | undefined;
}

export interface EvaluatePolicyOptions extends EvaluatePolicySettings, RunOptions {
  /** Further models, by any names: the answer then has the fairness F_u and F_c over all of them (section 3.2). */
  readonly against?: Readonly<Record<string, Model>> | undefined;
  /** Also whether demographic parity follows for what is learnt from the data (section 4). Default false. */
  readonly parity?: boolean | Omit<ParityOptions, "seed" | keyof RunOptions> | undefined;
  /** All cores unless given. */
  readonly threads?: number | undefined;
  /** Where the inner samples are gone through. Default `cpu`, the reference. */
  readonly device?: ComputeDevice | undefined;
}

/** Information, ratios and objectives as plain data. */
export type PolicyReport = Readonly<Record<InformationName, InformationEstimate>> &
  Pick<PolicyEstimate, "method" | "exact" | "ratios" | "diagnostics" | "warnings"> & {
    readonly beta: number;
    readonly objectives: Readonly<Record<ObjectiveKind, InformationEstimate>>;
    /** F_c and F_u over the models, where there are several. */
    readonly fairness?: Readonly<Record<ObjectiveKind, FairnessMeasure>> | undefined;
    readonly parity?: Parity | undefined;
    /** What it was computed on, where a GPU was asked for. */
    readonly device?: UsedDevice | undefined;
    /** How many samples it took: of an exact method, which needs none, those of quadrature's outer expectation. */
    readonly samples: {
      readonly outer: number;
      readonly inner: number;
      readonly batches: number;
      readonly seed: number;
    };
  };

export const evaluatePolicyTexts = {
  gpuExact: 'exact values do not come from a GPU: leave out exact, or choose the device "cpu"',
  gpuParity: 'parity is not looked at on a GPU: leave out parity, or choose the device "cpu"',
};

/** Refuses an evaluation that no GPU does. */
export const requireGpuEvaluation = ({ exact = false }: Pick<EvaluatePolicySettings, "exact">): void => {
  if (exact) throw new InputError("gpu-exact", evaluatePolicyTexts.gpuExact);
};

/** The beta that a policy was made with. */
const betaOf = (policy: PolicyFile | Policy): number | undefined => {
  const beta = "settings" in policy ? (policy as PolicyFile).settings?.beta : undefined;
  return typeof beta === "number" && beta >= 0 ? beta : undefined;
};

/**
 * Lower and upper bounds, with errors and 95 % intervals, of the information that a policy's experiments give about the
 * target (EIG_theta), the sensitive part (EIG_phi), the sensitive part given the target (EIG_{phi|theta}) and both; the
 * ratios of leakage to information; the objectives R_c and R_u; the worst leakage over a class of models; and whether
 * demographic parity follows. The policy is plain data or a `Policy`, which may be of one's own making.
 *
 * @example
 * ```ts
 * import { evaluatePolicy } from "fairbed";
 * import { linearGaussian } from "fairbed/design";
 *
 * // theta is seen once and phi once, both N(0, 1) with noise N(0, 1): half of log 2 nats each.
 * const policy = { kind: "static", horizon: 2, designs: [[1, 0], [0, 1]] } as const;
 * const { target, sensitive, method } = await evaluatePolicy(linearGaussian(), policy, { exact: true });
 * console.log(target.lower.toFixed(4), sensitive.upper.toFixed(4)); // 0.3466 0.3466
 * console.log(method); // closed form
 * ```
 */
export const evaluatePolicy = async (
  model: Model,
  policy: PolicyFile | Policy,
  options: EvaluatePolicyOptions = {},
): Promise<PolicyReport> => {
  const asked = asPolicy(policy, model);
  const { outer, inner, batches } = evaluationSizes(asked.kind, options);
  const {
    seed = EVALUATION_DEFAULTS.seed,
    beta = betaOf(policy) ?? EVALUATION_DEFAULTS.beta,
    exact = false,
    parity = false,
    against = {},
    device: asking = DEFAULT_DEVICE,
    threads,
    signal,
    onProgress,
  } = options;
  const models = Object.entries(against).length === 0 ? undefined : { "the model": model, ...against };
  const parts = 1 + (models === undefined ? 0 : 2) + (parity === false ? 0 : 1);
  const runOf = (part: number): RunOptions => ({
    signal,
    onProgress: ({ done, total }) =>
      onProgress?.({ done: part + done / total, total: parts, label: "evaluating" }),
  });
  const sampling = {
    outer,
    batches,
    contrastive: inner,
    marginal: inner,
    stream: seededStream(seed).split("evaluate"),
    exact,
    threads,
  };
  const refuse = (): void => {
    requireGpuEvaluation({ exact });
    if (parity !== false) throw new InputError("gpu-parity", evaluatePolicyTexts.gpuParity);
    if (models !== undefined) throw new InputError("gpu-against", gpuModelTexts.against);
    requireNoDependentCount(model);
  };
  const {
    result: { objective, ...estimate },
    device,
  } = await onDevice(asking, refuse, (gpu) =>
    estimatePolicy(model, asked, { ...sampling, ...runOf(0), gpu }),
  );
  const worst = (kind: ObjectiveKind, part: number) =>
    models && fairness({ models, policy: asked, kind, ...sampling, ...runOf(part) });
  const conditional = await worst("conditional", 1);
  const unconditional = await worst("unconditional", 2);
  return {
    ...estimate,
    beta,
    objectives: {
      conditional: objective("conditional", beta),
      unconditional: objective("unconditional", beta),
    },
    ...(conditional && unconditional ? { fairness: { conditional, unconditional } } : {}),
    ...(parity === false
      ? {}
      : {
          parity: await checkParity(model, asked, {
            ...(parity === true ? {} : parity),
            ...runOf(parts - 1),
            seed,
          }),
        }),
    ...storedDevice(device),
    samples: { outer, inner, batches, seed },
  };
};

/** The policy with the bounds that it reached. */
export const withBounds = (
  policy: PolicyFile,
  report: PolicyReport,
  objective: ObjectiveKind,
): PolicyFile => {
  const plain = ({ lower, upper, standardError }: ReachedBounds) => ({ lower, upper, standardError });
  return {
    ...policy,
    bounds: {
      ...Object.fromEntries(INFORMATION_NAMES.map((name) => [name, plain(report[name])])),
      objective: plain(report.objectives[objective]),
    },
  };
};
