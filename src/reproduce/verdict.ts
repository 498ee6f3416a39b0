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

export type Verdict = "reproduced" | "differs" | "not run";

export interface Comparison {
  readonly row: string;
  readonly column: string;
  readonly paper: number;
  readonly paperError: number;
  /** Null where nothing was run. */
  readonly ours: number | null;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
  readonly seeds: number;
  /** How far apart, in combined standard errors sqrt(ours^2 + paper's^2); null without a verdict. */
  readonly apart: number | null;
  readonly verdict: Verdict;
}

/** Farther apart than this many combined standard errors is different. */
export const REPRODUCED_WITHIN = 3;

/** Our error is unknown with fewer than two seeds, so there is no verdict then. */
export const compare = (
  row: string,
  column: string,
  paper: PaperValue,
  ours: SeedMean | undefined,
): Comparison => {
  const common = { row, column, paper: paper.mean, paperError: paper.standardError };
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
  const combined = Math.hypot(ours.standardError, paper.standardError);
  const near = distance <= REPRODUCED_WITHIN * combined;
  // Two equal numbers without any error are not apart; JSON has no infinity for the others.
  const apart = combined > 0 ? distance / combined : distance === 0 ? 0 : null;
  return { ...common, ...measured, apart, verdict: near ? "reproduced" : "differs" };
};
