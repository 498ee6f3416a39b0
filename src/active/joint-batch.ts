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
   * How many candidates, the best by their score alone, compete for the places after the first; 16 for each place and
   * at least 256 unless given. With quotas, so many of every group that has one, and of all others together.
   */
  readonly shortlist?: number | undefined;
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

/** One model's belief as labels are supposed, one candidate after the other. */
const createBelief = (
  prediction: Prediction,
  pool: Members,
  limit: number,
  drawn: RandomStream | undefined,
) => {
  const { targets, correction = "none", workspace } = prediction;
  const weights = normalisedWeights(targets.rows, prediction.weights);
  const { members, classes } = pool;
  const equal = new Float64Array(members).fill(1 / members);
  let configurations: Configuration[] = Array.from({ length: drawn === undefined ? 1 : limit }, () => ({
    probability: drawn === undefined ? 1 : 1 / limit,
    memberWeights: equal,
  }));
  const row = new Float64Array(members * classes);
  return {
    /** I(y_n; z | labels of what was chosen), [pool rows]. */
    gains(): Float64Array {
      const total = new Float64Array(pool.rows);
      for (const { probability, memberWeights } of configurations) {
        const gain = plainEpig(pool, targets, weights, { workspace, memberWeights });
        const expected =
          correction === "none" ? undefined : expectedUnderWeights(pool, targets, weights, memberWeights);
        for (let n = 0; n < total.length; n++) total[n] += probability * (gain[n] - (expected?.[n] ?? 0));
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

/** The best by their own score, of every group with a quota and of all others together. */
const shortlisted = (
  utilities: Float64Array,
  count: number,
  constraints: Constraints,
  ties: RowKeys,
): number[] => {
  const { groups, quotas = [] } = constraints;
  const excluded = new Set(constraints.exclude ?? []);
  const limited = new Set(quotas.map(({ group }) => group));
  const seen = new Map<number | undefined, number>();
  const rows: number[] = [];
  for (const row of descending(utilities, ties)) {
    if (rows.length === count * (limited.size + 1)) break;
    const group = groups !== undefined && limited.has(groups[row]) ? groups[row] : undefined;
    const before = seen.get(group) ?? 0;
    if (before === count || excluded.has(row)) continue;
    seen.set(group, before + 1);
    rows.push(row);
  }
  return rows.sort((a, b) => a - b);
};

const positive = (name: string, value: number): number => {
  if (!Number.isInteger(value) || value < 1) throw new InputError(name, jointBatchTexts.count(name, value));
  return value;
};

/** Whether the configurations of all but the last label of a batch are more than the limit. */
const tooMany = (classes: number, size: number, limit: number): boolean =>
  (size - 1) * log(classes) > log(limit) + 1e-9;

/**
 * A batch for EPIG (no sensitive models) or FairBED-EPIG, in the order in which it was chosen. The parts of each are
 * what it adds to those before it, so that those of the whole batch are their sums.
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
  const list = shortlisted(
    alone.score.map(utility),
    positive("shortlist", options.shortlist ?? Math.max(256, 16 * size)),
    options,
    ties,
  );
  const beliefs = [target, ...sensitive].map((prediction, i) => {
    const many = tooMany(prediction.pool.classes, size, limit);
    if (many && stream === undefined) throw new InputError("stream", jointBatchTexts.stream(limit));
    const drawn = many ? stream?.split("configurations").split(i) : undefined;
    return createBelief(prediction, takeRows(prediction.pool, list), limit, drawn);
  });
  const [ofTarget, ...ofSensitive] = beliefs;
  const chosen: Selected[] = [];
  while (chosen.length < size) {
    const first = chosen.length === 0;
    // The first place is decided by the scores alone, with the exact correction.
    const at = (part: Float64Array): Float64Array => Float64Array.from(list, (row) => part[row]);
    const parts = first
      ? combineParts(at(alone.target), at(alone.leakage), beta)
      : combineParts(
          ofTarget.gains(),
          ofSensitive.length > 0
            ? combineLeakages(
                ofSensitive.map((belief) => belief.gains()),
                combine,
              )
            : new Float64Array(list.length),
          beta,
        );
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    list.forEach((row, i) => {
      const value = utility(parts.score[i], row);
      const better = value > most || (value === most && goesFirst(ties, row, list[best]));
      if (better && allowance.allows(row)) [best, most] = [i, value];
    });
    const row = list[best];
    allowance.take(row);
    chosen.push({
      row,
      score: parts.score[best],
      target: parts.target[best],
      leakage: parts.leakage[best],
      cost: cost(row),
      rank: chosen.length + 1,
    });
    if (chosen.length < size) for (const belief of beliefs) belief.choose(best);
  }
  return chosen;
};
