/** From so many rows on, two thirds of them are enough to learn from, at less than half the work. */
const MANY_ROWS = 50_000;

/** Parts that are held out in turn: 5, or 3 of many rows. */
export const defaultFolds = (rows: number): number => (rows < MANY_ROWS ? 5 : 3);

/** With more rows than this the support vector machine is too slow to judge them all. */
export const SVM_ROWS = 5000;

/** What the audit of an attribute is told where nothing else is. */
export const LEAKAGE_DEFAULTS = {
  level: 0.95,
  replicates: 1000,
  permutations: 999,
  plants: 8,
  plantAdversaries: 2,
  plantRows: 2000,
} as const;
