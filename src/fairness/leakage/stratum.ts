/** Rows among which the attribute is guessed: all of them, or those with one value of the target. */
import { leakageNotes } from "./texts.js";

export interface Stratum {
  /** For notes: nothing, or `" where the target is ..."`. */
  readonly where: string;
  /** Rows to learn from; they are judged on too, each by models that have not seen it, where there is no test. */
  readonly rows: Int32Array;
  /** Rows to judge on that nothing learns from. */
  readonly test: Int32Array | undefined;
  /** Groups that are left, renumbered from 0; their numbers before. */
  readonly groups: readonly number[];
  /** [all rows of the matrix], the renumbered group, or -1. */
  readonly labels: Int32Array;
}

/** The share of each group among the rows. */
export const shares = (rows: Int32Array, { labels, groups }: Stratum): Float64Array => {
  const counts = new Float64Array(groups.length);
  for (const row of rows) counts[labels[row]]++;
  return counts.map((count) => count / rows.length);
};

export interface StratumSettings {
  /** [all rows of the matrix], -1 where unknown. */
  readonly sensitive: Int32Array;
  readonly groupNames: readonly string[];
  readonly rows: Int32Array;
  readonly test: Int32Array | undefined;
  readonly where: string;
  /** A group with fewer rows to learn from is left out. */
  readonly leastRows: number;
}

/** Leaves out groups that are too small, and says so in `notes`. */
export const stratumOf = (
  { sensitive, groupNames, rows, test, where, leastRows }: StratumSettings,
  notes: string[],
): Stratum => {
  const counts = new Int32Array(groupNames.length);
  for (const row of rows) if (sensitive[row] >= 0) counts[sensitive[row]]++;
  const groups = [...counts.keys()].filter((group) => counts[group] >= leastRows);
  counts.forEach((count, group) => {
    if (count > 0 && count < leastRows) {
      notes.push(leakageNotes.smallGroup(groupNames[group], count, leastRows, where));
    }
  });
  const place = new Map(groups.map((group, at) => [group, at]));
  const labels = sensitive.map((group) => place.get(group) ?? -1);
  const known = (row: number) => labels[row] >= 0;
  return { where, rows: rows.filter(known), test: test?.filter(known), groups, labels };
};
