/** Rules of which none is both less accurate and less equal than another. */
import type { ParityPoint } from "./trial.js";

/** Ratios of sums that are equal in exact arithmetic may differ by their rounding. */
const ROUNDING = 1e-12;

export const reaches = (ratio: number, level: number): boolean => ratio >= level - ROUNDING;

export interface Envelope {
  offer(point: ParityPoint): void;
  /** From the most accurate to the most equal. */
  points(): readonly ParityPoint[];
}

export const createEnvelope = (): Envelope => {
  let points: readonly ParityPoint[] = [];
  const isWorse = (a: ParityPoint, than: ParityPoint): boolean =>
    than.ratio >= a.ratio - ROUNDING && than.accuracy >= a.accuracy - ROUNDING;
  return {
    offer(point) {
      if (points.some((other) => isWorse(point, other))) return;
      points = [...points.filter((other) => !isWorse(other, point)), point];
    },
    points: () => points.toSorted((a, b) => a.ratio - b.ratio),
  };
};

/** The most accurate at the level; undefined where none reaches it. */
export const bestAt = (points: readonly ParityPoint[], level: number): ParityPoint | undefined =>
  points.find(({ ratio }) => reaches(ratio, level));
