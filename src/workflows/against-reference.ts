/** Every group held against one that was named. */
import type { Interval } from "../core/stats.js";
import type { MetricsByGroup, RateName } from "../fairness/group-metrics.js";

/** A difference or a ratio, with its interval; without a value where there are too few rows, and `reason` says so. */
export interface ReferenceGap {
  readonly value?: number | undefined;
  readonly interval?: Interval | undefined;
  readonly reason?: string | undefined;
}

export interface GroupAgainstReference {
  readonly group: string;
  readonly rate: RateName;
  /** Rate of the group - rate of the reference. */
  readonly difference: ReferenceGap;
  /** Rate of the group / rate of the reference. */
  readonly ratio: ReferenceGap;
}

export interface AgainstReference {
  readonly reference: string;
  /** The value of the target that rates are of. */
  readonly positive: string;
  readonly groups: readonly GroupAgainstReference[];
}

/** From metrics that were made with this reference. */
export const againstReference = (
  metrics: MetricsByGroup,
  rates: readonly RateName[],
  positive: string,
): AgainstReference => ({
  reference: metrics.comparisons[rates[0]].reference,
  positive,
  groups: rates.flatMap((rate) =>
    metrics.comparisons[rate].against.map(({ group, difference, ratio }) => ({
      group,
      rate,
      difference: gapOf(difference),
      ratio: gapOf(ratio),
    })),
  ),
});

const gapOf = ({ value, interval, reason }: ReferenceGap): ReferenceGap => ({ value, interval, reason });
