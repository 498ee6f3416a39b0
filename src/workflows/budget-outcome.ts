/** Whether a policy keeps within its leakage budget, by an evaluation of it. */
import { between, fixed } from "../core/number-text.js";
import type { MeasuredPolicy } from "../design/leakage-budget.js";
import type { ObjectiveKind } from "../design/quantity.js";
import type { PolicyReport } from "./evaluate-policy.js";

/** What was kept to of a leakage budget, by the evaluation of the policy that was kept. */
export interface BudgetOutcome {
  readonly wanted: number;
  /** The upper bound of the leakage in nats, with its error. */
  readonly reached: {
    readonly leakage: number;
    readonly standardError: number;
    readonly interval: readonly [number, number];
  };
  readonly met: boolean;
}

export const budgetOutcomeTexts = {
  unmet: ({ wanted, reached: { leakage, interval } }: BudgetOutcome) =>
    `NOT MET: a leakage of at most ${wanted} nats was wanted; that of the policy found is up to ${fixed(leakage, 3)} (${between(interval)}).`,
};

/** In standard errors, for 95 %. */
const HALF = 1.96;

export const budgetOutcome = (
  report: PolicyReport,
  objective: ObjectiveKind,
  wanted: number,
): BudgetOutcome => {
  const { leakage, standardError } = measuredBy(report, objective);
  const interval = [Math.max(0, leakage - HALF * standardError), leakage + HALF * standardError] as const;
  return { wanted, reached: { leakage, standardError, interval }, met: leakage <= wanted };
};

/** The worst leakage where there are several models. */
export const measuredBy = (report: PolicyReport, objective: ObjectiveKind): MeasuredPolicy => {
  const own = objective === "conditional" ? report.sensitiveGivenTarget : report.sensitive;
  const { upper, standardError } = report.fairness?.[objective].leakage ?? own;
  return { target: report.target.lower, leakage: upper, standardError };
};
