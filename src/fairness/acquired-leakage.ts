/**
 * What acquired rows teach about a sensitive attribute, apart from how many of each group they hold.
 *
 * An adversary learns the attribute from the acquired rows and guesses it on rows of the population. Its accuracy moves
 * with the shares of the groups alone: one that was shown women only calls everybody a woman. So every acquired row counts
 * by the population's share of its group over the acquired share, and the guesses are judged by
 *
 *     AUC   a member of one group told from one of another, which no share enters, and
 *     nats  H(phi) - E[-log p(phi | x)], the information that the guesses carry at the population's shares.
 *
 * The guesses are calibrated (`leakage/calibration.ts`) on one half of the rows judged and scored on the other, and the
 * other way round, so that an adversary that found nothing scores about 0. With base rates b, a row scores
 * log p(phi | x) - log b(phi); the nats are their mean. To first order neither the base rates nor the calibration that
 * come from the same rows move it (the derivative by b is E[p(c | x)] / b(c), 1 for all c; that by the calibration is 0 at
 * its optimum), so its error is that of a mean. Both intervals are for other rows of the population and this adversary:
 * what another draw of acquired rows would have taught, repeated acquisitions tell.
 */
import { InputError } from "../core/errors.js";
import { log, normalQuantile } from "../core/math.js";
import { type RandomStream, seededStream } from "../core/random.js";
import type { Interval } from "../core/stats.js";
import type { FeatureMatrix, Learner } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import { groupAuc } from "./auc.js";
import { requireLabels, requireLength } from "./group-metrics/group-labels.js";
import { calibrate, logProbabilities, logScores } from "./leakage/calibration.js";
import { upperEnd } from "./leakage/estimate.js";

/** Guesses of the attribute on rows of the population. */
export interface GroupGuesses {
  /** P(group | x), row-major [rows, classes]. */
  readonly probabilities: ArrayLike<number>;
  /** [rows], -1 where it is unknown and left out. */
  readonly groups: ArrayLike<number>;
  readonly classes: number;
  /** How much each row counts, [rows]; 1 unless given. */
  readonly weights?: ArrayLike<number> | undefined;
  /** [classes]: the shares to judge at; those of the rows, by their weights, unless given. */
  readonly shares?: ArrayLike<number> | undefined;
}

export interface JudgeGuessesOptions {
  /** Deals the rows into halves. */
  readonly stream?: RandomStream | undefined;
  /** Whether intervals are wanted (yes): without them it is a little faster. */
  readonly interval?: boolean | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
}

/** What guesses of the attribute are worth. */
export interface JudgedGuesses {
  /** At the shares, in nats; not below 0. */
  readonly nats: number;
  /** As it came out: below 0 where the guesses are worse than the base rates on rows held out. */
  readonly rawNats: number;
  readonly natsInterval: Interval | undefined;
  /** Hand and Till's where there are more than two groups. */
  readonly auc: number;
  readonly aucInterval: Interval | undefined;
  /** H(phi) at the shares, in nats: all there is to give away. */
  readonly entropy: number;
}

/** Acquired rows, rows of the population that are judged, and the attribute of both: numbers are rows of `features`. */
export interface AcquiredRows {
  readonly features: FeatureMatrix;
  /** [rows of features], -1 where it is unknown. */
  readonly sensitive: Int32Array;
  readonly classes: number;
  readonly acquired: Int32Array;
  readonly test: Int32Array;
  /** How much each row counts, [rows of features]; 1 unless given. */
  readonly weights?: Float64Array | undefined;
  /** [classes]: the population's; those of the test rows, by their weights, unless given. */
  readonly shares?: ArrayLike<number> | undefined;
}

export interface AcquiredLeakageOptions extends JudgeGuessesOptions {
  /** Who guesses (a forest). */
  readonly learner?: Learner | undefined;
}

export interface LeakageOfAcquired extends JudgedGuesses {
  /** [classes]: among acquired rows whose group is known. */
  readonly acquiredShares: readonly number[];
  /** [classes]: those judged at. */
  readonly shares: readonly number[];
  /** The adversary's P(group | x) at the population's shares, as they came, row-major [test, classes]. */
  readonly probabilities: Float64Array;
  /** Where there was nothing to learn from. */
  readonly note: string | undefined;
}

export const acquiredLeakageTexts = {
  shares: (classes: number) =>
    `The population's shares must be ${classes} numbers of at least 0, one for each group, and not all 0.`,
  noRows:
    "None of the rows to judge has a known group and a weight above 0; give rows of the population whose group is known.",
  oneGroup:
    "fewer than two groups were acquired, so nobody can learn from these rows to tell the groups apart: the leakage is 0 for that reason alone",
};

/** Sums of weights by group, of those rows whose group is known. */
const groupTotals = (
  groups: ArrayLike<number>,
  classes: number,
  weightOf: (row: number) => number,
): Float64Array => {
  const totals = new Float64Array(classes);
  for (let row = 0; row < groups.length; row++) if (groups[row] >= 0) totals[groups[row]] += weightOf(row);
  return totals;
};

