/**
 * Acquisition simulated on a table whose labels are all known, as in section 6.2 of the paper: a split and initial
 * labels by seed, a method that asks for labels, and an evaluation at checkpoints on rows that were held out.
 */
import type { BetaGoal } from "../active/beta-control.js";
import type { Correction } from "../active/correction.js";
import {
  type Acquisition,
  type AcquisitionStep,
  acquire,
  type BatchKind,
  fit,
  type PoolLabel,
  type SensitiveModel,
} from "../active/loop.js";
import type { Quota } from "../active/quotas.js";
import { type Split, splitRows } from "../active/split.js";
import type { StrategyName } from "../active/strategies.js";
import { randomStream } from "../core/random.js";
import { meanEstimate } from "../core/stats.js";
import { parityRatios } from "../fairness/group-metrics.js";
import type { Classifier, FeatureMatrix, MemberProbabilities } from "../learners/classifier.js";
import { type ForestOptions, forest } from "../learners/forest.js";
import { type CategoryEncoding, fitEncoder } from "../tables/encoder.js";
import type { Task } from "../tables/task.js";
import { EVALUATION_NAMES, type Evaluation, evaluate, mostProbable } from "./evaluation.js";

export interface SimulationSettings {
  readonly method: StrategyName;
  readonly goal: BetaGoal;
  readonly budget: number;
  readonly batch: number;
  readonly batchKind: BatchKind;
  readonly temperature?: number | undefined;
  /** Of several sensitive labels. */
  readonly combine: "sum" | "worst";
  readonly testFraction: number;
  readonly initial?: number | undefined;
  readonly targets?: number | undefined;
  readonly targetsPerStep: number;
  /** At most so many rows in the pool, drawn at random; all unless given. */
  readonly pool?: number | undefined;
  readonly categories: CategoryEncoding;
  /** The model of the target: the one that asks and the one that is judged. */
  readonly forest: ForestOptions;
  readonly correction: Correction;
  /** The model of the sensitive label that the score reads. */
  readonly sensitiveForest: ForestOptions;
  readonly sensitiveCorrection: Correction;
  /** Fitted on the labels revealed so far, or once before the start on the target rows. */
  readonly sensitiveModel: "revealed" | "pretrained";
  /** Numbers of acquired labels at which it is evaluated; the budget is always one. */
  readonly checkpoints: readonly number[];
}

/** Settings whose beta is a number. */
export type FixedBetaSettings = SimulationSettings & { readonly goal: { readonly beta: number } };

/**
 * What is recommended: leaves of at least ten labels in the sensitive model and a correction for its finite number of
 * trees. Of the settings whose parity at a matched selection rate is within a standard error of the best, over four
 * tables, it loses the least accuracy: see docs/acquisition.md for the measurement.
 */
export const RECOMMENDED: FixedBetaSettings = {
  method: "fairbed",
  goal: { beta: 10 },
  budget: 400,
  batch: 1,
  batchKind: "top",
  combine: "sum",
  testFraction: 0.3,
  targetsPerStep: 100,
  categories: "one-hot",
  forest: {},
  correction: "none",
  sensitiveForest: { minLeaf: 10 },
  sensitiveCorrection: "analytic",
  sensitiveModel: "revealed",
  checkpoints: [],
};

/**
 * An acquisition that looks at the acquired set as a whole instead of at one label after the other: what its features
 * give away of the attribute stays small, under a sensitive model with leaves of at least five labels.
 */
export const WHOLE_SET: FixedBetaSettings = {
  ...RECOMMENDED,
  method: "fairbed-set",
  goal: { beta: 3 },
  sensitiveForest: { minLeaf: 5 },
  sensitiveCorrection: "none",
};

/** What a method is run with where nothing else is asked for. */
export const recommendedFor = (method: StrategyName): FixedBetaSettings =>
  method === WHOLE_SET.method ? WHOLE_SET : { ...RECOMMENDED, method };

