/** The innermost part of a matrix product: a block of the result that stays in registers. */
import { type FunctionWriter, V128 } from "../wasm/encoder.js";
import { keep, VECTOR } from "../wasm/kernel.js";
import { LANES } from "./layout.js";

/** sums[r][v] += sum_k a(r, k) B[k, v], for r < rows and v < vectors, k ascending. */
export interface Tile {
  readonly rows: number;
  readonly vectors: number;
  readonly fma: boolean;
  /** Local with the address of a(0, 0); it moves. */
  readonly a: number;
  /** Bytes from a(0, 0) to a(r, 0), and from a(r, k) to a(r, k + 1). */
  readonly aRow: (r: number) => number;
  readonly aStep: number;
  /** Local with the address of B, a panel [depth, vectors]; it moves to the panel's end. */
  readonly b: number;
  /** Pushes how many k there are. */
  readonly depth: () => void;
}

/** Vector locals for the sums of a tile, [rows][vectors]. */
export const tileSums = (writer: FunctionWriter, rows: number, vectors: number): number[][] =>
  Array.from({ length: rows }, () => Array.from({ length: vectors }, () => writer.local(V128)));

/**
 * Adds a tile's product to its sums. Every sum is one chain of additions in the order of k, whatever the tile's
 * shape, so an element's bits do not depend on the block that it fell into.
 *
 * One k at a time: V8 moves all loads of a loop's body before its arithmetic, so a body of two steps has more
 * operands waiting than there are registers, and runs at half the speed.
 */
export const writeTile = (writer: FunctionWriter, tile: Tile, sums: readonly (readonly number[])[]): void => {
  const { rows, vectors, fma, a, aRow, aStep, b, depth } = tile;
  const step = VECTOR * vectors;
  const row = writer.local(V128);
  const columns = Array.from({ length: vectors }, () => writer.local(V128));
  const end = keep(writer, () => {
    depth();
    writer.i32(step).op("i32.mul").get(b).op("i32.add");
  });
  writer.loop(
    b,
    () => writer.get(b),
    () => writer.get(end),
    step,
    () => {
      columns.forEach((column, v) => {
        writer
          .get(b)
          .memory("v128.load", VECTOR * v)
          .set(column);
      });
      for (let r = 0; r < rows; r++) {
        writer.get(a).memory("v128.load32_splat", aRow(r)).set(row);
        columns.forEach((column, v) => {
          const sum = sums[r][v];
          if (fma) writer.get(row).get(column).get(sum).simd("f32x4.relaxed_madd");
          else writer.get(sum).get(row).get(column).simd("f32x4.mul").simd("f32x4.add");
          writer.set(sum);
        });
      }
      writer.get(a).i32(aStep).op("i32.add").set(a);
    },
  );
};

/** Stores the first `count` floats of vectors that lie next to each other, and nothing after them. */
export const writeStore = (
  writer: FunctionWriter,
  address: number,
  offset: number,
  vectors: readonly number[],
  count: number,
): void => {
  vectors.forEach((vector, v) => {
    const left = count - LANES * v;
    const at = offset + VECTOR * v;
    if (left >= LANES) {
      writer.get(address).get(vector).memory("v128.store", at);
      return;
    }
    for (let lane = 0; lane < left; lane++) {
      writer
        .get(address)
        .get(vector)
        .storeLane(lane, at + 4 * lane);
    }
  });
};