const normalised = (totals: ArrayLike<number>): Float64Array => {
  const values = Float64Array.from(totals);
  const sum = values.reduce((whole, each) => whole + each, 0);
  return sum > 0 ? values.map((each) => each / sum) : values;
};

const sharesOf = (
  given: ArrayLike<number> | undefined,
  totals: Float64Array,
  classes: number,
): Float64Array => {
  if (given === undefined) return normalised(totals);
  const values = Array.from(given);
  const right = values.length === classes && values.every((each) => each >= 0 && Number.isFinite(each));
  if (!right || !values.some((each) => each > 0))
    throw new InputError("shares", acquiredLeakageTexts.shares(classes));
  return normalised(values);
};

/** H of shares, in nats. */
const entropyOf = (shares: Float64Array): number =>
  shares.reduce((sum, share) => (share > 0 ? sum - share * log(share) : sum), 0);

/** Every other row of each group in an order that is drawn: two halves with the same groups. */
const halvesOf = (groups: Int32Array, classes: number, stream: RandomStream): readonly Int32Array[] => {
  const order = stream.permutation(groups.length);
  const seen = new Int32Array(classes);
  const halves: [number[], number[]] = [[], []];
  for (const row of order) halves[seen[groups[row]]++ % 2].push(row);
  return halves.map((half) => Int32Array.from(half).sort());
};

/** log p(phi | x) - log b(phi) of each row, calibrated on the half that it is not in. */
const gainsOf = (
  scores: Float64Array,
  groups: Int32Array,
  weights: Float64Array,
  base: Float64Array,
  stream: RandomStream,
): Float64Array => {
  const classes = base.length;
  const halves = halvesOf(groups, classes, stream);
  const gains = new Float64Array(groups.length);
  const take = (half: Int32Array) => {
    const values = new Float64Array(half.length * classes);
    half.forEach((row, i) => {
      values.set(scores.subarray(row * classes, (row + 1) * classes), i * classes);
    });
    return {
      values,
      labels: half.map((row) => groups[row]),
      own: Float64Array.from(half, (i) => weights[i]),
    };
  };
  const [first, second] = halves.map(take);
  const score = (half: Int32Array, judged: typeof first, learnt: typeof first) => {
    // A single row has no other half: it is taken at the base rates.
    if (learnt.labels.length === 0) return;
    const calibration = calibrate(learnt.values, learnt.labels, base, learnt.own);
    logProbabilities(judged.values, judged.labels, calibration).forEach((value, i) => {
      gains[half[i]] = value - calibration.logBase[judged.labels[i]];
    });
  };
  score(halves[0], first, second);
  score(halves[1], second, first);
  return gains;
};

/** The weighted mean of gains with its interval, whose upper end allows for small leakages as in `leakage/estimate.ts`. */
const meanGain = (gains: Float64Array, weights: Float64Array, level: number) => {
  let whole = 0;
  let sum = 0;
  gains.forEach((gain, i) => {
    whole += weights[i];
    sum += weights[i] * gain;
  });
  const mean = sum / whole;
  let squares = 0;
  let variance = 0;
  gains.forEach((gain, i) => {
    squares += weights[i] * weights[i];
    variance += (weights[i] * (gain - mean)) ** 2;
  });
  const n = (whole * whole) / squares;
  const error = n > 1 ? Math.sqrt((variance / (whole * whole)) * (n / (n - 1))) : 0;
  const q = -normalQuantile((1 - level) / 2);
  const interval: Interval = [
    Math.max(0, mean - q * error),
    Math.max(0, error === 0 ? mean : upperEnd(mean, error, q, n)),
  ];
  return { mean, interval };
};

/**
 * What guesses of a sensitive attribute are worth at the population's shares, in nats and as an AUC.
 *
 * @example
 * ```ts
 * import { judgeGuesses } from "fairbed/fairness";
 *
 * const groups = Int32Array.from({ length: 400 }, (_, row) => row % 2);
 * const told = judgeGuesses({ probabilities: Array.from(groups).flatMap((g) => [1 - g, g]), groups, classes: 2 });
 * const guessed = judgeGuesses({ probabilities: Array.from(groups).flatMap(() => [0.5, 0.5]), groups, classes: 2 });
 * console.log(told.auc, (told.nats / told.entropy).toFixed(2), guessed.auc, guessed.nats); // 1 1.00 0.5 0
 * ```
 */
