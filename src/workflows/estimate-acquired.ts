/**
 * What a model of the labels acquired so far is worth on the whole pool, and what they give away: from the part that was
 * drawn at random, by inverse-probability weights (`active/inclusion.ts`). Labels that were chosen cannot say: they were
 * chosen for being unlike the rest.
 */
import { inclusionWeights, poolMean } from "../active/inclusion.js";
import { jointLabel, type PoolLabel } from "../active/pool-models.js";
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { bootstrap, type Interval, intervalWithin, UNIT_RANGE } from "../core/stats.js";
import { type JudgedGuesses, judgeGuesses } from "../fairness/acquired-leakage.js";
import { parityRatios } from "../fairness/group-metrics.js";
import { joinRows, stratifiedFolds } from "../fairness/leakage/folds.js";
import type { FeatureMatrix, Learner } from "../learners/classifier.js";
import { mostProbable } from "./evaluation.js";
import { type LearntLabel, outOfFold } from "./out-of-fold.js";
import { reweighedRows } from "./reweighed-rows.js";
import type { AskedRow } from "./row-session.js";

export interface EstimatedValue {
  readonly value: number;
  /** 95 %. */
  readonly interval: Interval;
}

/** Estimates for the whole pool, and which rows they rest on. */
export interface PoolEstimate {
  /** Of a model of all labels: the share of the pool that it is right about. */
  readonly accuracy: EstimatedValue;
  /** The lowest selection rate of a group over the highest; null without an attribute, with more than two classes, or where nobody is selected. */
  readonly dpRatio: EstimatedValue | null;
  /** Of guessing the attribute: the AUC, and nats; null where fewer than two groups are known. */
  readonly leakageAuc: EstimatedValue | null;
  readonly leakage: EstimatedValue | null;
  readonly rows: {
    /** Rows drawn at random that were answered: what the estimates rest on. */
    readonly drawn: number;
    /** Drawn and refused: taken to be like those who answered. */
    readonly refused: number;
    /** Chosen by their score: known for certain, and counted for themselves alone. */
    readonly chosen: number;
    /** Chosen, and refused or not answered yet; and answered without being asked: neither is part of the estimates. */
    readonly unanswered: number;
    readonly unasked: number;
    /** Those that could be asked for at the start, of which the others are. */
    readonly pool: number;
  };
}

export const estimateTexts = {
  few: (drawn: number) =>
    `${drawn} row${drawn === 1 ? " was" : "s were"} drawn at random and answered, and an estimate for the pool needs at least 10: ask for more, with a random part above 0`,
};

/** Fewer say next to nothing. */
const FEWEST = 10;
const FOLDS = 5;
const REPLICATES = 1000;

export interface EstimateInput extends RunOptions {
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  /** The first sensitive attribute, where there is one. */
  readonly sensitive: PoolLabel | undefined;
  /** Rows that were labelled before anything was asked. */
  readonly initial: Int32Array;
  /** All that were asked for, in that order. */
  readonly asked: readonly AskedRow[];
  readonly isRefused: (row: number) => boolean;
  /** How many could be asked for at the start. */
  readonly pool: number;
  readonly learner: Learner;
  readonly weights?: Float64Array | undefined;
  /** Whether the model of the target learns from reweighed rows (no). */
  readonly reweigh?: boolean | undefined;
  readonly stream: RandomStream;
}

