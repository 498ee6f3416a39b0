/** What a paper says beside what was measured here, and whether they agree: computed, never typed in. */
import { meanEstimate } from "../core/stats.js";

/** As printed: a mean with its standard error. */
export interface PaperValue {
  readonly mean: number;
  readonly standardError: number;
}

/** A mean over seeds; without an error and an interval where there is one seed. */
export interface SeedMean {
  readonly mean: number;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
  readonly n: number;
}

/** Undefined where no seed has a value. */
export const meanOverSeeds = (values: readonly (number | undefined)[]): SeedMean | undefined => {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  if (known.length === 1) return { mean: known[0], standardError: null, interval: null, n: 1 };
  const { mean, standardError, interval, n } = meanEstimate(known);
  return { mean, standardError, interval, n };
};

export type Verdict = "reproduced" | "undecided" | "differs" | "not run";

export interface Comparison {
  readonly row: string;
  readonly column: string;
  readonly paper: number;
  /** As printed. */
  readonly paperError: number;
  /** Null where nothing was run. */
  readonly ours: number | null;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
  readonly seeds: number;
  /** How far apart, in combined standard errors sqrt(ours^2 + paper's^2); null without a verdict. */
  readonly apart: number | null;
  readonly verdict: Verdict;
  /** What models read here is not what they read in the paper: counted apart. */
  readonly otherFeatures: boolean;
  /** Settings were picked because they give this number: that it comes out shows nothing. */
  readonly circular: boolean;
}

/** Farther apart than this many combined standard errors is different. */
export const REPRODUCED_WITHIN = 3;

/** Nearer than this is the same for a reader: of ratios and accuracies, and of information in nats. */
export const MARGINS = { ratio: 0.05, nats: 0.05 } as const;

/** An error that is printed as 0.00 is at most this. */
export const ROUNDED_ERROR = 0.005;

export interface CompareOptions {
  /** How near is near enough (`MARGINS.ratio`). */
  readonly margin?: number | undefined;
  /** Whether models read other features than in the paper (no). */
  readonly otherFeatures?: boolean | undefined;
  /** Whether settings were picked because they give this number (no). */
  readonly circular?: boolean | undefined;
}

/**
 * Reproduced: within three combined standard errors and within the margin, with a combined error that is no larger than
 * the margin (else being within it is chance). Undecided: within three errors otherwise, which is compatible and no
 * more. Our error is unknown with fewer than two seeds, so there is no verdict then.
 */
export const compare = (
  row: string,
  column: string,
  paper: PaperValue,
  ours: SeedMean | undefined,
  { margin = MARGINS.ratio, otherFeatures = false, circular = false }: CompareOptions = {},
): Comparison => {
  const common = { row, column, paper: paper.mean, paperError: paper.standardError, otherFeatures, circular };
  const measured = {
    ours: ours?.mean ?? null,
    standardError: ours?.standardError ?? null,
    interval: ours?.interval ?? null,
    seeds: ours?.n ?? 0,
  };
  if (ours === undefined || ours.standardError === null) {
    return { ...common, ...measured, apart: null, verdict: "not run" };
  }
  const distance = Math.abs(ours.mean - paper.mean);
  const paperError = paper.standardError === 0 ? ROUNDED_ERROR : paper.standardError;
  const combined = Math.hypot(ours.standardError, paperError);
  const apart = distance / combined;
  const near = distance <= margin && combined <= margin;
  const verdict = apart > REPRODUCED_WITHIN ? "differs" : near ? "reproduced" : "undecided";
  return { ...common, ...measured, apart, verdict };
};
