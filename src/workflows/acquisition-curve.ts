/**
 * The learning curve of an acquisition from its own labels: models of the first labels that came, of more, and of all,
 * each judged on all acquired rows, by fits that have not seen them, with the weights of `active/inclusion.ts`.
 *
 * The rows that judge are the same at every size, so that what they have in common does not blur the differences. How sure
 * a curve is, resamples say: of the rows that were drawn at random (those that were chosen are known for certain), and at
 * every size one of several fits, with other folds and, every second one, with the labels in another order: which labels
 * happened to come first is chance too, and in one order alone it would look like a law.
 */
import { exp, log, normalQuantile } from "../core/math.js";
import type { Pacer } from "../core/options.js";
import type { Interval } from "../core/stats.js";
import { judgeGuesses } from "../fairness/acquired-leakage.js";
import { mostProbable } from "./evaluation.js";
import { type FitWorth, fitWorth, type JudgedPredictions, type JudgingRows } from "./fit-worth.js";
import type { EstimateInput, JudgedAcquisition } from "./judged-acquisition.js";

/** Sizes from a fifth of the labels to all of them, evenly on a logarithmic scale. */
const SIZES = 8;
const FIRST_SHARE = 1 / 5;
const LEAST_SIZE = 5;
/** Fits at each size, with other folds: those with an odd number of labels in an order that is drawn. */
const FITS = 4;
const RESAMPLES = 300;
/** They take about as long as so many fits. */
const RESAMPLED_AS = 20;
const Z95 = normalQuantile(0.975);

/** One number for each size, and the same for every resample: [sizes], [resamples][sizes]. */
export interface CurveSeries {
  readonly values: readonly number[];
  readonly resampled: readonly (readonly number[])[];
  /** The least that the variance of a value is taken for: rows that all agree tell a resample none. */
  readonly leastVariance: number;
}

export interface AcquisitionCurve {
  /** Labels that the models learn from, [sizes]: all but a fold of those that had come. */
  readonly sizes: readonly number[];
  readonly accuracy: CurveSeries;
  /** log of the ratio of two groups' selection rates, for every pair; none without groups or with more than two classes. */
  readonly logRatios: readonly CurveSeries[];
  /** Null where fewer than two groups are known. */
  readonly leakage: CurveSeries | null;
  readonly leakageAuc: CurveSeries | null;
  /** H(phi) in nats: the most that leakage can be. */
  readonly entropy: number;
  /** By the models of all labels and the folds of `estimateAcquired`, [acquired, classes]. */
  readonly said: { readonly target: Float64Array; readonly sensitive: Float64Array | undefined };
}

/** How many of the labels, in the order in which they came. */
const prefixSizes = (labels: number): readonly number[] => {
  const sizes = Array.from({ length: SIZES }, (_, j) => {
    const share = exp((1 - j / (SIZES - 1)) * log(FIRST_SHARE));
    return Math.min(labels, Math.max(LEAST_SIZE, Math.round(labels * share)));
  });
  return [...new Set(sizes)];
};

interface CurveFits {
  /** [sizes][fits] */
  readonly fits: readonly (readonly JudgedPredictions[])[];
  readonly sizes: readonly number[];
  readonly said: AcquisitionCurve["said"];
}

const fitCurve = async (
  { target, stream }: EstimateInput,
  { known, several, ...judged }: JudgedAcquisition,
  pace: Pacer,
): Promise<CurveFits> => {
  const prefixes = prefixSizes(known.length);
  const fits: JudgedPredictions[][] = prefixes.map(() => []);
  const whole: AcquisitionCurve["said"][] = [];
  let done = 0;
  const report = () =>
    pace.step({ done, total: FITS * prefixes.length + RESAMPLED_AS, label: "learning curve" });
  let learnt = 1;
  for (let k = 0; k < FITS; k++) {
    // The first are those of `estimateAcquired`.
    const own = k === 0 ? stream : stream.split("fit").split(k);
    const folds = judged.dealt(own.split("folds"));
    learnt = 1 - 1 / folds.length;
    const order = k % 2 === 0 ? known.keys() : own.split("order").permutation(known.length);
    const place = new Map(Array.from(order, (at, i) => [known[at], i]));
    for (const [j, size] of prefixes.entries()) {
      const all = size === known.length;
      const predict = (name: "target" | "sensitive") =>
        judged.predict(name, {
          folds,
          stream: all ? own.split(name) : own.split(name).split("first").split(size),
          pace: { step: pace.step, pause: report },
          mayLearn: all ? undefined : (row) => (place.get(row) ?? 0) < size,
        });
      const said = {
        target: await predict("target"),
        sensitive: several ? await predict("sensitive") : undefined,
      };
      if (all) whole.push(said);
      fits[j].push({ predicted: mostProbable(said.target, target.classes), guesses: said.sensitive });
      done += 1;
      await report();
    }
  }
  return { fits, sizes: prefixes.map((size) => size * learnt), said: whole[0] };
};

