/** What the audit of an attribute is told where nothing else is. */
export const LEAKAGE_DEFAULTS = {
  folds: 5,
  level: 0.95,
  replicates: 1000,
  permutations: 999,
  plants: 8,
  plantAdversaries: 2,
  plantRows: 2000,
} as const;
