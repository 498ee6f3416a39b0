/** Philox 4x32-10 in SIMD: what core/random/philox.ts computes, for many counters at once. */
import { type FunctionWriter, V128 } from "../wasm/encoder.js";
import { keepVector } from "../wasm/kernel.js";
import { apply, each, type Vectors } from "./lockstep.js";

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;

/** Vectors of four counters that go through the rounds together. */
const GROUPS = 3;
/** Bytes that one turn of the loop writes. */
export const PHILOX_STEP = 64 * GROUPS;

/** The keys of the ten rounds, two words each, as the kernel wants them in memory. */
export const roundKeys = ([x, y]: readonly [number, number]): Int32Array =>
  Int32Array.from({ length: 2 * ROUNDS }, (_, i) => {
    const round = i >> 1;
    return i % 2 === 0 ? x + Math.imul(round, WEYL_0) : y + Math.imul(round, WEYL_1);
  });

/** The low and high words of x * multiplier, lane by lane. */
const multiply = (
  writer: FunctionWriter,
  x: Vectors,
  multiplier: number,
): { low: Vectors; high: Vectors } => {
  const first = apply(writer, "i64x2.extmul_low_i32x4_u", x, multiplier);
  const second = apply(writer, "i64x2.extmul_high_i32x4_u", x, multiplier);
  return {
    low: apply(writer, "i32x4.mul", x, multiplier),
    high: each(writer, x.length, (k) => writer.get(first[k]).get(second[k]).shuffle32(1, 3, 5, 7)),
  };
};


export const writePhilox = (
  writer: FunctionWriter,
  { at, end, block, base, keys }: { at: number; end: number; block: number; base: number; keys: number },
): void => {
  const N = 4;
  writer.loop(at, () => writer.get(at), () => writer.get(end), 16 * N, () => {
    const I64 = 0x7e, I32 = 0x7f;
    const st: number[][] = [];
    for (let k = 0; k < N; k++) {
      const s = [writer.local(I64), writer.local(I64), writer.local(I64), writer.local(I64)];
      const b = writer.local(I64);
      writer.get(block).i64(BigInt(k)).op("i64.add").set(b);
      writer.get(b).i64(0xffffffffn).op("i64.and").set(s[0]);
      writer.get(b).i64(32n).op("i64.shr_u").set(s[1]);
      writer.i64(0n).set(s[2]).i64(0n).set(s[3]);
      st.push(s);
    }
    for (let r = 0; r < ROUNDS; r++) {
      const x = writer.local(I32), y = writer.local(I32);
      writer.get(base).memory("i32.load", keys + 16 * (2 * r)).set(x);
      writer.get(base).memory("i32.load", keys + 16 * (2 * r + 1)).set(y);
      for (const s of st) {
        const p0 = writer.local(I64), p1 = writer.local(I64);
        writer.get(s[0]).i64(BigInt(MULTIPLIER_0)).op("i64.mul").set(p0);
        writer.get(s[2]).i64(BigInt(MULTIPLIER_1)).op("i64.mul").set(p1);
        const w = (p: number, a: number, key: number, to: number) => {
          writer.get(p).i64(32n).op("i64.shr_u").op("i32.wrap_i64").get(a).op("i32.wrap_i64").op("i32.xor").get(key).op("i32.xor").op("i64.extend_i32_u").set(to);
        };
        w(p1, s[1], x, s[0]);
        w(p0, s[3], y, s[2]);
        writer.get(p1).set(s[1]);
        writer.get(p0).set(s[3]);
      }
    }
    st.forEach((s, k) => s.forEach((l, i) => writer.get(at).get(l).op("i32.wrap_i64").memory("i32.store", 16 * k + 4 * i)));
    writer.get(block).i64(BigInt(N)).op("i64.add").set(block);
  });
};
