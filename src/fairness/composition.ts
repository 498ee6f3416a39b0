/**
 * Who was acquired: the share of every group, and of every group with every outcome, beside the population's. A score can
 * end in asking one group only, and what parity or leakage it then shows comes from that.
 */

import { InputError } from "../core/errors.js";
import { exp, lgamma, log, log1p } from "../core/math.js";
import { percent } from "../core/number-text.js";
import { type Interval, wilsonInterval } from "../core/stats.js";
import { groupTexts } from "./group-metrics/group-labels.js";

/** A label of every row: numbers of `classes`, -1 where it is unknown. */
export interface NamedLabel {
  readonly name: string;
  readonly classes: readonly string[];
  readonly labels: ArrayLike<number>;
}

/** Rows by their numbers. */
export interface ComposedRows {
  readonly attributes: readonly NamedLabel[];
  /** Without it there are no shares by outcome. */
  readonly outcome?: NamedLabel | undefined;
  readonly acquired: ArrayLike<number>;
  /** All who could have been acquired. */
  readonly population: ArrayLike<number>;
}

/** Of the acquired rows whose labels are known. */
export interface AcquiredShare {
  readonly count: number;
  /** Null where none is known. */
  readonly share: number | null;
  /** 95 %, Wilson's. */
  readonly interval: Interval | null;
  /** Of the population's rows whose labels are known; null where none is. */
  readonly population: number | null;
}

export interface GroupComposition extends AcquiredShare {
  readonly group: string;
}

export interface CellComposition extends AcquiredShare {
  readonly outcome: string;
  readonly group: string;
}

export interface AttributeComposition {
  readonly attribute: string;
  /** Acquired rows whose group is known, and those whose is not. */
  readonly acquired: number;
  readonly unknown: number;
  readonly groups: readonly GroupComposition[];
  /** Every group with every outcome, the outcomes of a group under each other; empty without an outcome. */
  readonly cells: readonly CellComposition[];
}

export const compositionTexts = {
  row: (row: number, rows: number) =>
    `Row ${row} is not among the ${rows} rows that have labels; give numbers of rows from 0 to ${rows - 1}.`,
  /** In words for a person: one sentence for an attribute. */
  belowHalf: (attribute: string, groups: readonly GroupBelowHalf[], { acquired, of }: CompositionWords) => {
    const [{ group, share, population }, ...others] = groups;
    const rest = others.map(
      (each) => `, ${each.group} ${percent(each.share)} and ${percent(each.population)}`,
    );
    return `${group} (${attribute}) makes up ${percent(share)} of ${acquired} and ${percent(population)} of ${of}${rest.join("")}: less than half ${others.length === 0 ? "its share" : "their shares"}`;
  },
};

/** A group with fewer of the acquired than half its share of the population. */
export interface GroupBelowHalf {
  readonly group: string;
  readonly share: number;
  readonly population: number;
}

/** How a warning calls the two sets of rows. */
export interface CompositionWords {
  /** "what was acquired" */
  readonly acquired: string;
  /** "the candidates" */
  readonly of: string;
}

/** A share that chance would show more often than this is not warned about. */
const CHANCE = 0.01;

/** How many of the rows have each label below `classes`. */
export const countLabels = (
  rows: ArrayLike<number>,
  classes: number,
  labelOf: (row: number) => number,
): Float64Array => {
  const counts = new Float64Array(classes);
  for (let i = 0; i < rows.length; i++) {
    const label = labelOf(rows[i]);
    if (label >= 0) counts[label]++;
  }
  return counts;
};

const sum = (values: Float64Array): number => values.reduce((whole, each) => whole + each, 0);

/** Shares of counts, of the acquired and of the population, [groups]. */
export const sharesOf = (acquired: Float64Array, population: Float64Array): readonly AcquiredShare[] => {
  const known = sum(acquired);
  const all = sum(population);
  return Array.from(acquired, (count, at) => ({
    count,
    share: known === 0 ? null : count / known,
    interval: known === 0 ? null : wilsonInterval(count, known),
    population: all === 0 ? null : population[at] / all,
  }));
};

const requireRows = ({ labels, classes }: NamedLabel, rows: ArrayLike<number>): void => {
  for (let i = 0; i < rows.length; i++) {
    const label = labels[rows[i]];
    if (label === undefined) throw new InputError("row", compositionTexts.row(rows[i], labels.length));
    if (label < -1 || label >= classes.length)
      throw new InputError("group-label", groupTexts.label(rows[i], label, classes.length));
  }
};

