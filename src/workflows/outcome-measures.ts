/** How predictions treat the two groups, in a few numbers. */
import { parityRatios } from "../fairness/group-metrics.js";

export interface OutcomeMeasures {
  readonly accuracy: number | undefined;
  readonly selectionRate: number | undefined;
  /** P(favoured | unprivileged) - P(favoured | privileged). */
  readonly difference: number | undefined;
  readonly dpRatio: number | undefined;
  readonly tprRatio: number | undefined;
  readonly fprRatio: number | undefined;
}

/** Predictions of some rows; labels and groups are of all rows. */
export const measure = (
  predicted: Int32Array,
  rows: Int32Array,
  labels: Int32Array,
  privileged: Int32Array,
): OutcomeMeasures => {
  const groups = rows.map((row) => privileged[row]);
  const { accuracy, selectionRate, dpRatio, tprRatio, fprRatio } = parityRatios(
    predicted,
    rows.map((row) => labels[row]),
    groups,
  );
  const rate = (group: number): number => {
    const own = predicted.filter((_, i) => groups[i] === group);
    return own.reduce((sum, each) => sum + each, 0) / own.length;
  };
  return { accuracy, selectionRate, difference: rate(0) - rate(1), dpRatio, tprRatio, fprRatio };
};
