/** Finds a policy by its settings: what `design optimize` and every cell of `design sweep` do. */
import { InputError } from "../../../core/errors.js";
import type { DadCheckpoint } from "../../../design/dad.js";
import type { Model } from "../../../design/model.js";
import type { ModelOptions } from "../../../design/model-catalogue.js";
import type { PolicyFile, ReachedBounds } from "../../../design/policy-file.js";
import { INFORMATION_NAMES, type ObjectiveKind } from "../../../design/quantity.js";
import type { StaticCheckpoint } from "../../../design/train-static.js";
import type { TrainingProgress } from "../../../design/training.js";
import type { PolicyReport } from "./evaluate.js";
import type { LoadedModel } from "./load-model.js";
import { modelsAgainst } from "./named-model.js";

export const POLICIES = ["static", "dad", "greedy", "random"] as const;
export type PolicyKind = (typeof POLICIES)[number];

export const OBJECTIVES = ["conditional", "unconditional"] as const satisfies readonly ObjectiveKind[];

/** As given; what is left out has a fallback for each kind of policy. */
export interface OptimiseWords {
  readonly policy: PolicyKind;
  readonly objective: ObjectiveKind;
  readonly beta: number;
  readonly horizon: number;
  readonly seed: number;
  readonly steps?: number | undefined;
  readonly starts?: number | undefined;
  readonly rate?: number | undefined;
  readonly designMean?: number | undefined;
  readonly designSd?: number | undefined;
  readonly against?: readonly ModelOptions[] | undefined;
}

export const optimiseTexts = {
  against: (policy: string) =>
    `a ${policy} policy is chosen under one model: leave out --against, or choose --policy static or dad`,
};

/** Everything that decides the result, and nothing else: plain data, as stored in the policy's file. */
export type OptimiseSettings = Readonly<
  Pick<OptimiseWords, "policy" | "objective" | "beta" | "horizon" | "seed"> & {
    steps?: number | undefined;
    starts?: number | undefined;
    rate?: number | undefined;
    /** Options of further models that the data must not leak under. */
    against?: readonly ModelOptions[] | undefined;
    distribution?: { readonly mean: number; readonly sd: number } | undefined;
  }
>;

const STATIC = { steps: 6000, starts: 24, rate: 0.05 };
/** The paper's (appendix F.1). */
const DAD = { steps: 10_000, rate: 5e-5 };

export const settingsOf = (words: OptimiseWords): OptimiseSettings => {
  const { policy, objective, beta, horizon, seed, steps, starts, rate } = words;
  const { against = [] } = words;
  if (against.length > 0 && policy === "greedy") {
    throw new InputError("against", optimiseTexts.against(policy));
  }
  const common = { policy, objective, beta, horizon, seed, ...(against.length > 0 ? { against } : {}) };
  if (policy === "static") {
    return {
      ...common,
      steps: steps ?? STATIC.steps,
      starts: starts ?? STATIC.starts,
      rate: rate ?? STATIC.rate,
    };
  }
  if (policy === "dad") return { ...common, steps: steps ?? DAD.steps, rate: rate ?? DAD.rate };
  if (policy === "random") {
    const { designMean: mean, designSd: sd } = words;
    const given = mean !== undefined || sd !== undefined;
    return { ...common, ...(given ? { distribution: { mean: mean ?? 0, sd: sd ?? 1 } } : {}) };
  }
  return common;
};

export type TrainingStep = TrainingProgress<unknown>;

export interface OptimiseRun {
  readonly threads?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TrainingStep) => Promise<void>) | undefined;
  /** A checkpoint of a run with the same settings. */
  readonly resume?: unknown;
  /** A policy of the same kind to go on from. */
  readonly warm?: PolicyFile | undefined;
}

/** The policy as it goes into a file, without what it reaches. */
export const optimise = async (
  { model, identity, source }: LoadedModel,
  settings: OptimiseSettings,
  { threads, signal, onProgress, resume, warm }: OptimiseRun = {},
): Promise<PolicyFile> => {
  const { policy: kind, horizon, seed, distribution, against = [], ...how } = settings;
  const record = { horizon, model: identity, seed, settings };
  const training = {
    ...how,
    horizon,
    seed,
    signal,
    onProgress,
    against: Object.values(await modelsAgainst(source, against)),
    ...(threads === undefined ? {} : { threads }),
  };
  if (kind === "random") {
    return { kind, ...record, distribution };
  }
  if (kind === "static") {
    const { trainStatic } = await import("../../../design/train-static.js");
    const { designs } = await trainStatic(model, {
      ...training,
      ...(warm?.kind === "static" ? { from: Float64Array.from(warm.designs.flat()) } : {}),
      ...(resume === undefined ? {} : { resume: resume as StaticCheckpoint }),
    });
    return { kind, ...record, designs: rowsOf(designs, model) };
  }
  if (kind === "dad") {
    const { trainDad } = await import("../../../design/dad.js");
    const { network } = await trainDad(model, {
      ...training,
      ...(warm?.kind === "dad" ? { from: warm.network } : {}),
      ...(resume === undefined ? {} : { resume: resume as DadCheckpoint }),
    });
    return { kind, ...record, network };
  }
  const { greedyPolicy } = await import("../../../design/greedy.js");
  const { objective, beta } = settings;
  const { horizon: _, ...search } = greedyPolicy(model, { horizon, objective, beta }).settings;
  return { kind, ...record, search };
};

const rowsOf = (designs: Float64Array, { design }: Model): number[][] =>
  Array.from({ length: designs.length / design.length }, (_, t) => [
    ...designs.subarray(t * design.length, (t + 1) * design.length),
  ]);

/** The file with the bounds that its policy reached. */
export const withBounds = (file: PolicyFile, report: PolicyReport, objective: ObjectiveKind): PolicyFile => {
  const plain = ({ lower, upper, standardError }: ReachedBounds) => ({ lower, upper, standardError });
  return {
    ...file,
    bounds: {
      ...Object.fromEntries(INFORMATION_NAMES.map((name) => [name, plain(report[name])])),
      objective: plain(report.objectives[objective]),
    },
  };
};
