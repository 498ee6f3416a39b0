const view = new DataView(new ArrayBuffer(8));

/** Place of x among all float64 numbers in order, so that neighbours differ by 1. */
const place = (x: number): bigint => {
  view.setFloat64(0, x);
  const bits = view.getBigInt64(0);
  return bits < 0n ? -(bits & 0x7fffffffffffffffn) : bits;
};

/** How many float64 steps lie between a and b. */
export const ulpsBetween = (a: number, b: number): number => {
  if (Number.isNaN(a) || Number.isNaN(b))
    return Number.isNaN(a) && Number.isNaN(b) ? 0 : Number.POSITIVE_INFINITY;
  const difference = Number(place(a) - place(b));
  return Math.abs(difference);
};

/** Numbers a + (b - a) k / n shifted off the grid by a fixed irrational step: spread out, and always the same. */
export const spread = (a: number, b: number, n: number): number[] =>
  Array.from({ length: n }, (_, k) => a + (b - a) * ((k * 0.6180339887498949 + 0.123) % 1));
