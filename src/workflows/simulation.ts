/**
 * Acquisition simulated on a table whose labels are all known, as in section 6.2 of the paper: a split and initial
 * labels by seed, a method that asks for labels, and an evaluation at checkpoints on rows that were held out.
 */

import type { Selected } from "../active/batch.js";
import type { PartElsewhere } from "../active/gpu/scores-elsewhere.js";
import { fit, type PoolLabel, type SensitiveModel, type SingleModel } from "../active/pool-models.js";
import type { Quota } from "../active/quotas.js";
import { type Split, splitRows } from "../active/split.js";
import { InputError } from "../core/errors.js";
import { type Pacer, pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { type Interval, intervalWithin, meanEstimate } from "../core/stats.js";
import type { FeatureMatrix, MemberProbabilities } from "../learners/classifier.js";
import { type ForestOptions, forest } from "../learners/forest.js";
import { fitEncoder } from "../tables/encoder.js";
import type { Task } from "../tables/task.js";
import { sharesOf } from "./acquired-shares.js";
import type { SensitiveModelName, SimulationSettings } from "./acquisition-settings.js";
import { EVALUATION_NAMES, EVALUATION_RANGES, type Evaluation, evaluate } from "./evaluation.js";
import { judgeParity, type ParityMetrics } from "./judge-parity.js";
import { parityOn } from "./parity-on.js";
import { reweighedRows } from "./reweighed-rows.js";
import { type AskedRow, createRowSession, type RowSession, rowSessionTexts } from "./row-session.js";
import { revealedModel, worstOf } from "./sensitive-models.js";

export {
  CALIBRATED,
  type FixedBetaSettings,
  PAPER,
  RECOMMENDED,
  recommendedFor,
  type SimulationSettings,
  WHOLE_SET,
} from "./acquisition-settings.js";

/** Supplied from outside, instead of a model of the library's own: for every sensitive label, members of all rows. */
export type SuppliedMembers = readonly MemberProbabilities[];

/** What was acquired. */
export interface Acquisition {
  /** In the order in which they were acquired; `row` is a row of the table. */
  readonly acquired: readonly AskedRow[];
  readonly initial: Int32Array;
  /** The last beta. */
  readonly beta: number;
  /** Whether a goal for beta was met in the end. */
  readonly met: boolean;
  /** Nats that the chosen labels gave away, where there is a leakage budget. */
  readonly spent: number;
  readonly warnings: readonly string[];
}

export interface AcquisitionStep {
  /** Labels acquired so far, the last batch included. */
  readonly acquired: number;
  readonly budget: number;
  readonly batch: readonly Selected[];
  /** The beta that the batch was scored with. */
  readonly beta: number;
  /** Rows that have a label now, initial ones first. */
  readonly labelled: Int32Array;
}

export interface SeedResult {
  readonly seed: number;
  readonly split: Split;
  readonly acquisition: Acquisition;
  /** By the number of acquired labels, for the first sensitive label. */
  readonly checkpoints: readonly { readonly labels: number; readonly metrics: Evaluation }[];
  /** After the last label, for every sensitive label. */
  readonly bySensitive: readonly Evaluation[];
  /** After the last label, with the fair decision rule for the first sensitive label, where a level is asked for. */
  readonly parity?: ParityMetrics | undefined;
  readonly seconds: number;
}

/** What a simulation takes beside its settings. */
export interface SimulationRun extends RunOptions {
  readonly supplied?: SuppliedMembers | undefined;
  /** What the label of each row costs, and what a unit of cost is worth in nats. */
  readonly costs?: Float64Array | undefined;
  readonly costWeight?: number | undefined;
  /** The group of each row, -1 for none, and how many of each group. */
  readonly groups?: Int32Array | undefined;
  readonly quotas?: readonly Quota[] | undefined;
  /** The parity that decisions are to reach by the fair decision rule; no rule unless given. */
  readonly parityLevel?: number | undefined;
  readonly onStep?: ((step: AcquisitionStep) => unknown) | undefined;
  /** What computes EPIG where that takes a while; here unless given. */
  readonly elsewhere?: PartElsewhere | undefined;
}

/** What a seed decides before anything is acquired: the same for every method. */
export interface PreparedSeed {
  readonly split: Split;
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  readonly sensitive: readonly PoolLabel[];
}

export const simulationTexts = {
  unlabelled: (row: number) =>
    `row ${row} was to be acquired and has no label: leave it out of the pool, or give its label`,
};

const streamOf = (seed: number) => seededStream(seed).split("acquisition");

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
    initial: settings.initial,
    targets: settings.targets,
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

export interface TableAcquisition {
  readonly budget: number;
  readonly batch: number;
  readonly pace?: Pacer | undefined;
  readonly onStep: (step: AcquisitionStep) => Promise<unknown>;
}

/** Labels that are asked for a batch at a time and read from the table. */
export const acquireFromTable = async (
  session: RowSession,
  target: PoolLabel,
  { budget, batch, pace, onStep }: TableAcquisition,
): Promise<readonly string[]> => {
  const warnings: string[] = [];
  const available = session.pool().length;
  if (budget > available) throw new InputError("budget", rowSessionTexts.budget(budget, available));
  while (session.asked.length < budget) {
    const question = await session.ask(Math.min(batch, budget - session.asked.length), pace);
    for (const { row } of question.batch) {
      if (target.labels[row] < 0) throw new InputError("label", simulationTexts.unlabelled(row));
      session.tell(row, target.labels[row]);
    }
    if (question.warning !== undefined) warnings.push(question.warning);
    await onStep({
      acquired: session.asked.length,
      budget,
      batch: question.batch,
      beta: question.beta,
      labelled: session.labelled(),
    });
  }
  return warnings;
};

/** One seed. The split and the initial labels depend on the seed alone, so that methods are compared on the same. */
export const simulateSeed = async (
  task: Task,
  settings: SimulationSettings,
  seed: number,
  run: SimulationRun = {},
): Promise<SeedResult> => {
  const started = performance.now();
  const pace = pacer(run);
  const stream = streamOf(seed);
  const prepared = prepareSeed(task, settings, seed);
  const { split, features, target, sensitive } = prepared;
  const { budget, batch } = settings;
  const evaluateFor = evaluatorOf(task, settings, prepared, stream);
  const checkpoints: { labels: number; metrics: Evaluation }[] = [];
  const evaluateAt = (labels: number, labelled: Int32Array): void => {
    checkpoints.push({ labels, metrics: evaluateFor(sensitive[0], labels, labelled) });
  };
  const wanted = new Set([...settings.checkpoints, budget]);
  if (wanted.has(0)) evaluateAt(0, split.initial);
  const session = createRowSession({
    ...settings,
    ...run,
    features,
    // The others' labels are told as they are asked for.
    target: { ...target, labels: onlyOf(target.labels, split.initial) },
    sensitive,
    initial: split.initial,
    pool: split.pool,
    targets: split.targets,
    learner: forest(settings.forest),
    weights: task.weights,
    sensitiveModels: sensitiveModelsOf(task, settings, prepared, run.supplied, stream),
    shares: sharesOf(settings.shares, task.sensitive[0], knownGroups(settings, sensitive, features.rows)),
    stream: stream.split(settings.method),
    parityOf:
      "parityAtLeast" in settings.goal
        ? parityOn(features, target.classes, sensitive[0].labels, split.targets, task.weights)
        : undefined,
  });
  const warnings = await acquireFromTable(session, target, {
    budget,
    batch,
    pace,
    async onStep(step) {
      const before = step.acquired - step.batch.length;
      if ([...wanted].some((labels) => labels > before && labels <= step.acquired)) {
        evaluateAt(step.acquired, step.labelled);
      }
      await run.onStep?.(step);
      await pace.step({ done: step.acquired, total: budget, label: settings.method });
    },
  });
  const last = checkpoints[checkpoints.length - 1].metrics;
  const labelled = session.labelled();
  const others = sensitive.slice(1).map((attribute) => evaluateFor(attribute, budget, labelled));
  const parity =
    run.parityLevel === undefined
      ? undefined
      : await judgeParity({
          ...prepared,
          acquired: session.asked,
          weights: task.weights,
          reweigh: settings.reweigh,
          forest: settings.forest,
          level: run.parityLevel,
          stream: stream.split("parity"),
          signal: run.signal,
        });
  return {
    seed,
    split,
    ...(parity === undefined ? {} : { parity }),
    acquisition: {
      acquired: session.asked,
      initial: split.initial,
      beta: session.beta,
      met: session.met,
      spent: session.spent,
      warnings,
    },
    checkpoints,
    bySensitive: [last, ...others],
    seconds: (performance.now() - started) / 1000,
  };
};

const onlyOf = (labels: Int32Array, rows: Int32Array): Int32Array => {
  const known = new Int32Array(labels.length).fill(-1);
  for (const row of rows) known[row] = labels[row];
  return known;
};

const sensitiveModelsOf = (
  task: Task,
  settings: SimulationSettings,
  { split, features, sensitive }: PreparedSeed,
  supplied: SuppliedMembers | undefined,
  stream: RandomStream,
): SensitiveModel[] => {
  const { sensitiveModel: given, sensitiveForest } = settings;
  const names = typeof given === "string" ? [given] : given;
  return sensitive.map((label, i): SensitiveModel => {
    const members = supplied?.[i];
    if (members !== undefined) return { kind: "supplied", members };
    const modelNamed = (name: SensitiveModelName): SingleModel => {
      if (name !== "pretrained") return revealedModel(name, sensitiveForest);
      const known = { features, ...label, rows: split.targets, weights: task.weights };
      const own = stream.split("pretrained").split(i);
      return { kind: "fixed", classifier: fit(forest(sensitiveForest), known, own) };
    };
    return worstOf(names.map(modelNamed));
  });
};

/** The candidates' groups, as far as they may be looked at before they are asked. */
const knownGroups = (
  { poolAttributes }: SimulationSettings,
  sensitive: readonly PoolLabel[],
  rows: number,
): Int32Array =>
  poolAttributes === "known" && sensitive.length > 0 ? sensitive[0].labels : new Int32Array(rows).fill(-1);

const evaluatorOf =
  (
    task: Task,
    settings: SimulationSettings,
    { split, features, target }: PreparedSeed,
    stream: RandomStream,
  ) =>
  (attribute: PoolLabel, labels: number, labelled: Int32Array): Evaluation =>
    evaluate({
      features,
      target,
      sensitive: attribute,
      labelled,
      test: split.test,
      weights: task.weights,
      targetWeights:
        settings.reweigh === true
          ? reweighedRows({
              rows: labelled,
              labels: target.labels,
              groups: attribute.labels,
              weights: task.weights,
            })
          : undefined,
      learner: forest(settings.forest),
      // The adversary is the same whatever the acquisition used.
      sensitiveLearner: forest(threadsOf(settings.forest)),
      stream: stream.split("evaluation").split(labels),
    });

const ascending = (a: number, b: number): number => a - b;

const subset = (rows: Int32Array, most: number | undefined, stream: RandomStream): Int32Array =>
  most === undefined || most >= rows.length
    ? rows
    : Int32Array.from(stream.choice(rows.length, most), (at) => rows[at]).sort();

const threadsOf = ({ threads }: ForestOptions): ForestOptions => (threads === undefined ? {} : { threads });

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
  summariseNamed(EVALUATION_NAMES, evaluations, EVALUATION_RANGES);

export const summariseNamed = <Name extends string>(
  names: readonly Name[],
  values: readonly Readonly<Record<Name, number | undefined>>[],
  ranges: Readonly<Record<Name, Interval>>,
): Readonly<Record<Name, MetricSummary>> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      summaryOf(
        values.map((each) => each[name]).filter((value) => value !== undefined),
        ranges[name],
      ),
    ]),
  ) as Readonly<Record<Name, MetricSummary>>;

/** Over seeds, with Student's interval within what the values can be. */
export const summaryOf = (values: readonly number[], range: Interval): MetricSummary => {
  if (values.length === 0) return { mean: null, standardError: null, interval: null, n: 0 };
  if (values.length === 1) return { mean: values[0], standardError: null, interval: null, n: 1 };
  const { mean, standardError, interval, n } = meanEstimate(values);
  return { mean, standardError, interval: intervalWithin(mean, interval[1] - mean, range), n };
};
