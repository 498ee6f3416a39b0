/** Finds a policy of any kind for a model: what `design optimize`, a sweep and the reproduction do. */
import type { Gpu, WorkspaceOptions } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { type Progress, pacer, type RunOptions } from "../core/options.js";
import { canEnumerateCheaply } from "../design/enumerated-objective.js";
import { gpuModelTexts } from "../design/gpu/describe.js";
import type { Model } from "../design/model.js";
import { identityOf, type ModelOptions } from "../design/model-catalogue.js";
import { PAPER_SIZES } from "../design/objective.js";
import type { PolicyFile } from "../design/policy-file.js";
import { TrainingError } from "../design/training.js";
import { type ComputeDevice, DEFAULT_DEVICE, onDevice, storedDevice } from "./device.js";
import {
  type EvaluatePolicySettings,
  evaluatePolicy,
  requireGpuEvaluation,
  withBounds,
} from "./evaluate-policy.js";
import { checkedState, deviceOf, type PolicyCheckpoint, policyCheckpoint } from "./policy-checkpoint.js";
import type { PolicyKind } from "./policy-defaults.js";
import { defined, type FullSettings, policySettings, type TrainPolicySettings } from "./policy-settings.js";
import { type SearchRun, searchPolicy } from "./search-policy.js";
import { trainWithinBudget } from "./train-within-budget.js";

export interface TrainPolicyProgress extends Progress {
  /** The bound at the last step's samples; undefined while the policy is evaluated. */
  readonly value?: number | undefined;
  /** Everything that `resume` needs, as plain JSON data, made only when it is asked for; undefined while the policy is evaluated. */
  readonly checkpoint?: (() => PolicyCheckpoint) | undefined;
  /**
   * While static designs are looked for, those of the start that leads so far, [horizon][variables], made only when it is
   * asked for: a page can show how they travel.
   */
  readonly designs?: (() => number[][]) | undefined;
}

export interface TrainPolicyOptions extends TrainPolicySettings, Pick<WorkspaceOptions, "threads"> {
  /** Further models that the data must not leak under, by any names: the leakage that counts is the worst of all. */
  readonly against?: Readonly<Record<string, Model>> | undefined;
  /** Where the model comes from, for the policy's file: the options it was made with, and the file that defines it. */
  readonly source?:
    | { readonly options?: ModelOptions | undefined; readonly file?: string | undefined }
    | undefined;
  /** How the policy that was found is evaluated, for the bounds in its file; not at all with `false`. */
  readonly evaluation?: Omit<EvaluatePolicySettings, "beta"> | false | undefined;
  /**
   * Where it is trained and evaluated. Default `cpu`, the reference. `gpu` takes static and dad policies; the answer's
   * settings say what was used.
   */
  readonly device?: ComputeDevice | undefined;
  readonly signal?: RunOptions["signal"];
  readonly onProgress?: ((progress: TrainPolicyProgress) => unknown) | undefined;
  /** A checkpoint of a run with the same settings: it ends with the same policy as one that was never interrupted. */
  readonly resume?: PolicyCheckpoint | undefined;
}

export const trainPolicyTexts = {
  gpuKind: (kind: PolicyKind) =>
    `a ${kind} policy was to be found on a GPU, which trains static and dad ones: choose one of these, or the device "cpu"`,
  gpuCheckpoint: "the checkpoint was made there",
  gpuEnumerated:
    'so few outcomes are gone through exactly there, and a GPU would sample them: choose the device "gpu" for that',
  against: (kind: PolicyKind) =>
    `a ${kind} policy is chosen under one model: leave out the models it is to be guarded against, or choose a static or dad policy`,
};

/** Refuses what cannot be trained on a GPU yet; where the choice is free, also what the processor does exactly. */
export const requireGpuTraining = (
  model: Model,
  { kind, horizon, sizes = PAPER_SIZES }: FullSettings,
  against: Readonly<Record<string, Model>>,
  asked: ComputeDevice,
): void => {
  if (kind !== "static" && kind !== "dad") throw new InputError("gpu-kind", trainPolicyTexts.gpuKind(kind));
  if (Object.keys(against).length > 0) throw new InputError("gpu-against", gpuModelTexts.against);
  if (kind === "static" && asked === "auto" && canEnumerateCheaply(model, horizon, sizes)) {
    throw new InputError("gpu-enumerated", trainPolicyTexts.gpuEnumerated);
  }
};

