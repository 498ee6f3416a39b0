import type { LearnerName } from "../learners/learner-names.js";

/** The models that are tried on frozen data where none are named: those of section 6.3 of the paper. */
export const GENERALIZE_MODELS = [
  "forest",
  "boosting",
  "mlp",
  "svm",
] as const satisfies readonly LearnerName[];
