/** What a plan is asked for in the page. */
import type { LearnerName } from "../learners/learner-names.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { Roles } from "./roles.js";

export interface PlanChoice {
  readonly roles: Roles;
  /** The least ratio between the groups' rates. */
  readonly level: number;
  readonly labels: number;
  readonly metric: FairMetric;
  readonly learners: readonly LearnerName[];
  readonly seed: number;
}

/** How thorough a plan is: which learners may be recommended in the end. */
export const LEARNER_CHOICES: Readonly<Record<"one" | "all", readonly LearnerName[]>> = {
  one: ["forest"],
  all: ["forest", "logistic", "boosting"],
};
