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

/** `x` with its low half cleared: at most 21 significant bits, so that the square is exact. */
export const withoutLowHalf = (x: number): number => {
  value[0] = x;
  halves[LOW] = 0;
  return value[0];
};

const SMALLEST_EXPONENT = -1074;
const powers = new Float64Array(1023 - SMALLEST_EXPONENT + 1);
powers[0] = Number.MIN_VALUE;
for (let i = 1; i < powers.length; i++) powers[i] = 2 * powers[i - 1];

/**
 * 2^k for integers -1074 <= k <= 1023, from a table: a processor waits when it reads a float64 of which only a half was
 * just written.
 */
export const powerOfTwo = (k: number): number => powers[k - SMALLEST_EXPONENT];
