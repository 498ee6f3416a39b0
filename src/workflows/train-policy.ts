/** Finds a policy of any kind for a model: what `design optimize`, a sweep and the reproduction do. */
import type { Gpu, WorkspaceOptions } from "../compute/index.js";
import { isGpuFailure } from "../compute/webgpu/failure.js";
import { InputError } from "../core/errors.js";
import { type Progress, pacer, type RunOptions } from "../core/options.js";
import { canEnumerateCheaply } from "../design/enumerated-objective.js";
import { gpuModelTexts } from "../design/gpu/describe.js";
import type { Model } from "../design/model.js";
import { identityOf, type ModelOptions } from "../design/model-catalogue.js";
import { PAPER_SIZES } from "../design/objective.js";
import type { PolicyFile } from "../design/policy-file.js";
import { TrainingError } from "../design/training.js";
import { type ComputeDevice, DEFAULT_DEVICE, evaluatedOn, onDevice, storedDevice } from "./device.js";
import {
  type EvaluatePolicyOptions,
  type EvaluatePolicySettings,
  evaluatePolicy,
  type PolicyReport,
  requireGpuEvaluation,
  withBounds,
} from "./evaluate-policy.js";
import { policyFromPlain, policyToPlain } from "./plain-policy.js";
import {
  checkedState,
  deviceOf,
  MODEL_HASH,
  type PolicyCheckpoint,
  policyCheckpoint,
} from "./policy-checkpoint.js";
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

/** A policy without its bounds, and what it takes to go on from it. */
export interface FoundPolicy {
  readonly policy: PolicyFile;
  /** Whether the search went on from the checkpoint that it was given; `auto` may have had to begin again. */
  readonly resumed: boolean;
  /** To go on from where evaluating it fails. */
  checkpoint(): PolicyCheckpoint;
}

/** Plain JSON data: the state of a search that is over. */
interface FoundState {
  readonly found: unknown;
}

const isFound = (state: unknown): state is FoundState =>
  typeof state === "object" && state !== null && "found" in state;

/**
 * The first half of {@link trainPolicy}: looks for the policy, and leaves what it reaches to {@link evaluateFound}. What no
 * GPU does of that `evaluation` is refused before.
 */
export const findPolicy = async (
  model: Model,
  options: Omit<TrainPolicyOptions, "evaluation"> = {},
  evaluation: EvaluatePolicySettings = {},
): Promise<FoundPolicy> => {
  const { against = {}, threads, signal, onProgress, resume } = options;
  const { device: asked = DEFAULT_DEVICE } = options;
  const settings = policySettings(options);
  const { kind, leakageBudget } = settings;
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
  const find = async (gpu: Gpu | undefined): Promise<FoundPolicy> => {
    // A GPU that was there and is no longer: from the beginning, which `device` tells.
    const left = asked === "auto" && gpu === undefined && resumedOn === "gpu";
    const checkpointed = {
      ...{ ...made, model: identity.name, [MODEL_HASH]: identity.fingerprint },
      ...(gpu === undefined ? {} : { device: "gpu" }),
    };
    const before = resume === undefined || left ? undefined : checkedState(resume, checkpointed);
    const search: SearchRun = {
      ...{ threads, gpu, signal, against },
      state: before,
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
    const look = (): Promise<PolicyFile> =>
      leakageBudget === undefined
        ? searchPolicy(model, settings, search)
        : trainWithinBudget(model, settings, leakageBudget, search);
    const policy = isFound(before)
      ? policyFromPlain(before.found)
      : await look().catch((error: unknown) => {
          if (!(error instanceof TrainingError)) throw error;
          const { message, cause, checkpoint } = error;
          throw new TrainingError(message, policyCheckpoint(checkpointed, checkpoint), { cause });
        });
    return {
      policy,
      resumed: before !== undefined,
      checkpoint: () => policyCheckpoint(checkpointed, { found: policyToPlain(policy) } satisfies FoundState),
    };
  };
  const { result: found, device } = await onDevice(
    asked,
    () => {
      if (asked === "auto" && resumedOn === "cpu") {
        throw new InputError("gpu-checkpoint", trainPolicyTexts.gpuCheckpoint);
      }
      requireGpuTraining(model, settings, against, asked);
      requireGpuEvaluation(evaluation);
    },
    find,
  );
  const { policy } = found;
  return {
    ...found,
    policy: {
      ...policy,
      model: identity,
      settings: { ...made, ...policy.settings, ...storedDevice(device) },
    },
  };
};

/** The second half: on the device that it was trained on. A GPU that fails leaves what was found, in a `TrainingError`. */
export const evaluateFound = (
  model: Model,
  { policy, checkpoint }: FoundPolicy,
  { device = DEFAULT_DEVICE, ...options }: EvaluatePolicyOptions,
): Promise<PolicyReport> =>
  evaluatePolicy(model, policy, { ...options, device: evaluatedOn(policy, device) }).catch(
    (error: unknown) => {
      throw isGpuFailure(error) ? new TrainingError(error.message, checkpoint(), { cause: error }) : error;
    },
  );

/**
 * A policy for a model: the one with the most R_c = EIG_theta - beta EIG_{phi|theta} (or R_u, with EIG_phi) over
 * `horizon` observations (paper, section 3.3), or the most EIG_theta within a leakage budget.
 *
 * The policy is plain data. `encodePolicy` and `decodePolicy` take it to a file and back, with the model it was made for,
 * the settings and the bounds that it reached; `evaluatePolicy` and `runPolicy` use it. The same settings and seed give
 * the same policy on any number of threads, in Node and in a browser. A number that is not finite ends training with a
 * `TrainingError`, whose checkpoint is the last good state, and so does a GPU that fails before the policy is evaluated.
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
  const { evaluation = {}, device, threads, signal, onProgress, ...training } = options;
  const run = { device, threads, signal, onProgress };
  if (evaluation === false) return (await findPolicy(model, { ...training, ...run })).policy;
  const { seed, objective } = policySettings(options);
  const found = await findPolicy(model, { ...training, ...run }, evaluation);
  const report = await evaluateFound(model, found, { ...evaluation, ...run, seed: evaluation.seed ?? seed });
  return withBounds(found.policy, report, objective);
};
