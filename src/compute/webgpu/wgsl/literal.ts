/** Numbers as WGSL writes them. */

/** A finite float32. */
export const f32 = (value: number): string => {
  const text = String(Math.fround(value));
  return /[.e]/.test(text) ? `${text}f` : `${text}.0f`;
};

/** c[0] + c[1] x + ... by Horner's rule, one rounding a term. */
export const polynomial = (x: string, coefficients: readonly number[]): string =>
  coefficients
    .slice(0, -1)
    .reduceRight((sum, c) => `fma(${sum}, ${x}, ${f32(c)})`, f32(coefficients[coefficients.length - 1]));