/** The paper's fully grown trees on both sides. */
export const PAPER: SimulationSettings = {
  ...RECOMMENDED,
  sensitiveForest: {},
  sensitiveCorrection: "none",
};

/** Supplied from outside, instead of a model of the library's own: for every sensitive label, members of all rows. */
export type SuppliedMembers = readonly MemberProbabilities[];

export interface SeedResult {
  readonly seed: number;
  readonly split: Split;
  readonly acquisition: Acquisition;
  /** By the number of acquired labels, for the first sensitive label. */
  readonly checkpoints: readonly { readonly labels: number; readonly metrics: Evaluation }[];
  /** After the last label, for every sensitive label. */
  readonly bySensitive: readonly Evaluation[];
  readonly seconds: number;
}

export interface SimulationRun {
  readonly supplied?: SuppliedMembers | undefined;
  readonly costs?: Float64Array | undefined;
  readonly costWeight?: number | undefined;
  readonly groups?: Int32Array | undefined;
  readonly quotas?: readonly Quota[] | undefined;
  readonly onStep?: ((step: AcquisitionStep) => void | Promise<void>) | undefined;
}

/** What a seed decides before anything is acquired: the same for every method. */
export interface PreparedSeed {
  readonly split: Split;
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  readonly sensitive: readonly PoolLabel[];
}

const streamOf = (seed: number) => randomStream(seed).split("acquisition");

export const prepareSeed = (
  task: Task,
  settings: Pick<SimulationSettings, "testFraction" | "initial" | "targets" | "pool" | "categories">,
  seed: number,
): PreparedSeed => {
  const stream = streamOf(seed);
  const target: PoolLabel = { labels: task.target.labels, classes: task.target.classes.length };
  const sensitive: PoolLabel[] = task.sensitive.map(({ labels, classes }) => ({
    labels,
    classes: classes.length,
  }));
  const all = splitRows({
    ...target,
    required: sensitive.map(({ labels }) => labels),
    stream,
    testFraction: settings.testFraction,
    ...(settings.initial === undefined ? {} : { initial: settings.initial }),
    ...(settings.targets === undefined ? {} : { targets: settings.targets }),
  });
  // Fitted on everything but the test rows: what their features look like is known, their labels are not used.
  const encoder = fitEncoder(task, [...all.targets, ...all.initial, ...all.pool].sort(ascending), {
    categories: settings.categories,
  });
  return {
    split: { ...all, pool: subset(all.pool, settings.pool, stream.split("pool")) },
    features: encoder.encode(task.table),
    target,
    sensitive,
  };
};

