/** A table that any language can make, so that other programs' answers to it can be written down. */
import type { FeatureMatrix } from "../../src/learners/classifier.js";

/** x[i, j] = ((37 i + 101 j + 13 i j + (i^2 mod 53)) mod levels) / 8 - 2 + shift, four columns. */
export const formulaTable = (rows: number, levels: number, shift = 0): FeatureMatrix => {
  const values = Float32Array.from({ length: 4 * rows }, (_, at) => {
    const [i, j] = [Math.floor(at / 4), at % 4];
    return ((37 * i + 101 * j + 13 * i * j + ((i * i) % 53)) % levels) / 8 - 2 + shift;
  });
  return { values, rows, columns: 4 };
};

/** How many of the cuts are below x0 + x1 x2 / 2 + 2 ((29 i + 7) mod 17) / 17, row by row. */
export const formulaLabels = ({ values, rows }: FeatureMatrix, ...cuts: readonly number[]): Int32Array =>
  Int32Array.from({ length: rows }, (_, i) => {
    const [x0, x1, x2] = values.subarray(4 * i, 4 * i + 3);
    const score = x0 + 0.5 * x1 * x2 + (2 * ((29 * i + 7) % 17)) / 17;
    return cuts.filter((cut) => score > cut).length;
  });

export const column = (probabilities: Float64Array, classes: number, c: number): number[] =>
  Array.from(probabilities.filter((_, at) => at % classes === c));

export const largestDifference = (ours: ArrayLike<number>, theirs: readonly number[]): number => {
  if (ours.length !== theirs.length) return Number.POSITIVE_INFINITY;
  return Math.max(...theirs.map((value, i) => Math.abs(value - ours[i])));
};
