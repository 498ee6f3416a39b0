/** Two datasets compared: did acquisition make the data fairer? */

import { normalQuantile } from "../../core/math.js";
import { type Interval, momentsOf, sampleVariance } from "../../core/stats.js";
import type { LeakageEstimate } from "./result.js";

export interface ComparedLeakage {
  /** Second - first: below 0 where the second gives away less. */
  readonly nats: number;
  readonly interval: Interval;
  /** Whether the same records were judged in both, so that what is common to them cancels. */
  readonly paired: boolean;
  /**
   * What was compared: what was found on rows held out, where both adversaries learnt from as many rows and so fall
   * equally short; or what they would reach with endless rows, where one had fewer to learn from.
   */
  readonly basis: "held out" | "endless rows";
}

/** Numbers of rows to learn from that differ by less than this factor count as equal. */
const AS_MANY = 1.05;

const meanVariance = (gains: Float64Array): number => sampleVariance(momentsOf(gains)) / gains.length;

/**
 * With `paired`, both must have judged the same records (the same test rows, or the same rows with other columns); the
 * interval is then that of the mean difference of their gains. Otherwise the two errors add up. Where both learnt from
 * as many rows, what was found on rows held out is compared: carrying each on to endless rows would add the errors of
 * two corrections that are much the same. `level` is 0.95 unless given.
 *
 * @example
 * ```ts
 * import { auditLeakage, leakageDifference, lookup, seededStream } from "fairbed/fairness";
 *
 * const rows = 80;
 * const sensitive = Int32Array.from({ length: rows }, (_, row) => row % 2);
 * const audit = (values) =>
 *   auditLeakage(
 *     { features: { values, rows, columns: 1 }, sensitive, groupNames: ["a", "b"] },
 *     { stream: seededStream(0), adversaries: { lookup: lookup() }, plants: 0, permutations: 99, replicates: 100 },
 *   );
 * const before = await audit(Float32Array.from(sensitive)); // a copy of the attribute
 * const after = await audit(Float32Array.from(sensitive, (_, row) => Number(row % 4 > 1))); // nothing of it
 * const { nats, interval } = leakageDifference(before.leakage.unconditional, after.leakage.unconditional, { paired: true });
 * console.log(nats < -0.5, interval[1] < 0); // true true
 * ```
 */
export const leakageDifference = (
  first: LeakageEstimate,
  second: LeakageEstimate,
  {
    level = 0.95,
    paired = false,
  }: { readonly level?: number | undefined; readonly paired?: boolean | undefined } = {},
): ComparedLeakage => {
  const [one, two] = [first.records, second.records];
  const asMany = Math.max(one.learnt, two.learnt) <= AS_MANY * Math.min(one.learnt, two.learnt);
  const [a, b] = asMany ? [one.heldOut, two.heldOut] : [one.gains, two.gains];
  const nats = momentsOf(b).mean - momentsOf(a).mean;
  const extra = asMany ? 0 : one.extraVariance + two.extraVariance;
  const together = paired ? pairedVariance(one.rows, a, two.rows, b) : undefined;
  const half =
    -normalQuantile((1 - level) / 2) * Math.sqrt((together ?? meanVariance(a) + meanVariance(b)) + extra);
  return {
    nats,
    interval: [nats - half, nats + half],
    paired: together !== undefined,
    basis: asMany ? "held out" : "endless rows",
  };
};

/** Of the mean of second - first by record; undefined where the records are not the same. */
const pairedVariance = (
  rowsOfFirst: Int32Array,
  first: Float64Array,
  rowsOfSecond: Int32Array,
  second: Float64Array,
): number | undefined => {
  if (rowsOfFirst.length !== rowsOfSecond.length) return undefined;
  const gainOf = new Map<number, number>();
  rowsOfFirst.forEach((row, i) => {
    gainOf.set(row, first[i]);
  });
  const differences = new Float64Array(second.length);
  for (let i = 0; i < second.length; i++) {
    const other = gainOf.get(rowsOfSecond[i]);
    if (other === undefined) return undefined;
    differences[i] = second[i] - other;
  }
  return meanVariance(differences);
};
