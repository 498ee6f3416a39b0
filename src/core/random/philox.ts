/**
 * Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3" (SC 2011): ten rounds of multiplication and key injection turn (counter, key) into four words.
 */
const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;

const TWO_M32 = 2.3283064365386963e-10;
/** The multipliers over 2^32, exact. */
const FRACTION_0 = MULTIPLIER_0 * TWO_M32;
const FRACTION_1 = MULTIPLIER_1 * TWO_M32;

/**
 * The high 32 bits of a 32 x 32 bit product, given a, the multiplier over 2^32 and the low 32 bits of the product.
 *
 * In float64, a * fraction + 0.5 - low / 2^32 is the high word plus 0.5 with an error below 2^-20, so truncation gives
 * the word exactly. Two conversions and two multiplications are faster here than four products of 16-bit halves.
 */
const highWord = (a: number, fraction: number, low: number): number =>
  ((a >>> 0) * fraction + 0.5 - (low >>> 0) * TWO_M32) >>> 0;

/** {@link philox4x32} on plain words, into a typed array: the form that stays fast whatever else is called. */
export const philoxInto = (
  a0: number,
  a1: number,
  a2: number,
  a3: number,
  x: number,
  y: number,
  out: Uint32Array,
): void => {
  for (let round = 0; round < 10; round++) {
    const low0 = Math.imul(a0, MULTIPLIER_0);
    const low2 = Math.imul(a2, MULTIPLIER_1);
    const high0 = highWord(a0, FRACTION_0, low0);
    const high2 = highWord(a2, FRACTION_1, low2);
    a0 = high2 ^ a1 ^ x;
    a2 = high0 ^ a3 ^ y;
    a1 = low2;
    a3 = low0;
    x = (x + WEYL_0) | 0;
    y = (y + WEYL_1) | 0;
  }
  out[0] = a0;
  out[1] = a1;
  out[2] = a2;
  out[3] = a3;
};

/** `out[0..3] = philox(counter[0..3], key[0..1])`, all uint32 words. `out` may be `counter`. */
export const philox4x32 = (counter: ArrayLike<number>, key: ArrayLike<number>, out: Uint32Array): void =>
  philoxInto(counter[0] | 0, counter[1] | 0, counter[2] | 0, counter[3] | 0, key[0] | 0, key[1] | 0, out);

/** 2^32, the number of blocks after which the second counter word changes. */
const WORD = 4294967296;

/**
 * Writes `blocks` consecutive blocks, a multiple of 4, of the stream `key` to `out` from index `start`:
 * `out[start + 4 i + j]` is word j of philox([low, high, 0, 0], key) at block number `first + i` = low + 2^32 high.
 *
 * Four blocks go through the rounds together because one block alone waits for its multiplications; the first two
 * rounds are written out because a zero in the counter leaves half of them constant.
 */
