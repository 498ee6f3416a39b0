/**
 * The frontier of information against leakage: a policy for every beta, each with what it reaches, as it comes. One point
 * of it is what a cell of `design sweep` computes.
 */
import { InputError } from "../core/errors.js";
import type { Progress, RunOptions } from "../core/options.js";
import type { Model } from "../design/model.js";
import type { PolicyFile } from "../design/policy-file.js";
import { type ComputeDevice, DEFAULT_DEVICE, evaluatedOn, onDevice } from "./device.js";
import {
  type EvaluatePolicySettings,
  evaluatePolicy,
  type PolicyReport,
  requireGpuEvaluation,
  withBounds,
} from "./evaluate-policy.js";
import { FRONTIER_BETAS } from "./policy-defaults.js";
import { type FullSettings, policySettings, type TrainPolicySettings } from "./policy-settings.js";
import type { TrainPoliciesRun } from "./train-policies.js";
import {
  requireGpuTraining,
  type TrainPolicyOptions,
  type TrainPolicyProgress,
  trainPolicy,
} from "./train-policy.js";

/** A policy for one beta, horizon and seed. */
export interface FrontierPolicy {
  /** With the bounds that it reached. */
  readonly policy: PolicyFile;
  readonly report: PolicyReport;
}

export interface FrontierPolicyRun
  extends Pick<TrainPolicyOptions, "source" | "threads" | "device" | "signal" | "onProgress"> {
  readonly evaluation: EvaluatePolicySettings;
  /** The policy, where it was trained with others. */
  readonly found?: PolicyFile | undefined;
}

/** Trains the policy of one point and evaluates it, from the seed that it was trained with. */
export const frontierPolicy = async (
  model: Model,
  settings: FullSettings,
  {
    evaluation,
    source,
    threads,
    device = DEFAULT_DEVICE,
    signal,
    onProgress,
    found: known,
  }: FrontierPolicyRun,
): Promise<FrontierPolicy> => {
  const run = { threads, device, signal, onProgress };
  const found = known ?? (await trainPolicy(model, { ...settings, ...run, source, evaluation: false }));
  const { seed, objective } = settings;
  const report = await evaluatePolicy(model, found, {
    ...{ ...evaluation, ...run, seed },
    device: evaluatedOn(found, device),
  });
  return { policy: withBounds(found, report, objective), report };
};

/**
 * What has been trained on a GPU, if one is asked for: all together. Undefined where each is trained by itself. `onTrained`
 * is told what is finished while the rest is still to come.
 */
export const frontierOnGpu = async (
  model: Model,
  all: readonly FullSettings[],
  {
    device: asked = DEFAULT_DEVICE,
    evaluation,
    ...run
  }: Pick<FrontierPolicyRun, "device" | "evaluation" | "source" | "signal" | "onProgress"> &
    Pick<TrainPoliciesRun, "onTrained">,
): Promise<readonly Pick<FrontierPolicyRun, "device" | "found">[] | undefined> => {
  if (asked === "cpu") return undefined;
  const refuse = (): void => {
    for (const settings of all) requireGpuTraining(model, settings, {}, asked);
    requireGpuEvaluation(evaluation);
  };
  const { result } = await onDevice(asked, refuse, async (gpu) => {
    if (gpu === undefined) return undefined;
    const { trainPoliciesOnGpu } = await import("./train-policies.js");
    const used = { asked, used: "gpu", name: gpu.info.name } as const;
    return trainPoliciesOnGpu(model, all, { ...run, gpu, device: used });
  });
  // Where `auto` finds no GPU, or loses it before the evaluation, each says so for itself.
  return all.map((_, i) => ({ device: asked, found: result?.[i] }));
};

/** A point of the frontier, as plain data: nats, between bounds. */
export interface DesignFrontierPoint
  extends Pick<PolicyReport, "target" | "sensitive" | "sensitiveGivenTarget"> {
  readonly beta: number;
  readonly horizon: number;
  /** R_c or R_u at this beta. */
  readonly objective: PolicyReport["target"];
  /** [horizon][variables] */
  readonly designs: readonly (readonly number[])[];
  readonly policy: PolicyFile;
}

