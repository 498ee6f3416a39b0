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
import { type PartElsewhere, scoreElsewhere } from "./gpu/scores-elsewhere.js";
import type { JointBatchOptions } from "./joint-batch.js";
import { type Members, meanProbabilities } from "./members.js";
import {
  fit,
  jointLabel,
  type PoolLabel,
  type Predictor,
  predictorOf,
  type SensitiveModel,
} from "./pool-models.js";
import type { Quota } from "./quotas.js";
import { batchShares, type SharesOfBatch } from "./shares.js";
import { type AcquisitionInput, strategies } from "./strategies.js";
import type { StrategyName } from "./strategy-names.js";
import { tieKeys } from "./ties.js";
import { drawWeighted } from "./weighted-draw.js";

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
  /** For methods that aim at the boundary of the fair decision rule. */
  readonly boundary?: BoundaryWeights | undefined;
  /** @internal What computes EPIG where that takes a while; here unless given. */
  readonly elsewhere?: PartElsewhere | undefined;
}

/** How much rows count as targets, [rows], by their scores [rows] and group probabilities [rows, groups]. */
export type BoundaryWeights = (rows: {
  readonly scores: Float64Array;
  readonly groupProbabilities: Float64Array;
}) => Float64Array;

/** What a step starts from: rows of the features. */
export interface StepInput {
  /** Rows that something is known of, in the order in which it was told. */
  readonly labelled: Int32Array;
  /** Rows that may be asked for. */
  readonly pool: Int32Array;
  /**
   * Rows that were asked for and have not answered: a joint batch has nobody of whom the models say the same, while there
   * are others. They do not matter unless given.
   */
  readonly pending?: Int32Array | undefined;
  /** Rows that predictions are wanted for. */
  readonly targets: Int32Array;
  readonly beta: number;
  /** How many to choose. */
  readonly size: number;
  /** How many more to add by their scores alone, behind a joint batch: none unless given. Not with quotas. */
  readonly tail?: number | undefined;
  /** Of this batch, by the settings' groups. */
  readonly quotas?: readonly Quota[] | undefined;
  /** Shares that the groups of the first sensitive label are kept to, instead of quotas. */
  readonly shares?: SharesOfBatch | undefined;
  /** How much each row counts in the fit of the target's model, [all rows]; as in the settings unless given. */
  readonly targetWeights?: Float64Array | undefined;
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
  /** What each of them was taken for, where shares were kept to. */
  readonly groups?: readonly number[] | undefined;
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
  groups: (method: string) =>
    `the method ${method} looks at the groups of a sensitive label, and there is none: give one`,
  boundary: (method: string) =>
    `the method ${method} aims at the boundary of the fair decision rule and was not told where it is: pass \`boundary\``,
  twoOutcomes: (method: string, given: number) =>
    `the method ${method} aims at a decision between two outcomes, and the target has ${given} classes: name one of them, as in column=value`,
  worst: (method: string) =>
    `the leakage of the method ${method} is read from one sensitive model, and several were given: choose the method fairbed, or give one`,
  worstJoint:
    "the worst of several sensitive models is taken candidate by candidate, and a joint batch is not: choose the batch kind top, softmax or rank",
  jointWeighted: (method: string) =>
    `the method ${method} looks at each group's targets, and a joint batch at all: choose the batch kind top, softmax or rank`,
  revealed: (method: string) =>
    `the method ${method} learns the sensitive label together with the target: leave the sensitive model at revealed`,
};

/** Target rows of a step that is not told how many. */
export const USUAL_TARGETS = 100;

/** Fails where the settings do not fit each other. */
export const requireStepSettings = (settings: StepSettings): void => {
  const { method, sensitive, sensitiveModels, batchKind = "top", targetsPerStep = USUAL_TARGETS } = settings;
  if (!Number.isInteger(targetsPerStep) || targetsPerStep < 1) {
    throw new InputError("targetsPerStep", stepTexts.whole("targetsPerStep", targetsPerStep));
  }
  if (sensitiveModels.length !== sensitive.length) {
    throw new InputError("models", stepTexts.models(sensitiveModels.length, sensitive.length));
  }
  const { uses } = strategies[method];
  if (batchKind === "joint" && uses.labelled) throw new InputError("batch-kind", stepTexts.joint);
  if (uses.groups || uses.boundary) requireFocus(settings);
  if (sensitiveModels.some(({ kind }) => kind === "worst") && uses.sensitive) {
    if (method !== "fairbed") throw new InputError("models", stepTexts.worst(method));
    if (batchKind === "joint") throw new InputError("batch-kind", stepTexts.worstJoint);
  }
  if (!uses.joint) return;
  if (batchKind === "joint") throw new InputError("batch-kind", stepTexts.jointBatch(method));
  if (sensitive.length !== 1) {
    throw new InputError("sensitive", stepTexts.oneSensitive(method, sensitive.length));
  }
  if (sensitiveModels[0].kind !== "revealed") throw new InputError("models", stepTexts.revealed(method));
};

