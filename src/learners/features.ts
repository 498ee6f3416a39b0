/** Feature matrices: checked once, and kept in memory that all threads see where that spares a copy. */
import { InputError } from "../core/errors.js";
import type { FeatureMatrix } from "./classifier.js";

export const featureTexts = {
  shape: (length: number, rows: number, columns: number) =>
    `the features have ${length} values, but ${rows} rows of ${columns} columns need ${rows * columns}: give every row a value for each column`,
  notFinite: (row: number, column: number, value: number) =>
    `row ${row} of the features has ${value} in column ${column}, and a learner needs a number: encode missing values first`,
  columns: (given: number, expected: number) =>
    `the features have ${given} columns, but the classifier was fitted on ${expected}: encode them in the same way`,
  row: (row: number, rows: number) =>
    `row ${row} was asked for, but the features have the rows 0 to ${rows - 1}: give rows of these features`,
};

const checked = new WeakSet<FeatureMatrix>();

/** Every value finite, as many as rows and columns say; looks once at each matrix. */
export const requireFeatures = (features: FeatureMatrix): void => {
  if (checked.has(features)) return;
  const { values, rows, columns } = features;
  const whole = Number.isInteger(rows) && rows >= 0 && Number.isInteger(columns) && columns >= 1;
  if (!whole || values.length !== rows * columns)
    throw new InputError("shape", featureTexts.shape(values.length, rows, columns));
  // x - x is 0 for every finite x, and NaN for all else: one sum in place of a test for each value.
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] - values[i];
  if (sum !== 0) {
    const at = values.findIndex((x) => !Number.isFinite(x));
    throw new InputError(
      "not-finite",
      featureTexts.notFinite(Math.floor(at / columns), at % columns, values[at]),
    );
  }
  checked.add(features);
};

/** Every row number is one of the matrix. */
export const requireRows = (rows: Int32Array, features: FeatureMatrix): void => {
  for (const row of rows)
    if (row < 0 || row >= features.rows) throw new InputError("row", featureTexts.row(row, features.rows));
};

/** The features and rows of a prediction fit the classifier. */
export const requireSameColumns = (features: FeatureMatrix, columns: number): void => {
  if (features.columns !== columns)
    throw new InputError("columns", featureTexts.columns(features.columns, columns));
};
