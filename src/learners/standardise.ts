/** Columns with mean 0 and variance 1 over the training rows, for learners that measure distances or steps. */
import { unpaced } from "../core/options.js";
import type { FeatureMatrix } from "./classifier.js";

/** x becomes (x - mean) / scale, column by column. */
export interface Standardisation {
  readonly means: Float64Array;
  readonly scales: Float64Array;
}

/** Leaves every column as it is. */
export const noStandardisation = (columns: number): Standardisation => ({
  means: new Float64Array(columns),
  scales: new Float64Array(columns).fill(1),
});

/** Numbers that are looked at in one piece of work: some milliseconds. */
const PIECE_VALUES = 2 ** 21;

/** Calls `work` with ranges of the rows, one after the other, in pieces that look at about so many values. */
export function* eachRange(
  rows: number,
  columns: number,
  work: (from: number, to: number) => void,
): Generator<unknown, void> {
  const size = Math.max(1, Math.floor(PIECE_VALUES / columns));
  for (let from = 0; from < rows; from += size) {
    work(from, Math.min(rows, from + size));
    yield;
  }
}

/** Weighted mean and standard deviation (over n, not n - 1) of each column; a constant one becomes 0. */
export const fitStandardisation = (
  features: FeatureMatrix,
  rows: Int32Array,
  weights: Float64Array,
): Standardisation => unpaced(standardisationSteps(features, rows, weights));

/** The same in pieces. */
export function* standardisationSteps(
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  weights: Float64Array,
): Generator<unknown, Standardisation> {
  const means = new Float64Array(columns);
  const scales = new Float64Array(columns);
  const varies = new Uint8Array(columns);
  let total = 0;
  yield* eachRange(rows.length, columns, (from, to) => {
    for (let i = from; i < to; i++) {
      total += weights[i];
      for (let j = 0; j < columns; j++) {
        means[j] += weights[i] * values[rows[i] * columns + j];
        if (values[rows[i] * columns + j] !== values[rows[0] * columns + j]) varies[j] = 1;
      }
    }
  });
  for (let j = 0; j < columns; j++) means[j] /= total;
  yield* eachRange(rows.length, columns, (from, to) => {
    for (let i = from; i < to; i++)
      for (let j = 0; j < columns; j++)
        scales[j] += weights[i] * (values[rows[i] * columns + j] - means[j]) ** 2;
  });
  for (let j = 0; j < columns; j++) {
    // A constant's mean may be off by a rounding error, which must not be blown up to a feature.
    if (varies[j] === 0) means[j] = values[rows[0] * columns + j];
    scales[j] = varies[j] === 0 ? 1 : Math.sqrt(scales[j] / total);
  }
  return { means, scales };
}

/** These rows standardised, row-major [rows, columns]. */
export const standardise = <Out extends Float32Array | Float64Array>(
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  { means, scales }: Standardisation,
  out: Out,
): Out => {
  for (let i = 0, at = 0; i < rows.length; i++)
    for (let j = 0, from = rows[i] * columns; j < columns; j++, at++)
      out[at] = (values[from + j] - means[j]) / scales[j];
  return out;
};

/** The same in pieces. */
export function* standardiseSteps<Out extends Float32Array | Float64Array>(
  features: FeatureMatrix,
  rows: Int32Array,
  standardisation: Standardisation,
  out: Out,
): Generator<unknown, Out> {
  const { columns } = features;
  yield* eachRange(rows.length, columns, (from, to) => {
    const own = out.subarray(from * columns, to * columns);
    standardise(features, rows.subarray(from, to), standardisation, own);
  });
  return out;
}

/** The rows of a prediction: those given, or all. */
export const rowsOrAll = (features: FeatureMatrix, rows: Int32Array | undefined): Int32Array =>
  rows ?? Int32Array.from({ length: features.rows }, (_, i) => i);
