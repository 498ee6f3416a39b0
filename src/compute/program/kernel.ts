/** The `wasm` backend of programs: nests as float32 SIMD kernels, four elements of the innermost axis at a time. */
import { reachableUntil, type Traced } from "../graph/expression.js";
import { type FunctionWriter, I32, type ModuleWriter } from "../wasm/encoder.js";
import { frontier, keep, keepVector, local } from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import type { ArrayPlace, Find, Target } from "./nest-function.js";
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

/** The axes that lie inside `axis` in an array. */
const insideOf = (place: ArrayPlace, axis: string): readonly string[] =>
  place.axes.slice(place.axes.indexOf(axis) + 1);

/** The kernel of one nest: its parameters are the job description, the thread and the task. */
class NestWriter {
  readonly #writer: FunctionWriter;
  readonly #nest: Nest;
  readonly #find: Find;
  readonly #target: Target;
  readonly #words: Words;
  readonly #options: CodeOptions;
  /** Locals with the lengths of axes, the indices of the outer loops, and the addresses of arrays at those. */
  readonly #sizes = new Map<string, number>();
  readonly #indices: ReadonlyMap<string, number>;
  readonly #bases = new Map<ArrayPlace, number>();
  /** The arrays that are read or written. */
  readonly #places: readonly ArrayPlace[];
  /** Locals: the length of the innermost loop, its index, and the iterations of this task. */
  readonly #n: number;
  readonly #i: number;
  readonly #first: number;
  readonly #last: number;
  readonly #values: readonly VectorNode[];

  constructor(
    writer: FunctionWriter,
    nest: Nest,
    find: Find,
    target: Target,
    words: Words,
    options: CodeOptions,
  ) {
    this.#writer = writer;
    this.#nest = nest;
    this.#find = find;
    this.#target = target;
    this.#words = words;
    this.#options = options;
    const bodies = nest.results.map(({ body }) => body);
    const loaded = reachableUntil(bodies, (node) => find(node) !== undefined).filter(
      (node) => find(node) !== undefined,
    );
    this.#places = [
      ...loaded.map((node) => find(node) as ArrayPlace),
      ...(isSplit(nest) ? [] : nest.results.map(target)),
    ];
    for (const { axes } of this.#places) for (const axis of axes) this.#size(axis);
    for (const axis of nest.outer) this.#size(axis);
    this.#n = nest.inner === undefined ? keep(writer, () => writer.i32(1)) : this.#size(nest.inner);
    [this.#first, this.#last] = this.#writeIterations();
    this.#indices = new Map(nest.outer.map((axis) => [axis, writer.local(I32)]));
    this.#i = writer.local(I32);
    this.#values = this.#lower(bodies);
  }

  /** A local with a word of the job description. */
  #word(index: number): number {
    return keep(this.#writer, () => this.#writer.get(0).memory("i32.load", 4 * index));
  }

  /** The local with the length of an axis. */
  #size(axis: string): number {
    const known = this.#sizes.get(axis);
    if (known !== undefined) return known;
    const fresh = this.#word(this.#words.size(axis));
    this.#sizes.set(axis, fresh);
    return fresh;
  }

