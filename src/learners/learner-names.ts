/** The learners that there are, by name; the learners themselves are in by-name.ts, so that this can be read alone. */
export const LEARNER_NAMES = ["forest", "logistic", "boosting", "mlp", "svm"] as const;

export type LearnerName = (typeof LEARNER_NAMES)[number];
