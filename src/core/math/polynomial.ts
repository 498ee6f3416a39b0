/** c[0] + c[1] x + ... + c[n-1] x^(n-1) by Horner's rule: ((c[n-1] x + c[n-2]) x + ...) x + c[0]. */
export const polynomial = (coefficients: readonly number[], x: number): number => {
  let sum = coefficients[coefficients.length - 1];
  for (let i = coefficients.length - 2; i >= 0; i--) sum = sum * x + coefficients[i];
  return sum;
};

/** c[0] + c[1] T1(x) + ... + c[n-1] T(n-1)(x) for -1 <= x <= 1 by Clenshaw's recurrence. */
export const chebyshev = (coefficients: readonly number[], x: number): number => {
  let next = 0;
  let afterNext = 0;
  for (let i = coefficients.length - 1; i > 0; i--) {
    const current = 2 * x * next - afterNext + coefficients[i];
    afterNext = next;
    next = current;
  }
  return x * next - afterNext + coefficients[0];
};
