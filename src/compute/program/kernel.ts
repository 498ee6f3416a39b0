/** The `wasm` backend of programs: nests as float32 SIMD kernels, four elements of the innermost axis at a time. */
import { reachableUntil } from "../graph/expression.js";
import { type FunctionWriter, I32, type ModuleWriter } from "../wasm/encoder.js";
import { frontier, keep, keepVector, local } from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import type { ArrayPlace, Find } from "./nest-function.js";
import type { Nest, NestResult } from "./nests.js";
import { type CodeOptions, writeReduction } from "./reduction.js";

/** Where things stand in the job description, counted in words; the constants follow. */
export interface Words {
  /** The length of an axis. */
  size(axis: string): number;
  /** The address of an array. */
  array(index: number): number;
  /** Iterations of the outer loops (or of the only one) that a task of this nest takes. */
  chunk: number;
  /** Of a nest that `isSplit`: the number of its tasks. */
  tasks: number;
  /** Of a nest that `isSplit`: the address of a float for every task, for its first result; the others follow. */
  partials: number;
}

const INNER = 1;

/** The only loop of a nest is cut into tasks; where loops are nested, the outer ones are. */
const isFlat = (nest: Nest): boolean => nest.outer.length === 0;

/** A reduction to a single value: each task leaves its part in an array of partial results. */
export const isSplit = (nest: Nest): boolean => isFlat(nest) && nest.kind !== "map";

export const writeNest = (
  module: ModuleWriter,
  functionName: string,
  nest: Nest,
  find: Find,
  target: (result: NestResult) => ArrayPlace,
  words: Words,
  options: CodeOptions,
): void => {
  const { kind } = nest;
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
    const split = isSplit(nest);
    const places = [
      ...loaded.map((node) => find(node) as ArrayPlace),
      ...(split ? [] : nest.results.map(target)),
    ];
    for (const { axes } of places) axes.forEach(size);
    for (const axis of nest.outer) size(axis);
    const n = nest.inner === undefined ? keep(writer, () => writer.i32(1)) : size(nest.inner);

    // The iterations of this task, counted through all outer loops, or through the only loop of a flat map.
    const flat = isFlat(nest);
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
    const g = new VectorGraph(options);
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

    /** Pushes the address of a result. */
    const pushTarget = (result: NestResult, r: number): void => {
      if (!split) writer.get(baseOf(result));
      else {
        // partials[r][task]
        writer
          .get(0)
          .memory("i32.load", 4 * words.tasks)
          .i32(r)
          .op("i32.mul")
          .get(2)
          .op("i32.add");
        writer
          .i32(2)
          .op("i32.shl")
          .get(0)
          .memory("i32.load", 4 * words.partials)
          .op("i32.add");
      }
    };

    const inner = (from: () => void, to: () => void): void => {
      const kept = new Map<VectorNode, number>();
      writeVectors(
        writer,
        frontier(values, (node) => (node.axes & INNER) !== 0),
        kept,
      );
      const spare: number[] = [];
      /** The locals with the values at i, all of them kept until the next are computed. */
      const here = (): readonly number[] => {
        const inside = new Map(kept);
        writeVectors(writer, values, inside, spare);
        return values.map((value) => local(inside, value));
      };
      if (kind === "map") {
        writer.loop(i, from, to, 4, () => {
          const locals = here();
          nest.results.forEach((result, r) => {
            writeStore(writer, baseOf(result), i, to, locals[r]);
          });
        });
        return;
      }
      const running = writeReduction(
        writer,
        kind,
        nest.results.length,
        { from, to, i, values: here },
        options,
      );
      nest.results.forEach((result, r) => {
        pushTarget(result, r);
        running[r].push();
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

/** The end of a nest that `isSplit`: its tasks' partial results to one, by one task of its own. */
export const writeCombination = (
  module: ModuleWriter,
  functionName: string,
  nest: Nest,
  target: (result: NestResult) => ArrayPlace,
  words: Words,
  options: CodeOptions,
): void => {
  const { kind } = nest;
  if (kind === "map") return;
  module.function(functionName, [I32, I32, I32], [], (writer) => {
    const tasks = keep(writer, () => writer.get(0).memory("i32.load", 4 * words.tasks));
    const row = keep(writer, () => writer.get(0).memory("i32.load", 4 * words.partials));
    const i = writer.local(I32);
    for (const result of nest.results) {
      const load = () => [
        keepVector(writer, () =>
          writer.get(row).get(i).i32(2).op("i32.shl").op("i32.add").memory("v128.load"),
        ),
      ];
      const ends = { from: () => writer.i32(0), to: () => writer.get(tasks) };
      const [running] = writeReduction(writer, kind, 1, { ...ends, i, values: load }, options);
      writer.get(0).memory("i32.load", 4 * words.array(target(result).index));
      running.push();
      writer.memory("f32.store");
      writer.get(row).get(tasks).i32(2).op("i32.shl").op("i32.add").set(row);
    }
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