export const judgeGuesses = (
  { probabilities, groups, classes, weights, shares: given }: GroupGuesses,
  { stream = seededStream("guesses"), interval = true, level = 0.95 }: JudgeGuessesOptions = {},
): JudgedGuesses => {
  const rows = groups.length;
  requireLength("weights", weights, rows);
  requireLabels(Int32Array.from(groups), classes);
  const weightOf = (row: number): number => weights?.[row] ?? 1;
  const totals = groupTotals(groups, classes, weightOf);
  const shares = sharesOf(given, totals, classes);
  const there = normalised(totals);
  const judgedAt = (row: number): number =>
    groups[row] < 0 || there[groups[row]] === 0
      ? 0
      : (weightOf(row) * shares[groups[row]]) / there[groups[row]];
  const known = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => judgedAt(row) > 0);
  if (known.length === 0) throw new InputError("no-rows", acquiredLeakageTexts.noRows);
  // Groups that nobody belongs to are no part of the question.
  const present = [...shares.keys()].filter((g) => shares[g] > 0 && there[g] > 0);
  const base = normalised(present.map((g) => shares[g]));
  const place = new Map(present.map((g, at) => [g, at]));
  const labels = known.map((row) => place.get(groups[row]) ?? 0);
  const own = Float64Array.from(known, judgedAt);
  const kept = new Float64Array(known.length * present.length);
  known.forEach((row, i) => {
    present.forEach((g, at) => {
      kept[i * present.length + at] = probabilities[row * classes + g];
    });
  });
  const { auc, interval: aucInterval } = groupAuc(kept, labels, present.length, { weights: own, level });
  const gains = gainsOf(logScores(kept, base), labels, own, base, stream);
  const { mean, interval: natsInterval } = meanGain(gains, own, level);
  // Nothing says more about the group than which it is.
  const entropy = entropyOf(base);
  const most = (nats: number): number => Math.min(nats, entropy);
  return {
    nats: most(Math.max(0, mean)),
    rawNats: mean,
    natsInterval: interval ? [most(natsInterval[0]), most(natsInterval[1])] : undefined,
    auc,
    aucInterval: interval ? aucInterval : undefined,
    entropy,
  };
};

/**
 * What acquired rows give away about a sensitive attribute: see the top of this file. An adversary is fitted on the
 * acquired rows, weighted to the population's shares, and judged on `test`, rows of the population that were not acquired.
 *
 * @example
 * ```ts
 * import { acquiredLeakage, seededStream } from "fairbed/fairness";
 *
 * const rows = 1200;
 * const stream = seededStream(0);
 * const sensitive = Int32Array.from({ length: rows }, () => stream.integer(2));
 * const values = Float32Array.from(sensitive, (group) => group + stream.normal()); // a feature that gives it away
 * const range = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, i) => from + i);
 * const given = { features: { values, rows, columns: 1 }, sensitive, classes: 2, test: range(200, rows) };
 * const both = acquiredLeakage({ ...given, acquired: range(0, 200) }, { stream: seededStream(1) });
 * const one = acquiredLeakage({ ...given, acquired: range(0, 200).filter((row) => sensitive[row] === 1) });
 * console.log(both.auc > 0.6, both.nats > 0, one.auc, one.nats); // true true 0.5 0
 * ```
 */
export const acquiredLeakage = (
  { features, sensitive, classes, acquired, test, weights, shares: given }: AcquiredRows,
  { learner = forest(), stream = seededStream("acquired leakage"), ...options }: AcquiredLeakageOptions = {},
): LeakageOfAcquired => {
  requireLength("sensitive", sensitive, features.rows);
  requireLength("weights", weights, features.rows);
  requireLabels(sensitive, classes);
  const weightOf = (row: number): number => weights?.[row] ?? 1;
  const groups = test.map((row) => sensitive[row]);
  const tested = weights === undefined ? undefined : Float64Array.from(test, (row) => weights[row]);
  const shares = sharesOf(
    given,
    groupTotals(groups, classes, (at) => weightOf(test[at])),
    classes,
  );
  const known = acquired.filter((row) => sensitive[row] >= 0);
  const labels = known.map((row) => sensitive[row]);
  const acquiredShares = normalised(groupTotals(labels, classes, (at) => weightOf(known[at])));
  const told = [...acquiredShares.keys()].filter((g) => acquiredShares[g] > 0 && shares[g] > 0);
  const judge = (probabilities: Float64Array) =>
    judgeGuesses(
      { probabilities, groups, classes, weights: tested, shares },
      { ...options, stream: stream.split("halves") },
    );
  const settled = { acquiredShares: [...acquiredShares], shares: [...shares] };
  if (told.length < 2) {
    const probabilities = Float64Array.from(
      { length: test.length * classes },
      (_, at) => shares[at % classes],
    );
    return { ...judge(probabilities), ...settled, probabilities, note: acquiredLeakageTexts.oneGroup };
  }
  const own = Float64Array.from(
    known,
    (row) => (weightOf(row) * shares[sensitive[row]]) / acquiredShares[sensitive[row]],
  );
  const adversary = learner.fit(
    { features, rows: known, labels, classes, weights: own },
    stream.split("adversary"),
  );
  const probabilities = adversary.predict(features, test);
  return { ...judge(probabilities), ...settled, probabilities, note: undefined };
};
