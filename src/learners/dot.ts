/** Sum over k of a[aFrom + k] b[bFrom + k], in four strands, since one sum would wait for itself. */
export const dot = (
  a: Float64Array,
  aFrom: number,
  b: Float64Array,
  bFrom: number,
  length: number,
): number => {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = 0;
  for (; k + 3 < length; k += 4) {
    s0 += a[aFrom + k] * b[bFrom + k];
    s1 += a[aFrom + k + 1] * b[bFrom + k + 1];
    s2 += a[aFrom + k + 2] * b[bFrom + k + 2];
    s3 += a[aFrom + k + 3] * b[bFrom + k + 3];
  }
  for (; k < length; k++) s0 += a[aFrom + k] * b[bFrom + k];
  return s0 + s1 + (s2 + s3);
};