export interface DesignFrontierProgress extends Progress {
  /** The beta that is worked on; undefined while all are trained at the same time. */
  readonly beta?: number | undefined;
  /** Where its designs are, while they are looked for. */
  readonly designs?: TrainPolicyProgress["designs"];
}

export interface DesignFrontierOptions extends Omit<TrainPolicySettings, "kind" | "beta" | "leakageBudget"> {
  /** What a nat of leakage costs, one for each point. Default 0, 0.2, 0.4, 0.6, 0.8, 1. */
  readonly betas?: readonly number[] | undefined;
  /** How every policy is evaluated. */
  readonly evaluation?: EvaluatePolicySettings | undefined;
  readonly source?: TrainPolicyOptions["source"];
  /** All cores unless given. */
  readonly threads?: number | undefined;
  /** Where it is computed. Default `cpu`, the reference; on a GPU all betas are trained at the same time. */
  readonly device?: ComputeDevice | undefined;
  readonly signal?: RunOptions["signal"];
  readonly onProgress?: ((progress: DesignFrontierProgress) => unknown) | undefined;
  /** Called with every point as it comes. */
  readonly onPoint?: ((point: DesignFrontierPoint) => unknown) | undefined;
}

export const designFrontierTexts = {
  betas: "no beta was given: give at least one number from 0, such as 0.8",
};

/** Progress of a point, whose own number of steps is known only when it runs. */
const PARTS = 1000;
/** Of a point's work about so much is training, the rest evaluation. */
const TRAINING = 0.8;

/**
 * Static designs at every beta, with what they tell and give away: the frontier of fairness and utility. Points come
 * one after the other, in the order of the betas; stopping keeps those that were told.
 *
 * @example
 * ```ts
 * import { designFrontier } from "fairbed";
 * import { linearGaussian } from "fairbed/design";
 *
 * const points = await designFrontier(linearGaussian(), {
 *   betas: [0, 1],
 *   horizon: 1,
 *   steps: 20,
 *   starts: 1,
 *   evaluation: { exact: true },
 * });
 * console.log(points.map(({ beta, designs }) => `${beta}: ${designs.length}`).join(", ")); // 0: 1, 1: 1
 * ```
 */
export const designFrontier = async (
  model: Model,
  {
    betas = FRONTIER_BETAS,
    evaluation = {},
    source,
    threads,
    device = DEFAULT_DEVICE,
    signal,
    onProgress,
    onPoint,
    ...training
  }: DesignFrontierOptions = {},
): Promise<readonly DesignFrontierPoint[]> => {
  if (betas.length === 0) throw new InputError("betas", designFrontierTexts.betas);
  // All are looked at before the first is trained.
  const all = betas.map((beta) => policySettings({ ...training, kind: "static", beta }));
  const total = PARTS * all.length;
  const trained = await frontierOnGpu(model, all, {
    ...{ device, evaluation, source, signal },
    onProgress: ({ done, total: steps, label }) =>
      onProgress?.({ done: Math.round(total * TRAINING * (done / steps)), total, label }),
  });
  const points: DesignFrontierPoint[] = [];
  for (const [index, settings] of all.entries()) {
    const { beta, horizon, objective } = settings;
    // All that were trained together were so before the first is evaluated.
    const before =
      trained?.[index]?.found === undefined ? index : index + TRAINING * (all.length - 1 - index);
    const { policy, report } = await frontierPolicy(model, settings, {
      evaluation: { ...evaluation, beta },
      ...{ source, threads, signal, ...trained?.[index] },
      onProgress: ({ done, total: steps, label, designs }) => {
        const share = done / steps;
        const own = label === "training" ? TRAINING * share : TRAINING + (1 - TRAINING) * share;
        return onProgress?.({
          done: Math.round(PARTS * (before + own)),
          ...{ total, label, beta, designs },
        });
      },
    });
    const { target, sensitive, sensitiveGivenTarget, objectives } = report;
    const point: DesignFrontierPoint = {
      ...{ beta, horizon, target, sensitive, sensitiveGivenTarget, policy },
      objective: objectives[objective],
      designs: policy.kind === "static" ? policy.designs : [],
    };
    points.push(point);
    await onPoint?.(point);
  }
  return points;
};
