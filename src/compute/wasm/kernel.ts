/** Pieces of code that kernels are put together from. */
import { type FunctionWriter, I32, V128 } from "./encoder.js";
import { vectorMath } from "./math.js";
import { type ConstantPool, VectorGraph, type VectorNode, writeVectors } from "./vector.js";

/** Bytes of a vector. */
export const VECTOR = 16;

/** A local with the value of an i32 expression. */
export const keep = (writer: FunctionWriter, push: () => void): number => {
  const local = writer.local(I32);
  push();
  writer.set(local);
  return local;
};

/** Pushes base + index * scale, all but a constant scale being locals. */
export const pushAt = (writer: FunctionWriter, base: number, index: number, scale: number): void => {
  writer.get(base).get(index).i32(scale).op("i32.mul").op("i32.add");
};

/** pointer += bytes */
export const advance = (writer: FunctionWriter, pointer: number, bytes: number): void => {
  if (bytes !== 0) writer.get(pointer).i32(bytes).op("i32.add").set(pointer);
};

/** Runs `body` if the local a is below the local b. */
export const whenBelow = (writer: FunctionWriter, a: number, b: number, body: () => void): void => {
  writer.get(a).get(b).op("i32.lt_u").when(body);
};

/** A local with the value of a vector expression. */
export const keepVector = (writer: FunctionWriter, push: () => void): number => {
  const vector = writer.local(V128);
  push();
  writer.set(vector);
  return vector;
};

/** The local that a value is kept in. */
export const local = (kept: ReadonlyMap<VectorNode, number>, node: VectorNode): number => {
  const found = kept.get(node);
  if (found === undefined) throw new RangeError("a value was used before it was computed");
  return found;
};

/** A local with a function of vectors that are in locals. */
export const compute = (
  writer: FunctionWriter,
  fma: boolean,
  pool: ConstantPool,
  args: readonly number[],
  make: (g: VectorGraph, ...args: VectorNode[]) => VectorNode,
): number => {
  const g = new VectorGraph({ fma, pool });
  const root = make(g, ...args.map((arg, k) => g.leaf(`${k}`, 0, () => writer.get(arg))));
  const kept = new Map<VectorNode, number>();
  writeVectors(writer, [root], kept);
  return local(kept, root);
};

/** Below this, e^x is subnormal or zero. */
const SMALLEST_EXPONENT = -87;

/**
 * e^x for weights, x at most `high`: zero instead of subnormal numbers, which weigh nothing and with which some
 * processors compute a hundred times slower.
 */
export const weightOf = (g: VectorGraph, x: VectorNode, high: number): VectorNode => {
  const floor = g.float(SMALLEST_EXPONENT);
  const inside = vectorMath.exp(g, g.apply("f32x4.pmax", x, floor), { low: SMALLEST_EXPONENT, high });
  return g.apply("v128.andnot", inside, g.apply("f32x4.lt", x, floor));
};

/** The values outside the innermost region that `roots` use directly: what must be at hand before it starts. */
export const frontier = (
  roots: readonly VectorNode[],
  inside: (node: VectorNode) => boolean,
): VectorNode[] => {
  const found = new Set<VectorNode>();
  const seen = new Set<VectorNode>();
  // The first on top, so that values are found in the order in which code needs them.
  const stack = [...roots].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (inside(node)) stack.push(...[...node.args].reverse());
    else if (!node.cheap) found.add(node);
  }
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

/** sum += a * b, fused where the machine can. */
export const accumulateProduct = (
  writer: FunctionWriter,
  fma: boolean,
  sum: number,
  pushA: () => void,
  pushB: () => void,
): void => {
  if (!fma) writer.get(sum);
  pushA();
  pushB();
  if (fma) writer.get(sum).simd("f32x4.relaxed_madd");
  else writer.simd("f32x4.mul").simd("f32x4.add");
  writer.set(sum);
};

/** A fresh vector local, zero at this point of the code. */
export const zeroVector = (writer: FunctionWriter): number => {
  const local = writer.local(V128);
  writer.splat32(0).set(local);
  return local;
};

/**
 * A pointer that moves with a loop: in a loop of the machine by an addition, in one that is written out by the
 * offsets of its loads and stores.
 */
export class Cursor {
  readonly bytes: number;
  readonly #writer: FunctionWriter;
  readonly #pointer: number;
  #shift = 0;

  /** Moves `bytes` a step. */
  constructor(writer: FunctionWriter, bytes: number) {
    this.#writer = writer;
    this.#pointer = writer.local(I32);
    this.bytes = bytes;
  }

  start(push: () => void): void {
    push();
    this.#writer.set(this.#pointer);
  }

  load(offset: number, instruction: "v128.load" | "v128.load32_splat" = "v128.load"): void {
    this.#writer.get(this.#pointer).memory(instruction, offset + this.#shift);
  }

  store(offset: number, push: () => void): void {
    this.#writer.get(this.#pointer);
    push();
    this.#writer.memory("v128.store", offset + this.#shift);
  }

  /** memory += a * b, fused where the machine can. */
  accumulate(offset: number, fma: boolean, pushA: () => void, pushB: () => void): void {
    this.store(offset, () => {
      if (fma) {
        pushA();
        pushB();
        this.load(offset);
        this.#writer.simd("f32x4.relaxed_madd");
      } else {
        this.load(offset);
        pushA();
        pushB();
        this.#writer.simd("f32x4.mul").simd("f32x4.add");
      }
    });
  }

  /** Next step, in a loop of the machine. */
  advance(): void {
    advance(this.#writer, this.#pointer, this.bytes);
  }

  /** Step `count` of a loop that is written out. */
  moveTo(count: number): void {
    this.#shift = count * this.bytes;
  }
}

/** A loop of `length` (a local) steps; of `written` steps without a loop where that is given. */
export const walk = (
  writer: FunctionWriter,
  cursors: readonly Cursor[],
  length: number,
  written: number | undefined,
  body: (step: number) => void,
): void => {
  if (written === undefined) {
    const counter = writer.local(I32);
    writer.loop(
      counter,
      () => writer.i32(0),
      () => writer.get(length),
      1,
      () => {
        body(0);
        for (const cursor of cursors) cursor.advance();
      },
    );
    return;
  }
  for (let step = 0; step < written; step++) {
    for (const cursor of cursors) cursor.moveTo(step);
    body(step);
  }
  for (const cursor of cursors) cursor.moveTo(0);
};
