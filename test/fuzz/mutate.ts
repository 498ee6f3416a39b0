/** Damaged copies of files: the same seed and number give the same damage on every machine. */
import { type RandomStream, seededStream } from "../../src/core/random.js";

/** One kind of damage. */
type Mutator = (bytes: Uint8Array, stream: RandomStream, others: readonly Uint8Array[]) => Uint8Array;

const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

const encoder = new TextEncoder();
const place = (bytes: Uint8Array, stream: RandomStream): number => stream.integer(bytes.length + 1);
const pick = <Item>(items: readonly Item[], stream: RandomStream): Item =>
  items[stream.integer(items.length)];
const inserted = (bytes: Uint8Array, at: number, what: Uint8Array): Uint8Array =>
  joined(bytes.subarray(0, at), what, bytes.subarray(at));
const span = (bytes: Uint8Array, stream: RandomStream): readonly [number, number] => {
  const start = place(bytes, stream);
  return [start, Math.min(bytes.length, start + 1 + stream.integer(64))];
};

/** What readers of text and of containers trip over. */
const SPECIAL = [
  ...["\0", "\r", "\n", "\r\n", '"', '""', "'", "\\", '\\"', ",", ";", "\t", "|", " ", "\ufeff", "\u2028"],
  ...["{", "}", "[", "]", "<", ">", "&", "&lt;", "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"],
  ...["@data\n", "@attribute ", "%", "?", "NaN", "-inf", "1e999", "0x10", "__proto__", "constructor"],
].map((text) => encoder.encode(text));

const HUGE = ["9".repeat(400), "1e308", "-1e-400", "18446744073709551616", "2147483648", "4294967295", "-1"];

const MUTATORS: readonly Mutator[] = [
  function flipBits(bytes, stream) {
    const copy = bytes.slice();
    const count = 1 + stream.integer(8);
    for (let flip = 0; flip < count && copy.length > 0; flip++) {
      copy[stream.integer(copy.length)] ^= 1 << stream.integer(8);
    }
    return copy;
  },
  function setBytes(bytes, stream) {
    const copy = bytes.slice();
    const [start, end] = span(bytes, stream);
    copy.fill(pick([0, 0x7f, 0x80, 0xff, 0x22, 0x0a, 0xe9], stream), start, end);
    return copy;
  },
  (bytes, stream) => bytes.slice(0, place(bytes, stream)),
  (bytes, stream) => bytes.slice(place(bytes, stream)),
  function leaveOut(bytes, stream) {
    const [start, end] = span(bytes, stream);
    return joined(bytes.subarray(0, start), bytes.subarray(end));
  },
  function repeat(bytes, stream) {
    const [start, end] = span(bytes, stream);
    const times = pick([1, 2, 10, 500], stream);
    return inserted(bytes, end, joined(...Array.from({ length: times }, () => bytes.subarray(start, end))));
  },
  function splice(bytes, stream, others) {
    const other = pick(others, stream);
    return joined(bytes.subarray(0, place(bytes, stream)), other.subarray(place(other, stream)));
  },
  function longRun(bytes, stream) {
    const unit = pick(SPECIAL, stream);
    const length = pick([100, 3000, 40_000], stream);
    const run = joined(...Array.from({ length: Math.ceil(length / unit.length) }, () => unit));
    return inserted(bytes, place(bytes, stream), run);
  },
  (bytes, stream) => inserted(bytes, place(bytes, stream), pick(SPECIAL, stream)),
  function hugeNumber(bytes, stream) {
    const digits = [...bytes.keys()].filter((at) => bytes[at] >= 0x30 && bytes[at] <= 0x39);
    const at = digits.length === 0 ? place(bytes, stream) : pick(digits, stream);
    return joined(bytes.subarray(0, at), encoder.encode(pick(HUGE, stream)), bytes.subarray(at + 1));
  },
  function hugeInteger(bytes, stream) {
    // The lengths and offsets of a binary file.
    const copy = bytes.slice();
    const at = stream.integer(Math.max(1, bytes.length - 8));
    const value = pick([0, 1, 0x7fffffff, 0x80000000, 0xffffffff, bytes.length, bytes.length + 1], stream);
    if (at + 4 <= copy.length) new DataView(copy.buffer).setUint32(at, value, true);
    return copy;
  },
];

/** Damaged file number `index`: one to four kinds of damage to one of the files. */
export const mutant = (files: readonly Uint8Array[], seed: number, index: number): Uint8Array => {
  const stream = seededStream(seed).split(`mutant ${index}`);
  // A copy that is no Buffer, whose slices would share its bytes.
  let bytes: Uint8Array = Uint8Array.from(pick(files, stream));
  const count = 1 + stream.integer(4);
  for (let step = 0; step < count; step++) bytes = pick(MUTATORS, stream)(bytes, stream, files);
  return bytes;
};