/** One seed. The split and the initial labels depend on the seed alone, so that methods are compared on the same. */
export const simulateSeed = async (
  task: Task,
  settings: SimulationSettings,
  seed: number,
  run: SimulationRun = {},
): Promise<SeedResult> => {
  const started = performance.now();
  const stream = streamOf(seed);
  const { split, features, target, sensitive } = prepareSeed(task, settings, seed);
  const learner = forest(settings.forest);
  const sensitiveLearner = forest(settings.sensitiveForest);
  const sensitiveModels = sensitive.map((label, i): SensitiveModel => {
    const members = run.supplied?.[i];
    if (members !== undefined) return { kind: "supplied", members };
    if (settings.sensitiveModel === "revealed") return { kind: "revealed", learner: sensitiveLearner };
    const pretrained = fit(
      sensitiveLearner,
      { features, ...label, rows: split.targets, weights: task.weights },
      stream.split("pretrained").split(i),
    );
    return { kind: "fixed", classifier: pretrained };
  });
  const checkpoints: { labels: number; metrics: Evaluation }[] = [];
  const evaluateFor = (attribute: PoolLabel, labels: number, labelled: Int32Array): Evaluation =>
    evaluate({
      features,
      target,
      sensitive: attribute,
      labelled,
      test: split.test,
      weights: task.weights,
      learner,
      // The adversary is the same whatever the acquisition used.
      sensitiveLearner: forest(threadsOf(settings.forest)),
      stream: stream.split("evaluation").split(labels),
    });
  const evaluateAt = (labels: number, labelled: Int32Array): void => {
    checkpoints.push({ labels, metrics: evaluateFor(sensitive[0], labels, labelled) });
  };
  const wanted = new Set([...settings.checkpoints, settings.budget]);
  if (wanted.has(0)) evaluateAt(0, split.initial);
  const acquisition = await acquire({
    features,
    target,
    sensitive,
    split,
    method: settings.method,
    goal: settings.goal,
    combine: settings.combine,
    budget: settings.budget,
    batch: settings.batch,
    batchKind: settings.batchKind,
    temperature: settings.temperature,
    learner,
    weights: task.weights,
    sensitiveModels,
    correction: settings.correction,
    sensitiveCorrection: settings.sensitiveCorrection,
    targetsPerStep: settings.targetsPerStep,
    costs: run.costs,
    costWeight: run.costWeight,
    groups: run.groups,
    quotas: run.quotas,
    stream: stream.split(settings.method),
    ...("parityAtLeast" in settings.goal
      ? { parityOf: parityOn(features, target, sensitive[0], split.targets) }
      : {}),
    async onStep(step) {
      const before = step.acquired - step.batch.length;
      if ([...wanted].some((labels) => labels > before && labels <= step.acquired)) {
        evaluateAt(step.acquired, step.labelled);
      }
      await run.onStep?.(step);
    },
  });
  const labelled = Int32Array.from([...split.initial, ...acquisition.acquired.map(({ row }) => row)]);
  const last = checkpoints[checkpoints.length - 1].metrics;
  const others = sensitive.slice(1).map((attribute) => evaluateFor(attribute, settings.budget, labelled));
  const bySensitive = [last, ...others];
  const seconds = (performance.now() - started) / 1000;
  return { seed, split, acquisition, checkpoints, bySensitive, seconds };
};

const ascending = (a: number, b: number): number => a - b;

const subset = (
  rows: Int32Array,
  most: number | undefined,
  stream: ReturnType<typeof randomStream>,
): Int32Array =>
  most === undefined || most >= rows.length
    ? rows
    : Int32Array.from(stream.choice(rows.length, most), (at) => rows[at]).sort();

const threadsOf = ({ threads }: ForestOptions): ForestOptions => (threads === undefined ? {} : { threads });

/** Demographic parity on the target rows, whose sensitive labels are known in a simulation. */
const parityOn =
  (features: FeatureMatrix, target: PoolLabel, sensitive: PoolLabel, rows: Int32Array) =>
  (classifier: Classifier): number | undefined => {
    const predicted = mostProbable(classifier.predict(features, rows), target.classes);
    const groups = rows.map((row) => sensitive.labels[row]);
    return parityRatios(predicted, predicted, groups).dpRatio;
  };

export interface MetricSummary {
  readonly mean: number | null;
  /** Null with fewer than two seeds. */
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
  /** How many seeds have a value. */
  readonly n: number;
}

export type MetricSummaries = Readonly<Record<keyof Evaluation, MetricSummary>>;

/** Every metric over seeds. */
export const summarise = (evaluations: readonly Evaluation[]): MetricSummaries =>
  Object.fromEntries(
    EVALUATION_NAMES.map((name) => {
      const values = evaluations.map((each) => each[name]).filter((value) => value !== undefined);
      return [name, summaryOf(values)];
    }),
  ) as MetricSummaries;

const summaryOf = (values: readonly number[]): MetricSummary => {
  if (values.length === 0) return { mean: null, standardError: null, interval: null, n: 0 };
  if (values.length === 1) return { mean: values[0], standardError: null, interval: null, n: 1 };
  const { mean, standardError, interval, n } = meanEstimate(values);
  return { mean, standardError, interval, n };
};