const requireFocus = ({ method, target, sensitive, batchKind, boundary }: StepSettings): void => {
  const { uses } = strategies[method];
  if (sensitive.length === 0) throw new InputError("sensitive", stepTexts.groups(method));
  if (uses.groups && batchKind === "joint") {
    throw new InputError("batch-kind", stepTexts.jointWeighted(method));
  }
  if (!uses.boundary) return;
  if (boundary === undefined) throw new InputError("boundary", stepTexts.boundary(method));
  if (target.classes !== 2) throw new InputError("target", stepTexts.twoOutcomes(method, target.classes));
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
  const classifier =
    method !== "random" || input.classifier === true
      ? fit(
          learner,
          { features, ...target, weights: input.targetWeights ?? weights, rows: input.labelled },
          stream.split(MODEL.target),
        )
      : undefined;
  await pace?.pause();
  const predictorsOf = sensitivePredictors(settings, input);
  const groupsOf = (rows: Int32Array) => meanProbabilities(predictorsOf(0)[0].means(rows));
  const targets =
    uses.boundary && classifier !== undefined
      ? drawAtBoundary(settings, input, classifier, groupsOf)
      : draw(input.targets, settings.targetsPerStep ?? USUAL_TARGETS, stream.split("targets"));
  const predict = (members: (rows: Int32Array) => Members, correction?: Correction): Prediction => ({
    pool: members(pool),
    targets: members(targets),
    ...(correction === undefined ? {} : { correction, stream: stream.split("correction") }),
  });
  const sensitive = uses.sensitive
    ? await predictSensitive(settings, input, method, predictorsOf, predict, pace)
    : [];
  const scored: AcquisitionInput & { readonly sensitive: readonly Prediction[] } = {
    target:
      classifier === undefined || method === "random"
        ? nothingKnown(pool.length)
        : predict((rows) => classifier.predictMembers(features, rows), settings.correction),
    sensitive,
    joint: uses.joint ? predictJoint(settings, input, predict) : undefined,
    groups: uses.groups ? byGroup(groupsOf(targets), settings.sensitive[0].classes) : undefined,
    beta,
    combine: settings.combine,
    stream: stream.split("random"),
  };
  await pace?.pause();
  const parts = await scoreElsewhere(strategy, scored, settings.elsewhere);
  await pace?.pause();
  // By rows of the features, so that what else is in the pool does not matter.
  const keys = tieKeys(stream.split("ties"));
  const { costs } = settings;
  const known = new Map<number, Limits>();
  const limitsFor = (count: number): Limits => {
    const limits = known.get(count) ?? limitsOf(settings, { ...input, size: count }, groupsOf);
    known.set(count, limits);
    return limits;
  };
  const constraintsOf = (count: number) => ({
    size: count,
    ties: (at: number) => keys(pool[at]),
    ...limitsFor(count),
    costs: costs === undefined ? undefined : Float64Array.from(pool, (row) => costs[row]),
    costWeight: settings.costWeight,
    stream: stream.split("batch"),
  });
  const byScore = (count: number): readonly Selected[] =>
    selectBatch(parts, {
      ...constraintsOf(count),
      method: batchKind === "joint" ? "top" : batchKind,
      temperature: settings.temperature,
    } satisfies BatchOptions);
  const jointly = async (count: number): Promise<readonly Selected[]> => {
    const { selectJointBatch } = await import("./joint-batch.js");
    return selectJointBatch(scored.target, sensitive, {
      ...constraintsOf(count),
      ...withPending(settings, input, classifier, predictorsOf, sensitive.length),
      beta,
      combine: settings.combine,
    });
  };
  const isJoint = batchKind === "joint" && size > 1 && uses.targets;
  const { tail = 0 } = input;
  const chosen = isJoint ? withTail(await jointly(size), byScore, tail) : byScore(size + tail);
  const { groups } = limitsFor(size + tail);
  const taken = new Set(chosen.map(({ row }) => row));
  const leaks = uses.sensitive || uses.joint;
  return {
    chosen: chosen.map((each) => ({ ...each, row: pool[each.row] })),
    ...(input.shares === undefined ? {} : { groups: chosen.map(({ row }) => groups?.[row] ?? -1) }),
    classifier,
    leastLeakage: leaks
      ? parts.leakage.reduce((least, value, at) => (taken.has(at) ? least : Math.min(least, value)), Infinity)
      : 0,
  };
};

/** So many more behind those that were chosen jointly. */
const withTail = (
  first: readonly Selected[],
  byScore: (count: number) => readonly Selected[],
  tail: number,
): readonly Selected[] => {
  if (tail === 0) return first;
  const taken = new Set(first.map(({ row }) => row));
  const more = byScore(first.length + tail).filter(({ row }) => !taken.has(row));
  return [...first, ...more.slice(0, tail)].map((each, i) => ({ ...each, rank: i + 1 }));
};

