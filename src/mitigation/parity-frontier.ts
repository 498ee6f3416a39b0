/**
 * Accuracy against parity: what the scores of a model come to under the fair decision rule (`fair-rule.ts`), from the plain
 * rule to that of equal rates, and the highest accuracy where the groups' rates are at least so much alike.
 *
 * It is a measure, not a rule to use: the multipliers are read off the rows that are judged, the same for every model that
 * is compared. `fitFairRule` chooses them on other rows.
 *
 * At a fixed selection rate of the rows (that of the true positives unless given) models are compared where all select
 * equally many: of rows exactly at the threshold the share that is missing is counted, as if a coin were tossed for each.
 * With two groups the multipliers (-lambda, lambda) are tried on a grid, most of it to the side of the group that is selected
 * less, and then more finely where the level is passed. With more, steps along the gaps between the rates lead to equal
 * rates, and the line there is tried, then each group's multiplier by itself.
 */
import { InputError } from "../core/errors.js";
import { pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { type Interval, momentsOf, quantiles, sampleVariance } from "../core/stats.js";
import { ratioOfRates } from "./fair-rule/cuts.js";
import { groupWeights, placesBetweenCrossings } from "./fair-rule/multipliers.js";
import { type CountedRows, countRows, type FairMetric, type FairRuleRows } from "./fair-rule/rule-rows.js";
import { fairRuleTexts, type RuleOutcome } from "./fair-rule.js";
import { FAIR_RULE_DEFAULTS } from "./fair-rule-defaults.js";
import { cutAtWeight } from "./parity-frontier/rate-cut.js";

/** Rows to judge: labels are needed, and groups where the true ones are to be compared. */
export type FrontierRows = FairRuleRows & { readonly labels: ArrayLike<number> };

export interface ParityFrontierOptions {
  /** What is to be equal ("dp"). */
  readonly metric?: FairMetric | undefined;
  /** The share of rows to select, above 0 and at most 1; "matched": that of the true positives; "free": any. */
  readonly selectionRate?: number | "matched" | "free" | undefined;
}

export interface AccuracyAtParityOptions extends ParityFrontierOptions {
  /** The least ratio of the lowest to the highest rate of a group, above 0 and at most 1 (0.8). */
  readonly level?: number | undefined;
}

/** A rule that no other has both more accuracy and more parity than. */
export interface ParityPoint extends RuleOutcome {
  /** Of two groups' multipliers (-lambda, lambda); of more, half the sum of their absolute values. */
  readonly lambda: number;
  /** [groups] */
  readonly multipliers: readonly number[];
}

export interface ParityTradeOff {
  /** From the most accurate to the most equal: ratios rise and accuracies fall. */
  readonly points: readonly ParityPoint[];
  /** Without multipliers. */
  readonly plain: RuleOutcome;
}

export interface ParityAccuracy {
  readonly metric: FairMetric;
  readonly level: number;
  /** The highest accuracy where the ratio is at least the level; undefined where no rule reaches it. */
  readonly accuracy: number | undefined;
  /** The rule that has it, or where none reaches the level the one that comes closest. */
  readonly best: ParityPoint;
  readonly plain: RuleOutcome;
}

export interface ParityAccuracyEstimate extends ParityAccuracy {
  /** 95 % of the accuracy for other such rows; undefined where too few resamples reach the level. */
  readonly interval: Interval | undefined;
  readonly standardError: number | undefined;
  /** The share of resamples in which some rule reaches the level. */
  readonly reached: number;
}

export interface EstimateAtParityOptions extends AccuracyAtParityOptions, RunOptions {
  /** Resamples of the rows behind the interval (200). */
  readonly replicates?: number | undefined;
  /** Where they are drawn from. */
  readonly stream?: RandomStream | undefined;
}

export const parityFrontierTexts = {
  selectionRate: (given: unknown) =>
    `the selection rate was ${String(given)}: give a share of the rows, above 0 and at most 1, "matched" or "free"`,
  replicates: (given: unknown) =>
    `the number of replicates was ${String(given)}: give a whole number of at least 20`,
};

/** Directions on a line, more on the side that helps. */
const HELPING = 48;
const OTHER = 12;
const LINE = 16;
const FINER = 8;
const ROUNDS = 2;
/** Steps towards equal rates, and rounds over the groups, where there are more than two. */
const STEPS = 40;
const PASSES = 2;
/** With so few rows and two groups every order that multipliers can give is tried. */
const ALL_ORDERS = 60;
/** Ratios of sums that are equal in exact arithmetic may differ by their rounding. */
const ROUNDING = 1e-12;
/** With fewer resamples at the level than this share, what the others would have is missing from the interval. */
const ENOUGH = 0.9;

interface Goal {
  readonly level: number;
  readonly rate: number | undefined;
}

/** Rules tried out on some rows; `weights` in place of the rows' own for a resample. */
interface Trial {
  readonly counted: CountedRows;
  /** [rows, groups], as in `groupWeights`. */
  readonly w: Float64Array;
  readonly values: Float64Array;
  readonly scratch: { readonly values: Float64Array; readonly weights: Float64Array };
}

const trialOf = (counted: CountedRows, metric: FairMetric): Trial => {
  const { eta, probabilities, shares, rows } = counted;
  return {
    counted,
    w: groupWeights(eta, probabilities, shares, metric),
    values: new Float64Array(rows),
    scratch: { values: new Float64Array(rows), weights: new Float64Array(rows) },
  };
};

/** eta(x) - sum_g lambda_g w_g(x) into `values`. */
const scoreRows = ({ counted: { eta, groups, rows }, w, values }: Trial, multipliers: readonly number[]) => {
  if (groups === 2) {
    const [first, second] = multipliers;
    for (let row = 0; row < rows; row++)
      values[row] = eta[row] - first * w[2 * row] - second * w[2 * row + 1];
    return;
  }
  for (let row = 0; row < rows; row++) {
    let sum = eta[row];
    for (let g = 0; g < groups; g++) sum -= multipliers[g] * w[row * groups + g];
    values[row] = sum;
  }
};

const lambdaOf = (multipliers: readonly number[]): number =>
  multipliers.length === 2
    ? (multipliers[1] - multipliers[0]) / 2
    : multipliers.reduce((sum, each) => sum + Math.abs(each), 0) / 2;

/** What selecting the highest scores comes to where they are this share of the weight, and each group's rate. */
const tryAtRate = (trial: Trial, multipliers: readonly number[], rate: number) => {
  const { counted, values, scratch } = trial;
  const { rows, groups, counts, totals, weights, weight, gains, rightAtNone } = counted;
  scoreRows(trial, multipliers);
  let kept = 0;
  for (let row = 0; row < rows; row++) {
    if (weights[row] === 0) continue;
    scratch.values[kept] = values[row];
    scratch.weights[kept++] = weights[row];
  }
  const { threshold, part } = cutAtWeight(
    scratch.values.subarray(0, kept),
    scratch.weights.subarray(0, kept),
    Math.min(weight, rate * weight),
  );
  const selected = new Float64Array(groups);
  let right = rightAtNone;
  for (let row = 0; row < rows; row++) {
    if (values[row] < threshold) continue;
    const taken = values[row] > threshold ? 1 : part;
    right += taken * gains[row];
    for (let g = 0; g < groups; g++) selected[g] += taken * counts[row * groups + g];
  }
  const ratio = ratioOfRates(selected, totals);
  const point: ParityPoint = {
    lambda: lambdaOf(multipliers),
    multipliers,
    ratio,
    accuracy: right / weight,
    selectionRate: rate,
  };
  return { point, rates: selected.map((each, g) => (totals[g] > 0 ? each / totals[g] : 0)) };
};

/** Every cut of the rows in their order under these multipliers; equal scores are never parted, somebody is selected. */
const tryAllCuts = (
  trial: Trial,
  multipliers: readonly number[],
  offer: (ratio: number, accuracy: number, selectionRate: number) => void,
): void => {
  const { counted, values } = trial;
  const { rows, groups, counts, totals, weights, weight, gains, rightAtNone } = counted;
  scoreRows(trial, multipliers);
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const selected = new Float64Array(groups);
  let share = 0;
  let right = rightAtNone;
  for (let k = 0; k < rows; k++) {
    const row = order[k];
    for (let g = 0; g < groups; g++) selected[g] += counts[row * groups + g];
    share += weights[row];
    right += gains[row];
    if (k + 1 < rows && values[order[k + 1]] === values[row]) continue;
    offer(ratioOfRates(selected, totals), right / weight, share / weight);
  }
};

/** Points of which none has both less accuracy and less parity than another, kept as they come. */
class Envelope {
  #points: ParityPoint[] = [];

  offer(point: ParityPoint): void {
    const worse = ({ ratio, accuracy }: ParityPoint, than: ParityPoint): boolean =>
      than.ratio >= ratio - ROUNDING && than.accuracy >= accuracy - ROUNDING;
    if (this.#points.some((other) => worse(point, other))) return;
    this.#points = [...this.#points.filter((other) => !worse(other, point)), point];
  }

  /** From the most accurate to the most equal. */
  points(): readonly ParityPoint[] {
    return this.#points.toSorted((a, b) => a.ratio - b.ratio);
  }
}

const bestAt = (points: readonly ParityPoint[], level: number): ParityPoint | undefined =>
  points.find(({ ratio }) => ratio >= level - ROUNDING);

/** The standard deviation of values by weights. */
const spreadOf = (values: (row: number) => number, { rows, weights, weight }: CountedRows): number => {
  let mean = 0;
  for (let row = 0; row < rows; row++) mean += (weights[row] * values(row)) / weight;
  let variance = 0;
  for (let row = 0; row < rows; row++) variance += (weights[row] * (values(row) - mean) ** 2) / weight;
  return Math.sqrt(variance);
};

/** Walks over rules, to every one of which `visit` says its ratio. */
function* searchFrontier(
  trial: Trial,
  { level, rate }: Goal,
  envelope: Envelope,
): Generator<undefined, void> {
  const { counted } = trial;
  const { shares, groups } = counted;
  const present = shares.flatMap((share, g) => (share > 0 ? [g] : []));
  const none: readonly number[] = shares.map(() => 0);
  /** The best that these multipliers have at the level: what a line is searched by. */
  const visit = (
    multipliers: readonly number[],
  ): { readonly reaches: boolean; readonly accuracy: number } => {
    if (rate !== undefined) {
      const { point } = tryAtRate(trial, multipliers, rate);
      envelope.offer(point);
      return { reaches: point.ratio >= level - ROUNDING, accuracy: point.accuracy };
    }
    let accuracy = Number.NEGATIVE_INFINITY;
    const lambda = lambdaOf(multipliers);
    const best = new Map<number, ParityPoint>();
    tryAllCuts(trial, multipliers, (ratio, right, selectionRate) => {
      if (ratio >= level - ROUNDING && right > accuracy) accuracy = right;
      // Thousands of cuts: the best of each hundredth of the ratio, and of those from the level on.
      const bin = Math.floor(100 * ratio) + (ratio >= level - ROUNDING ? 0.5 : 0);
      if (right > (best.get(bin)?.accuracy ?? Number.NEGATIVE_INFINITY))
        best.set(bin, { lambda, multipliers, ratio, accuracy: right, selectionRate });
    });
    for (const point of best.values()) envelope.offer(point);
    return { reaches: accuracy > Number.NEGATIVE_INFINITY, accuracy };
  };

  /** Tries start + s direction at these places, then more finely beside the best one and where the level is passed. */
  function* alongLine(start: readonly number[], direction: readonly number[], places: readonly number[]) {
    const at = (s: number) => start.map((each, g) => each + s * direction[g]);
    let tried: { readonly s: number; readonly reaches: boolean; readonly accuracy: number }[] = [];
    const tryPlaces = function* (wanted: readonly number[]) {
      for (const s of wanted) {
        tried.push({ s, ...visit(at(s)) });
        yield undefined;
      }
      tried = tried.toSorted((a, b) => a.s - b.s);
    };
    yield* tryPlaces(places);
    for (let round = 0; round < ROUNDS; round++) {
      const reaching = tried.filter(({ reaches }) => reaches);
      if (reaching.length === 0) return;
      const best = reaching.reduce((a, b) => (b.accuracy > a.accuracy ? b : a));
      const k = tried.indexOf(best);
      const between = (from: number, to: number): number[] =>
        Array.from({ length: FINER / 2 }, (_, i) => from + ((i + 1) * (to - from)) / (FINER / 2 + 1));
      yield* tryPlaces([
        ...(k > 0 ? between(tried[k - 1].s, best.s) : []),
        ...(k + 1 < tried.length ? between(best.s, tried[k + 1].s) : []),
      ]);
    }
  }

  visit(none);
  if (present.length < 2) return;
  const { eta } = counted;
  /** Where a direction of multipliers counts as much as the scores. */
  const unitOf = (direction: readonly number[]): number => {
    const { w } = trial;
    const along = (row: number): number =>
      direction.reduce((sum, each, g) => sum + each * w[row * groups + g], 0);
    const spread = spreadOf(along, counted);
    // Constant but for rounding: nothing is bent.
    if (spread < 1e-9) return 0;
    return spreadOf((row) => eta[row], counted) / spread || 1 / spread;
  };
  /** s / (1 - s) of evenly spaced s: from the scores alone to the groups alone. */
  const projective = (count: number): number[] =>
    Array.from({ length: count }, (_, k) => (k + 1) / (count - k - 0.5));
  const rateNow = rate ?? tryBestShare();

  if (present.length === 2) {
    const [a, b] = present;
    const rates = tryAtRate(trial, none, rateNow).rates;
    // Multipliers rise for the group that is selected more.
    const sign = rates[b] >= rates[a] ? 1 : -1;
    const direction = none.map((_, g) => (g === a ? -sign : g === b ? sign : 0));
    const unit = unitOf(direction);
    if (unit === 0) return;
    if (counted.rows <= ALL_ORDERS) {
      const { w } = trial;
      const slope = eta.map((_, row) => sign * (w[row * groups + b] - w[row * groups + a]));
      for (const s of placesBetweenCrossings(eta, slope)) {
        visit(direction.map((each) => s * each));
        yield undefined;
      }
      return;
    }
    const places = [...projective(OTHER).map((s) => -s), 0, ...projective(HELPING)];
    yield* alongLine(
      none,
      direction,
      places.map((s) => s * unit),
    );
    return;
  }
  const towards = yield* towardsEqualRates();
  const scales = Array.from({ length: 2 * LINE }, (_, k) => (1.5 * k) / (2 * LINE - 1));
  yield* alongLine(none, towards, scales);
  for (let pass = 0; pass < PASSES; pass++)
    for (const g of present) {
      const points = envelope.points();
      const best = bestAt(points, level) ?? points[points.length - 1];
      const direction = none.map((_, h) => Number(h === g));
      const unit = unitOf(direction) / (2 * (pass + 1));
      const places = Array.from({ length: LINE }, (_, k) => (unit * (2 * k - LINE + 1)) / LINE);
      yield* alongLine(best.multipliers, direction, [...places, 0]);
    }

  /** Steps along the gaps between the groups' rates, ever shorter; as in `fair-rule/multipliers.ts`. */
  function* towardsEqualRates(): Generator<undefined, readonly number[]> {
    let multipliers = none;
    let closest = tryAtRate(trial, none, rateNow).point;
    for (let step = 0; step < STEPS; step++) {
      const { point, rates } = tryAtRate(trial, multipliers, rateNow);
      if (rate !== undefined) envelope.offer(point);
      if (point.ratio > closest.ratio) closest = point;
      const { totals } = counted;
      const whole = present.reduce((sum, g) => sum + totals[g], 0);
      const all = present.reduce((sum, g) => sum + (totals[g] * rates[g]) / whole, 0);
      if (!(all > 0)) break;
      multipliers = multipliers.map((each, g) =>
        totals[g] > 0 ? each + ((0.05 / Math.sqrt(step + 1)) * (rates[g] - all)) / all : each,
      );
      yield undefined;
    }
    return closest.lambda > 0 ? closest.multipliers : multipliers;
  }

  /** The share of rows that the plain rule selects where it is most accurate. */
  function tryBestShare(): number {
    let best = { accuracy: Number.NEGATIVE_INFINITY, share: 1 };
    tryAllCuts(trial, none, (_, accuracy, share) => {
      if (accuracy > best.accuracy) best = { accuracy, share };
    });
    return best.share;
  }
}

const checked = ({
  metric = FAIR_RULE_DEFAULTS.metric,
  level = FAIR_RULE_DEFAULTS.level,
  selectionRate = "matched",
}: AccuracyAtParityOptions) => {
  if (metric !== "dp" && metric !== "eopp") throw new InputError("metric", fairRuleTexts.metric(metric));
  if (!(level > 0 && level <= 1)) throw new InputError("level", fairRuleTexts.level(level));
  const named = selectionRate === "matched" || selectionRate === "free";
  if (!named && !(selectionRate > 0 && selectionRate <= 1))
    throw new InputError("selection-rate", parityFrontierTexts.selectionRate(selectionRate));
  return { metric, level, selectionRate };
};

/** Of rows that were counted: 1 - what is right where nobody is selected. */
const rateOf = (
  { rightAtNone, weight }: CountedRows,
  selectionRate: number | "matched" | "free",
): number | undefined => {
  if (selectionRate === "free") return undefined;
  return selectionRate === "matched" ? 1 - rightAtNone / weight : selectionRate;
};

const frontierOf = (counted: CountedRows, metric: FairMetric, goal: Goal): ParityTradeOff => {
  const trial = trialOf(counted, metric);
  const envelope = new Envelope();
  for (const _ of searchFrontier(trial, goal, envelope));
  const none = counted.shares.map(() => 0);
  return { points: envelope.points(), plain: plainOf(trial, none, goal) };
};

const plainOf = (trial: Trial, none: readonly number[], { rate }: Goal): RuleOutcome => {
  if (rate !== undefined) {
    const { ratio, accuracy, selectionRate } = tryAtRate(trial, none, rate).point;
    return { ratio, accuracy, selectionRate };
  }
  let plain: RuleOutcome = { ratio: 0, accuracy: Number.NEGATIVE_INFINITY, selectionRate: 0 };
  tryAllCuts(trial, none, (ratio, accuracy, selectionRate) => {
    if (accuracy > plain.accuracy) plain = { ratio, accuracy, selectionRate };
  });
  return plain;
};

/**
 * Accuracy against parity along the fair decision rule, as a frontier. `scores`, `groups`, `labels` and `weights` are
 * [rows], `groupProbabilities` row-major [rows, groups].
 *
 * @example
 * ```ts
 * import { parityFrontier } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.7, 0.3, 0.6, 0.45, 0.4, 0.1];
 * const labels = [1, 1, 1, 0, 1, 0, 0, 0];
 * const second = [0.9, 0.9, 0.8, 0.8, 0.1, 0.2, 0.1, 0.2]; // P(group 1 | x), by a model
 * const groupProbabilities = second.flatMap((p) => [1 - p, p]);
 * const groups = [1, 1, 1, 1, 0, 0, 0, 0];
 * const { points } = parityFrontier({ scores, groupProbabilities, groups, labels });
 * console.log(points.map(({ ratio, accuracy }) => `${ratio.toFixed(2)}: ${accuracy.toFixed(2)}`).join(", "));
 * // 0.33: 1.00, 1.00: 0.75
 * ```
 */
export const parityFrontier = (rows: FrontierRows, options: ParityFrontierOptions = {}): ParityTradeOff => {
  const { metric, level, selectionRate } = checked(options);
  const counted = countRows(rows, metric);
  return frontierOf(counted, metric, { level, rate: rateOf(counted, selectionRate) });
};

/**
 * The highest accuracy at which the lowest rate of a group is at least `level` times the highest, by the fair decision rule
 * read off these rows: what a model's scores and its group probabilities are worth where parity is asked for.
 *
 * @example
 * ```ts
 * import { accuracyAtParity } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.7, 0.3, 0.6, 0.45, 0.4, 0.1];
 * const labels = [1, 1, 1, 0, 1, 0, 0, 0];
 * const groups = [1, 1, 1, 1, 0, 0, 0, 0];
 * const groupProbabilities = groups.flatMap((g) => [1 - g, g]);
 * const { accuracy, plain } = accuracyAtParity({ scores, groupProbabilities, groups, labels });
 * console.log(plain.ratio.toFixed(2), plain.accuracy, accuracy); // 0.33 1 0.75
 * ```
 */
export const accuracyAtParity = (
  rows: FrontierRows,
  options: AccuracyAtParityOptions = {},
): ParityAccuracy => {
  const { metric, level, selectionRate } = checked(options);
  const counted = countRows(rows, metric);
  return atLevel(frontierOf(counted, metric, { level, rate: rateOf(counted, selectionRate) }), metric, level);
};

const atLevel = ({ points, plain }: ParityTradeOff, metric: FairMetric, level: number): ParityAccuracy => {
  const best = bestAt(points, level);
  return { metric, level, accuracy: best?.accuracy, best: best ?? points[points.length - 1], plain };
};

/** The same rows, each as often as it was drawn. */
const resampled = (rows: FrontierRows, times: Float64Array): FrontierRows => ({
  ...rows,
  weights: Float64Array.from(times, (each, row) => each * (rows.weights?.[row] ?? 1)),
});

/**
 * The same with an interval: the frontier is drawn again from resamples of the rows, so that it knows that the multipliers
 * are read off them.
 *
 * @example
 * ```ts
 * import { estimateAtParity, seededStream } from "fairbed/mitigation";
 *
 * const stream = seededStream(0);
 * const groups = Array.from({ length: 300 }, () => stream.integer(2));
 * const scores = groups.map((g) => stream.uniform(0.3 * g, 0.7 + 0.3 * g));
 * const labels = scores.map((p) => Number(stream.uniform() < p));
 * const rows = { scores, labels, groups, groupProbabilities: groups.flatMap((g) => [1 - g, g]) };
 * const { accuracy, interval } = await estimateAtParity(rows, { replicates: 40 });
 * console.log(interval[0] < accuracy, accuracy < interval[1]); // true true
 * ```
 */
export const estimateAtParity = async (
  rows: FrontierRows,
  options: EstimateAtParityOptions = {},
): Promise<ParityAccuracyEstimate> => {
  const { replicates = 200, stream = seededStream("accuracy at parity") } = options;
  if (!(Number.isInteger(replicates) && replicates >= 20))
    throw new InputError("replicates", parityFrontierTexts.replicates(replicates));
  const { metric, level } = checked(options);
  const found = accuracyAtParity(rows, options);
  const pace = pacer(options);
  const count = rows.labels.length;
  const accuracies: number[] = [];
  const times = new Float64Array(count);
  for (let r = 0; r < replicates; r++) {
    times.fill(0);
    for (let i = 0; i < count; i++) times[stream.integer(count)]++;
    const drawn = bothOutcomes(rows.labels, times)
      ? accuracyAtParity(resampled(rows, times), { ...options, metric, level }).accuracy
      : undefined;
    if (drawn !== undefined) accuracies.push(drawn);
    await pace.step({ done: r + 1, total: replicates, label: "resamples" });
  }
  const reached = accuracies.length / replicates;
  if (reached < ENOUGH || found.accuracy === undefined)
    return { ...found, interval: undefined, standardError: undefined, reached };
  const [low, high] = quantiles(accuracies, [0.025, 0.975]);
  return {
    ...found,
    interval: [low, high],
    standardError: Math.sqrt(sampleVariance(momentsOf(accuracies))),
    reached,
  };
};

const bothOutcomes = (labels: ArrayLike<number>, times: Float64Array): boolean => {
  let positive = 0;
  let all = 0;
  times.forEach((each, row) => {
    all += each;
    positive += each * labels[row];
  });
  return positive > 0 && positive < all;
};