/**
 * The acquired share of every group of every attribute, and of every group with every outcome, beside the population's.
 *
 * @example
 * ```ts
 * import { compositionOf, compositionWarnings } from "fairbed/fairness";
 *
 * const labels = Int32Array.from({ length: 300 }, (_, row) => Number(row % 3 === 0)); // a third are women
 * const rows = Array.from(labels.keys());
 * const composition = compositionOf({
 *   attributes: [{ name: "sex", classes: ["man", "woman"], labels }],
 *   acquired: rows.filter((row) => labels[row] === 0 || row < 30).slice(0, 110),
 *   population: rows,
 * });
 * const [, women] = composition[0].groups;
 * console.log(women.count, women.share?.toFixed(2), women.population?.toFixed(2)); // 10 0.09 0.33
 * console.log(compositionWarnings(composition)[0]);
 * // woman (sex) makes up 9.1 % of what was acquired and 33 % of the candidates: less than half its share
 * ```
 */
export const compositionOf = ({
  attributes,
  outcome,
  acquired,
  population,
}: ComposedRows): readonly AttributeComposition[] => {
  for (const label of outcome === undefined ? attributes : [...attributes, outcome])
    for (const rows of [acquired, population]) requireRows(label, rows);
  return attributes.map(({ name, classes, labels }): AttributeComposition => {
    const groupOf = (row: number): number => labels[row];
    const count = (rows: ArrayLike<number>) => countLabels(rows, classes.length, groupOf);
    const own = count(acquired);
    const groups = sharesOf(own, count(population)).map((each, g) => ({ group: classes[g], ...each }));
    return {
      attribute: name,
      acquired: sum(own),
      unknown: acquired.length - sum(own),
      groups,
      cells: outcome === undefined ? [] : cellsOf(outcome),
    };

    function cellsOf({ classes: outcomes, labels: of }: NamedLabel): CellComposition[] {
      const cellOf = (row: number): number =>
        groupOf(row) < 0 || of[row] < 0 ? -1 : groupOf(row) * outcomes.length + of[row];
      const countCells = (rows: ArrayLike<number>) =>
        countLabels(rows, classes.length * outcomes.length, cellOf);
      return sharesOf(countCells(acquired), countCells(population)).map((each, cell) => ({
        outcome: outcomes[cell % outcomes.length],
        group: classes[Math.floor(cell / outcomes.length)],
        ...each,
      }));
    }
  });
};

/** P(X <= k) for X ~ Binomial(n, p). */
export const binomialAtMost = (k: number, n: number, p: number): number => {
  if (k >= n || p <= 0) return 1;
  if (p >= 1) return 0;
  let total = 0;
  for (let i = 0; i <= k; i++) {
    const ways = lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1);
    total += exp(ways + i * log(p) + (n - i) * log1p(-p));
  }
  return Math.min(1, total);
};

/** Whether so few of a group are below half its share, and fewer than chance would leave but once in a hundred times. */
export const isBelowHalf = (count: number, acquired: number, population: number): boolean =>
  acquired > 0 && 2 * count < population * acquired && binomialAtMost(count, acquired, population) < CHANCE;

/**
 * A sentence for every attribute that has a group which makes up less than half its share of the population among the
 * acquired, once so many are acquired that chance does not explain it (exact binomial, p < 0.01).
 *
 * @example
 * ```ts
 * import { compositionWarnings } from "fairbed/fairness";
 *
 * const share = { share: 0.05, interval: [0.01, 0.24], population: 0.3 } as const;
 * const women = { group: "women", count: 1, ...share };
 * const few = { attribute: "sex", acquired: 20, unknown: 0, groups: [women], cells: [] };
 * console.log(compositionWarnings([few]).length); // 1
 * console.log(compositionWarnings([{ ...few, acquired: 10, groups: [{ ...women, share: 0.1 }] }]).length); // 0
 * ```
 */
export const compositionWarnings = (
  composition: readonly Pick<AttributeComposition, "attribute" | "acquired" | "groups">[],
  words: CompositionWords = { acquired: "what was acquired", of: "the candidates" },
): readonly string[] =>
  composition.flatMap(({ attribute, acquired, groups }) => {
    const below = groups.flatMap(({ group, count, share, population }) =>
      share !== null && population !== null && isBelowHalf(count, acquired, population)
        ? [{ group, share, population }]
        : [],
    );
    return below.length === 0 ? [] : [compositionTexts.belowHalf(attribute, below, words)];
  });
