/** What a paper says in words, as a difference over seeds that would be above, below or near zero if it were so. */
import { MARGINS, meanOverSeeds, type SeedMean } from "./verdict.js";

export type ClaimVerdict = "holds" | "undecided" | "does not hold" | "not run";

/** What the paper says of the difference. */
export type Expected = "more" | "less" | "as much";

/** A number by seeds; undefined where a seed has none. */
export type SeedValues = readonly (number | undefined)[];

/** One comparison that stands for a claim; a claim may have several. */
export interface ClaimCheck {
  /** The paper's, in short. */
  readonly claim: string;
  /** Where the paper says so. */
  readonly source: string;
  /** What is compared with what. */
  readonly compared: string;
  readonly measure: string;
  readonly expected: Expected;
  /** What is within it of zero is as much. */
  readonly margin: number;
  /** Null where nothing was run. */
  readonly difference: SeedMean | null;
  readonly verdict: ClaimVerdict;
  /** What models read here is not what they read in the paper: counted apart. */
  readonly otherFeatures: boolean;
  /** Not what the paper measures: shown beside it, and not counted. */
  readonly besides: boolean;
}

/** Seed by seed; the seeds that lack one of the two have none. */
export const paired = (
  a: SeedValues,
  b: SeedValues,
  of: (a: number, b: number) => number = (x, y) => x - y,
): SeedValues =>
  a.map((x, seed) => {
    const y = b[seed];
    return x === undefined || y === undefined ? undefined : of(x, y);
  });

/**
 * More (less): holds where the interval is above (below) zero, does not hold where it is below (above). As much: holds
 * where the whole interval is within the margin of zero, does not hold where all of it is outside. Else undecided.
 */
export const judgeClaim = (
  expected: Expected,
  difference: SeedMean | undefined,
  margin: number = MARGINS.ratio,
): ClaimVerdict => {
  if (difference === undefined || difference.interval === null) return "not run";
  const [low, high] = difference.interval;
  if (expected === "as much") {
    if (low >= -margin && high <= margin) return "holds";
    return low > margin || high < -margin ? "does not hold" : "undecided";
  }
  const [holds, fails] = expected === "more" ? [low > 0, high < 0] : [high < 0, low > 0];
  return holds ? "holds" : fails ? "does not hold" : "undecided";
};

export interface Part {
  readonly compared: string;
  readonly measure: string;
  readonly expected: Expected;
  /** By seeds, or a mean where it is not one of differences by seeds. */
  readonly difference: SeedValues | SeedMean | undefined;
  readonly margin?: number | undefined;
  readonly otherFeatures?: boolean | undefined;
  readonly besides?: boolean | undefined;
}

const isValues = (difference: SeedValues | SeedMean): difference is SeedValues => Array.isArray(difference);

export const checkClaim = (claim: string, source: string, parts: readonly Part[]): readonly ClaimCheck[] =>
  parts.map(({ difference, margin = MARGINS.ratio, otherFeatures = false, besides = false, ...part }) => {
    const mean = difference !== undefined && isValues(difference) ? meanOverSeeds(difference) : difference;
    const verdict = judgeClaim(part.expected, mean, margin);
    return { claim, source, ...part, margin, difference: mean ?? null, verdict, otherFeatures, besides };
  });
