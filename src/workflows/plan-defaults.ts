/** What a plan does where it is told nothing; read by itself where only the defaults are shown. */
import { TUNE_RULE_DEFAULTS } from "./tune-rule-defaults.js";

export const PLAN_DEFAULTS = {
  metric: "dp",
  labels: 400,
  learners: ["forest", "logistic", "boosting"],
  trees: 100,
  /** At most so many candidates in a simulation. */
  pool: 3000,
  seed: 0,
} as const;

/**
 * What is tried out, and what is kept: recipes on a few seeds and part of the labels first, then fewer recipes on more
 * of both. By counts alone, so that a plan is the same on any machine. `folds` are those that the fair rule is chosen with.
 */
export const PLAN_ROUNDS = [
  { seeds: 2, share: 0.5, keep: 12, folds: 5 },
  { seeds: 4, share: 1, keep: 3, folds: 5 },
  { seeds: 8, share: 1, keep: 1, folds: TUNE_RULE_DEFAULTS.folds },
] as const;
