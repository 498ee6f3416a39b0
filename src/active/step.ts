/**
 * One step of an acquisition (paper, section 5): fit, score, choose. A function of what is labelled, what may be asked
 * for and a random stream; whoever has the labels, a table or a person, does not matter to it.
 */
import { InputError } from "../core/errors.js";
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, FeatureMatrix, Learner, MemberProbabilities } from "../learners/classifier.js";
import { type BatchOptions, type Selected, selectBatch } from "./batch.js";
import type { Correction } from "./correction.js";
import type { FairnessOptions, Prediction } from "./fairbed.js";
import { selectJointBatch } from "./joint-batch.js";
import type { Members } from "./members.js";
import { fit, jointLabel, meansBy, membersBy, type PoolLabel, type SensitiveModel } from "./pool-models.js";
import type { Quota } from "./quotas.js";
import { type AcquisitionInput, type StrategyName, strategies } from "./strategies.js";
import { tieKeys } from "./ties.js";

export type BatchKind = "top" | "softmax" | "rank" | "joint";

/** What stays the same from step to step. Labels may be filled in between two. */
export interface StepSettings {
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  readonly sensitive: readonly PoolLabel[];
  /** One for every sensitive label. */
  readonly sensitiveModels: readonly SensitiveModel[];
  readonly learner: Learner;
  readonly method: StrategyName;
  /** Of several sensitive labels; their sum unless given. */
  readonly combine?: FairnessOptions["combine"] | undefined;
  /** The best by their scores ("top") unless given. */
  readonly batchKind?: BatchKind | undefined;
  readonly temperature?: number | undefined;
  /** How much each row counts in every fit, [all rows]; 1 unless given. */
  readonly weights?: Float64Array | undefined;
  /** Corrections for the finite number of members. */
  readonly correction?: Correction | undefined;
  readonly sensitiveCorrection?: Correction | undefined;
  /** How many of the target rows are drawn at every step; 100 unless given. */
  readonly targetsPerStep?: number | undefined;
  /** What a label costs, [all rows], and what a unit of cost is worth in nats. */
  readonly costs?: Float64Array | undefined;
  readonly costWeight?: number | undefined;
  /** For quotas, [all rows]. */
  readonly groups?: Int32Array | undefined;
}

/** What a step starts from: rows of the features. */
export interface StepInput {
  /** Rows that something is known of, in the order in which it was told. */
  readonly labelled: Int32Array;
  /** Rows that may be asked for. */
  readonly pool: Int32Array;
  /** Rows that predictions are wanted for. */
  readonly targets: Int32Array;
  readonly beta: number;
  /** How many to choose. */
  readonly size: number;
  /** Of this batch, by the settings' groups. */
  readonly quotas?: readonly Quota[] | undefined;
  /** Another method for this step alone: where nothing can be learnt yet. */
  readonly method?: StrategyName | undefined;
  /** Whether the target's model is wanted even where the method does not look at it. */
  readonly classifier?: boolean | undefined;
  /** Of this step alone. */
  readonly stream: RandomStream;
}

export interface Step {
  /** In the order in which they were chosen; `row` is a row of the features. */
  readonly chosen: readonly Selected[];
  /** The model of the target that the scores were read from. */
  readonly classifier: Classifier | undefined;
  /** The least leakage of those that were not chosen. */
  readonly leastLeakage: number;
}

export const stepTexts = {
  whole: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  models: (given: number, sensitive: number) =>
    `there are ${given} sensitive models for ${sensitive} sensitive labels: give one for each`,
  joint:
    "the method fairbed-set looks at the set as a whole, and a joint batch at single labels: choose the batch kind top, softmax or rank",
  jointBatch: (method: string) =>
    `the method ${method} has one model of both labels, and a joint batch needs one of each: choose the batch kind top, softmax or rank`,
  oneSensitive: (method: string, given: number) =>
    `the method ${method} has one model of the target and one sensitive label together, and there are ${given} sensitive labels: give one, or combine them into one`,
  revealed: (method: string) =>
    `the method ${method} learns the sensitive label together with the target: leave the sensitive model at revealed`,
};

/** Fails where the settings do not fit each other. */
export const requireStepSettings = (settings: StepSettings): void => {
  const { method, sensitive, sensitiveModels, batchKind = "top", targetsPerStep = 100 } = settings;
  if (!Number.isInteger(targetsPerStep) || targetsPerStep < 1) {
    throw new InputError("targetsPerStep", stepTexts.whole("targetsPerStep", targetsPerStep));
  }
  if (sensitiveModels.length !== sensitive.length) {
    throw new InputError("models", stepTexts.models(sensitiveModels.length, sensitive.length));
  }
  const { uses } = strategies[method];
  if (batchKind === "joint" && uses.labelled) throw new InputError("batch-kind", stepTexts.joint);
  if (!uses.joint) return;
  if (batchKind === "joint") throw new InputError("batch-kind", stepTexts.jointBatch(method));
  if (sensitive.length !== 1) {
    throw new InputError("sensitive", stepTexts.oneSensitive(method, sensitive.length));
  }
  if (sensitiveModels[0].kind !== "revealed") throw new InputError("models", stepTexts.revealed(method));
};

