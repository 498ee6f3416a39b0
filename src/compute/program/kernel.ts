/** The `wasm` backend of programs: nests as float32 SIMD kernels, four elements of the innermost axis at a time. */
import { reachableUntil } from "../graph/expression.js";
import { type FunctionWriter, I32, type ModuleWriter, V128 } from "../wasm/encoder.js";
import {
  accumulate,
  compute,
  frontier,
  keep,
  keepVector,
  local,
  pushLaneMax,
  pushLaneSum,
  zeroVector,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { vectorMath } from "../wasm/math.js";
import { type ConstantPool, VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import type { Nest, NestResult } from "./nests.js";
import type { ArrayPlace, Find } from "./source.js";

/** A job description: the lengths of the axes, the addresses of the arrays, then the constants. */
export interface Words {
  size(axis: string): number;
  array(index: number): number;
  /** Iterations of the outer loops (or of the only one) that a task of this nest takes. */
  chunk: number;
}

const INNER = 1;
/** The least finite float32: differences from it are never NaN, as those from -Infinity would be. */
const LOWEST = -(2 - 2 ** -23) * 2 ** 127;

export const writeNest = (
  module: ModuleWriter,
  functionName: string,
  nest: Nest,
  find: Find,
  target: (result: NestResult) => ArrayPlace,
  words: Words,
  fma: boolean,
  pool: ConstantPool,
): void => {
  module.function(functionName, [I32, I32, I32], [], (writer) => {
    const word = (index: number) => keep(writer, () => writer.get(0).memory("i32.load", 4 * index));
    const sizes = new Map<string, number>();
    const size = (axis: string): number => {
      const known = sizes.get(axis);
      if (known !== undefined) return known;
      const fresh = word(words.size(axis));
      sizes.set(axis, fresh);
      return fresh;
    };
    const bodies = nest.results.map(({ body }) => body);
    const loaded = reachableUntil(bodies, (node) => find(node) !== undefined).filter(
      (node) => find(node) !== undefined,
    );
    const places = [...loaded.map((node) => find(node) as ArrayPlace), ...nest.results.map(target)];
    for (const { axes } of places) axes.forEach(size);
    for (const axis of nest.outer) size(axis);
    const n = nest.inner === undefined ? keep(writer, () => writer.i32(1)) : size(nest.inner);

    // The iterations of this task, counted through all outer loops, or through the only loop of a flat map.
    const flat = nest.outer.length === 0 && nest.kind === "map";
    const total = keep(writer, () => {
      if (flat) writer.get(n);
      else {
        writer.i32(1);
        for (const axis of nest.outer) writer.get(size(axis)).op("i32.mul");
      }
    });
    const chunk = word(words.chunk);
    const first = keep(writer, () => writer.get(2).get(chunk).op("i32.mul"));
    const last = keep(writer, () => writer.get(first).get(chunk).op("i32.add"));
    writer
      .get(last)
      .get(total)
      .op("i32.gt_u")
      .when(() => writer.get(total).set(last));

    const indices = new Map(nest.outer.map((axis) => [axis, writer.local(I32)]));
    const i = writer.local(I32); // the innermost index
    const bases = new Map<ArrayPlace, number>();
    const g = new VectorGraph({ fma, pool });
    const lowering = new Lowering(g, (node) => {
      if (node.op === "size") {
        return g.leaf(`size ${node.name}`, 0, () => {
          writer.get(0).memory("i32.load", 4 * words.size(node.name));
          writer.simd("i32x4.splat").simd("f32x4.convert_i32x4_s");
        });
      }
      const place = find(node);
      if (place === undefined) return undefined;
      const varies = nest.inner !== undefined && place.axes.includes(nest.inner);
      return g.leaf(`array ${place.index}`, varies ? INNER : 0, () => pushLoad(place));
    });
    const stridesAfter = (place: ArrayPlace, axis: string) => place.axes.slice(place.axes.indexOf(axis) + 1);
    const pushLoad = (place: ArrayPlace): void => {
      const base = bases.get(place) as number;
      if (nest.inner === undefined || !place.axes.includes(nest.inner)) {
        writer.get(base).memory("v128.load32_splat");
        return;
      }
      const after = stridesAfter(place, nest.inner);
      if (after.length === 0) {
        writer.get(base).get(i).i32(2).op("i32.shl").op("i32.add").memory("v128.load");
        return;
      }
      // Elements that are not next to each other: one by one, none beyond the last.
      writer.splat32(0);
      for (let lane = 0; lane < 4; lane++) {
        const at = keep(writer, () => {
          writer.get(i).i32(lane).op("i32.add").get(n).i32(1).op("i32.sub");
          writer.get(i).i32(lane).op("i32.add").get(n).op("i32.lt_u").op("select");
          for (const axis of after) writer.get(size(axis)).op("i32.mul");
          writer.i32(2).op("i32.shl").get(base).op("i32.add");
        });
        writer.get(at).memory("f32.load").replaceLane(lane);
      }
    };
    const values = bodies.map((body) => lowering.value(body));

    const pushAddress = (place: ArrayPlace): void => {
      writer.get(0).memory("i32.load", 4 * words.array(place.index));
      for (const axis of place.axes) {
        const index = indices.get(axis);
        if (index === undefined) continue;
        writer.get(index);
        for (const after of stridesAfter(place, axis)) writer.get(size(after)).op("i32.mul");
        writer.i32(2).op("i32.shl").op("i32.add");
      }
    };
    const setBases = (): void => {
      for (const place of places) {
        const base = bases.get(place) ?? writer.local(I32);
        bases.set(place, base);
        pushAddress(place);
        writer.set(base);
      }
    };
    const baseOf = (result: NestResult): number => {
      const wanted = target(result);
      for (const [place, base] of bases) if (place === wanted) return base;
      throw new RangeError("a result has no address in this kernel");
    };

    const inner = (from: () => void, to: () => void): void => {
      const sums = nest.results.map(() => (nest.kind === "map" ? -1 : zeroVector(writer)));
      const most = nest.results.map(() => (nest.kind === "logsumexp" ? writer.local(V128) : -1));
      for (const each of most) if (each >= 0) writer.f32(LOWEST).simd("f32x4.splat").set(each);
      const kept = new Map<VectorNode, number>();
      writeVectors(
        writer,
        frontier(values, (node) => (node.axes & INNER) !== 0),
        kept,
      );
      const valid = writer.local(V128);
      writer.loop(i, from, to, 4, () => {
        const here = new Map(kept);
        writeVectors(writer, values, here);
        if (nest.kind === "map") {
          nest.results.forEach((result, r) => {
            writeStore(writer, baseOf(result), i, to, local(here, values[r]));
          });
          return;
        }
        writer.integers(0, 1, 2, 3);
        to();
        writer.get(i).op("i32.sub").simd("i32x4.splat").simd("i32x4.lt_s").set(valid);
        nest.results.forEach((_, r) => {
          const value = local(here, values[r]);
          if (nest.kind === "sum")
            accumulate(writer, sums[r], () => writer.get(value).get(valid).simd("v128.and"));
          else writeLogSumExpStep(writer, fma, pool, value, valid, most[r], sums[r]);
        });
      });
      if (nest.kind === "map") return;
      nest.results.forEach((result, r) => {
        const done = nest.kind === "sum" ? sums[r] : writeLogSumExpEnd(writer, fma, pool, most[r], sums[r]);
        writer.get(baseOf(result));
        if (nest.kind === "sum") pushLaneSum(writer, done);
        else writer.get(done).lane(0);
        writer.memory("f32.store");
      });
    };

    if (flat) {
      setBases();
      inner(
        () => writer.get(first),
        () => writer.get(last),
      );
      return;
    }
    const counter = writer.local(I32);
    writer.loop(
      counter,
      () => writer.get(first),
      () => writer.get(last),
      1,
      () => {
        const rest = keep(writer, () => writer.get(counter));
        for (const axis of [...nest.outer].reverse()) {
          writer
            .get(rest)
            .get(size(axis))
            .op("i32.rem_u")
            .set(indices.get(axis) as number);
          writer.get(rest).get(size(axis)).op("i32.div_u").set(rest);
        }
        setBases();
        inner(
          () => writer.i32(0),
          () => writer.get(n),
        );
      },
    );
  });
};

/** Stores the lanes that are inside the array. */
const writeStore = (writer: FunctionWriter, base: number, i: number, to: () => void, value: number): void => {
  const address = keep(writer, () => writer.get(base).get(i).i32(2).op("i32.shl").op("i32.add"));
  const left = keep(writer, () => {
    to();
    writer.get(i).op("i32.sub");
  });
  writer
    .get(left)
    .i32(4)
    .op("i32.ge_u")
    .when(() => writer.get(address).get(value).memory("v128.store"));
  writer
    .get(left)
    .i32(4)
    .op("i32.lt_u")
    .when(() => {
      for (let lane = 0; lane < 3; lane++) {
        writer
          .get(left)
          .i32(lane)
          .op("i32.gt_u")
          .when(() => {
            writer
              .get(address)
              .get(value)
              .storeLane(lane, 4 * lane);
          });
      }
    });
};

const NOT_ABOVE_ZERO = { low: -Infinity, high: 0 };

/** Lane by lane: z = z e^(m - m') + e^(x - m'), m' = max(m, x); lanes outside the array count as -Infinity. */
const writeLogSumExpStep = (
  writer: FunctionWriter,
  fma: boolean,
  pool: ConstantPool,
  value: number,
  valid: number,
  most: number,
  sum: number,
): void => {
  const x = keepVector(writer, () =>
    writer.get(value).f32(-Infinity).simd("f32x4.splat").get(valid).simd("v128.bitselect"),
  );
  // `max` and not `pmax`: a NaN stays, also where an Infinity would hide it.
  const next = keepVector(writer, () => writer.get(most).get(x).simd("f32x4.max"));
  const scaled = compute(writer, fma, pool, [sum, most, x, next], (g, z, m, v, m1) =>
    g.madd(
      z,
      vectorMath.exp(g, g.sub(m, m1), NOT_ABOVE_ZERO),
      vectorMath.exp(g, g.sub(v, m1), NOT_ABOVE_ZERO),
    ),
  );
  writer.get(scaled).set(sum).get(next).set(most);
};

/** The lanes together: M + log sum z e^(m - M), and Infinity where M is. */
const writeLogSumExpEnd = (
  writer: FunctionWriter,
  fma: boolean,
  pool: ConstantPool,
  most: number,
  sum: number,
): number => {
  const largest = keepVector(writer, () => {
    pushLaneMax(writer, most);
    writer.simd("f32x4.splat");
  });
  const scaled = compute(writer, fma, pool, [sum, most, largest], (g, z, m, all) =>
    g.mul(z, vectorMath.exp(g, g.sub(m, all), NOT_ABOVE_ZERO)),
  );
  const total = keepVector(writer, () => {
    pushLaneSum(writer, scaled);
    writer.simd("f32x4.splat");
  });
  return compute(writer, fma, pool, [largest, total], (g, m, z) =>
    g.select(g.apply("f32x4.eq", m, g.float(Infinity)), m, g.add(m, vectorMath.log(g, z))),
  );
};
