/** Keeping what is acquired at given shares of groups: how many of each are next, and who is taken for one of which. */
import { InputError } from "../core/errors.js";
import type { Quota } from "./quotas.js";

export const shareTexts = {
  shares: "the shares are not numbers of at least 0 with a sum above 0: give one for each group",
};

/** Shares with the sum 1. */
export const normalisedShares = (given: ArrayLike<number>): Float64Array => {
  const shares = Float64Array.from(given);
  const sum = shares.reduce((total, each) => total + each, 0);
  if (!shares.every((each) => each >= 0) || !(sum > 0 && sum < Number.POSITIVE_INFINITY)) {
    throw new InputError("shares", shareTexts.shares);
  }
  return shares.map((each) => each / sum);
};

/**
 * How many of each group the next `size` should be, [groups], so that all that is acquired comes nearest to the shares:
 * one place after the other goes to the group that is furthest behind. `have` is what was acquired so far; a group of
 * which no more are `available` is passed over.
 *
 * @example
 * ```ts
 * import { apportion } from "fairbed/active";
 *
 * // Half of each is wanted, and eight of ten were of the first group.
 * console.log(apportion({ shares: [0.5, 0.5], have: [8, 2], available: [100, 100], size: 4 })); // [ 0, 4 ]
 * ```
 */
export const apportion = ({
  shares: given,
  have,
  available,
  size,
}: {
  readonly shares: ArrayLike<number>;
  readonly have: ArrayLike<number>;
  readonly available: ArrayLike<number>;
  readonly size: number;
}): number[] => {
  const shares = normalisedShares(given);
  const before = Array.from(have).reduce((sum, each) => sum + each, 0);
  const next = Array.from(shares, () => 0);
  for (let place = 1; place <= size; place++) {
    let [most, group] = [Number.NEGATIVE_INFINITY, -1];
    shares.forEach((share, g) => {
      const behind = share * (before + place) - have[g] - next[g];
      if (next[g] < available[g] && behind > most) [most, group] = [behind, g];
    });
    if (group < 0) break;
    next[group] += 1;
  }
  return next;
};

/** Rounds in which the factors of more than two groups come near the shares. */
const ROUNDS = 60;

/**
 * Factors a_g, [groups]: with rows taken for the group with the largest a_g p(g | row), about these shares of the rows
 * are taken for each group, however wrong the level of the probabilities is. Probabilities are [rows, groups].
 */
export const groupFactors = (probabilities: ArrayLike<number>, given: ArrayLike<number>): Float64Array => {
  const shares = normalisedShares(given);
  const groups = shares.length;
  const rows = probabilities.length / groups;
  const factors = new Float64Array(groups).fill(1);
  if (rows === 0) return factors;
  if (groups === 2) {
    // The odds at which the share of the second group is reached.
    const odds = Float64Array.from({ length: rows }, (_, row) => {
      const first = probabilities[2 * row];
      return first > 0 ? probabilities[2 * row + 1] / first : Number.MAX_VALUE;
    }).sort();
    const firsts = Math.min(rows, Math.max(0, Math.round(shares[0] * rows)));
    const [below, above] = [odds[Math.max(0, firsts - 1)], odds[Math.min(rows - 1, firsts)]];
    const cut = Math.max((below + Math.min(above, 2 * below + 1)) / 2, Number.MIN_VALUE);
    factors[1] = 1 / cut;
    return factors;
  }
  for (let round = 0; round < ROUNDS; round++) {
    const counts = new Float64Array(groups);
    for (const group of groupsBy(probabilities, factors)) counts[group] += 1;
    for (let g = 0; g < groups; g++) {
      // Half a row more on both sides, so that a group nobody is taken for comes back.
      const ratio = (shares[g] * rows + 0.5) / (counts[g] + 0.5);
      factors[g] *= 1 + (ratio - 1) / (ratio + 1) / (1 + round / 20);
    }
  }
  return factors;
};

/** The group with the largest a_g p(g | row), [rows]; the first of equals. */
export const groupsBy = (probabilities: ArrayLike<number>, factors: ArrayLike<number>): Int32Array => {
  const groups = factors.length;
  return Int32Array.from({ length: probabilities.length / groups }, (_, row) => {
    let best = 0;
    for (let g = 1; g < groups; g++) {
      if (factors[g] * probabilities[row * groups + g] > factors[best] * probabilities[row * groups + best]) {
        best = g;
      }
    }
    return best;
  });
};

/** What a batch is kept to: shares of the acquired groups. */
export interface SharesOfBatch {
  /** [groups]; what a model of the groups says of the pool on average where nothing is known of any group. */
  readonly shares: ArrayLike<number> | undefined;
  /** Those of the rows that may be asked, [groups], by which rows are taken for a group; likewise where not known. */
  readonly population: ArrayLike<number> | undefined;
  /** How many of each group were acquired so far, [groups]. */
  readonly have: ArrayLike<number>;
  /** The group of each row where it is known before the row is asked, else -1. [all rows] */
  readonly known: Int32Array;
}

/** The groups of a pool, and how many of each are next. */
export interface BatchShares {
  /** Known, or what a row is taken for by its probabilities. [pool rows] */
  readonly groups: Int32Array;
  readonly quotas: readonly Quota[];
}

/** The quotas of a batch that keep to the shares; `predict` gives P(group | row), [rows, groups]. */
export const batchShares = (
  { shares: given, population, have, known }: SharesOfBatch,
  pool: Int32Array,
  size: number,
  predict: (rows: Int32Array) => ArrayLike<number>,
): BatchShares => {
  const count = have.length;
  const shares = given ?? columnSums(predict(pool), count);
  const open = pool.filter((row) => known[row] < 0);
  const probabilities = open.length === 0 ? [] : predict(open);
  const taken =
    open.length === 0
      ? open
      : groupsBy(probabilities, groupFactors(probabilities, population ?? columnSums(probabilities, count)));
  let next = 0;
  const groups = pool.map((row) => (known[row] < 0 ? taken[next++] : known[row]));
  const available = new Float64Array(count);
  for (const group of groups) available[group] += 1;
  const quotas = apportion({ shares, have, available, size }).map((places, group) => ({
    group,
    atLeast: places,
    atMost: places,
  }));
  return { groups, quotas };
};

const columnSums = (values: ArrayLike<number>, columns: number): Float64Array => {
  const sums = new Float64Array(columns);
  for (let at = 0; at < values.length; at++) sums[at % columns] += values[at];
  return sums;
};