export const philoxBlocks = (
  key: readonly [number, number],
  first: number,
  blocks: number,
  out: Uint32Array,
  start: number,
): void => {
  const x1 = (key[0] + WEYL_0) | 0;
  const y0 = key[1] | 0;
  const y1 = (key[1] + WEYL_1) | 0;
  const end = start + 4 * blocks;
  for (let at = start, block = first; at < end; at += 16, block += 4) {
    const high = Math.floor(block / WORD);
    if (block + 3 >= (high + 1) * WORD) {
      // The second counter word changes inside this group.
      for (let i = 0; i < 4; i++) {
        const words = out.subarray(at + 4 * i, at + 4 * i + 4);
        philoxInto((block + i) | 0, Math.floor((block + i) / WORD), 0, 0, key[0] | 0, key[1] | 0, words);
      }
      continue;
    }
    // Round 1 leaves word 0 = high ^ key[0], the same for all; round 2 multiplies it once.
    const same = (high ^ key[0]) | 0;
    const sameLow = Math.imul(same, MULTIPLIER_0);
    const sameHigh = highWord(same, FRACTION_0, sameLow) ^ y1;

    const a = block | 0;
    const b = (a + 1) | 0;
    const c = (a + 2) | 0;
    const d = (a + 3) | 0;
    let a3 = Math.imul(a, MULTIPLIER_0);
    let b3 = Math.imul(b, MULTIPLIER_0);
    let c3 = Math.imul(c, MULTIPLIER_0);
    let d3 = Math.imul(d, MULTIPLIER_0);
    let a2 = highWord(a, FRACTION_0, a3) ^ y0;
    let b2 = highWord(b, FRACTION_0, b3) ^ y0;
    let c2 = highWord(c, FRACTION_0, c3) ^ y0;
    let d2 = highWord(d, FRACTION_0, d3) ^ y0;
    let a1 = Math.imul(a2, MULTIPLIER_1);
    let b1 = Math.imul(b2, MULTIPLIER_1);
    let c1 = Math.imul(c2, MULTIPLIER_1);
    let d1 = Math.imul(d2, MULTIPLIER_1);
    let a0 = highWord(a2, FRACTION_1, a1) ^ x1;
    let b0 = highWord(b2, FRACTION_1, b1) ^ x1;
    let c0 = highWord(c2, FRACTION_1, c1) ^ x1;
    let d0 = highWord(d2, FRACTION_1, d1) ^ x1;
    a2 = sameHigh ^ a3;
    b2 = sameHigh ^ b3;
    c2 = sameHigh ^ c3;
    d2 = sameHigh ^ d3;
    a3 = b3 = c3 = d3 = sameLow;

    let x = x1;
    let y = y1;
    for (let round = 2; round < 10; round++) {
      x = (x + WEYL_0) | 0;
      y = (y + WEYL_1) | 0;
      const aLow0 = Math.imul(a0, MULTIPLIER_0);
      const bLow0 = Math.imul(b0, MULTIPLIER_0);
      const cLow0 = Math.imul(c0, MULTIPLIER_0);
      const dLow0 = Math.imul(d0, MULTIPLIER_0);
      const aLow2 = Math.imul(a2, MULTIPLIER_1);
      const bLow2 = Math.imul(b2, MULTIPLIER_1);
      const cLow2 = Math.imul(c2, MULTIPLIER_1);
      const dLow2 = Math.imul(d2, MULTIPLIER_1);
      const aHigh0 = highWord(a0, FRACTION_0, aLow0);
      const bHigh0 = highWord(b0, FRACTION_0, bLow0);
      const cHigh0 = highWord(c0, FRACTION_0, cLow0);
      const dHigh0 = highWord(d0, FRACTION_0, dLow0);
      a0 = highWord(a2, FRACTION_1, aLow2) ^ a1 ^ x;
      b0 = highWord(b2, FRACTION_1, bLow2) ^ b1 ^ x;
      c0 = highWord(c2, FRACTION_1, cLow2) ^ c1 ^ x;
      d0 = highWord(d2, FRACTION_1, dLow2) ^ d1 ^ x;
      a2 = aHigh0 ^ a3 ^ y;
      b2 = bHigh0 ^ b3 ^ y;
      c2 = cHigh0 ^ c3 ^ y;
      d2 = dHigh0 ^ d3 ^ y;
      a1 = aLow2;
      b1 = bLow2;
      c1 = cLow2;
      d1 = dLow2;
      a3 = aLow0;
      b3 = bLow0;
      c3 = cLow0;
      d3 = dLow0;
    }
    out[at] = a0;
    out[at + 1] = a1;
    out[at + 2] = a2;
    out[at + 3] = a3;
    out[at + 4] = b0;
    out[at + 5] = b1;
    out[at + 6] = b2;
    out[at + 7] = b3;
    out[at + 8] = c0;
    out[at + 9] = c1;
    out[at + 10] = c2;
    out[at + 11] = c3;
    out[at + 12] = d0;
    out[at + 13] = d1;
    out[at + 14] = d2;
    out[at + 15] = d3;
  }
};
