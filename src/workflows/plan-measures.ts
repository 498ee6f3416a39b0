/** What decisions come to on rows whose labels and groups are known. */
import { ratioOfRates } from "../mitigation/fair-rule/cuts.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { Task } from "../tables/task.js";

/** Rows that decisions are judged on: [rows] each. */
export interface JudgedRows {
  readonly rows: Int32Array;
  readonly labels: Int32Array;
  readonly groups: Int32Array;
  readonly groupCount: number;
  readonly weights: Float64Array | undefined;
  readonly metric: FairMetric;
}

export interface Measured {
  readonly accuracy: number;
  /** The lowest over the highest rate of a group: 1 is parity; 0 where nobody is selected. */
  readonly parity: number;
  readonly selectionRate: number;
}

/** The rows of a task that has the labels of all of them. */
export const judgedRows = (
  { target, sensitive, weights }: Task,
  rows: Int32Array,
  metric: FairMetric,
): JudgedRows => {
  const [attribute] = sensitive;
  return {
    rows,
    labels: rows.map((row) => target.labels[row]),
    groups: rows.map((row) => attribute.labels[row]),
    groupCount: attribute.classes.length,
    weights: weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]),
    metric,
  };
};

/** `decided` is 1 for the favourable outcome, [rows]; `times` says how often each row counts in a resample. */
export const measure = (
  decided: Uint8Array,
  { labels, groups, groupCount, weights, metric }: JudgedRows,
  times?: Uint8Array | undefined,
): Measured => {
  const selected = new Float64Array(groupCount);
  const totals = new Float64Array(groupCount);
  let whole = 0;
  let right = 0;
  let share = 0;
  for (let row = 0; row < decided.length; row++) {
    const weight = (weights?.[row] ?? 1) * (times?.[row] ?? 1);
    whole += weight;
    if (decided[row] === labels[row]) right += weight;
    if (decided[row] === 1) share += weight;
    if (metric === "eopp" && labels[row] !== 1) continue;
    totals[groups[row]] += weight;
    if (decided[row] === 1) selected[groups[row]] += weight;
  }
  return whole === 0
    ? { accuracy: 0, parity: 0, selectionRate: 0 }
    : { accuracy: right / whole, parity: ratioOfRates(selected, totals), selectionRate: share / whole };
};
