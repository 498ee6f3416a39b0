/**
 * The protocol that all tables and figures of location finding share (section 6.1). Stated in the paper: 10,000 steps,
 * 100 experiments and 1000 inner samples of each kind a step, 100,000 inner samples in the evaluation, 8 seeds. Chosen
 * here: static designs start near the origin at a constant rate of 2e-3 and stop when they have settled, and 2000
 * experiments a seed are evaluated, because the paper's 100 leave an error of a tenth in a ratio.
 */
import type { DesignCell, DesignResult } from "./cell.js";
import { type Scale, seedsOf } from "./reproduction.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

export type DesignLine = Pick<DesignCell, "policy" | "objective" | "beta" | "horizon">;

const FULL_TRAINING = { steps: 10_000, outer: 100, contrastive: 1000, marginal: 1000 };
const FULL_EVALUATION = { outer: 100, batches: 20, inner: 100_000 };
/** So few steps must go further than the paper's, or nothing moves and no policy differs from another. */
const QUICK_SIZES = { outer: 20, contrastive: 100, marginal: 100 };
const QUICK_TRAINING = {
  random: { steps: 1, ...QUICK_SIZES },
  static: { steps: 600, ...QUICK_SIZES, rate: 2e-2 },
  dad: { steps: 500, ...QUICK_SIZES, rate: 5e-4 },
};
const QUICK_EVALUATION = { outer: 100, batches: 2, inner: 2000 };

/** Designs travel at a share of up to 1 of the rate and creep at 0.03 or more; noise moves settled ones by 0.01 to 0.04. */
const SETTLED = { window: 500, speed: 0.03, times: 3 };

const designSeeds = ({ quick, seeds }: Scale): readonly number[] => seedsOf(seeds ?? (quick ? 2 : 8));

const designCell = (line: DesignLine, seed: number, { quick, device }: Scale): DesignCell => {
  const full = line.policy === "static" ? { ...FULL_TRAINING, settled: SETTLED } : FULL_TRAINING;
  return {
    kind: "design",
    ...line,
    // Without a cost of leakage both objectives are the same.
    objective: line.beta === 0 ? "conditional" : line.objective,
    training: quick ? QUICK_TRAINING[line.policy] : full,
    evaluation: quick ? QUICK_EVALUATION : FULL_EVALUATION,
    seed,
    ...(device === undefined ? {} : { device }),
  };
};

export const designCells = (lines: readonly DesignLine[], scale: Scale): DesignCell[] =>
  designSeeds(scale).flatMap((seed) => lines.map((line) => designCell(line, seed, scale)));

export const designResults = (
  results: Results,
  line: DesignLine,
  scale: Scale,
): readonly { readonly seed: number; readonly result: DesignResult }[] =>
  designSeeds(scale).flatMap((seed) => {
    const result = results.get(designCell(line, seed, scale));
    return result === undefined ? [] : [{ seed, result }];
  });

/** A number of each result by seeds. */
export const designValues = (
  results: Results,
  line: DesignLine,
  scale: Scale,
  of: (result: DesignResult) => number | undefined,
): readonly (number | undefined)[] =>
  designSeeds(scale).map((seed) => {
    const result = results.get(designCell(line, seed, scale));
    return result === undefined ? undefined : of(result);
  });

/** A number of each result over seeds. */
export const designMean = (
  results: Results,
  line: DesignLine,
  scale: Scale,
  of: (result: DesignResult) => number,
): SeedMean | undefined => meanOverSeeds(designResults(results, line, scale).map(({ result }) => of(result)));