/** What each model says of those who have not answered yet. */
const withPending = (
  { features }: StepSettings,
  { pending }: StepInput,
  classifier: Classifier | undefined,
  predictorsOf: (index: number) => readonly Predictor[],
  sensitive: number,
): Pick<JointBatchOptions, "pending" | "repeats"> => {
  if (pending === undefined || classifier === undefined) return {};
  return {
    repeats: false,
    pending: [
      classifier.predictMembers(features, pending),
      ...Array.from({ length: sensitive }, (_, i) => predictorsOf(i)[0].members(pending)),
    ],
  };
};

type Limits = Pick<BatchOptions, "groups" | "quotas">;

/** Quotas as they are given, or those that keep to shares; groups are those of the pool. */
const limitsOf = (
  { groups }: StepSettings,
  { pool, quotas, shares, size }: StepInput,
  groupsOf: GroupModel,
): Limits => {
  if (shares !== undefined) return batchShares(shares, pool, size, groupsOf);
  return groups === undefined ? {} : { groups: pool.map((row) => groups[row]), quotas };
};

/** P(group | row) of the first sensitive label, [rows, groups]. */
type GroupModel = (rows: Int32Array) => Float64Array;

/**
 * The models of each sensitive label, several where the worst of them counts; fitted when they are first asked for, and
 * once, so that groups and leakage are read from the same.
 */
const sensitivePredictors = (
  { features, sensitive, sensitiveModels, weights }: StepSettings,
  { labelled, stream }: StepInput,
): ((index: number) => readonly Predictor[]) => {
  const known = new Map<number, readonly Predictor[]>();
  return (index) => {
    const fitted = known.get(index);
    if (fitted !== undefined) return fitted;
    const model = sensitiveModels[index];
    const label = { features, ...sensitive[index], weights, rows: labelled };
    const own = stream.split(MODEL.sensitive).split(index);
    const predictors = (model.kind === "worst" ? model.models : [model]).map((each, j) =>
      predictorOf(each, label, j === 0 ? own : own.split("worst").split(j)),
    );
    known.set(index, predictors);
    return predictors;
  };
};

/** [groups][rows] from [rows, groups]. */
export const byGroup = (probabilities: Float64Array, groups: number): readonly Float64Array[] =>
  Array.from({ length: groups }, (_, g) => probabilities.filter((_, at) => at % groups === g));

/** Targets are drawn from at most so many: the boundary is where it is for all of them, or very nearly. */
const BOUNDARY_SAMPLE = 2000;

/** Targets drawn without replacement, the more likely the nearer they are to the boundary of the fair decision rule. */
const drawAtBoundary = (
  { features, boundary, targetsPerStep = USUAL_TARGETS }: StepSettings,
  { targets, stream }: StepInput,
  classifier: Classifier,
  groupsOf: GroupModel,
): Int32Array => {
  const rows = draw(targets, BOUNDARY_SAMPLE, stream.split("boundary"));
  if (boundary === undefined || rows.length <= targetsPerStep) return rows;
  const scores = classifier.predict(features, rows).filter((_, at) => at % 2 === 1);
  const weights = boundary({ scores, groupProbabilities: groupsOf(rows) });
  return drawWeighted(weights, targetsPerStep, stream.split("targets")).map((at) => rows[at]);
};

/** Names of the models' streams. */
const MODEL = { target: 0, sensitive: 1, joint: 2 } as const;

type Predict = (members: (rows: Int32Array) => Members, correction?: Correction) => Prediction;

const predictSensitive = async (
  { target, sensitiveModels, sensitiveCorrection }: StepSettings,
  { labelled }: StepInput,
  method: StrategyName,
  predictorsOf: (index: number) => readonly Predictor[],
  predict: Predict,
  pace: Pacer | undefined,
): Promise<Prediction[]> => {
  const predictions: Prediction[] = [];
  for (const i of sensitiveModels.keys()) {
    const [first, ...others] = predictorsOf(i);
    if (strategies[method].uses.labelled) {
      // The set as a whole is judged by mean predictions: members would be a hundred times as many numbers.
      const acquired = labelled.filter((row) => target.labels[row] >= 0);
      predictions.push({ ...predict(first.means), labelled: first.means(acquired) });
    } else {
      const alternatives = others.map(({ members }) => predict(members, sensitiveCorrection));
      predictions.push({
        ...predict(first.members, sensitiveCorrection),
        ...(alternatives.length === 0 ? {} : { alternatives }),
      });
    }
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
  const { members } = predictorOf({ kind: "revealed", learner }, label, stream.split(MODEL.joint));
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
