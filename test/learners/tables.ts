/** Small tables that any language can make, so that other programs' answers to them can be written down. */
import type { FeatureMatrix } from "../../src/learners/classifier.js";

/** x[i, j] = ((a_j i + b_j) mod m_j) / 8 + shift, for rows `from` to `to`. */
export const moduloTable = (from: number, to: number, shift = 0): FeatureMatrix => {
  const rules = [
    [7, 3, 31],
    [11, 5, 37],
    [5, 1, 29],
  ];
  const values = Float32Array.from({ length: (to - from) * 3 }, (_, at) => {
    const [a, b, m] = rules[at % 3];
    return ((a * (from + Math.floor(at / 3)) + b) % m) / 8 + shift;
  });
  return { values, rows: to - from, columns: 3 };
};

/** One column of a table. */
export const columnOf = ({ values, rows, columns }: FeatureMatrix, column: number): FeatureMatrix => ({
  values: values.filter((_, at) => at % columns === column),
  rows,
  columns: 1,
});

export const matrixOf = (rows: readonly (readonly number[])[]): FeatureMatrix => ({
  values: Float32Array.from(rows.flat()),
  rows: rows.length,
  columns: rows[0].length,
});

const digits = (text: string): Int32Array => Int32Array.from(text, Number);

/** Labels of rows 0 to 39: two classes, three classes, and two of which one is rare. */
export const TWO = digits("0101010110110110010011001011101000100101");
export const THREE = digits("0112010220221211120022001122102100200112");
export const RARE = digits("0001000000100000010010000010001000000001");
