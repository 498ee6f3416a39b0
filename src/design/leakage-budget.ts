/**
 * As much information about the target as a leakage budget allows: maximise EIG_theta subject to EIG_{phi|theta} <= eps
 * (or EIG_phi <= eps).
 *
 * The Lagrangian of this is the objective with beta as the multiplier, so beta is found by dual ascent: where the
 * best policy at beta leaks more than the budget, beta grows, and else it shrinks; once it is known between two
 * values, it is halved in. The policies on the way trace the frontier between information and leakage.
 */

import { InputError } from "../core/errors.js";
import { exp, log } from "../core/math.js";
import { fixed } from "../core/number-text.js";
import { pacer, type RunOptions } from "../core/options.js";
import type { ObjectiveKind } from "./quantity.js";

/** What a policy is worth and leaks, in nats, each on the safe side: a lower and an upper bound, and their errors. */
export interface MeasuredPolicy {
  readonly target: number;
  readonly leakage: number;
  readonly standardError: number;
}

export interface FrontierPoint<P> extends MeasuredPolicy {
  readonly beta: number;
  readonly policy: P;
  /** Whether the leakage, as measured, is within the budget. */
  readonly within: boolean;
}

export interface BudgetOptions<P> extends RunOptions {
  /** eps, in nats. */
  readonly budget: number;
  readonly objective?: ObjectiveKind | undefined;
  /** The best policy for a beta; `warm` is the last one, to go on from. */
  readonly train: (beta: number, warm: P | undefined, round: number) => Promise<P>;
  readonly measure: (policy: P, round: number) => MeasuredPolicy | Promise<MeasuredPolicy>;
  /** Policies that are trained and measured, 8 unless given. */
  readonly rounds?: number | undefined;
  /** Where beta starts, 1 unless given. */
  readonly firstBeta?: number | undefined;
}

export interface BudgetResult<P> {
  /**
   * The point with the most information of those that are within the budget by two standard errors, or of those that
   * are within it where none is by so much; undefined where none is at all.
   */
  readonly best: FrontierPoint<P> | undefined;
  /** All points, by beta. */
  readonly frontier: readonly FrontierPoint<P>[];
}

export const budgetTexts = {
  budget: (given: unknown) => `the leakage budget was ${String(given)} nats: give a number above 0`,
  unmet: (budget: number, least: number) =>
    `no policy kept within ${budget} nats of leakage: the least was ${fixed(least, 3)}; give a larger budget, or more steps`,
};

/** The change of log beta for a leakage of twice the budget, and the largest change. */
const STEP = 1.5;
const LARGEST_STEP = 1.5;

/**
 * The policy with the most information about the target that leaks no more than a budget, with the frontier that the
 * search went along: max EIG_theta subject to leakage <= eps, by dual ascent on beta.
 *
 * @example
 * ```ts
 * import { withinLeakageBudget } from "fairbed/design";
 *
 * // A policy x tells log(1 + x) nats and leaks x / 2; the best one for beta is 2 / beta - 1.
 * const { best } = await withinLeakageBudget<number>({
 *   budget: 0.5,
 *   rounds: 30,
 *   train: async (beta) => Math.max(0, 2 / beta - 1),
 *   measure: (x) => ({ target: Math.log1p(x), leakage: x / 2, standardError: 0 }),
 * });
 * console.log(best?.policy.toFixed(1)); // 1.0
 * ```
 */
export const withinLeakageBudget = async <P>({
  budget,
  train,
  measure,
  rounds = 8,
  firstBeta = 1,
  signal,
  onProgress,
}: BudgetOptions<P>): Promise<BudgetResult<P>> => {
  if (!(budget > 0 && budget < Infinity)) throw new InputError("budget", budgetTexts.budget(budget));
  const atMost = ({ leakage, standardError }: MeasuredPolicy) => leakage + 2 * standardError;
  const isSafe = (measured: MeasuredPolicy) => atMost(measured) <= budget;
  const pace = pacer({ signal, onProgress });
  const frontier: FrontierPoint<P>[] = [];
  let logBeta = log(firstBeta);
  let warm: P | undefined;
  for (let round = 0; round < rounds; round++) {
    const beta = exp(logBeta);
    warm = await train(beta, warm, round);
    const measured = await measure(warm, round);
    frontier.push({ ...measured, beta, policy: warm, within: measured.leakage <= budget });
    // The search is for a beta that is safe: what is within the budget by less than its error counts as outside.
    const above = Math.max(...frontier.filter((point) => !isSafe(point)).map((point) => point.beta));
    const below = Math.min(...frontier.filter(isSafe).map((point) => point.beta));
    if (above < below && above > 0 && below < Infinity) logBeta = (log(above) + log(below)) / 2;
    else {
      const excess = (atMost(measured) - budget) / budget;
      logBeta += Math.max(-LARGEST_STEP, Math.min(LARGEST_STEP, STEP * excess));
    }
    await pace.step({ done: round + 1, total: rounds, label: "policies" });
  }
  const byTarget = [...frontier].sort((a, b) => b.target - a.target);
  return {
    best: byTarget.find(isSafe) ?? byTarget.find(({ within }) => within),
    frontier: [...frontier].sort((a, b) => a.beta - b.beta),
  };
};
