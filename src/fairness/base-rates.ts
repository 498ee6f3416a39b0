/**
 * Do the groups differ in how often the target has each of its values?
 *
 * All groups and all values are tested together by Pearson's chi-square where every expected count is large enough for
 * it (Cochran's rule: none below 1, and at most a fifth below 5). Each group is also held against all others for each
 * value by Fisher's exact test, and Holm's correction says which of them differ; where the counts are too small for the
 * chi-square, the smallest of these corrected p is the p of all together.
 */
import { chiSquareTail, exp, log } from "../core/math.js";

export interface BaseRateInput {
  /** [rows], places in `groupNames`, -1 where unknown. */
  readonly groups: Int32Array;
  readonly groupNames: readonly string[];
  /** [rows], places in `targetNames`, -1 where unknown. */
  readonly target: Int32Array;
  readonly targetNames: readonly string[];
}

/** A group that has one value of the target more, or less, often than all others together. */
export interface DifferingRate {
  readonly group: string;
  readonly target: string;
  readonly rate: number;
  /** In all other groups together. */
  readonly others: number;
  /** Fisher's exact test, with Holm's correction for all groups and values. */
  readonly pValue: number;
}

export interface BaseRateTest {
  /** Where the groups do not differ in any value, the chance of counts that differ as much. */
  readonly pValue: number;
  readonly method: "chi-square" | "fisher";
  /** The chi-square statistic and its degrees of freedom; undefined with Fisher's tests. */
  readonly statistic: number | undefined;
  readonly freedom: number | undefined;
  /** The groups that differ at the level of the test, the surest first. */
  readonly differing: readonly DifferingRate[];
}

/** [groups][values] */
const countsOf = ({ groups, groupNames, target, targetNames }: BaseRateInput): Int32Array[] => {
  const counts = groupNames.map(() => new Int32Array(targetNames.length));
  groups.forEach((group, row) => {
    if (group >= 0 && target[row] >= 0) counts[group][target[row]]++;
  });
  return counts;
};

const sum = (values: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
};

/** log 0!, log 1!, ..., log n! */
const logFactorials = (n: number): Float64Array => {
  const table = new Float64Array(n + 1);
  for (let k = 2; k <= n; k++) table[k] = table[k - 1] + log(k);
  return table;
};

/** Two-sided p of `hits` among the `drawn`, of `marked` in all `n`: tables that are no likelier than the one seen. */
const fisher = (hits: number, drawn: number, marked: number, n: number, logs: Float64Array): number => {
  const choose = (m: number, k: number) => logs[m] - logs[k] - logs[m - k];
  const all = choose(n, drawn);
  const chance = (k: number) => choose(marked, k) + choose(n - marked, drawn - k) - all;
  const seen = chance(hits);
  let p = 0;
  for (let k = Math.max(0, drawn + marked - n); k <= Math.min(drawn, marked); k++) {
    const each = chance(k);
    // Equal ones count, and rounding must not tell them apart.
    if (each <= seen + 1e-7) p += exp(each);
  }
  return Math.min(1, p);
};

const chiSquare = (counts: readonly Int32Array[], values: readonly number[], n: number) => {
  let statistic = 0;
  let least = Number.POSITIVE_INFINITY;
  let small = 0;
  for (const own of counts) {
    const rows = sum(own);
    for (const value of values) {
      const expected = (rows * sum(counts.map((each) => each[value]))) / n;
      statistic += (own[value] - expected) ** 2 / expected;
      least = Math.min(least, expected);
      small += Number(expected < 5);
    }
  }
  return {
    statistic,
    freedom: (counts.length - 1) * (values.length - 1),
    valid: least >= 1 && small <= 0.2 * counts.length * values.length,
  };
};

/**
 * Tests all groups and all values of the target together, and names those that differ. `groups` and `target` are
 * [rows]; rows where either is -1 are left out. Undefined where fewer than two groups or values have rows. `level` is
 * 0.95 unless given: a group is named where its p is below 1 - level.
 *
 * @example
 * ```ts
 * import { testBaseRates } from "fairbed/fairness";
 *
 * // 30 of 60 against 10 of 60.
 * const groups = Int32Array.from({ length: 120 }, (_, row) => row % 2);
 * const target = Int32Array.from(groups, (group, row) => Number(row < (group === 0 ? 60 : 20)));
 * const test = testBaseRates({ groups, groupNames: ["a", "b"], target, targetNames: ["no", "yes"] });
 * console.log(test.statistic, test.pValue < 0.001); // 15 true
 * console.log(test.differing.map(({ group, target, rate }) => `${group} ${target} ${rate}`)); // [ 'a yes 0.5' ]
 * ```
 */
export const testBaseRates = (
  input: BaseRateInput,
  { level = 0.95 }: { readonly level?: number | undefined } = {},
): BaseRateTest | undefined => {
  const all = countsOf(input);
  const present = [...all.keys()].filter((group) => sum(all[group]) > 0);
  const counts = present.map((group) => all[group]);
  const values = [...input.targetNames.keys()].filter((value) => counts.some((own) => own[value] > 0));
  if (present.length < 2 || values.length < 2) return undefined;
  const n = sum(counts.map(sum));
  const logs = logFactorials(n);
  // Of two values, or two groups, one says all that the other would.
  const judged = values.length === 2 ? values.slice(1) : values;
  const held = present.length === 2 ? [0] : [...present.keys()];
  const tests = held.flatMap((at) =>
    judged.map((value) => {
      const rows = sum(counts[at]);
      const marked = sum(counts.map((own) => own[value]));
      return {
        group: input.groupNames[present[at]],
        target: input.targetNames[value],
        rate: counts[at][value] / rows,
        others: (marked - counts[at][value]) / (n - rows),
        pValue: fisher(counts[at][value], rows, marked, n, logs),
      };
    }),
  );
  tests.sort((a, b) => a.pValue - b.pValue);
  let most = 0;
  const corrected = tests.map((each, i) => {
    most = Math.max(most, Math.min(1, each.pValue * (tests.length - i)));
    return { ...each, pValue: most };
  });
  const { statistic, freedom, valid } = chiSquare(counts, values, n);
  return {
    pValue: valid ? chiSquareTail(statistic, freedom) : corrected[0].pValue,
    method: valid ? "chi-square" : "fisher",
    statistic: valid ? statistic : undefined,
    freedom: valid ? freedom : undefined,
    differing: corrected.filter(({ pValue }) => pValue < 1 - level),
  };
};
