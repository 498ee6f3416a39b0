/** Checks of what is read back from a file before a learner trusts it. */

/** What may be anything, though it has the name of something. */
export type Saved<Value> = { readonly [Name in keyof Value]?: unknown } | null | undefined;

export const isWhole = (given: unknown, least: number, most = Number.MAX_SAFE_INTEGER): given is number =>
  Number.isSafeInteger(given) && Number(given) >= least && Number(given) <= most;

/** A list of finite numbers, of this length where one is given. */
export const isNumbers = (given: unknown, length?: number): given is readonly number[] =>
  Array.isArray(given) && (length === undefined || given.length === length) && given.every(Number.isFinite);

/** At least two of the classes, in order. */
export const isPresent = (given: unknown, classes: unknown): given is readonly number[] =>
  isNumbers(given) &&
  given.length >= 2 &&
  given.every((c, i) => isWhole(c, i === 0 ? 0 : given[i - 1] + 1, Number(classes) - 1));
