/** Whether what was asked for instead of beta was had: a leakage budget, or a parity. */

import type { StrategyName } from "../active/strategy-names.js";
import { between, fixed } from "../core/number-text.js";
import { FROM_ZERO, UNIT_RANGE } from "../core/stats.js";
import type { SimulationSettings } from "./acquisition-settings.js";
import { type MetricSummary, type SeedResult, summaryOf } from "./simulation.js";

export interface GoalOutcome {
  readonly goal: "leakage-budget" | "parity";
  /** Nats, or the ratio of selection rates. */
  readonly wanted: number;
  /** A budget: whether every seed kept to it. A parity: whether the mean over seeds is at least that, on the test rows. */
  readonly met: boolean;
  /** Nats that the chosen labels gave away, or the ratio of selection rates on the test rows. */
  readonly reached: MetricSummary;
  /** In how many seeds it was met. */
  readonly seedsMet: number;
}

export const goalOutcomeTexts = {
  /** The first line of an answer whose goal was not met. */
  unmet: (method: string, { goal, wanted, reached, seedsMet }: GoalOutcome, seeds: number) => {
    const { mean, interval } = reached;
    const found =
      mean === null
        ? "it has no value"
        : `it is ${fixed(mean, 3)}${interval === null ? "" : ` (${between(interval)})`}`;
    const often = seeds === 1 ? "" : `, and was met in ${seedsMet} of ${seeds} seeds`;
    return goal === "parity"
      ? `NOT MET: ${method} was to reach a ratio of selection rates of at least ${wanted}; on the test rows ${found}${often}`
      : `NOT MET: ${method} was to keep within a leakage budget of ${wanted} nats; what its chosen labels give away: ${found}${often}`;
  },
};

/** Null where beta was given. */
export const goalOutcome = (
  { goal }: Pick<SimulationSettings, "goal">,
  results: readonly SeedResult[],
): GoalOutcome | null => {
  if ("beta" in goal) return null;
  if ("leakageBudget" in goal) {
    const spent = results.map(({ acquisition }) => acquisition.spent);
    const seedsMet = spent.filter((nats) => nats <= goal.leakageBudget).length;
    return {
      goal: "leakage-budget",
      wanted: goal.leakageBudget,
      met: seedsMet === results.length,
      reached: summaryOf(spent, FROM_ZERO),
      seedsMet,
    };
  }
  const ratios = results
    .map(({ bySensitive }) => bySensitive[0].dpRatio)
    .filter((value) => value !== undefined);
  const reached = summaryOf(ratios, UNIT_RANGE);
  return {
    goal: "parity",
    wanted: goal.parityAtLeast,
    // A seed in which nobody is selected has no ratio, and has not reached one.
    met: ratios.length === results.length && reached.mean !== null && reached.mean >= goal.parityAtLeast,
    reached,
    seedsMet: ratios.filter((ratio) => ratio >= goal.parityAtLeast).length,
  };
};

/** What to say first, one sentence for every method whose goal was not met. */
export const unmetGoals = (
  methods: readonly { readonly method: StrategyName; readonly goal: GoalOutcome | null }[],
  seeds: number,
): readonly string[] =>
  methods.flatMap(({ method, goal }) =>
    goal === null || goal.met ? [] : [goalOutcomeTexts.unmet(method, goal, seeds)],
  );