/**
 * Chooses a batch. The same settings and input give the same batch, with or without pauses.
 *
 * @example
 * ```ts
 * import { seededStream } from "fairbed";
 * import { chooseStep } from "fairbed/active";
 * import { forest } from "fairbed/learners";
 *
 * const features = { values: Float32Array.from({ length: 60 }, (_, i) => i), rows: 60, columns: 1 };
 * const labels = Int32Array.from({ length: 60 }, (_, row) => (row < 30 ? 0 : 1));
 * const learner = forest({ trees: 20 });
 * const all = Int32Array.from(labels.keys());
 * const { chosen } = await chooseStep(
 *   { features, target: { labels, classes: 2 }, sensitive: [], sensitiveModels: [], learner, method: "epig" },
 *   { labelled: Int32Array.of(0, 59), pool: all.slice(1, 59), targets: all, beta: 0, size: 3, stream: seededStream(1) },
 * );
 * console.log(chosen.length, chosen[0].row > 0); // 3 true
 * ```
 */
export const chooseStep = async (
  settings: StepSettings,
  input: StepInput,
  pace?: Pacer | undefined,
): Promise<Step> => {
  const { features, target, learner, weights, batchKind = "top" } = settings;
  const { pool, stream, size, beta } = input;
  const method = input.method ?? settings.method;
  const strategy = strategies[method];
  const { uses } = strategy;
  const targets = draw(input.targets, settings.targetsPerStep ?? 100, stream.split("targets"));
  const classifier =
    method !== "random" || input.classifier === true
      ? fit(learner, { features, ...target, weights, rows: input.labelled }, stream.split(MODEL.target))
      : undefined;
  await pace?.pause();
  const predict = (members: (rows: Int32Array) => Members, correction?: Correction): Prediction => ({
    pool: members(pool),
    targets: members(targets),
    ...(correction === undefined ? {} : { correction, stream: stream.split("correction") }),
  });
  const sensitive = uses.sensitive ? await predictSensitive(settings, input, method, predict, pace) : [];
  const scored: AcquisitionInput & { readonly sensitive: readonly Prediction[] } = {
    target:
      classifier === undefined || method === "random"
        ? nothingKnown(pool.length)
        : predict((rows) => classifier.predictMembers(features, rows), settings.correction),
    sensitive,
    joint: uses.joint ? predictJoint(settings, input, predict) : undefined,
    beta,
    combine: settings.combine,
    stream: stream.split("random"),
  };
  await pace?.pause();
  const parts = strategy.score(scored);
  await pace?.pause();
  // By rows of the features, so that what else is in the pool does not matter.
  const keys = tieKeys(stream.split("ties"));
  const { costs, groups } = settings;
  const constraints = {
    size,
    ties: (at: number) => keys(pool[at]),
    groups: groups === undefined ? undefined : pool.map((row) => groups[row]),
    quotas: groups === undefined ? undefined : input.quotas,
    costs: costs === undefined ? undefined : Float64Array.from(pool, (row) => costs[row]),
    costWeight: settings.costWeight,
    stream: stream.split("batch"),
  };
  const chosen =
    batchKind === "joint" && size > 1 && uses.targets
      ? selectJointBatch(scored.target, sensitive, { ...constraints, beta, combine: settings.combine })
      : selectBatch(parts, {
          ...constraints,
          method: batchKind === "joint" ? "top" : batchKind,
          temperature: settings.temperature,
        } satisfies BatchOptions);
  const taken = new Set(chosen.map(({ row }) => row));
  const leaks = uses.sensitive || uses.joint;
  return {
    chosen: chosen.map((each) => ({ ...each, row: pool[each.row] })),
    classifier,
    leastLeakage: leaks
      ? parts.leakage.reduce((least, value, at) => (taken.has(at) ? least : Math.min(least, value)), Infinity)
      : 0,
  };
};

/** Names of the models' streams. */
const MODEL = { target: 0, sensitive: 1, joint: 2 } as const;

type Predict = (members: (rows: Int32Array) => Members, correction?: Correction) => Prediction;

const predictSensitive = async (
  { features, target, sensitive, sensitiveModels, sensitiveCorrection, weights }: StepSettings,
  { labelled, stream }: StepInput,
  method: StrategyName,
  predict: Predict,
  pace: Pacer | undefined,
): Promise<Prediction[]> => {
  const predictions: Prediction[] = [];
  for (const [i, model] of sensitiveModels.entries()) {
    const label = { features, ...sensitive[i], weights, rows: labelled };
    const drawn = stream.split(MODEL.sensitive).split(i);
    if (strategies[method].uses.labelled) {
      // The set as a whole is judged by mean predictions: members would be a hundred times as many numbers.
      const means = meansBy(model, label, drawn);
      const acquired = labelled.filter((row) => target.labels[row] >= 0);
      predictions.push({ ...predict(means), labelled: means(acquired) });
    } else predictions.push(predict(membersBy(model, label, drawn), sensitiveCorrection));
    await pace?.pause();
  }
  return predictions;
};

/** One model of both labels, from the rows that have both. */
const predictJoint = (
  { features, target, sensitive, learner, weights, correction }: StepSettings,
  { labelled, stream }: StepInput,
  predict: Predict,
): AcquisitionInput["joint"] => {
  const [other] = sensitive;
  const label = { features, ...jointLabel(target, other), weights, rows: labelled };
  const members = membersBy({ kind: "revealed", learner }, label, stream.split(MODEL.joint));
  return { ...predict(members, correction), sensitiveClasses: other.classes };
};

/** For strategies that ask no model. */
const nothingKnown = (rows: number): Prediction => {
  const members: MemberProbabilities = {
    kind: "dense",
    rows,
    members: 1,
    classes: 1,
    values: new Float32Array(rows).fill(1),
  };
  return { pool: members, targets: members };
};

/** So many of the rows, drawn without replacement; all of them where there are no more. */
const draw = (rows: Int32Array, count: number, stream: RandomStream): Int32Array =>
  rows.length <= count ? rows : Int32Array.from(stream.choice(rows.length, count), (at) => rows[at]);
