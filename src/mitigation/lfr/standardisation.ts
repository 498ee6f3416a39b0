/** Columns with mean 0 and variance 1 over the rows that were learned from. */
import type { FeatureMatrix } from "../../learners/classifier.js";

/** Subtracted from each column, and what it is then divided by. */
export interface FeatureScaling {
  readonly means: readonly number[];
  readonly scales: readonly number[];
}

/** Mean and standard deviation (over n) of each column; a constant column becomes 0. */
export const standardisationOf = ({ values, columns }: FeatureMatrix, rows: Int32Array): FeatureScaling => {
  const means = new Float64Array(columns);
  const scales = new Float64Array(columns);
  for (const row of rows)
    for (let j = 0; j < columns; j++) means[j] += values[row * columns + j] / rows.length;
  for (const row of rows)
    for (let j = 0; j < columns; j++) scales[j] += (values[row * columns + j] - means[j]) ** 2 / rows.length;
  for (let j = 0; j < columns; j++) {
    const first = values[rows[0] * columns + j];
    // Rounding would leave a constant column a tiny variance to be divided by.
    const constant = rows.every((row) => values[row * columns + j] === first);
    if (constant) means[j] = first;
    scales[j] = constant ? 1 : Math.sqrt(scales[j]);
  }
  return { means: Array.from(means), scales: Array.from(scales) };
};

/** The rows as float64 [rows, columns], standardised where that is asked for. */
export const standardise = (
  { values, columns }: FeatureMatrix,
  rows: Int32Array,
  standardisation: FeatureScaling | undefined,
): Float64Array => {
  const out = new Float64Array(rows.length * columns);
  rows.forEach((row, i) => {
    for (let j = 0; j < columns; j++) {
      const value = values[row * columns + j];
      out[i * columns + j] =
        standardisation === undefined
          ? value
          : (value - standardisation.means[j]) / standardisation.scales[j];
    }
  });
  return out;
};
