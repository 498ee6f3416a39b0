/** What a fit is told where nothing else is; read by itself where only the defaults are shown. */
export const FIT_DEFAULTS = {
  learner: "forest",
  categories: "one-hot",
  folds: 5,
  level: 0.95,
  replicates: 1000,
  seed: 0,
} as const;
