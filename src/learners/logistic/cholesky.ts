/** Positive definite systems, in float64 and always in the same order: the same bits on every machine. */

/**
 * Overwrites the lower triangle of a symmetric matrix, row-major [n, n], with L, A = L L'. False where A is not
 * positive definite.
 */
export const factorise = (matrix: Float64Array, n: number): boolean => {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * n + k] * matrix[j * n + k];
      if (i > j) matrix[i * n + j] = sum / matrix[j * n + j];
      else if (sum > 0) matrix[i * n + i] = Math.sqrt(sum);
      else return false;
    }
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
