/** Where things are in the buffers of a nested bound's kernels, and which random streams they draw from. */
import type { StreamName } from "../../../core/random.js";
import type { NestedDescription } from "./description.js";
import { type EvidencePlan, type OwnPlan, planEvidence, planOwn } from "./plan.js";

/** Names that lead from the stream of a step to the one that something is drawn from. */
export type StreamPath = readonly StreamName[];

/** Room of one evidence for one row, in words from the row's start. */
export interface EvidenceLayout {
  readonly plan: EvidencePlan;
  readonly inner: number;
  /** Of each parameter that is integrated over, [inner]: values, or noise where priors depend on each other. */
  readonly samples: Readonly<Record<string, number>>;
  /** Of each table, [horizon, inner]. */
  readonly tables: readonly number[];
  /** The stream of each of these parameters. */
  readonly streams: Readonly<Record<string, number>>;
}

export interface NestedLayout {
  readonly description: NestedDescription;
  readonly designs: Designs;
  readonly own: OwnPlan;
  readonly evidences: readonly EvidenceLayout[];
  /** Words of one row's inner samples and tables. */
  readonly samples: number;
  /** Every stream that is drawn from, by its path from the stream of a step. */
  readonly streams: readonly StreamPath[];
  /** The stream of the first parameter. Those of others follow, or all take turns in it where priors depend on each other. */
  readonly parameterStream: number;
  /** The stream of the first outcome's noise; those of others follow, and so do those of later observations. */
  readonly noiseStream: number;
  /** Whether every observation has streams of its own, in which an experiment has one number. */
  readonly noisePerObservation: boolean;
}

/**
 * How the stream of a step is split: as `objective.ts` of design does for training, as `dad-rollout.ts` does, or as
 * `estimate.ts` and `simulate` do for what a policy is worth.
 */
export type Splitting = "objective" | "rollout" | "estimate";

/**
 * One set of designs that all experiments of a row share, from which the kernels simulate them; or experiments that were
 * made elsewhere, each with designs of its own.
 */
export type Designs = "shared" | "perOuter";

export interface LayoutOptions {
  readonly gradients: boolean;
  readonly splitting?: Splitting | undefined;
  readonly designs?: Designs | undefined;
  /** Streams that something else draws from, after those of the bound. */
  readonly more?: readonly StreamPath[] | undefined;
}

export const layoutOf = (
  description: NestedDescription,
  { gradients, splitting = "objective", designs = "shared", more = [] }: LayoutOptions,
): NestedLayout => {
  const { parameters, dependent, outcomes, horizon } = description;
  const streams: StreamPath[] = [];
  const stream = (...path: StreamPath): number => streams.push(path) - 1;
  const noisePerObservation = splitting !== "objective";
  const above = splitting === "estimate" ? ["experiments"] : [];
  const parameterStream = streams.length;
  for (const { name } of dependent ? [] : parameters) stream(...above, "parameters", name);
  if (dependent) stream(...above, "parameters");
  const noiseStream = streams.length;
  for (let t = 0; t < (noisePerObservation ? horizon : 1); t++) {
    for (const { name } of outcomes) stream(...above, "noise", ...(noisePerObservation ? [t] : []), name);
  }
  let samples = 0;
  const take = (words: number): number => {
    const at = samples;
    samples += words;
    return at;
  };
  const evidences = description.evidences.map((evidence): EvidenceLayout => {
    const plan = planEvidence(description, evidence, { gradients, designs });
    const { inner, name } = evidence;
    return {
      plan,
      inner,
      samples: Object.fromEntries(plan.free.map((each) => [each, take(inner)])),
      tables: plan.tables.map(() => take(horizon * inner)),
      streams: Object.fromEntries(plan.free.map((each) => [each, stream("inner", name, each)])),
    };
  });
  for (const path of more) stream(...path);
  return {
    description,
    designs,
    own: planOwn(description),
    evidences,
    samples,
    streams,
    parameterStream,
    noiseStream,
    noisePerObservation,
  };
};
