/** The search for a policy of one kind at one beta: where `trainPolicy` and its leakage budget meet the trainers. */
import type { Gpu, WorkspaceOptions } from "../compute/index.js";
import type { Progress, RunOptions } from "../core/options.js";
import { type TrainDadOptions, type TrainedDad, trainDad } from "../design/dad.js";
import type { DadRunOptions, TrainDadOnGpuOptions } from "../design/gpu/train-dad.js";
import type { StaticRun, TrainStaticOnGpuOptions } from "../design/gpu/train-static.js";
import { greedyPolicy } from "../design/greedy.js";
import type { Model } from "../design/model.js";
import { checkDesigns, type PolicyFile } from "../design/policy-file.js";
import { type TrainedStatic, type TrainStaticOptions, trainStatic } from "../design/train-static.js";
import type { TrainingProgress } from "../design/training.js";
import { type FullSettings, hasDesigns } from "./policy-settings.js";
import { staticThenDad } from "./static-then-dad.js";

/** A step of the search: how far it is, and what it can go on from. */
export interface SearchStep extends Progress {
  readonly value: number;
  state(): unknown;
  /** Where static designs are, while such are looked for. */
  readonly designs?: (() => number[][]) | undefined;
}

export interface SearchRun extends Pick<WorkspaceOptions, "threads"> {
  /** Where it is trained; the processor where there is none. */
  readonly gpu?: Gpu | undefined;
  readonly signal?: RunOptions["signal"];
  readonly against: Readonly<Record<string, Model>>;
  readonly onStep: (step: SearchStep) => Promise<void>;
  /** Where an interrupted search was. */
  readonly state?: unknown;
  /** A policy of the same kind to begin at. */
  readonly from?: PolicyFile | undefined;
}

/** The policy for one beta, without what it reaches. */
export const searchPolicy = (model: Model, settings: FullSettings, run: SearchRun): Promise<PolicyFile> =>
  settings.start === "static" && run.from === undefined
    ? staticThenDad(searchOnce, model, settings, run)
    : searchOnce(model, settings, run);

const searchOnce = async (
  model: Model,
  settings: FullSettings,
  { threads, gpu, signal, against, onStep, state, from }: SearchRun,
): Promise<PolicyFile> => {
  const { kind, objective, beta, horizon, seed, distribution, start, ...others } = settings;
  const record = { horizon, seed };
  const given = start !== undefined && hasDesigns(start) ? start.designs : undefined;
  if (given !== undefined) checkDesigns(given, model, "the policy to start from");
  const training = {
    ...{ objective, beta, horizon, seed },
    ...others,
    threads,
    against: Object.values(against),
    signal,
    onProgress: ({ done, total, value, checkpoint, designs }: TrainingProgress<unknown>) =>
      onStep({ done, total, value, state: checkpoint, designs }),
  };
  switch (kind) {
    case "random":
      return { kind, ...record, distribution };
    case "greedy": {
      const { horizon: _, ...search } = greedyPolicy(model, { horizon, objective, beta }).settings;
      return { kind, ...record, search };
    }
    case "dad": {
      const begun = {
        from: from?.kind === kind ? from.network : undefined,
        startDesigns: given?.flat(),
      };
      const trained =
        gpu === undefined
          ? await trainDad(model, { ...training, ...begun, resume: state as TrainDadOptions["resume"] })
          : await trainDadOnce(gpu, model, training, { beta, seed, ...begun }, state);
      return dadPolicyFile(settings, trained);
    }
    case "static": {
      const begun = {
        ...training,
        start: typeof start === "object" && "mean" in start ? start : undefined,
        from: designsToBeginAt(from?.kind === kind ? from.designs : given),
      };
      const trained =
        gpu === undefined
          ? await trainStatic(model, { ...begun, resume: state as TrainStaticOptions["resume"] })
          : await trainOnGpu(gpu, model, begun, { beta, seed }, state);
      return staticPolicyFile(model, settings, trained);
    }
  }
};

/** What was found as a policy's file. */
export const dadPolicyFile = (
  { horizon, seed }: FullSettings,
  { network, warnings }: TrainedDad,
): PolicyFile => ({ kind: "dad", horizon, seed, network, ...noted(warnings) });

/** What was found as a policy's file. */
export const staticPolicyFile = (
  model: Model,
  { horizon, seed }: FullSettings,
  { designs, steps, warnings }: TrainedStatic,
): PolicyFile => ({
  kind: "static",
  horizon,
  seed,
  designs: rowsOf(designs, model),
  ...noted(warnings),
  settings: { stepsTaken: steps },
});

const trainOnGpu = async (
  gpu: Gpu,
  model: Model,
  options: Omit<TrainStaticOnGpuOptions, "runs" | "resume">,
  run: StaticRun,
  state: unknown,
): Promise<TrainedStatic> => {
  const { trainStaticOnGpu } = await import("../design/gpu/train-static.js");
  const resume = state as TrainStaticOnGpuOptions["resume"];
  const [trained] = await trainStaticOnGpu(gpu, model, { ...options, runs: [run], resume });
  return trained;
};

const trainDadOnce = async (
  gpu: Gpu,
  model: Model,
  options: Omit<TrainDadOnGpuOptions, "runs" | "resume">,
  run: DadRunOptions,
  state: unknown,
): Promise<TrainedDad> => {
  const { trainDadOnGpu } = await import("../design/gpu/train-dad.js");
  const resume = state as TrainDadOnGpuOptions["resume"];
  const [trained] = await trainDadOnGpu(gpu, model, { ...options, runs: [run], resume });
  return trained;
};

const designsToBeginAt = (designs: readonly (readonly number[])[] | undefined): Float64Array | undefined =>
  designs && Float64Array.from(designs.flat());

/** A file without warnings says nothing of them. */
const noted = (warnings: readonly string[]): { readonly warnings?: readonly string[] | undefined } =>
  warnings.length === 0 ? {} : { warnings };

const rowsOf = (designs: Float64Array, { design }: Model): number[][] =>
  Array.from({ length: designs.length / design.length }, (_, t) => [
    ...designs.subarray(t * design.length, (t + 1) * design.length),
  ]);
