import { InputError } from "../errors.js";
import { log, normalQuantile } from "../math.js";
import { requireArgument } from "./arguments.js";
import { categoricalVariate, integerVariate, shuffledPrefix } from "./discrete.js";
import { betaVariate, gammaVariate } from "./gamma.js";
import { childKey, type StreamKey, type StreamName, seedKey } from "./key.js";
import { philoxBlocks, philoxInto } from "./philox.js";
import { LARGEST_POISSON_MEAN, poissonVariate } from "./poisson.js";

/** A stream as plain data, for JSON: its key, and how many 32-bit words were drawn from it. */
export interface StreamState {
  readonly key: StreamKey;
  readonly position: number;
}

export const streamStateText = (state: unknown): string =>
  `A stream is restored from { key: [uint32, uint32], position: whole number from 0 }, but got ${JSON.stringify(state)}; pass the state that a stream gave.`;

const positive = (x: number): boolean => x > 0 && x < Number.POSITIVE_INFINITY;
const POSITIVE = "a positive, finite number";
const LARGEST_COUNT = 4294967296;
const isCount = (n: number): boolean => Number.isInteger(n) && n >= 0 && n <= LARGEST_COUNT;

/**
 * The number in the open interval (0, 1) that two words stand for:
 * ((a >>> 6) 2^26 + (b >>> 6) + 0.5) / 2^52, that is, the midpoint of one of 2^52 equal cells.
 *
 * Every operation is exact, so u is at least 2^-53, at most 1 - 2^-53, and 1 - u is as likely as u. (With 53 bits the
 * + 0.5 would not fit, and the largest value would round to 1.)
 */
export const uniformFromWords = (a: number, b: number): number =>
  ((a >>> 6) * 67108864 + (b >>> 6) + 0.5) * 2.220446049250313e-16;

/**
 * A stream of random numbers: a key that says which stream, and a position in it.
 *
 * Word j (uint32) of the stream is word j mod 4 of block floor(j / 4), and block i is
 * philox4x32([i mod 2^32, floor(i / 2^32), 0, 0], key). A uniform takes the next two words, a normal is the quantile
 * of one uniform; the other draws say what they take. All go through this library's own special functions, so the
 * same key and position give the same bits in every engine.
 *
 * This is a mutable cursor: every draw moves `position`. {@link RandomStream.split} does not, and does not look at
 * it: give each part of a computation its own named stream rather than sharing one. Obtain streams from
 * {@link seededStream} and {@link restoreStream}.
 */
export class RandomStream {
  readonly key: StreamKey;
  /** Words `start`, ..., `start + filled - 1` of the stream, of which `used` were drawn. */
  private readonly buffer = new Uint32Array(16);
  private start = 0;
  private filled = 0;
  private used = 0;

  constructor(key: StreamKey, position: number) {
    this.key = key;
    this.moveTo(position);
  }

  private moveTo(position: number): void {
    this.start = Math.floor(position / 4) * 4;
    this.filled = this.used = 0;
    if (position > this.start) {
      this.refill();
      this.used = position - this.start;
    }
  }

  /** How many 32-bit words were drawn so far, 0 <= position < 2^53. */
  get position(): number {
    return this.start + this.used;
  }

  /** This stream as plain data; {@link restoreStream} resumes exactly here. */
  get state(): StreamState {
    return { key: this.key, position: this.position };
  }

  /** The stream called `name` below this one, at its start: depends on this stream's key and the name alone. */
  split(name: StreamName): RandomStream {
    return new RandomStream(childKey(this.key, name), 0);
  }

  /** Passes over `words` words, as if they had been drawn: what a kernel does that drew them elsewhere. */
  skip(words: number): void {
    requireArgument(
      Number.isSafeInteger(words) && words >= 0,
      "skip",
      "words",
      words,
      "a whole number from 0",
    );
    this.moveTo(this.position + words);
  }

  /** The next word: a whole number 0 <= w < 2^32. */
  uint32(): number {
    if (this.used === this.filled) this.refill();
    return this.buffer[this.used++];
  }

  /** Fills `out` with the next words, as {@link uint32} would give them one by one, but faster. */
  fillUint32(out: Uint32Array): void {
    let at = 0;
    while (at < out.length && this.used < this.filled) out[at++] = this.buffer[this.used++];
    const bulk = Math.floor((out.length - at) / 16) * 16;
    if (bulk > 0) {
      this.start += this.filled;
      philoxBlocks(this.key, this.start / 4, bulk / 4, out, at);
      this.start += bulk;
      this.filled = this.used = 0;
      at += bulk;
    }
    while (at < out.length) out[at++] = this.uint32();
  }

