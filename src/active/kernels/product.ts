/**
 * sum_j w_j f(A_i . B_j) for every row i of A: a matrix product whose elements are used as they are made, float32.
 *
 * A [rows, depth] is packed four rows at a time and B [columns, depth] eight columns at a time, so that a tile of the
 * product reads both from start to end. An element is one chain of additions in the order of the depth, and a row's
 * sum one in the order of the columns: its bits do not depend on the other rows, nor on the number of threads.
 */
import { PANEL } from "../../compute/dense/layout.js";
import { type Tile, tileSums, writeTile } from "../../compute/dense/tile.js";
import { type FunctionWriter, I32 } from "../../compute/wasm/encoder.js";
import { accumulateProduct, advance, compute, keep, keepVector, VECTOR } from "../../compute/wasm/kernel.js";
import { MANTISSA_BITS } from "../../compute/wasm/math/float32.js";
import { split } from "../../compute/wasm/math/logarithm.js";
import { ConstantPool, type VectorGraph, type VectorNode } from "../../compute/wasm/vector.js";
import type { Workspace } from "../../compute/workspace.js";
import { loadKernel } from "./shared-workspace.js";

/** Rows of a tile, and tiles of a task: their part of A and a panel of B stay in the nearest cache. */
export const TILE_ROWS = 4;
const TILES = 8;

/** Words of the job description; the kernel's constants follow. */
const WORDS = ["a", "b", "rowValues", "columnValues", "weights", "sums", "depth", "tiles", "panels"] as const;

/**
 * What is made of an element s of the product:
 *
 * - "cells": f = s log s.
 * - "binary": s is the covariance of two labels with P(1) = p (a row's value) and q (a column's value); f is the sum of
 *   x log x over the four cells p q + s, p (1 - q) - s, (1 - p) q - s and (1 - p) (1 - q) + s, and of the row's and the
 *   column's shift. With entropies for shifts f is the labels' mutual information, small as a rule, and so are the
 *   rounding errors of its sum.
 * - "square": f = s^2.
 */
export type Element = "cells" | "binary" | "square";

const LEAST_NORMAL = 2 ** -126;

/** (2 atanh(s) - 2 s) / s^3 in z = s^2, |s| <= (sqrt 2 - 1) / (sqrt 2 + 1): those of the library's own logarithm. */
const ATANH = [0.6666677594184875, 0.3997758626937866, 0.29870694875717163];

/**
 * start + sum_x x log x over the cells, all with log x = k ln 2 + log(1 + f) and ln 2 taken out of the sum, so that a
 * cell takes two fused steps. What is 0, or what rounding left below it, counts as 2^-126, whose x log x is nothing.
 */
const sumOfXlogx = (g: VectorGraph, cells: readonly VectorNode[], start: VectorNode): VectorNode => {
  let powers: VectorNode | undefined;
  let mantissas = start;
  for (const cell of cells) {
    const x = g.apply("f32x4.pmax", cell, g.float(LEAST_NORMAL));
    const { exponent, f } = split(g, x, { low: LEAST_NORMAL, high: 2 });
    const s = g.div(f, g.add(f, g.float(2)));
    const z = g.mul(s, s);
    const mantissa = g.nmadd(s, g.nmadd(z, g.polynomial(z, ATANH), f), f);
    const power = g.apply("f32x4.convert_i32x4_s", exponent);
    powers = powers === undefined ? g.mul(x, power) : g.madd(x, power, powers);
    mantissas = g.madd(x, mantissa, mantissas);
  }
  return powers === undefined ? start : g.madd(powers, g.float(Math.LN2 * 2 ** -MANTISSA_BITS), mantissas);
};

const ELEMENTS: Record<Element, (g: VectorGraph, ...args: VectorNode[]) => VectorNode> = {
  cells: (g, s) => sumOfXlogx(g, [s], g.float(0)),
  binary: (g, s, p, q, rowShift, columnShift) => {
    const both = g.madd(p, q, s);
    const second = g.sub(q, both);
    const neither = g.sub(g.sub(g.float(1), p), second);
    return g.add(sumOfXlogx(g, [both, g.sub(p, both), second, neither], rowShift), columnShift);
  },
  square: (g, s) => g.mul(s, s),
};

