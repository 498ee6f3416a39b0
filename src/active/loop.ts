/**
 * The pool loop: fit, score, choose, reveal, again (paper, section 5). Labels come from a table that has them all, so
 * this simulates; `rank.ts` is one step of it for labels that are still unknown.
 */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, FeatureMatrix, Learner, MemberProbabilities } from "../learners/classifier.js";
import { type BatchOptions, type Selected, selectBatch } from "./batch.js";
import { type BetaGoal, betaControl } from "./beta-control.js";
import type { Correction } from "./correction.js";
import type { FairnessOptions, Prediction } from "./fairbed.js";
import { selectJointBatch } from "./joint-batch.js";
import { type Members, takeRows } from "./members.js";
import type { Quota } from "./quotas.js";
import type { Split } from "./split.js";
import { type StrategyName, strategies } from "./strategies.js";
import { tieKeys } from "./ties.js";

/** A label of every row: places in `classes`, -1 where it is not known. */
export interface PoolLabel {
  readonly labels: Int32Array;
  readonly classes: number;
}

/**
 * Where the predictions of a sensitive label come from. Only "revealed" needs the sensitive label of what is acquired:
 * a fixed classifier (trained on other data before) and supplied members ([all rows]) need none.
 */
export type SensitiveModel =
  | { readonly kind: "revealed"; readonly learner: Learner }
  | { readonly kind: "fixed"; readonly classifier: Classifier }
  | { readonly kind: "supplied"; readonly members: MemberProbabilities };

export type BatchKind = "top" | "softmax" | "rank" | "joint";

