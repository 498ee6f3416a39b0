/** The search for a policy of one kind at one beta: where `trainPolicy` and its leakage budget meet the trainers. */
import type { WorkspaceOptions } from "../compute/index.js";
import type { Progress, RunOptions } from "../core/options.js";
import { type TrainDadOptions, trainDad } from "../design/dad.js";
import { greedyPolicy } from "../design/greedy.js";
import type { Model } from "../design/model.js";
import type { PolicyFile } from "../design/policy-file.js";
import { type TrainStaticOptions, trainStatic } from "../design/train-static.js";
import type { TrainingProgress } from "../design/training.js";
import type { FullSettings } from "./policy-settings.js";

/** A step of the search: how far it is, and what it can go on from. */
export interface SearchStep extends Progress {
  readonly value: number;
  state(): unknown;
}

export interface SearchRun extends Pick<WorkspaceOptions, "threads"> {
  readonly signal?: RunOptions["signal"];
  readonly against: Readonly<Record<string, Model>>;
  readonly onStep: (step: SearchStep) => Promise<void>;
  /** Where an interrupted search was. */
  readonly state?: unknown;
  /** A policy of the same kind to begin at. */
  readonly from?: PolicyFile | undefined;
}

/** The policy for one beta, without what it reaches. */
export const searchPolicy = async (
  model: Model,
  settings: FullSettings,
  { threads, signal, against, onStep, state, from }: SearchRun,
): Promise<PolicyFile> => {
  const { kind, objective, beta, horizon, seed, distribution } = settings;
  const record = { horizon, seed };
  const training = {
    ...settings,
    threads,
    against: Object.values(against),
    signal,
    onProgress: ({ done, total, value, checkpoint }: TrainingProgress<unknown>) =>
      onStep({ done, total, value, state: checkpoint }),
  };
  switch (kind) {
    case "random":
      return { kind, ...record, distribution };
    case "greedy": {
      const { horizon: _, ...search } = greedyPolicy(model, { horizon, objective, beta }).settings;
      return { kind, ...record, search };
    }
    case "dad": {
      const { network, warnings } = await trainDad(model, {
        ...training,
        from: from?.kind === kind ? from.network : undefined,
        resume: state as TrainDadOptions["resume"],
      });
      return { kind, ...record, network, ...noted(warnings) };
    }
    case "static": {
      const { designs, steps, warnings } = await trainStatic(model, {
        ...training,
        from: from?.kind === kind ? Float64Array.from(from.designs.flat()) : undefined,
        resume: state as TrainStaticOptions["resume"],
      });
      return {
        kind,
        ...record,
        designs: rowsOf(designs, model),
        ...noted(warnings),
        settings: { stepsTaken: steps },
      };
    }
  }
};

/** A file without warnings says nothing of them. */
const noted = (warnings: readonly string[]): { readonly warnings?: readonly string[] | undefined } =>
  warnings.length === 0 ? {} : { warnings };

const rowsOf = (designs: Float64Array, { design }: Model): number[][] =>
  Array.from({ length: designs.length / design.length }, (_, t) => [
    ...designs.subarray(t * design.length, (t + 1) * design.length),
  ]);