/** Parameters: job description, thread, number of the task; returns the constants. */
const writeProduct = (writer: FunctionWriter, element: Element, fma: boolean): readonly number[] => {
  const pool = new ConstantPool((w) => w.get(0), 4 * WORDS.length);
  const field = Object.fromEntries(
    WORDS.map((name, i) => [name, keep(writer, () => writer.get(0).memory("i32.load", 4 * i))]),
  ) as Record<(typeof WORDS)[number], number>;
  const start = keep(writer, () => writer.get(2).i32(TILES).op("i32.mul"));
  const end = keep(writer, () => writer.get(start).i32(TILES).op("i32.add"));
  writer.get(end).get(field.tiles).op("i32.gt_u");
  writer.when(() => writer.get(field.tiles).set(end));
  const [panel, tile, a, b, sumsAt, valuesAt] = Array.from({ length: 6 }, () => writer.local(I32));
  const panelAt = keep(writer, () => writer.get(field.b));
  const columnAt = keep(writer, () => writer.get(field.columnValues));
  const weightAt = keep(writer, () => writer.get(field.weights));
  const panelBytes = keep(writer, () =>
    writer
      .get(field.depth)
      .i32(4 * PANEL)
      .op("i32.mul"),
  );
  const tileBytes = keep(writer, () => writer.get(field.depth).i32(VECTOR).op("i32.mul"));
  const vectors = PANEL / 4;
  const sums = tileSums(writer, TILE_ROWS, vectors);
  const pushTile = (base: number, bytes: () => void): void => {
    writer.get(base).get(start);
    bytes();
    writer.op("i32.mul").op("i32.add");
  };
  writer.loop(
    panel,
    () => writer.i32(0),
    () => writer.get(field.panels),
    1,
    () => {
      const load = (at: number, offset: number): number[] =>
        Array.from({ length: vectors }, (_, v) =>
          keepVector(writer, () => writer.get(at).memory("v128.load", offset + VECTOR * v)),
        );
      const [q, columnShift, weight] = [load(columnAt, 0), load(columnAt, 4 * PANEL), load(weightAt, 0)];
      pushTile(field.a, () => writer.get(tileBytes));
      writer.set(a);
      pushTile(field.sums, () => writer.i32(VECTOR * TILE_ROWS));
      writer.set(sumsAt);
      pushTile(field.rowValues, () => writer.i32(8 * TILE_ROWS));
      writer.set(valuesAt);
      writer.loop(
        tile,
        () => writer.get(start),
        () => writer.get(end),
        1,
        () => {
          for (const sum of sums.flat()) writer.splat32(0).set(sum);
          writer.get(panelAt).set(b);
          const spec: Tile = {
            rows: TILE_ROWS,
            vectors,
            fma,
            a,
            aRow: (r) => 4 * r,
            aStep: VECTOR,
            b,
            depth: () => writer.get(field.depth),
          };
          writeTile(writer, spec, sums);
          sums.forEach((each, r) => {
            const [p, rowShift] = [r, TILE_ROWS + r].map((i) =>
              keepVector(writer, () => writer.get(valuesAt).memory("v128.load32_splat", 4 * i)),
            );
            const total = keepVector(writer, () => writer.get(sumsAt).memory("v128.load", VECTOR * r));
            each.forEach((sum, v) => {
              const args = [sum, p, q[v], rowShift, columnShift[v]];
              const value = compute(writer, fma, pool, args, ELEMENTS[element]);
              accumulateProduct(
                writer,
                fma,
                total,
                () => writer.get(value),
                () => writer.get(weight[v]),
              );
            });
            writer
              .get(sumsAt)
              .get(total)
              .memory("v128.store", VECTOR * r);
          });
          advance(writer, sumsAt, VECTOR * TILE_ROWS);
          advance(writer, valuesAt, 8 * TILE_ROWS);
        },
      );
      writer.get(panelAt).get(panelBytes).op("i32.add").set(panelAt);
      advance(writer, columnAt, 8 * PANEL);
      advance(writer, weightAt, 4 * PANEL);
    },
  );
  return pool.bits;
};

