/** What acquisitions are called and what their scores are made of: for those who name them and compute none, as the page does. */

const names = [
  "random",
  "entropy",
  "bald",
  "epig",
  "epig-minimax",
  "epig-boundary",
  "hfe",
  "fairbed",
  "fairbed-set",
  "fairbed-conditional",
  "fairbed-bald",
] as const;
export type StrategyName = (typeof names)[number];
/** The names of all ways of asking. */
export const strategyNames: StrategyName[] = [...names];

/** Those whose score is information about the target less beta times leakage, both in nats. */
export const isFair = (method: StrategyName): boolean => method.startsWith("fairbed");

/**
 * What of a score is information, in nats: the rest (a random number, an entropy) is a number to sort by, and has no
 * parts.
 */
export const informationParts = (
  method: StrategyName,
  { target, leakage }: { readonly target: number; readonly leakage: number },
): { readonly target: number | null; readonly leakage: number | null } => {
  if (isFair(method)) return { target, leakage };
  return { target: method.startsWith("epig") || method === "bald" ? target : null, leakage: null };
};
