/** What outer rows say of a choice that was made on inner ones. */
import type { Settled } from "./plan-choice.js";
import type { OuterDifference, PlanEstimate } from "./plan-estimates.js";

/** "met": the interval of the parity is above the level; "missed": below; else "open". */
export type PlanVerdict = "met" | "open" | "missed";

export const verdictOf = ({ interval: [low, high] }: PlanEstimate, level: number): PlanVerdict =>
  low >= level ? "met" : high < level ? "missed" : "open";

/**
 * Whether the reference is as good as the best: null with one seed, which does not tell. One that does not reach the level
 * is not as good, however accurate it is.
 */
export const isAsGood = (
  best: Pick<Settled, "reaches">,
  reference: Pick<Settled, "reaches">,
  { accuracyAtParity }: OuterDifference,
  seeds: number,
): boolean | null =>
  seeds < 2 ? null : accuracyAtParity.interval[0] <= 0 && reference.reaches >= Math.min(1, best.reaches);
