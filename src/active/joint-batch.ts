/**
 * A batch whose candidates do not say the same thing twice.
 *
 * The information that the labels y_1, ..., y_b of a batch have about a target's label z is, by the chain rule,
 *
 *     I(y_1, ..., y_b; z) = sum_i I(y_i; z | y_1, ..., y_(i-1)),
 *
 * and the batch is chosen greedily, term by term. Given labels s of those chosen so far the members are no longer
 * equally likely: v_k(s) is proportional to the product of P_k(s_i). So
 *
 *     I(y_n; z | y_1, ..., y_(i-1)) = sum_s p(s) EPIG(n under the weights v(s)),
 *
 * over all label configurations s while they are few, and over configurations drawn from p(s) where they are many.
 * For FairBED both parts are conditional in this way, each under its own model: target - beta * leakage.
 *
 * Labels are independent given the member, so a candidate that repeats a chosen one has nothing to add where members
 * are sure (votes), and where they are not it counts as a second, noisy measurement.
 *
 * A dozen labels tell the members of an ensemble apart, and given them nothing is left to choose by. So labels are supposed
 * for a round of places only, and forgotten before the next.
 */
import { InputError } from "../core/errors.js";
import { log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { type Costs, readCosts, type Selected } from "./batch.js";
import { expectedUnderWeights } from "./correction.js";
import { epig, plainEpig } from "./epig.js";
import {
  combineLeakages,
  combineParts,
  type FairnessOptions,
  fairbedEpig,
  type Prediction,
  requireBeta,
  type ScoreParts,
} from "./fairbed.js";
import { type Members, readRow, takeRows } from "./members.js";
import { type Constraints, createAllowance } from "./quotas.js";
import { descending } from "./ranking.js";
import { defaultTies, goesFirst, type RowKeys } from "./ties.js";
import { normalisedWeights } from "./weights.js";

export const jointBatchTexts = {
  count: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  stream: (configurations: number) =>
    `a batch of this size has more than ${configurations} label configurations, so they are drawn, and no random stream was given: pass one as \`stream\``,
};

export interface JointBatchOptions extends Constraints, Costs, Partial<FairnessOptions> {
  /** How many configurations of labels are looked at, for each model: all if they are no more; 64 unless given. */
  readonly configurations?: number | undefined;
  /**
   * How many candidates, the best by their score alone, compete for the places of a round; 16 for each place and at
   * least 256 unless given. With quotas, so many in proportion for a group that has one, and all for the others together.
   */
  readonly shortlist?: number | undefined;
  /** Places after which supposed labels are forgotten; 8 unless given. */
  readonly round?: number | undefined;
  /** Whether a candidate may be chosen of which all models say the same as of a chosen one while there are others; true unless given. */
  readonly repeats?: boolean | undefined;
  /**
   * What each model, the target's first, says of those who were asked and have not answered: where repeats are not wanted,
   * they count as chosen.
   */
  readonly pending?: readonly Members[] | undefined;
  readonly stream?: RandomStream | undefined;
  /** Decides between equals, by row; from the stream unless given, or the same for all where there is none. */
  readonly ties?: RowKeys | undefined;
}

/** One label configuration of what was chosen so far: how likely it is, and the members given it. */
interface Configuration {
  readonly probability: number;
  readonly memberWeights: Float64Array;
}

/** v_k P_k(y), divided by its sum, and that sum. */
const condition = (
  before: Float64Array,
  row: Float64Array,
  classes: number,
  y: number,
): [Float64Array, number] => {
  const weights = before.map((weight, k) => weight * row[k * classes + y]);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return [weights.map((weight) => weight / sum), sum];
};

/**
 * Drawn configurations often come to the same, and where one member alone is left its labels have nothing more to say:
 * each that does is looked at once.
 */
const distinct = (configurations: readonly Configuration[]): readonly Configuration[] => {
  const known = new Map<string, Configuration>();
  for (const each of configurations) {
    if (each.memberWeights.some((weight) => weight > 1 - 1e-12)) continue;
    const key = each.memberWeights.join();
    const before = known.get(key);
    known.set(
      key,
      before === undefined ? each : { ...each, probability: before.probability + each.probability },
    );
  }
  return [...known.values()];
};

/** Some of the targets stand for all where products of all their classes would take too long. */
const MOST_CELLS = 800;
const LEAST_TARGETS = 16;

const fewerTargets = (prediction: Prediction, stream: RandomStream | undefined): Prediction => {
  const { pool, targets } = prediction;
  const most = Math.max(LEAST_TARGETS, Math.floor(MOST_CELLS / (pool.classes * targets.classes)));
  if (stream === undefined || prediction.weights !== undefined || targets.rows <= most) return prediction;
  return { ...prediction, targets: takeRows(targets, stream.choice(targets.rows, most)) };
};

/** One model's belief as labels are supposed, one candidate after the other. */
const createBelief = (prediction: Prediction, limit: number, drawn: RandomStream | undefined) => {
  const { pool, targets, correction = "none", workspace } = prediction;
  const weights = normalisedWeights(targets.rows, prediction.weights);
  const { members, classes } = pool;
  const equal = new Float64Array(members).fill(1 / members);
  let configurations: Configuration[] = Array.from({ length: drawn === undefined ? 1 : limit }, () => ({
    probability: drawn === undefined ? 1 : 1 / limit,
    memberWeights: equal,
  }));
  const row = new Float64Array(members * classes);
  return {
    /** I(y_n; z | labels of what was chosen) of some rows of the pool, [rows]. */
    *gains(rows: readonly number[]): Generator<undefined, Float64Array> {
      const some = takeRows(pool, rows);
      const total = new Float64Array(rows.length);
      for (const { probability, memberWeights } of distinct(configurations)) {
        const gain = plainEpig(some, targets, weights, { workspace, memberWeights });
        const expected =
          correction === "none" ? undefined : expectedUnderWeights(some, targets, weights, memberWeights);
        for (let n = 0; n < total.length; n++) total[n] += probability * (gain[n] - (expected?.[n] ?? 0));
        yield;
      }
      return total;
    },
    choose(n: number): void {
      readRow(pool, n, row);
      if (drawn === undefined) {
        configurations = configurations.flatMap(({ probability, memberWeights }) =>
          Array.from({ length: classes }, (_, y) => condition(memberWeights, row, classes, y))
            .filter(([, sum]) => sum > 0)
            .map(([next, sum]) => ({ probability: probability * sum, memberWeights: next })),
        );
        return;
      }
      configurations = configurations.map(({ probability, memberWeights }) => {
        const options = Array.from({ length: classes }, (_, y) => condition(memberWeights, row, classes, y));
        const [next] = options[drawn.categorical(options.map(([, sum]) => sum))];
        return { probability, memberWeights: next };
      });
    },
  };
};

/** Fewer would leave a group with a small quota no choice. */
const LEAST_OF_GROUP = 32;

/** The best by their own score that are still allowed: of every group with a quota its part, and all of the others together. */
const shortlisted = (
  utilities: Float64Array,
  count: number,
  places: number,
  { groups, quotas = [] }: Constraints,
  allows: (row: number) => boolean,
  ties: RowKeys,
): number[] => {
  const rooms = new Map(
    quotas.map(({ group, atMost = places }) => [
      group,
      Math.min(count, Math.max(LEAST_OF_GROUP, Math.ceil((count * atMost) / places))),
    ]),
  );
  const left = new Map<number | undefined, number>([[undefined, count], ...rooms]);
  let open = [...left.values()].reduce((sum, room) => sum + room, 0);
  const rows: number[] = [];
  for (const row of descending(utilities, ties)) {
    if (open === 0) break;
    const group = groups !== undefined && rooms.has(groups[row]) ? groups[row] : undefined;
    const room = left.get(group) ?? 0;
    if (room === 0 || !allows(row)) continue;
    left.set(group, room - 1);
    open -= 1;
    rows.push(row);
  }
  return rows.sort((a, b) => a - b);
};

/** How many candidates compete for a batch of this size: 16 for each place and at least 256. */
export const shortlistFor = (size: number): number => Math.max(256, 16 * size);

const positive = (name: string, value: number): number => {
  if (!Number.isInteger(value) || value < 1) throw new InputError(name, jointBatchTexts.count(name, value));
  return value;
};

/** Whether the configurations of all but the last label of a round are more than the limit. */
const tooMany = (classes: number, size: number, limit: number): boolean =>
  (size - 1) * log(classes) > log(limit) + 1e-9;

/** Says of a candidate whether it repeats one that was taken: all models say the same of both. */
const createRepeats = (predictions: readonly Prediction[], pending: readonly Members[]) => {
  const pools = predictions.map(({ pool }) => pool);
  const rowOf = pools.map(({ members, classes }) => new Float64Array(members * classes));
  const keyIn = (said: readonly Members[], row: number): string =>
    said
      .map((members, i) => {
        readRow(members, row, rowOf[i]);
        return rowOf[i].join();
      })
      .join(";");
  const keyOf = (row: number): string => keyIn(pools, row);
  const known = new Map<number, string>();
  const taken = new Set<string>();
  for (let row = 0; row < (pending[0]?.rows ?? 0); row++) taken.add(keyIn(pending, row));
  const key = (row: number): string => {
    const own = known.get(row) ?? keyOf(row);
    known.set(row, own);
    return own;
  };
  return { has: (row: number) => taken.has(key(row)), add: (row: number) => taken.add(key(row)) };
};

/**
 * A batch for EPIG (no sensitive models) or FairBED-EPIG, in the order in which it was chosen. The parts of each are
 * what it adds to those before it in its round, so that those of a batch of one round are their sums.
 *
 * @example
 * ```ts
 * import { selectJointBatch } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]);
 * const targets = members([[1, 1, 0, 0], [1, 0, 1, 0]]);
 * const rows = selectJointBatch({ pool, targets }, [], { size: 2 }).map(({ row }) => row);
 * // The first two say the same, so only one of them is taken.
 * console.log(rows.includes(2)); // true
 * ```
 */
export const selectJointBatch = (
  target: Prediction,
  sensitive: readonly Prediction[],
  options: JointBatchOptions,
): Selected[] => {
  const steps = jointBatchSteps(target, sensitive, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};

/** The same in steps, so that others can have the thread between them: each says how many are chosen so far. */
export function* jointBatchSteps(
  target: Prediction,
  sensitive: readonly Prediction[],
  options: JointBatchOptions,
): Generator<number, Selected[]> {
  const { size, beta = 0, combine, stream } = options;
  requireBeta(beta);
  const rows = target.pool.rows;
  const alone: ScoreParts =
    sensitive.length > 0
      ? fairbedEpig(target, sensitive, { beta, combine })
      : combineParts(epig(target.pool, target.targets, target), new Float64Array(rows), 0);
  const allowance = createAllowance(rows, options);
  const limit = positive("configurations", options.configurations ?? 64);
  const { cost, weight } = readCosts(rows, options);
  const utility = (score: number, row: number): number => score - weight * cost(row);
  const ties = options.ties ?? defaultTies(stream);
  const utilities = alone.score.map(utility);
  const repeats =
    options.repeats === false ? createRepeats([target, ...sensitive], options.pending ?? []) : undefined;
  const round = positive("round", options.round ?? ROUND);
  const shortlist = options.shortlist === undefined ? undefined : positive("shortlist", options.shortlist);
  const chosen: Selected[] = [];
  for (let number = 0; chosen.length < size; number++) {
    const places = Math.min(round, size - chosen.length);
    const free = (row: number): boolean => allowance.allows(row) && repeats?.has(row) !== true;
    const count = shortlist ?? shortlistFor(places);
    const own = shortlisted(utilities, count, size, options, free, ties);
    // Where only repetitions are left, they are what there is.
    const list = own.length > 0 ? own : shortlisted(utilities, count, size, options, allowance.allows, ties);
    const beliefs = [target, ...sensitive].map((prediction, i) => {
      const many = tooMany(prediction.pool.classes, places, limit);
      if (many && stream === undefined) throw new InputError("stream", jointBatchTexts.stream(limit));
      const ofRound = number === 0 ? stream : stream?.split("round").split(number);
      const drawn = many ? ofRound?.split("configurations").split(i) : undefined;
      const pool = takeRows(prediction.pool, list);
      const few = fewerTargets({ ...prediction, pool }, ofRound?.split("targets").split(i));
      return createBelief(few, limit, drawn);
    });
    for (let place = 0; place < places; place++) {
      const allowed = [...list.keys()].filter((i) => allowance.allows(list[i]));
      // Of a shortlist whose groups are full the others are in the next round's.
      if (allowed.length === 0) break;
      const fresh = allowed.filter((i) => repeats?.has(list[i]) !== true);
      const open = fresh.length > 0 ? fresh : allowed;
      const at = (part: Float64Array): Float64Array => Float64Array.from(open, (i) => part[list[i]]);
      // The first place is decided by the scores alone, with the exact correction.
      const gains: Float64Array[] = [];
      for (const belief of place === 0 ? [] : beliefs) {
        const work = belief.gains(open);
        for (;;) {
          const { done, value } = work.next();
          if (done === true) {
            gains.push(value);
            break;
          }
          yield chosen.length;
        }
      }
      const [ofTarget, ...ofSensitive] = gains;
      const parts =
        place === 0
          ? combineParts(at(alone.target), at(alone.leakage), beta)
          : combineParts(
              ofTarget,
              ofSensitive.length > 0 ? combineLeakages(ofSensitive, combine) : new Float64Array(open.length),
              beta,
            );
      let best = -1;
      let most = Number.NEGATIVE_INFINITY;
      open.forEach((i, n) => {
        const value = utility(parts.score[n], list[i]);
        const better =
          value > most || (value === most && best >= 0 && goesFirst(ties, list[i], list[open[best]]));
        if (better) [best, most] = [n, value];
      });
      const row = list[open[best]];
      allowance.take(row);
      repeats?.add(row);
      chosen.push({
        row,
        score: parts.score[best],
        target: parts.target[best],
        leakage: parts.leakage[best],
        cost: cost(row),
        rank: chosen.length + 1,
      });
      if (place + 1 < places) for (const belief of beliefs) belief.choose(open[best]);
    }
  }
  return chosen;
}

/** Two classes and a hundred members: log2(100) labels tell them apart, and from about the twelfth on nothing is added. */
const ROUND = 8;