export interface AcquisitionOptions {
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  readonly sensitive: readonly PoolLabel[];
  readonly split: Split;
  readonly method: StrategyName;
  /** Beta, or what it is to be found for. */
  readonly goal: BetaGoal;
  readonly combine?: FairnessOptions["combine"] | undefined;
  /** How many labels to acquire, beyond the initial ones. */
  readonly budget: number;
  readonly batch?: number | undefined;
  readonly batchKind?: BatchKind | undefined;
  readonly temperature?: number | undefined;
  readonly learner: Learner;
  /** How much each row counts in every fit, [all rows]; 1 unless given. */
  readonly weights?: Float64Array | undefined;
  /** One for every sensitive label. */
  readonly sensitiveModels: readonly SensitiveModel[];
  /** Corrections for the finite number of members. */
  readonly correction?: Correction | undefined;
  readonly sensitiveCorrection?: Correction | undefined;
  /** How many of the split's targets are drawn at every step (100). */
  readonly targetsPerStep?: number | undefined;
  /** What a label costs, [all rows], and what a unit of cost is worth in nats. */
  readonly costs?: Float64Array | undefined;
  readonly costWeight?: number | undefined;
  /** Of what is acquired in all: at least and at most so many of a group, [all rows]. */
  readonly groups?: Int32Array | undefined;
  readonly quotas?: readonly Quota[] | undefined;
  /** Rows that must not be asked for. */
  readonly exclude?: Iterable<number> | undefined;
  readonly stream: RandomStream;
  /** The demographic-parity ratio of a classifier on rows that are neither tested nor acquired, for `parityAtLeast`. */
  readonly parityOf?: ((classifier: Classifier) => number | undefined) | undefined;
  readonly onStep?: ((step: AcquisitionStep) => void | Promise<void>) | undefined;
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

export interface Acquisition {
  /** In the order in which they were acquired; `row` is a row of the table. */
  readonly acquired: readonly Selected[];
  readonly initial: Int32Array;
  /** The last beta. */
  readonly beta: number;
  /** Whether a goal for beta was met in the end. */
  readonly met: boolean;
  readonly warnings: readonly string[];
}

export const loopTexts = {
  budget: (given: number, pool: number) =>
    `the budget is ${given} labels and the pool has ${pool} rows: ask for fewer labels, or give a larger table`,
  whole: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  models: (given: number, sensitive: number) =>
    `there are ${given} sensitive models for ${sensitive} sensitive labels: give one for each`,
  joint:
    "the method fairbed-set looks at the set as a whole, and a joint batch at single labels: choose the batch kind top, softmax or rank",
  unlabelled: (row: number) =>
    `row ${row} was to be acquired and has no label: leave it out of the pool, or give its label`,
};

const CHECK = { target: 0, sensitive: 1 } as const;

/** Acquires `budget` labels, a batch at a time. */
export const acquire = async (options: AcquisitionOptions): Promise<Acquisition> => {
  const { features, target, sensitive, split, method, budget, learner, sensitiveModels, stream } = options;
  const { batch = 1, targetsPerStep = 100, batchKind = "top", weights, onStep } = options;
  for (const [name, value] of Object.entries({ budget, batch, targetsPerStep })) {
    if (!Number.isInteger(value) || value < 1) throw new InputError(name, loopTexts.whole(name, value));
  }
  const excluded = new Set(options.exclude ?? []);
  let pool = split.pool.filter((row) => !excluded.has(row));
  if (budget > pool.length) throw new InputError("budget", loopTexts.budget(budget, pool.length));
  if (sensitiveModels.length !== sensitive.length) {
    throw new InputError("models", loopTexts.models(sensitiveModels.length, sensitive.length));
  }
  const strategy = strategies[method];
  const { uses } = strategy;
  if (batchKind === "joint" && uses.labelled) throw new InputError("batch-kind", loopTexts.joint);
  const control = betaControl(options.goal);
  const needsClassifier = method !== "random" || options.parityOf !== undefined;
  const labelled = [...split.initial];
  const acquired: Selected[] = [];
  const warnings: string[] = [];
  const quotas = new Map((options.quotas ?? []).map((quota) => [quota.group, { ...quota }]));

  while (acquired.length < budget) {
    const own = stream.split("step").split(acquired.length);
    const size = Math.min(batch, budget - acquired.length);
    const rows = Int32Array.from(labelled);
    const targets = draw(split.targets, targetsPerStep, own.split("targets"));
    const fitted = needsClassifier
      ? fit(learner, { features, ...target, weights, rows }, own.split(CHECK.target))
      : undefined;
    const predict = (members: (rows: Int32Array) => Members, correction?: Correction): Prediction => ({
      pool: members(pool),
      targets: members(targets),
      ...(correction === undefined ? {} : { correction, stream: own.split("correction") }),
    });
    const { beta } = control;
    const input = {
      target:
        fitted === undefined || method === "random"
          ? nothingKnown(pool.length)
          : predict((of) => fitted.predictMembers(features, of), options.correction),
      sensitive: uses.sensitive
        ? sensitiveModels.map((model, i) => {
            const label = { features, ...sensitive[i], weights, rows };
            const drawn = own.split(CHECK.sensitive).split(i);
            if (!uses.labelled) return predict(membersBy(model, label, drawn), options.sensitiveCorrection);
            // The set as a whole is judged by mean predictions: members would be a hundred times as many numbers.
            const means = meansBy(model, label, drawn);
            return { ...predict(means), labelled: means(rows) };
          })
        : [],
      beta,
      combine: options.combine,
      stream: own.split("random"),
    };
    // By rows of the table, so that what else is in the pool does not matter.
    const keys = tieKeys(own.split("ties"));
    const candidates = pool;
    const constraints = {
      size,
      ties: (at: number) => keys(candidates[at]),
      ...(options.groups === undefined
        ? {}
        : {
            groups: pool.map((row) => options.groups?.[row] ?? -1),
            quotas: [...quotas.values()].map(left(size, budget - acquired.length)),
          }),
      ...(options.costs === undefined
        ? {}
        : { costs: Float64Array.from(pool, (row) => options.costs?.[row] ?? 0) }),
      costWeight: options.costWeight,
      stream: own.split("batch"),
    };
    const parts = strategy.score(input);
    const chosen =
      batchKind === "joint" && size > 1 && uses.targets
        ? selectJointBatch(input.target, input.sensitive, { ...constraints, beta })
        : selectBatch(parts, {
            ...constraints,
            method: batchKind === "joint" ? "top" : batchKind,
            ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
          } satisfies BatchOptions);
    const taken = new Set(chosen.map(({ row }) => row));
    const selected = chosen.map((each) => ({
      ...each,
      row: pool[each.row],
      rank: acquired.length + each.rank,
    }));
    const leastLeakage = uses.sensitive
      ? parts.leakage.reduce((least, value, at) => (taken.has(at) ? least : Math.min(least, value)), Infinity)
      : 0;
    pool = pool.filter((_, at) => !taken.has(at));
    for (const each of selected) {
      if (target.labels[each.row] < 0) throw new InputError("label", loopTexts.unlabelled(each.row));
      labelled.push(each.row);
      acquired.push(each);
      const quota = quotas.get(options.groups?.[each.row] ?? -1);
      if (quota !== undefined) {
        quotas.set(quota.group, {
          ...quota,
          ...(quota.atLeast === undefined ? {} : { atLeast: Math.max(0, quota.atLeast - 1) }),
          ...(quota.atMost === undefined ? {} : { atMost: quota.atMost - 1 }),
        });
      }
    }
    const warning = control.observe({
      leakage: selected.reduce((sum, { leakage }) => sum + leakage, 0),
      labels: selected.length,
      left: budget - acquired.length,
      leastLeakage,
      ...(fitted === undefined ? {} : { parity: options.parityOf?.(fitted) }),
    });
    if (warning !== undefined) warnings.push(warning);
    await onStep?.({
      acquired: acquired.length,
      budget,
      batch: selected,
      beta,
      labelled: Int32Array.from(labelled),
    });
  }
  return { acquired, initial: split.initial, beta: control.beta, met: control.met, warnings };
};

/** What a quota over the whole budget asks of one batch: its least only once nothing else can be chosen before. */
const left =
  (size: number, remaining: number) =>
  ({ group, atLeast, atMost }: Quota): Quota => ({
    group,
    // What must still come, less what can come after this batch.
    ...(atLeast === undefined ? {} : { atLeast: Math.max(0, Math.min(size, atLeast - (remaining - size))) }),
    ...(atMost === undefined ? {} : { atMost: Math.min(size, atMost) }),
  });

/** Rows of a table to learn a label from: labels and weights are of all its rows. */
export interface LabelledRows extends PoolLabel {
  readonly features: FeatureMatrix;
  readonly rows: Int32Array;
  readonly weights?: Float64Array | undefined;
}

/** A classifier of a label, from those of the rows that have it. */
export const fit = (
  learner: Learner,
  { features, rows, labels, classes, weights }: LabelledRows,
  stream: RandomStream,
): Classifier => {
  const known = rows.filter((row) => labels[row] >= 0);
  const training = { features, rows: known, labels: known.map((row) => labels[row]), classes };
  if (weights === undefined) return learner.fit(training, stream);
  return learner.fit({ ...training, weights: Float64Array.from(known, (row) => weights[row]) }, stream);
};

/** The classifier of a sensitive label, or the one class that is among the labels. */
const fittedBy = (
  model: Exclude<SensitiveModel, { kind: "supplied" }>,
  labelled: LabelledRows,
  stream: RandomStream,
): Classifier | number => {
  if (model.kind === "fixed") return model.classifier;
  const { rows, labels } = labelled;
  const known = rows.filter((row) => labels[row] >= 0);
  const first = labels[known[0]] ?? 0;
  return known.every((row) => labels[row] === first) ? first : fit(model.learner, labelled, stream);
};

/** The members of a sensitive model for any rows; with one class among the labels, all say that class. */
export const membersBy = (
  model: SensitiveModel,
  labelled: LabelledRows,
  stream: RandomStream,
): ((rows: Int32Array) => MemberProbabilities) => {
  const { features, classes } = labelled;
  if (model.kind === "supplied") return (rows) => takeRows(model.members, rows) as MemberProbabilities;
  const fitted = fittedBy(model, labelled, stream);
  // Nothing to tell apart yet: unanimous members, which leak nothing.
  if (typeof fitted === "number") return (rows) => unanimous(rows.length, classes, fitted);
  return (rows) => fitted.predictMembers(features, rows);
};

/** The same with the mean of all members as the only one. */
const meansBy = (
  model: SensitiveModel,
  labelled: LabelledRows,
  stream: RandomStream,
): ((rows: Int32Array) => Members) => {
  const { features, classes } = labelled;
  if (model.kind === "supplied") return (rows) => takeRows(model.members, rows);
  const fitted = fittedBy(model, labelled, stream);
  if (typeof fitted === "number") return (rows) => unanimous(rows.length, classes, fitted);
  return (rows) => ({
    kind: "dense",
    rows: rows.length,
    members: 1,
    classes,
    values: fitted.predict(features, rows),
  });
};

const unanimous = (rows: number, classes: number, which: number): MemberProbabilities => {
  const values = new Float32Array(rows * classes);
  for (let row = 0; row < rows; row++) values[row * classes + which] = 1;
  return { kind: "dense", rows, members: 1, classes, values };
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
