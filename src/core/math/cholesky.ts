/** Positive definite systems, in float64 and always in the same order: the same bits on every machine. */

/**
 * Overwrites the lower triangle of a symmetric matrix, row-major [n, n], with L, A = L L'. False where A is not
 * positive definite. `least` gives, from an element of A's diagonal, the least square that one of L's may have, for
 * matrices that rounding may have left short of that.
 */
export const factorise = (
  matrix: Float64Array,
  n: number,
  least: (diagonal: number) => number = () => 0,
): boolean => {
  for (let i = 0; i < n; i++) if (!factoriseRow(matrix, n, i, least)) return false;
  return true;
};

/** Products that make a piece of work. */
const PIECE_PRODUCTS = 2 ** 23;

/** {@link factorise} in pieces, the same bits. */
export function* factoriseSteps(
  matrix: Float64Array,
  n: number,
  least: (diagonal: number) => number = () => 0,
): Generator<unknown, boolean> {
  let products = 0;
  for (let i = 0; i < n; i++) {
    if (!factoriseRow(matrix, n, i, least)) return false;
    products += (i * i) / 2;
    if (products < PIECE_PRODUCTS) continue;
    products = 0;
    yield;
  }
  return true;
}

/** Row i of L, after those above it. */
const factoriseRow = (
  matrix: Float64Array,
  n: number,
  i: number,
  least: (diagonal: number) => number,
): boolean => {
  const floor = least(matrix[i * n + i]);
  for (let j = 0; j <= i; j++) {
    let sum = matrix[i * n + j];
    for (let k = 0; k < j; k++) sum -= matrix[i * n + k] * matrix[j * n + k];
    if (i > j) matrix[i * n + j] = sum / matrix[j * n + j];
    else if (sum > 0 || floor > 0) matrix[i * n + i] = Math.sqrt(Math.max(sum, floor));
    else return false;
  }
  return true;
};

/** x <- L^-1 x. */
export const solveLower = (factor: Float64Array, n: number, x: Float64Array): void => {
  for (let i = 0; i < n; i++) {
    let sum = x[i];
    for (let k = 0; k < i; k++) sum -= factor[i * n + k] * x[k];
    x[i] = sum / factor[i * n + i];
  }
};

/** x <- L'^-1 x. */
export const solveUpper = (factor: Float64Array, n: number, x: Float64Array): void => {
  for (let i = n - 1; i >= 0; i--) {
    const value = x[i] / factor[i * n + i];
    x[i] = value;
    for (let k = 0; k < i; k++) x[k] -= factor[i * n + k] * value;
  }
};