/**
 * A policy for a model: the one with the most R_c = EIG_theta - beta EIG_{phi|theta} (or R_u, with EIG_phi) over
 * `horizon` observations (paper, section 3.3), or the most EIG_theta within a leakage budget.
 *
 * The policy is plain data. `encodePolicy` and `decodePolicy` take it to a file and back, with the model it was made for,
 * the settings and the bounds that it reached; `evaluatePolicy` and `runPolicy` use it. The same settings and seed give
 * the same policy on any number of threads, in Node and in a browser. A number that is not finite ends training with a
 * `TrainingError`, whose checkpoint is the last good state.
 *
 * @example
 * ```ts
 * import { trainPolicy } from "fairbed";
 * import { linearGaussian } from "fairbed/design";
 *
 * const policy = await trainPolicy(linearGaussian(), {
 *   horizon: 2,
 *   steps: 20,
 *   starts: 1,
 *   evaluation: { outer: 10, inner: 100, batches: 2 },
 * });
 * console.log(policy.kind, policy.horizon); // static 2
 * ```
 */
export const trainPolicy = async (model: Model, options: TrainPolicyOptions = {}): Promise<PolicyFile> => {
  const { against = {}, evaluation = {}, threads, signal, onProgress, resume } = options;
  const { device: asked = DEFAULT_DEVICE } = options;
  const settings = policySettings(options);
  const { kind, leakageBudget, objective } = settings;
  if (Object.keys(against).length > 0 && kind === "greedy") {
    throw new InputError("against", trainPolicyTexts.against(kind));
  }
  const made = { ...settings, ...(Object.keys(against).length > 0 ? { against: Object.keys(against) } : {}) };
  const identity = {
    ...identityOf(model, options.source?.options),
    ...defined({ file: options.source?.file }),
  };
  let latest: TrainPolicyProgress = { done: 0, total: 1 };
  const pace = pacer({ signal, onProgress: () => onProgress?.(latest) });
  const resumedOn = resume === undefined ? undefined : deviceOf(resume);
  const find = async (gpu: Gpu | undefined): Promise<PolicyFile> => {
    // A GPU that was there and is no longer: from the beginning, which `device` tells.
    const left = asked === "auto" && gpu === undefined && resumedOn === "gpu";
    const checkpointed = {
      ...{ ...made, model: identity.name, "model's hash": identity.fingerprint },
      ...(gpu === undefined ? {} : { device: "gpu" }),
    };
    const search: SearchRun = {
      ...{ threads, gpu, signal, against },
      state: resume === undefined || left ? undefined : checkedState(resume, checkpointed),
      async onStep({ state, designs, ...progress }) {
        latest = {
          ...progress,
          label: "training",
          checkpoint: () => policyCheckpoint(checkpointed, state()),
          designs,
        };
        await pace.step(latest);
      },
    };
    return (
      leakageBudget === undefined
        ? searchPolicy(model, settings, search)
        : trainWithinBudget(model, settings, leakageBudget, search)
    ).catch((error: unknown) => {
      if (!(error instanceof TrainingError)) throw error;
      const { message, cause, checkpoint } = error;
      throw new TrainingError(message, policyCheckpoint(checkpointed, checkpoint), { cause });
    });
  };
  const { result: found, device } = await onDevice(
    asked,
    () => {
      if (asked === "auto" && resumedOn === "cpu") {
        throw new InputError("gpu-checkpoint", trainPolicyTexts.gpuCheckpoint);
      }
      requireGpuTraining(model, settings, against, asked);
      if (evaluation !== false) requireGpuEvaluation(evaluation);
    },
    find,
  );
  const policy: PolicyFile = {
    ...found,
    model: identity,
    settings: { ...made, ...found.settings, ...storedDevice(device) },
  };
  if (evaluation === false) return policy;
  const report = await evaluatePolicy(model, policy, {
    ...evaluation,
    seed: evaluation.seed ?? settings.seed,
    // `auto` goes on on the processor here too, where the GPU fails only now.
    device: device.used === "gpu" ? asked : "cpu",
    threads,
    signal,
    onProgress,
  });
  return withBounds(policy, report, objective);
};