/** Rows of A, or columns of B, as they are wanted: `fill` writes value k of row i at [at + stride * k]. */
export interface ProductRows {
  readonly rows: number;
  fill(i: number, to: Float32Array, at: number, stride: number): void;
  /** What the element uses of a row or a column itself, [rows]. */
  readonly values?: { readonly own: Float32Array; readonly shift: Float32Array } | undefined;
}

export interface ProductColumns extends ProductRows {
  readonly weights: ArrayLike<number>;
}

/** Floats of A that are in memory at a time. */
const CHUNK_FLOATS = 2 ** 22;

/** sum_j w_j f(A_i . B_j), [rows of A]; the four partial sums of a row are added in float64. */
export const sumProducts = (
  workspace: Workspace,
  element: Element,
  depth: number,
  a: ProductRows,
  b: ProductColumns,
): Float64Array => {
  const { fma } = workspace;
  const name = `product ${element}`;
  const { kernels, constants } = loadKernel(workspace, name, (writer) => writeProduct(writer, element, fma));
  const task = TILE_ROWS * TILES;
  const chunk = Math.min(
    Math.ceil(a.rows / task) * task,
    Math.max(task, Math.floor(CHUNK_FLOATS / depth / task) * task),
  );
  const panels = Math.ceil(b.rows / PANEL);
  const addresses = workspace.allocateAll([
    4 * depth * chunk,
    4 * depth * panels * PANEL,
    8 * chunk,
    8 * panels * PANEL,
    4 * panels * PANEL,
    VECTOR * chunk,
    4 * (WORDS.length + constants.length),
  ]);
  const [aAt, bAt, rowValues, columnValues, weights, sumsAt, job] = addresses;
  try {
    const packed = workspace.floats(bAt, depth * panels * PANEL);
    for (let j = 0; j < b.rows; j++) {
      b.fill(j, packed, Math.floor(j / PANEL) * PANEL * depth + (j % PANEL), PANEL);
    }
    /** The values of a group of rows, and then their shifts. */
    const setValues = (
      { values }: ProductRows,
      first: number,
      count: number,
      group: number,
      at: number,
    ): void => {
      if (values === undefined) return;
      const to = workspace.floats(at, 2 * Math.ceil(count / group) * group);
      for (let i = 0; i < count; i++) {
        const place = 2 * group * Math.floor(i / group) + (i % group);
        to[place] = values.own[first + i];
        to[place + group] = values.shift[first + i];
      }
    };
    setValues(b, 0, b.rows, PANEL, columnValues);
    // Equal weights are 1 this way, and exact.
    workspace.floats(weights, b.rows).set(Float32Array.from(b.weights, (weight) => weight * b.rows));
    const results = new Float64Array(a.rows);
    const floats = workspace.floats(aAt, depth * chunk);
    for (let first = 0; first < a.rows; first += chunk) {
      const count = Math.min(chunk, a.rows - first);
      for (let i = 0; i < count; i++) {
        a.fill(first + i, floats, Math.floor(i / TILE_ROWS) * TILE_ROWS * depth + (i % TILE_ROWS), TILE_ROWS);
      }
      setValues(a, first, count, TILE_ROWS, rowValues);
      const tiles = Math.ceil(count / TILE_ROWS);
      const sums = workspace.floats(sumsAt, 4 * TILE_ROWS * tiles);
      sums.fill(0);
      workspace
        .words(job, WORDS.length + constants.length)
        .set([aAt, bAt, rowValues, columnValues, weights, sumsAt, depth, tiles, panels, ...constants]);
      kernels.run(name, job, Math.ceil(tiles / TILES));
      for (let i = 0; i < count; i++) {
        const [s0, s1, s2, s3] = [sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]];
        results[first + i] = (s0 + s1 + (s2 + s3)) / b.rows;
      }
    }
    return results;
  } finally {
    for (const address of addresses) workspace.release(address);
  }
};