/** Numbers of the models of all labels that the curve's errors need. */
const endOf = ({ guesses }: JudgedPredictions, rows: JudgingRows, weights: Float64Array) => {
  if (guesses === undefined) return { entropy: 0, nats: 0, auc: 0 };
  const { entropy, nats, auc, natsInterval, aucInterval } = judgeGuesses(
    { probabilities: guesses, groups: rows.groups, classes: rows.groupClasses, weights },
    { stream: rows.stream },
  );
  // By the longer side, since at an end of the range the other one has no length.
  const variance = (value: number, [low, high]: Interval = [0, 0]) =>
    (Math.max(value - low, high - value) / Z95) ** 2;
  return { entropy, nats: variance(nats, natsInterval), auc: variance(auc, aucInterval) };
};

export const acquisitionCurve = async (
  input: EstimateInput,
  judged: JudgedAcquisition,
  pace: Pacer,
): Promise<AcquisitionCurve> => {
  const { target, stream } = input;
  const { acquired, rows, groupOf, groupClasses, inclusion, several } = judged;
  const { fits, sizes, said } = await fitCurve(input, judged, pace);
  const judging: JudgingRows = {
    actual: rows.map((row) => target.labels[row]),
    groups: groupOf,
    groupClasses,
    stream: stream.split("halves"),
  };
  const last = fits[fits.length - 1];
  const drawn = acquired.flatMap(({ probability }, i) => (probability === undefined ? [] : [i]));
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const selected = mean(last.map(({ predicted }) => weightedShare(predicted, inclusion)));
  const shrunk = Math.max(selected, 0.5 / drawn.length);

  const base: FitWorth[][] = [];
  for (const each of fits) {
    base.push(each.map((fit) => fitWorth(fit, judging, inclusion, shrunk)));
    await pace.pause();
  }
  const resampled: FitWorth[][] = [];
  for (let r = 0; r < RESAMPLES; r++) {
    const own = stream.split("resample").split(r);
    const weights = inclusion.slice();
    for (const i of drawn) weights[i] = 0;
    for (let i = 0; i < drawn.length; i++) {
      const at = drawn[own.integer(drawn.length)];
      weights[at] += inclusion[at];
    }
    const curve: FitWorth[] = [];
    for (const each of fits) {
      curve.push(fitWorth(each[own.integer(each.length)], judging, weights, shrunk));
      await pace.step({
        done: FITS * fits.length + Math.floor((RESAMPLED_AS * r) / RESAMPLES),
        total: FITS * fits.length + RESAMPLED_AS,
        label: "learning curve",
      });
    }
    resampled.push(curve);
  }
  const series = (of: (worth: FitWorth) => number, leastVariance: (value: number) => number): CurveSeries => {
    const values = base.map((each) => mean(each.map(of)));
    return {
      values,
      resampled: resampled.map((curve) => curve.map(of)),
      leastVariance: leastVariance(values[values.length - 1]),
    };
  };

  const end = endOf(last[0], judging, inclusion);
  /** Of the logarithm of a share of n rows: (1 - p) / (n p). */
  const rateVariance = (group: number): number => {
    const rate = exp(mean(base[base.length - 1].map(({ logRates }) => logRates[group])));
    const rowsOfGroup = drawn.filter((i) => groupOf[i] === group).length;
    return Math.max(0, 1 - rate) / (rate * Math.max(1, rowsOfGroup));
  };
  const present = Array.from({ length: groupClasses }, (_, g) => g).filter((g) => groupOf.includes(g));
  const pairs = present.flatMap((a, at) => present.slice(at + 1).map((b) => [a, b] as const));
  return {
    sizes,
    accuracy: series(
      ({ accuracy }) => accuracy,
      (accuracy) => {
        // With two right and two wrong more (Agresti and Coull, The American Statistician 52, 1998).
        const p = (accuracy * drawn.length + 2) / (drawn.length + 4);
        return (p * (1 - p)) / drawn.length;
      },
    ),
    logRatios:
      several && target.classes === 2 && selected > 0
        ? pairs.map(([a, b]) =>
            series(
              ({ logRates }) => logRates[a] - logRates[b],
              () => rateVariance(a) + rateVariance(b),
            ),
          )
        : [],
    leakage: several
      ? series(
          ({ nats }) => nats,
          () => end.nats,
        )
      : null,
    leakageAuc: several
      ? series(
          ({ auc }) => auc,
          () => end.auc,
        )
      : null,
    entropy: end.entropy,
    said,
  };
};

const weightedShare = (predicted: Int32Array, weights: Float64Array): number => {
  let whole = 0;
  let chosen = 0;
  predicted.forEach((label, i) => {
    whole += weights[i];
    if (label === 1) chosen += weights[i];
  });
  return chosen / whole;
};
