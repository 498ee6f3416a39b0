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
}

const meanVariance = (gains: Float64Array): number => sampleVariance(momentsOf(gains)) / gains.length;

/**
 * With `paired`, both must have judged the same records (the same test rows, or the same rows with other columns); the
 * interval is then that of the mean difference of their gains. Otherwise the two errors add up. `level` is 0.95 unless
 * given.
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
  const nats = momentsOf(second.records.gains).mean - momentsOf(first.records.gains).mean;
  const extra = first.records.extraVariance + second.records.extraVariance;
  const together = paired ? pairedVariance(first, second) : undefined;
  const variance = together ?? meanVariance(first.records.gains) + meanVariance(second.records.gains);
  const half = -normalQuantile((1 - level) / 2) * Math.sqrt(variance + extra);
  return { nats, interval: [nats - half, nats + half], paired: together !== undefined };
};

/** Undefined where the records are not the same. */
const pairedVariance = (first: LeakageEstimate, second: LeakageEstimate): number | undefined => {
  const gainOf = new Map<number, number>();
  first.records.rows.forEach((row, i) => {
    gainOf.set(row, first.records.gains[i]);
  });
  const { rows, gains } = second.records;
  if (rows.length !== gainOf.size) return undefined;
  const differences = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const other = gainOf.get(rows[i]);
    if (other === undefined) return undefined;
    differences[i] = gains[i] - other;
  }
  return meanVariance(differences);
};
