import { InputError } from "../errors.js";
import { philox4x32 } from "./philox.js";

/** Two uint32 words: which of the 2^64 streams. */
export type StreamKey = readonly [number, number];

/** What a stream can be seeded with, or named by. */
export type StreamName = number | string | bigint;

export const streamNameText = (name: unknown): string =>
  `A stream is seeded or named by a string or a whole number from 0 to 2^53 - 1 (a bigint: to 2^64 - 1), but got ${String(name)} (${typeof name}); use such a number or a string instead.`;

/** Last counter word: 0 for what a stream draws, these for the keys derived from it, so that they never meet. */
const NUMBER_NAME = 1;
const STRING_NAME = 2;

/** The key that all seeds hang below; any constant will do. Here, the ASCII letters "Fair" and "BED\0". */
const ROOT_KEY: StreamKey = [0x46616972, 0x42454400];

/**
 * The key of the stream called `name` below the stream `parent`: a pure function of the two.
 *
 * A number n is one block, philox([n low, n high, 0, 1], parent). A string is absorbed as in CBC-MAC, eight UTF-16
 * code units a block, after a block that holds its length: state <- philox(state xor block, parent), from
 * philox([length, 0, 0, 2], parent). The child's key is the first two words. Philox under one key is a permutation
 * of its 128-bit counters that passes the tests for random ones, so different names give keys that look independent;
 * with 64-bit keys, n streams have a chance of about n^2 / 2^65 that any two coincide (1e-8 for half a million).
 * 1 and "1" are different names; 1 and 1n are the same.
 */
export const childKey = (parent: StreamKey, name: StreamName): StreamKey => {
  const state = new Uint32Array(4);
  if (typeof name === "string") {
    state[0] = name.length;
    state[3] = STRING_NAME;
    philox4x32(state, parent, state);
    for (let at = 0; at < name.length; at += 8) {
      for (let i = 0; i < 8 && at + i < name.length; i++) {
        state[i >> 1] ^= name.charCodeAt(at + i) << (16 * (i & 1));
      }
      philox4x32(state, parent, state);
    }
  } else {
    if (typeof name === "bigint") {
      if (name < 0n || name >= 1n << 64n) throw new InputError("stream-name", streamNameText(name));
      state[0] = Number(name & 0xffffffffn);
      state[1] = Number(name >> 32n);
    } else {
      if (!Number.isSafeInteger(name) || name < 0) throw new InputError("stream-name", streamNameText(name));
      state[0] = name >>> 0;
      state[1] = Math.floor(name / 4294967296);
    }
    state[3] = NUMBER_NAME;
    philox4x32(state, parent, state);
  }
  return [state[0], state[1]];
};

/** The key of the stream with this seed. */
export const seedKey = (seed: StreamName): StreamKey => childKey(ROOT_KEY, seed);