  /** The iterations of this task, counted through all outer loops, or through the only loop of a flat nest. */
  #writeIterations(): [first: number, last: number] {
    const writer = this.#writer;
    const total = keep(writer, () => {
      if (isFlat(this.#nest)) writer.get(this.#n);
      else {
        writer.i32(1);
        for (const axis of this.#nest.outer) writer.get(this.#size(axis)).op("i32.mul");
      }
    });
    const chunk = this.#word(this.#words.chunk);
    const first = keep(writer, () => writer.get(2).get(chunk).op("i32.mul"));
    const last = keep(writer, () => writer.get(first).get(chunk).op("i32.add"));
    writer
      .get(last)
      .get(total)
      .op("i32.gt_u")
      .when(() => writer.get(total).set(last));
    return [first, last];
  }

  /** What is stored or reduced, as vectors of four elements of the innermost axis. */
  #lower(bodies: readonly Traced[]): readonly VectorNode[] {
    const writer = this.#writer;
    const { inner } = this.#nest;
    const g = new VectorGraph(this.#options);
    const lowering = new Lowering(g, (node) => {
      if (node.op === "size") {
        return g.leaf(`size ${node.name}`, 0, () => {
          writer.get(0).memory("i32.load", 4 * this.#words.size(node.name));
          writer.simd("i32x4.splat").simd("f32x4.convert_i32x4_s");
        });
      }
      const place = this.#find(node);
      if (place === undefined) return undefined;
      const varies = inner !== undefined && place.axes.includes(inner);
      return g.leaf(`array ${place.index}`, varies ? INNER : 0, () => this.#pushLoad(place));
    });
    return bodies.map((body) => lowering.value(body));
  }

  #pushLoad(place: ArrayPlace): void {
    const writer = this.#writer;
    const { inner } = this.#nest;
    const base = this.#bases.get(place) as number;
    if (inner === undefined || !place.axes.includes(inner)) {
      writer.get(base).memory("v128.load32_splat");
      return;
    }
    const inside = insideOf(place, inner);
    if (inside.length === 0) {
      writer.get(base).get(this.#i).i32(2).op("i32.shl").op("i32.add").memory("v128.load");
      return;
    }
    // Elements that are not next to each other: one by one, none beyond the last.
    writer.splat32(0);
    for (let lane = 0; lane < 4; lane++) {
      const at = keep(writer, () => {
        writer.get(this.#i).i32(lane).op("i32.add").get(this.#n).i32(1).op("i32.sub");
        writer.get(this.#i).i32(lane).op("i32.add").get(this.#n).op("i32.lt_u").op("select");
        for (const axis of inside) writer.get(this.#size(axis)).op("i32.mul");
        writer.i32(2).op("i32.shl").get(base).op("i32.add");
      });
      writer.get(at).memory("f32.load").replaceLane(lane);
    }
  }

  /** Pushes the address of an array at the indices of the outer loops. */
  #pushAddress(place: ArrayPlace): void {
    const writer = this.#writer;
    writer.get(0).memory("i32.load", 4 * this.#words.array(place.index));
    for (const axis of place.axes) {
      const index = this.#indices.get(axis);
      if (index === undefined) continue;
      writer.get(index);
      for (const inside of insideOf(place, axis)) writer.get(this.#size(inside)).op("i32.mul");
      writer.i32(2).op("i32.shl").op("i32.add");
    }
  }

  #setBases(): void {
    for (const place of this.#places) {
      const base = this.#bases.get(place) ?? this.#writer.local(I32);
      this.#bases.set(place, base);
      this.#pushAddress(place);
      this.#writer.set(base);
    }
  }

  #baseOf(result: NestResult): number {
    const base = this.#bases.get(this.#target(result));
    if (base === undefined) throw new RangeError("a result has no address in this kernel");
    return base;
  }

  /** Pushes the address of a result: its array, or partials[r][task]. */
  #pushTarget(result: NestResult, r: number): void {
    const writer = this.#writer;
    if (!isSplit(this.#nest)) {
      writer.get(this.#baseOf(result));
      return;
    }
    const load = (word: number) => writer.get(0).memory("i32.load", 4 * word);
    load(this.#words.tasks).i32(r).op("i32.mul").get(2).op("i32.add").i32(2).op("i32.shl");
    load(this.#words.partials).op("i32.add");
  }

  /** The innermost loop. */
  #writeInner(from: () => void, to: () => void): void {
    const writer = this.#writer;
    const { kind, results } = this.#nest;
    const kept = new Map<VectorNode, number>();
    writeVectors(
      writer,
      frontier(this.#values, (node) => (node.axes & INNER) !== 0),
      kept,
    );
    const spare: number[] = [];
    /** The locals with the values at i, all of them kept until the next are computed. */
    const here = (): readonly number[] => {
      const inside = new Map(kept);
      writeVectors(writer, this.#values, inside, spare);
      return this.#values.map((value) => local(inside, value));
    };
    if (kind === "map") {
      writer.loop(this.#i, from, to, 4, () => {
        const locals = here();
        results.forEach((result, r) => {
          writeStore(writer, this.#baseOf(result), this.#i, to, locals[r]);
        });
      });
      return;
    }
    const range = { from, to, i: this.#i, values: here };
    const running = writeReduction(writer, kind, results.length, range, this.#options);
    results.forEach((result, r) => {
      this.#pushTarget(result, r);
      running[r].push();
      writer.memory("f32.store");
    });
  }

  write(): void {
    const writer = this.#writer;
    const first = () => writer.get(this.#first);
    const last = () => writer.get(this.#last);
    if (isFlat(this.#nest)) {
      this.#setBases();
      this.#writeInner(first, last);
      return;
    }
    const counter = writer.local(I32);
    writer.loop(counter, first, last, 1, () => {
      const rest = keep(writer, () => writer.get(counter));
      for (const axis of [...this.#nest.outer].reverse()) {
        const size = this.#size(axis);
        writer
          .get(rest)
          .get(size)
          .op("i32.rem_u")
          .set(this.#indices.get(axis) as number);
        writer.get(rest).get(size).op("i32.div_u").set(rest);
      }
      this.#setBases();
      this.#writeInner(
        () => writer.i32(0),
        () => writer.get(this.#n),
      );
    });
  }
}

export const writeNest = (
  module: ModuleWriter,
  functionName: string,
  nest: Nest,
  find: Find,
  target: Target,
  words: Words,
  options: CodeOptions,
): void => {
  module.function(functionName, [I32, I32, I32], [], (writer) => {
    new NestWriter(writer, nest, find, target, words, options).write();
  });
};

/** The end of a nest that `isSplit`: its tasks' partial results to one, by one task of its own. */
export const writeCombination = (
  module: ModuleWriter,
  functionName: string,
  nest: Nest,
  target: Target,
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
