/** Which levels of a category stand for themselves: of very many, those that enough rows have. */

/** With more levels than this, those of few rows are taken as one unless a least number of rows is given. */
const MANY_LEVELS = 100;
/** Fewer rows than this teach a model little about a level. */
const FEW_ROWS = 10;
/** At most so many levels stand for themselves by default: each is a column of its own. */
const MOST_LEVELS = 1000;

export const rareLevelTexts = {
  grouped: (column: string, levels: number, rare: number, least: number) =>
    `"${column}" has ${levels} different values: ${rare} of them with fewer than ${least} rows each are taken as one (--min-level 1 keeps them apart)`,
  minLevel: (given: unknown) => `minLevel was ${String(given)}: give a whole number of at least 1.`,
};

/** How many rows a level must have to stand for itself; `counts` are the rows of each. */
export const leastRowsOfLevel = (counts: ArrayLike<number>, minLevel: number | undefined): number => {
  if (minLevel !== undefined) return minLevel;
  const used = Array.from(counts).filter((count) => count > 0);
  if (used.length <= MANY_LEVELS) return 1;
  if (used.length <= MOST_LEVELS) return FEW_ROWS;
  const next = used.sort((a, b) => b - a)[MOST_LEVELS];
  return Math.max(FEW_ROWS, next + 1);
};
