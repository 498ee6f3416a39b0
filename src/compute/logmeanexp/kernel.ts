/**
 * What the kernels of this folder have in common: the description of a job in memory, how an input is loaded in
 * which loop, and the placement of values in the outermost loop where they are constant.
 */
import type { Traced } from "../graph/expression.js";
import { type FunctionWriter, I32, V128 } from "../wasm/encoder.js";
import type { VectorNode } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";

/** Bytes of a vector. */
export const VECTOR = 16;

/** Words at the start of every job description; the addresses of the inputs follow. */
export const WORDS = {
  inner: 0,
  observations: 1,
  chunk: 2,
  chunks: 3,
  scratch: 4,
  scratchBytes: 5,
  records: 6,
  recordBytes: 7,
  tables: 8,
  weights: 9,
  outer: 10,
  logs: 11,
  innerSums: 12,
  parts: 13,
  partBytes: 14,
  outerRecords: 15,
  inputs: 16,
} as const;

/** A local that holds a word of the job description. */
export const loadWord = (writer: FunctionWriter, word: number): number => {
  const local = writer.local(I32);
  writer.get(0).memory("i32.load", 4 * word).set(local);
  return local;
};

/** A local with the value of an i32 expression. */
export const keep = (writer: FunctionWriter, push: () => void): number => {
  const local = writer.local(I32);
  push();
  writer.set(local);
  return local;
};

/** The values outside the innermost region that `roots` use directly: what must be at hand before it starts. */
export const frontier = (roots: readonly VectorNode[], inside: (node: VectorNode) => boolean): VectorNode[] => {
  const found = new Set<VectorNode>();
  const seen = new Set<VectorNode>();
  const visit = (node: VectorNode): void => {
    if (seen.has(node)) return;
    seen.add(node);
    if (inside(node)) node.args.forEach(visit);
    else if (!node.cheap) found.add(node);
  };
  roots.forEach(visit);
  return [...found];
};

/** Pushes the sum of the four lanes, always in the same order. */
export const pushLaneSum = (writer: FunctionWriter, vector: number): void => {
  writer.get(vector).lane(0).get(vector).lane(1).op("f32.add");
  writer.get(vector).lane(2).get(vector).lane(3).op("f32.add").op("f32.add");
};

/** Pushes the largest of the four lanes. */
export const pushLaneMax = (writer: FunctionWriter, vector: number): void => {
  writer.get(vector).lane(0).get(vector).lane(1).op("f32.max");
  writer.get(vector).lane(2).get(vector).lane(3).op("f32.max").op("f32.max");
};

/** An accumulator: sum += value. */
export const accumulate = (writer: FunctionWriter, sum: number, push: () => void): void => {
  writer.get(sum);
  push();
  writer.simd("f32x4.add").set(sum);
};

/** A fresh vector local, zero at this point of the code. */
export const zeroVector = (writer: FunctionWriter): number => {
  const local = writer.local(V128);
  writer.splat32(0).set(local);
  return local;
};

/** `local += a * b` in memory at `[pointer + offset]`, fused where the machine can. */
export const accumulateAt = (
  writer: FunctionWriter,
  fma: boolean,
  pointer: number,
  offset: number,
  pushA: () => void,
  pushB: () => void,
): void => {
  writer.get(pointer);
  if (fma) {
    pushA();
    pushB();
    writer.get(pointer).memory("v128.load", offset).simd("f32x4.relaxed_madd");
  } else {
    writer.get(pointer).memory("v128.load", offset);
    pushA();
    pushB();
    writer.simd("f32x4.mul").simd("f32x4.add");
  }
  writer.memory("v128.store", offset);
};

/** Nodes of the graph that do not vary with the inner sample but with the observation, used by nodes that do. */
export const observationParts = (roots: readonly Traced[]): Traced[] => {
  const found = new Set<Traced>();
  const seen = new Set<Traced>();
  const visit = (node: Traced): void => {
    if (seen.has(node)) return;
    seen.add(node);
    const bits = bitsOf(node);
    if ((bits & INNER) === 0 && (bits & OBSERVATION) !== 0) found.add(node);
    else node.args.forEach(visit);
  };
  roots.forEach(visit);
  return [...found];
};

/** Addresses of inputs: base + row of the outer sample, in locals that are set once per task. */
export class InputPointers {
  readonly #writer: FunctionWriter;
  readonly #rows = new Map<Traced, number>();

  constructor(
    writer: FunctionWriter,
    inputs: readonly Traced[],
    index: (input: Traced) => number,
    locals: { outer: number; inner: number; observations: number },
  ) {
    this.#writer = writer;
    for (const input of inputs) {
      const bits = bitsOf(input);
      const row = loadWord(writer, WORDS.inputs + index(input));
      if ((bits & OUTER) !== 0) {
        writer.get(row).get(locals.outer);
        if ((bits & INNER) !== 0) writer.get(locals.inner).op("i32.mul");
        if ((bits & OBSERVATION) !== 0) writer.get(locals.observations).op("i32.mul");
        writer.i32(2).op("i32.shl").op("i32.add").set(row);
      }
      this.#rows.set(input, row);
    }
  }

  row(input: Traced): number {
    const row = this.#rows.get(input);
    if (row === undefined) throw new RangeError(`the input ${input.name} has no address in this kernel`);
    return row;
  }

  /** Loads an input that does not vary with the inner sample into every lane; `offset4` is 4 * observation. */
  pushSplat(input: Traced, offset4: number | undefined): void {
    this.#writer.get(this.row(input));
    if (offset4 !== undefined && (bitsOf(input) & OBSERVATION) !== 0) this.#writer.get(offset4).op("i32.add");
    this.#writer.memory("v128.load32_splat");
  }
}
