// A table as surveys have it: categories whose commonest value has most of the rows, some numbers, and classes of very
// different sizes that depend on a few of the columns. Sent as codes, since one-hot columns would be mostly zeros.
import { array, normals } from "./inputs.mjs";

const NUMBERS = 8;
/** How many values each category has: with the numbers, 388 columns. */
export const LEVELS = [
  47, 43, 38, 33, 24, 17, 17, 15, 14, 10, 10, 9, 9, 8, 8, 8, 7, 7, 6, 6, 6, 5, 5, 5, 4, 4, 3, 3, 3, 2, 2, 2,
];
export const COLUMNS = NUMBERS + LEVELS.reduce((sum, count) => sum + count, 0);

/** { numbers [rows, 8], codes [rows, 32], labels [rows] }. */
export function codedTable(rows, classes) {
  const normal = normals(17);
  const numbers = array([rows, NUMBERS], (i) => {
    const z = normal();
    // Half of the numbers are mostly 0, as wages and gains are.
    return (i % NUMBERS) % 2 === 0 ? Math.round(10 * z) / 10 : Math.max(0, Math.round(100 * (z - 1.3)));
  });
  const codes = array([rows, LEVELS.length], (i) => {
    const count = LEVELS[i % LEVELS.length];
    return Math.min(count - 1, Math.floor(Math.abs(normal()) ** 3 * 0.12 * count));
  });
  const labels = array([rows], (i) => {
    const at = (j) => codes.data[i * LEVELS.length + j];
    const score = 0.4 * numbers.data[i * NUMBERS] + 0.3 * (at(0) % 5) - 0.2 * (at(3) % 3) + 0.5 * (at(8) % 2);
    return Math.max(0, Math.min(classes - 1, Math.floor(1.1 * Math.abs(score + normal()) - 0.6)));
  });
  return { numbers, codes, labels };
}

/** The table with a column for every value of every category: { values, rows, columns }. */
export function oneHot({ numbers, codes }) {
  const [rows] = numbers.shape;
  const values = new Float32Array(rows * COLUMNS);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < NUMBERS; j++) values[i * COLUMNS + j] = numbers.data[i * NUMBERS + j];
    for (let j = 0, from = NUMBERS; j < LEVELS.length; from += LEVELS[j++])
      values[i * COLUMNS + from + codes.data[i * LEVELS.length + j]] = 1;
  }
  return { values, rows, columns: COLUMNS };
}
