import { expect, test } from "vitest";
import { budgetOutcome, budgetOutcomeTexts } from "../../src/workflows/budget-outcome.js";
import type { PolicyReport } from "../../src/workflows/evaluate-policy.js";

const bounds = (upper: number) => ({ lower: 0, upper, standardError: 0.01 });
const report = {
  target: bounds(2),
  sensitive: bounds(0.25),
  sensitiveGivenTarget: bounds(0.15),
} as unknown as PolicyReport;

test("whether a policy keeps within its leakage budget is said by its evaluation, with its error", () => {
  const missed = budgetOutcome(report, "unconditional", 0.2);
  expect(missed.met).toBe(false);
  expect(missed.reached.leakage).toBe(0.25);
  expect(missed.reached.interval[0]).toBeCloseTo(0.25 - 0.0196, 12);
  expect(missed.reached.interval[1]).toBeCloseTo(0.25 + 0.0196, 12);
  expect(budgetOutcomeTexts.unmet(missed)).toBe(
    "NOT MET: a leakage of at most 0.2 nats was wanted; that of the policy found is up to 0.250 (0.230 to 0.270).",
  );
  expect(budgetOutcome(report, "conditional", 0.2).met).toBe(true);
});
