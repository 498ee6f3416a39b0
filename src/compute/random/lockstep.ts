/** Vectors that go through the same operations together, so that one waits while another works. */
import { type FunctionWriter, type SimdInstruction, V128 } from "../wasm/encoder.js";

/** Locals that hold the same value of neighbouring groups of elements. */
export type Vectors = readonly number[];

/** Locals with what `push` leaves on the stack for each k = 0, ..., count - 1. */
export const each = (writer: FunctionWriter, count: number, push: (k: number) => void): Vectors =>
  Array.from({ length: count }, (_, k) => {
    const local = writer.local(V128);
    push(k);
    writer.set(local);
    return local;
  });

/** One instruction on each of some vectors; an argument is either vectors or one local that all of them share. */
export const apply = (
  writer: FunctionWriter,
  instruction: SimdInstruction,
  first: Vectors,
  ...rest: readonly (Vectors | number)[]
): Vectors =>
  each(writer, first.length, (k) => {
    writer.get(first[k]);
    for (const arg of rest) writer.get(typeof arg === "number" ? arg : arg[k]);
    writer.simd(instruction);
  });

/** Shifts of each vector by a constant number of bits. */
export const shift = (
  writer: FunctionWriter,
  instruction: "i64x2.shl" | "i64x2.shr_u",
  vectors: Vectors,
  bits: number,
): Vectors => each(writer, vectors.length, (k) => writer.get(vectors[k]).i32(bits).simd(instruction));
