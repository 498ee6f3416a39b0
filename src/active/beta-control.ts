/**
 * Beta found on the way, instead of given: it rises while what was asked for is not met and falls while it is met with
 * room to spare, and it says early when the goal is out of reach.
 */
import { InputError } from "../core/errors.js";

/** What a step showed. */
export interface Observed {
  /** Leakage of what was just acquired, summed, in nats; and how many labels that was. */
  readonly leakage: number;
  readonly labels: number;
  /** Labels still to come. */
  readonly left: number;
  /** The least leakage of any candidate that is left. */
  readonly leastLeakage: number;
  /** The demographic-parity ratio on rows that are neither tested nor acquired; undefined where it has no value. */
  readonly parity?: number | undefined;
}

export interface BetaControl {
  readonly beta: number;
  /** Takes in a step, and gives one sentence the first time the goal is out of reach. */
  observe(observed: Observed): string | undefined;
  /** Whether the goal holds as of the last step. */
  readonly met: boolean;
}

export const controlTexts = {
  budget: (given: unknown) => `the leakage budget was ${String(given)} nats: give a number above 0`,
  parity: (given: unknown) =>
    `the demographic-parity ratio to reach was ${String(given)}: give a number above 0 and at most 1`,
  budgetOut: (budget: number, spent: number, left: number) =>
    `the leakage budget of ${budget} nats cannot be kept: ${spent.toFixed(3)} are spent, and even the candidates that leak least would exceed it over the ${left} labels still to come`,
  parityOut: (goal: number, now: number, steps: number) =>
    `a demographic-parity ratio of ${goal} does not seem within reach: beta has been at its largest for ${steps} steps and the ratio is ${now.toFixed(2)}`,
};

const LARGEST = 1000;
const SMALLEST = 1e-3;
/** How fast beta moves; slow against the noise of single labels. */
const RATE = 0.25;
/** Steps at the largest beta after which a goal is called out of reach. */
const PATIENCE = 30;
/** The share of the labels after which a budget may be called out of reach: first leakages say little. */
const EARLIEST = 0.2;
/** How much a new measurement counts against those before. */
const MEMORY = 0.2;

const fixed = (beta: number): BetaControl => ({ beta, met: true, observe: () => undefined });

/** Keeps the sum of the leakages of all acquired labels within a budget. */
const withinBudget = (budget: number, first: number): BetaControl => {
  if (!(budget > 0 && budget < Infinity)) throw new InputError("budget", controlTexts.budget(budget));
  let beta = first;
  let spent = 0;
  let taken = 0;
  let recent: number | undefined;
  let said = false;
  return {
    get beta() {
      return beta;
    },
    get met() {
      return spent <= budget;
    },
    observe({ leakage, labels, left, leastLeakage }) {
      // A corrected estimate may be negative; it is not paid back.
      const paid = Math.max(0, leakage);
      spent += paid;
      taken += labels;
      recent = recent === undefined ? paid / labels : recent + MEMORY * (paid / labels - recent);
      const allowed = left === 0 ? 0 : (budget - spent) / left;
      const excess = allowed <= 0 ? 1 : (recent - allowed) / allowed;
      beta = Math.min(LARGEST, Math.max(SMALLEST, beta * Math.exp(RATE * Math.max(-1, Math.min(1, excess)))));
      if (said || left === 0 || taken < EARLIEST * (taken + left)) return undefined;
      if (spent + left * Math.max(0, leastLeakage) <= budget) return undefined;
      said = true;
      return controlTexts.budgetOut(budget, spent, left);
    },
  };
};

/** Reaches a demographic-parity ratio of the target model's predictions. */
const towardsParity = (goal: number, first: number): BetaControl => {
  if (!(goal > 0 && goal <= 1)) throw new InputError("parity", controlTexts.parity(goal));
  let beta = first;
  let recent: number | undefined;
  let atLargest = 0;
  let said = false;
  return {
    get beta() {
      return beta;
    },
    get met() {
      return recent !== undefined && recent >= goal;
    },
    observe({ parity }) {
      if (parity === undefined) return undefined;
      recent = recent === undefined ? parity : recent + MEMORY * (parity - recent);
      // Down more slowly than up: what was gained is soon lost again.
      const short = goal - recent;
      beta *= Math.exp(RATE * (short > 0 ? Math.min(1, 5 * short) : Math.max(-0.5, 2 * short)));
      beta = Math.min(LARGEST, Math.max(SMALLEST, beta));
      atLargest = beta === LARGEST && recent < goal ? atLargest + 1 : 0;
      if (said || atLargest < PATIENCE) return undefined;
      said = true;
      return controlTexts.parityOut(goal, recent, atLargest);
    },
  };
};

export type BetaGoal =
  | { readonly beta: number }
  | { readonly leakageBudget: number; readonly firstBeta?: number | undefined }
  | { readonly parityAtLeast: number; readonly firstBeta?: number | undefined };

export const betaControl = (goal: BetaGoal): BetaControl => {
  if ("beta" in goal) return fixed(goal.beta);
  const first = goal.firstBeta ?? 1;
  return "leakageBudget" in goal
    ? withinBudget(goal.leakageBudget, first)
    : towardsParity(goal.parityAtLeast, first);
};
