/**
 * The two 32-bit halves of a float64, through typed arrays that share memory.
 *
 * The scratch is private to one realm and never outlives a call, so it is not shared state.
 */
const value = new Float64Array(1);
const halves = new Int32Array(value.buffer);

/** Where the half with sign and exponent lies: 1 on little-endian machines (all that browsers run on), else 0. */
const HIGH = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;
const LOW = 1 - HIGH;

/** The signed 32-bit half of `x` that holds sign, exponent and the 20 leading fraction bits. */
export const highHalf = (x: number): number => {
  value[0] = x;
  return halves[HIGH];
};

/** `x` with its high half replaced by `high`. */
export const withHighHalf = (x: number, high: number): number => {
  value[0] = x;
  halves[HIGH] = high;
  return value[0];
};

/** `x` with its low half cleared: at most 21 significant bits, so that the square is exact. */
export const withoutLowHalf = (x: number): number => {
  value[0] = x;
  halves[LOW] = 0;
  return value[0];
};

/** 2^k for integers -1022 <= k <= 1023. */
export const powerOfTwo = (k: number): number => {
  halves[LOW] = 0;
  halves[HIGH] = (k + 1023) << 20;
  return value[0];
};
