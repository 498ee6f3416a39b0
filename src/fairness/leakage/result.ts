/** What an audit of one attribute gives: plain values, with what is known of their error. */
import { countClasses, isRare, rareTexts } from "../../core/rare-values.js";
import { type Interval, wilsonInterval } from "../../core/stats.js";
import type { ColumnLeakage } from "./columns.js";
import type { AdversaryEstimate } from "./estimate.js";
import type { LeakageAuditInput } from "./input.js";

/** The leakage that the adversaries find: a lower bound of what there is. */
export interface LeakageEstimate {
  /** Per record, of the adversary that finds most on rows held out: what it would reach with endless rows. */
  readonly nats: number;
  readonly interval: Interval;
  readonly standardError: number;
  /** What it did find on the rows held out, as they come. */
  readonly heldOut: { readonly nats: number; readonly interval: Interval };
  /** Of the test that there is none. */
  readonly pValue: number;
  /** The smallest leakage that the test would have found 4 times in 5; undefined with a note where there is none. */
  readonly detectable: number | undefined;
  /** All there is to know: H(phi), or H(phi | target). */
  readonly entropy: number;
  readonly winner: string;
  readonly adversaries: readonly AdversaryEstimate[];
  readonly notes: readonly string[];
  readonly records: LeakageRecords;
}

/** The winner's gain of every judged row, and what a comparison with another dataset needs. */
export interface LeakageRecords {
  /** Row numbers, of the test rows where there are any. */
  readonly rows: Int32Array;
  /** log p(group | x) - log p(group), carried on to endless rows: their mean is the leakage. */
  readonly gains: Float64Array;
  /** The same as they come, of models of `learnt` rows. */
  readonly heldOut: Float64Array;
  readonly learnt: number;
  /** What the winner's probabilities say of the row beyond the base rates, whatever its group; not below 0. */
  readonly information: Float64Array;
  readonly extraVariance: number;
}

export interface GroupSummary {
  readonly name: string;
  readonly rows: number;
  readonly share: number;
  /** By target value, with Wilson's interval; undefined without a target or rows. */
  readonly baseRates:
    | readonly { readonly target: string; readonly rate: number; readonly interval: Interval }[]
    | undefined;
  readonly testRows: number | undefined;
}

export interface RowLeakage {
  /** The share of the leakage in the tenth of the rows that say most; undefined where none says anything. */
  readonly topTenth: number | undefined;
  /** The rows whose features say most about the attribute, by the winner's probabilities; the most first. */
  readonly largest: readonly { readonly row: number; readonly nats: number }[];
}

export interface LeakageAudit {
  readonly leakage: {
    readonly unconditional: LeakageEstimate;
    readonly conditional: LeakageEstimate | undefined;
  };
  readonly groups: readonly GroupSummary[];
  readonly columns: readonly ColumnLeakage[];
  readonly rows: RowLeakage;
  readonly notes: readonly string[];
  readonly settings: {
    readonly folds: number;
    readonly level: number;
    readonly replicates: number;
    readonly permutations: number;
    readonly plants: number;
    readonly plantRows: number;
    readonly mostRows: number | undefined;
    readonly adversaries: readonly string[];
  };
}

/** The groups by name; those so small that their figures may say who is in them as one, without base rates. */
export const summariseGroups = (
  { sensitive, groupNames, target, targetNames = [], test }: LeakageAuditInput,
  level: number,
): GroupSummary[] => {
  const counts = countClasses(sensitive, groupNames.length);
  const known = counts.reduce((sum, count) => sum + count, 0);
  const tests = test === undefined ? undefined : countClasses(test.sensitive, groupNames.length);
  const values = target === undefined ? undefined : countClasses(target, targetNames.length);
  const places = [...counts.keys()];
  const summaries = places
    .filter((group) => !isRare(counts[group]))
    .map((group): GroupSummary => {
      const hits = new Int32Array(targetNames.length);
      target?.forEach((value, row) => {
        if (sensitive[row] === group && value >= 0 && !isRare(values?.[value] ?? 0)) hits[value]++;
      });
      const labelled = hits.reduce((sum, count) => sum + count, 0);
      return {
        name: groupNames[group],
        rows: counts[group],
        share: counts[group] / known,
        baseRates:
          values === undefined || labelled === 0
            ? undefined
            : targetNames.flatMap((label, value) =>
                isRare(values[value])
                  ? []
                  : [
                      {
                        target: label,
                        rate: hits[value] / labelled,
                        interval: wilsonInterval(hits[value], labelled, level),
                      },
                    ],
              ),
        testRows: tests?.[group],
      };
    });
  const small = places.filter((group) => counts[group] > 0 && isRare(counts[group]));
  if (small.length === 0) return summaries;
  const sumOf = (of: Int32Array) => small.reduce((sum, group) => sum + of[group], 0);
  return [
    ...summaries,
    {
      name: rareTexts.some("group", small.length),
      rows: sumOf(counts),
      share: sumOf(counts) / known,
      baseRates: undefined,
      testRows: tests === undefined ? undefined : sumOf(tests),
    },
  ];
};

const LISTED = 20;

export const rowLeakage = ({ records: { rows, information } }: LeakageEstimate): RowLeakage => {
  const order = [...information.keys()].sort((a, b) => information[b] - information[a]);
  const total = information.reduce((sum, nats) => sum + nats, 0);
  const tenth = order.slice(0, Math.ceil(order.length / 10)).reduce((sum, i) => sum + information[i], 0);
  return {
    topTenth: total > 0 ? tenth / total : undefined,
    largest: order.slice(0, LISTED).map((i) => ({ row: rows[i], nats: information[i] })),
  };
};
