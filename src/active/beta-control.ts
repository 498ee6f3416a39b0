/**
 * Beta found on the way, instead of given: it rises while what was asked for is not met and falls while it is met with
 * room to spare, and it says early when the goal is out of reach.
 */

import { InputError } from "../core/errors.js";
import { exp } from "../core/math.js";
import { fixed } from "../core/number-text.js";

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

/** Where a control is, as plain data. */
export interface BetaState {
  readonly beta: number;
  /** Nats of leakage so far, and for how many labels. */
  readonly spent: number;
  readonly taken: number;
  /** What was measured lately; null before anything was. */
  readonly recent: number | null;
  /** Steps at the largest beta in a row. */
  readonly atLargest: number;
  /** Whether it was said that the goal is out of reach. */
  readonly said: boolean;
}

export interface BetaController {
  readonly beta: number;
  /** `betaControl(goal, state)` goes on from here. */
  readonly state: BetaState;
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
    `the leakage budget of ${budget} nats cannot be kept: ${fixed(spent, 3)} are spent, and even the candidates that leak least would exceed it over the ${left} labels still to come`,
  parityOut: (goal: number, now: number, steps: number) =>
    `a demographic-parity ratio of ${goal} does not seem within reach: beta has been at its largest for ${steps} steps and the ratio is ${fixed(now, 2)}`,
};

const LARGEST = 1000;
const SMALLEST = 1e-3;
/** How fast beta moves; slow against the noise of single labels. */
const RATE = 0.25;
/** Steps at the largest beta after which a goal is called out of reach. */
const STEPS_AT_LARGEST = 30;
/** The share of the labels after which a budget may be called out of reach: first leakages say little. */
const EARLIEST = 0.2;
/** How much a new measurement counts against those before. */
const MEMORY = 0.2;

const START: BetaState = { beta: 1, spent: 0, taken: 0, recent: null, atLargest: 0, said: false };

const within = (beta: number): number => Math.min(LARGEST, Math.max(SMALLEST, beta));

const remembered = (recent: number | null, now: number): number =>
  recent === null ? now : recent + MEMORY * (now - recent);

interface ControlRule {
  met(state: BetaState): boolean;
  next(state: BetaState, observed: Observed): BetaState;
  /** What to say where the goal is out of reach. */
  outOfReach(state: BetaState, observed: Observed): string | undefined;
}

/** Keeps the sum of the leakages of all acquired labels within a budget. */
const withinBudget = (budget: number): ControlRule => {
  if (!(budget > 0 && budget < Infinity)) throw new InputError("budget", controlTexts.budget(budget));
  return {
    met: ({ spent }) => spent <= budget,
    next(state, { leakage, labels, left }) {
      // A corrected estimate may be negative; it is not paid back.
      const paid = Math.max(0, leakage);
      const spent = state.spent + paid;
      const recent = remembered(state.recent, paid / labels);
      const allowed = left === 0 ? 0 : (budget - spent) / left;
      const excess = allowed <= 0 ? 1 : (recent - allowed) / allowed;
      const beta = within(state.beta * exp(RATE * Math.max(-1, Math.min(1, excess))));
      return { ...state, beta, spent, taken: state.taken + labels, recent };
    },
    outOfReach({ spent, taken }, { left, leastLeakage }) {
      if (left === 0 || taken < EARLIEST * (taken + left)) return undefined;
      if (spent + left * Math.max(0, leastLeakage) <= budget) return undefined;
      return controlTexts.budgetOut(budget, spent, left);
    },
  };
};

/** Reaches a demographic-parity ratio of the target model's predictions. */
const towardsParity = (goal: number): ControlRule => {
  if (!(goal > 0 && goal <= 1)) throw new InputError("parity", controlTexts.parity(goal));
  return {
    met: ({ recent }) => recent !== null && recent >= goal,
    next(state, { parity }) {
      if (parity === undefined) return state;
      const recent = remembered(state.recent, parity);
      // Down more slowly than up: what was gained is soon lost again.
      const short = goal - recent;
      const factor = exp(RATE * (short > 0 ? Math.min(1, 5 * short) : Math.max(-0.5, 2 * short)));
      const beta = within(state.beta * factor);
      return {
        ...state,
        beta,
        recent,
        atLargest: beta === LARGEST && recent < goal ? state.atLargest + 1 : 0,
      };
    },
    outOfReach: ({ recent, atLargest }, { parity }) =>
      parity === undefined || recent === null || atLargest < STEPS_AT_LARGEST
        ? undefined
        : controlTexts.parityOut(goal, recent, atLargest),
  };
};

export type BetaGoal =
  | { readonly beta: number }
  | { readonly leakageBudget: number; readonly firstBeta?: number | undefined }
  | { readonly parityAtLeast: number; readonly firstBeta?: number | undefined };

/**
 * A beta that is fixed, or that follows what is observed. The first beta of a goal is 1 unless given.
 *
 * @example
 * ```ts
 * import { betaControl } from "fairbed/active";
 *
 * const control = betaControl({ leakageBudget: 1 });
 * control.observe({ leakage: 0.5, labels: 1, left: 9, leastLeakage: 0 });
 * console.log(control.beta > 1, control.met); // true true
 * ```
 */
export const betaControl = (goal: BetaGoal, from?: BetaState | undefined): BetaController => {
  if ("beta" in goal) {
    return { beta: goal.beta, state: { ...START, beta: goal.beta }, met: true, observe: () => undefined };
  }
  let state: BetaState = from ?? { ...START, beta: goal.firstBeta ?? START.beta };
  const rule = "leakageBudget" in goal ? withinBudget(goal.leakageBudget) : towardsParity(goal.parityAtLeast);
  return {
    get beta() {
      return state.beta;
    },
    get state() {
      return state;
    },
    get met() {
      return rule.met(state);
    },
    observe(observed) {
      state = rule.next(state, observed);
      const said = state.said ? undefined : rule.outOfReach(state, observed);
      if (said !== undefined) state = { ...state, said: true };
      return said;
    },
  };
};
