/**
 * What a model of the labels acquired so far is worth on the whole pool, and what they give away: from the part that was
 * drawn at random, by inverse-probability weights (`active/inclusion.ts`). Labels that were chosen cannot say: they were
 * chosen for being unlike the rest.
 */
import { poolMean } from "../active/inclusion.js";
import { type Pacer, paced, pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import {
  bootstrapInSteps,
  type EstimatedMean,
  type Interval,
  intervalWithin,
  UNIT_RANGE,
  wilsonInterval,
} from "../core/stats.js";
import { type JudgedGuesses, judgeGuesses } from "../fairness/acquired-leakage.js";
import { parityRatios } from "../fairness/group-metrics.js";
import { mostProbable } from "./evaluation.js";
import { type EstimateInput, type JudgedAcquisition, judgedAcquisition } from "./judged-acquisition.js";

export { type EstimateInput, estimateTexts } from "./judged-acquisition.js";

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

const REPLICATES = 1000;

/** Predictions are by models that have not seen the row, of four fifths of the labels. */
export const estimateAcquired = async (input: EstimateInput): Promise<PoolEstimate> => {
  const { stream } = input;
  const judged = judgedAcquisition(input);
  const pace = pacer(input);
  const folds = judged.dealt(stream.split("folds"));
  const target = await judged.predict("target", { folds, stream: stream.split("target"), pace });
  const sensitive = judged.several
    ? await judged.predict("sensitive", { folds, stream: stream.split("sensitive"), pace })
    : undefined;
  return poolEstimateOf(input, judged, { target, sensitive }, pace);
};

/** The estimates of predictions by models that have not seen the rows, [acquired, classes]. */
export const poolEstimateOf = async (
  input: EstimateInput,
  judged: JudgedAcquisition,
  said: { readonly target: Float64Array; readonly sensitive: Float64Array | undefined },
  pace: Pick<Pacer, "pause">,
): Promise<PoolEstimate> => {
  const { target, initial, asked, isRefused, pool, stream } = input;
  const { acquired, rows, drawn, inclusion, groupOf, several } = judged;
  const predicted = mostProbable(said.target, target.classes);
  const right = rows.map((row, i) => Number(predicted[i] === target.labels[row]));
  const accuracy = poolMean(acquired, right);
  const wasKnown = new Set([...initial, ...asked.map(({ row }) => row)]);
  const guesses =
    said.sensitive === undefined
      ? undefined
      : judgeGuesses(
          {
            probabilities: said.sensitive,
            groups: groupOf,
            classes: judged.groupClasses,
            weights: inclusion,
          },
          { stream: stream.split("halves") },
        );
  return {
    accuracy: {
      value: accuracy.mean,
      interval: accuracyInterval(
        accuracy,
        right.filter((_, i) => acquired[i].probability !== undefined),
      ),
    },
    dpRatio:
      several && target.classes === 2
        ? await parityOf(predicted, groupOf, inclusion, stream.split("parity"), pace)
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

/**
 * From the spread over draws. Where a model is right about all that were drawn, or about none, there is no spread, which
 * does not make it certain of the others: Wilson's interval of so many draws then.
 */
const accuracyInterval = ({ mean, interval }: EstimatedMean, drawn: Int32Array): Interval => {
  const right = drawn.reduce((sum, each) => sum + each, 0);
  if (right > 0 && right < drawn.length) return intervalWithin(mean, interval[1] - mean, UNIT_RANGE);
  const [low, high] = wilsonInterval(right, drawn.length);
  return [Math.min(low, mean), Math.max(high, mean)];
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
const parityOf = async (
  predicted: Int32Array,
  groups: Int32Array,
  weights: Float64Array,
  stream: RandomStream,
  pace: Pick<Pacer, "pause">,
): Promise<EstimatedValue | null> => {
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
  const { estimate, interval } = await paced(
    bootstrapInSteps(all.length, ratioOf, { stream, method: "percentile", replicates: REPLICATES }),
    pace,
  );
  return { value: estimate, interval };
};