  /**
   * Uniform on (0, 1), or on [low, high] where given (the ends only by rounding); two words. See
   * {@link uniformFromWords}.
   */
  uniform(low = 0, high = 1): number {
    const a = this.uint32();
    const u = uniformFromWords(a, this.uint32());
    if (low === 0 && high === 1) return u;
    const width = high - low;
    requireArgument(
      width >= 0 && width < Number.POSITIVE_INFINITY,
      "uniform",
      "high - low",
      width,
      "finite and not negative",
    );
    const x = low + width * u;
    return Math.min(x, high);
  }

  /** mean + sd z, z = normalQuantile(u) standard normal, |z| < 8.3; two words. */
  normal(mean = 0, sd = 1): number {
    requireArgument(Number.isFinite(mean), "normal", "mean", mean, "finite");
    requireArgument(sd >= 0 && sd < Number.POSITIVE_INFINITY, "normal", "sd", sd, "finite and not negative");
    return mean + sd * normalQuantile(this.uniform());
  }

  /** Exponential with density rate e^(-rate x), x > 0: -log(u) / rate; two words. */
  exponential(rate = 1): number {
    requireArgument(positive(rate), "exponential", "rate", rate, POSITIVE);
    return -log(this.uniform()) / rate;
  }

  /** Gamma with density x^(shape - 1) e^(-x / scale) / (Gamma(shape) scale^shape), by rejection. */
  gamma(shape: number, scale = 1): number {
    requireArgument(positive(shape), "gamma", "shape", shape, POSITIVE);
    requireArgument(positive(scale), "gamma", "scale", scale, POSITIVE);
    return scale * gammaVariate(this, shape);
  }

  /** Beta with density proportional to x^(a - 1) (1 - x)^(b - 1), 0 <= x <= 1, from two gamma variates. */
  beta(a: number, b: number): number {
    requireArgument(positive(a), "beta", "a", a, POSITIVE);
    requireArgument(positive(b), "beta", "b", b, POSITIVE);
    return betaVariate(this, a, b);
  }

  /** Poisson, 0 <= mean <= 1e15. */
  poisson(mean: number): number {
    requireArgument(
      mean >= 0 && mean <= LARGEST_POISSON_MEAN,
      "poisson",
      "mean",
      mean,
      `between 0 and ${LARGEST_POISSON_MEAN}`,
    );
    return poissonVariate(this, mean);
  }

  /** An index i with probability probabilities[i] / sum; the weights need not sum to 1. Two words. */
  categorical(probabilities: ArrayLike<number>): number {
    return categoricalVariate(this, probabilities);
  }

  /** A whole number 0 <= i < n, each equally likely, 1 <= n <= 2^32. */
  integer(n: number): number {
    requireArgument(isCount(n) && n > 0, "integer", "n", n, "a whole number from 1 to 2^32");
    return integerVariate(this, n);
  }

  /** 0, ..., n - 1 in an order drawn uniformly from all n!. */
  permutation(n: number): Uint32Array {
    requireArgument(isCount(n), "permutation", "n", n, "a whole number from 0 to 2^32");
    return shuffledPrefix(this, n, n);
  }

  /** k different numbers from 0, ..., n - 1, every ordered choice equally likely; O(k) where k is well below n. */
  choice(n: number, k: number): Uint32Array {
    requireArgument(isCount(n), "choice", "n", n, "a whole number from 0 to 2^32");
    requireArgument(isCount(k) && k <= n, "choice", "k", k, `a whole number from 0 to n = ${n}`);
    return shuffledPrefix(this, n, k);
  }

  /** One block at first, since many streams are split off for a draw or two; four at a time, faster, from then on. */
  private refill(): void {
    const first = this.filled === 0;
    this.start += this.filled;
    this.used = 0;
    this.filled = first ? 4 : 16;
    const block = this.start / 4;
    if (first) {
      const [x, y] = this.key;
      philoxInto(block | 0, Math.floor(block / 4294967296), 0, 0, x | 0, y | 0, this.buffer);
    } else {
      philoxBlocks(this.key, block, 4, this.buffer, 0);
    }
  }
}

/**
 * The stream with this seed, at its start. 1 and 1n are the same seed; 1 and "1" are not.
 *
 * @example
 * ```ts
 * import { seededStream } from "fairbed";
 *
 * const stream = seededStream(7);
 * const again = seededStream(7).split("noise");
 * console.log(stream.split("noise").uniform() === again.uniform()); // true
 * ```
 */
export const seededStream = (seed: StreamName): RandomStream => new RandomStream(seedKey(seed), 0);

const isWord = (x: unknown): boolean => Number.isInteger(x) && Number(x) >= 0 && Number(x) < 4294967296;

/** The stream that gave this state, exactly where it was. */
export const restoreStream = (state: StreamState): RandomStream => {
  const { key, position } = state;
  if (!Array.isArray(key) || key.length !== 2 || !key.every(isWord)) {
    throw new InputError("stream-state", streamStateText(state));
  }
  if (!Number.isSafeInteger(position) || position < 0) {
    throw new InputError("stream-state", streamStateText(state));
  }
  return new RandomStream([key[0], key[1]], position);
};