/** Predictions are by models that have not seen the row, of four fifths of the labels. */
export const estimateAcquired = async (input: EstimateInput): Promise<PoolEstimate> => {
  const { features, target, sensitive, initial, asked, isRefused, pool, learner, weights, stream } = input;
  const acquired = asked.filter(({ row }) => target.labels[row] >= 0 && !isRefused(row));
  const drawn = acquired.filter(({ probability }) => probability !== undefined).length;
  if (drawn < FEWEST) throw new InputError("few-drawn", estimateTexts.few(drawn));
  const rows = Int32Array.from(acquired, ({ row }) => row);
  const wasKnown = new Set([...initial, ...asked.map(({ row }) => row)]);
  const known = Int32Array.from([...initial, ...rows]).filter((row) => target.labels[row] >= 0);
  const groups = sensitive ?? { labels: new Int32Array(features.rows).fill(-1), classes: 1 };
  const joint = jointLabel(target, groups).labels;
  const folds = stratifiedFolds(
    known,
    (row) => joint[row],
    Math.min(FOLDS, known.length),
    stream.split("folds"),
  );
  const pace = pacer(input);
  const predict = async (label: PoolLabel, name: "target" | "sensitive") => {
    const learntFrom = (own: Int32Array): LearntLabel => ({
      features,
      ...label,
      rows: own,
      weights:
        name === "target" && input.reweigh === true && sensitive !== undefined
          ? reweighedRows({ rows: own, labels: target.labels, groups: groups.labels, weights })
          : weights,
      learner,
    });
    const said = await outOfFold(folds, learntFrom, stream.split(name), pace);
    const place = new Map(Array.from(joinRows(folds), (row, at) => [row, at]));
    const { classes } = label;
    const out = new Float64Array(rows.length * classes);
    rows.forEach((row, i) => {
      const at = place.get(row) ?? 0;
      out.set(said.subarray(at * classes, (at + 1) * classes), i * classes);
    });
    return out;
  };
  const predicted = mostProbable(await predict(target, "target"), target.classes);
  const right = rows.map((row, i) => Number(predicted[i] === target.labels[row]));
  const accuracy = poolMean(acquired, right);
  const inclusion = inclusionWeights(acquired);
  const groupOf = rows.map((row) => groups.labels[row]);
  const several = sensitive !== undefined && new Set(groupOf.filter((group) => group >= 0)).size > 1;
  const guesses = several
    ? judgeGuesses(
        {
          probabilities: await predict(groups, "sensitive"),
          groups: groupOf,
          classes: groups.classes,
          weights: inclusion,
        },
        { stream: stream.split("halves") },
      )
    : undefined;
  return {
    accuracy: {
      value: accuracy.mean,
      interval: intervalWithin(accuracy.mean, accuracy.interval[1] - accuracy.mean, UNIT_RANGE),
    },
    dpRatio:
      several && target.classes === 2
        ? parityOf(predicted, groupOf, inclusion, stream.split("parity"))
        : null,
    ...leakageOf(guesses),
    rows: {
      drawn,
      refused: asked.filter(({ row, probability }) => probability !== undefined && isRefused(row)).length,
      chosen: acquired.length - drawn,
      unanswered: asked.filter(
        ({ row, probability }) => probability === undefined && (target.labels[row] < 0 || isRefused(row)),
      ).length,
      unasked: target.labels.reduce((sum, label, row) => sum + Number(label >= 0 && !wasKnown.has(row)), 0),
      pool,
    },
  };
};

const leakageOf = (guesses: JudgedGuesses | undefined): Pick<PoolEstimate, "leakage" | "leakageAuc"> => {
  const { natsInterval, aucInterval } = guesses ?? {};
  return {
    leakage:
      guesses === undefined || natsInterval === undefined
        ? null
        : { value: guesses.nats, interval: natsInterval },
    leakageAuc:
      guesses === undefined || aucInterval === undefined
        ? null
        : { value: guesses.auc, interval: aucInterval },
  };
};

/** The ratio of weighted selection rates, with an interval from resamples of the rows; a resample without a group is 0. */
const parityOf = (
  predicted: Int32Array,
  groups: Int32Array,
  weights: Float64Array,
  stream: RandomStream,
): EstimatedValue | null => {
  const count = new Set(groups.filter((group) => group >= 0)).size;
  const ratioOf = (rows: Uint32Array): number => {
    const own = Int32Array.from(rows, (row) => groups[row]);
    if (new Set(own.filter((group) => group >= 0)).size < count) return 0;
    const chosen = Int32Array.from(rows, (row) => predicted[row]);
    return (
      parityRatios(chosen, chosen, own, { weights: Float64Array.from(rows, (row) => weights[row]) })
        .dpRatio ?? 0
    );
  };
  const all = Uint32Array.from(groups.keys());
  if (!predicted.includes(1)) return null;
  const { estimate, interval } = bootstrap(all.length, ratioOf, {
    stream,
    method: "percentile",
    replicates: REPLICATES,
  });
  return { value: estimate, interval };
};
