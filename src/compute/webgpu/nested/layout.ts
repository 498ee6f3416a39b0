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
  /** Of each parameter that is integrated over, [inner]. */
  readonly samples: Readonly<Record<string, number>>;
  /** Of each table, [horizon, inner]. */
  readonly tables: readonly number[];
  /** The stream of each of these parameters. */
  readonly streams: Readonly<Record<string, number>>;
}

export interface NestedLayout {
  readonly description: NestedDescription;
  readonly own: OwnPlan;
  readonly evidences: readonly EvidenceLayout[];
  /** Words of one row's inner samples and tables. */
  readonly samples: number;
  /** Every stream that is drawn from, by its path from the stream of a step. */
  readonly streams: readonly StreamPath[];
  /** One after the other. */
  readonly parameterStreams: readonly number[];
  /** The stream of the first outcome's noise; those of others follow, and so do those of later observations. */
  readonly noiseStream: number;
  /** Whether every observation has streams of its own, in which an experiment has one number. */
  readonly noisePerObservation: boolean;
}

/**
 * How the stream of a step is split: as `objective.ts` of design does for training, or as `estimate.ts` and `simulate` do
 * for what a policy is worth.
 */
export type Splitting = "objective" | "estimate";

export const layoutOf = (
  description: NestedDescription,
  gradients: boolean,
  splitting: Splitting = "objective",
): NestedLayout => {
  const { parameters, outcomes, horizon } = description;
  const streams: StreamPath[] = [];
  const stream = (...path: StreamPath): number => streams.push(path) - 1;
  const noisePerObservation = splitting === "estimate";
  const above = noisePerObservation ? ["experiments"] : [];
  const parameterStreams = parameters.map(({ name }) => stream(...above, "parameters", name));
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
    const plan = planEvidence(description, evidence, { gradients, designs: "shared" });
    const { inner, name } = evidence;
    return {
      plan,
      inner,
      samples: Object.fromEntries(plan.free.map((each) => [each, take(inner)])),
      tables: plan.tables.map(() => take(horizon * inner)),
      streams: Object.fromEntries(plan.free.map((each) => [each, stream("inner", name, each)])),
    };
  });
  return {
    description,
    own: planOwn(description),
    evidences,
    samples,
    streams,
    parameterStreams,
    noiseStream,
    noisePerObservation,
  };
};
