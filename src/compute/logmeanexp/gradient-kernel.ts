/** The kernel of the second pass over the tables: weighted derivatives, summed over the batch and taken back. */
import { reachable, type Traced } from "../graph/expression.js";
import { type FunctionWriter, I32, type ModuleWriter, V128 } from "../wasm/encoder.js";
import {
  accumulate,
  accumulateProduct,
  advance,
  Cursor,
  compute,
  frontier,
  keep,
  keepVector,
  local,
  pushAt,
  VECTOR,
  walk,
  weightOf,
  zeroVector,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";
import { InputPointers, keepPlace, loadWord, pushWord, WORDS } from "./kernel.js";
import type { Partial } from "./plan.js";
import { type KernelOptions, pushMask, writePads } from "./stream.js";
import { blockOfRows, type GradientLayout, type TableLayout, writeIsPartial } from "./tables.js";

/** Sums of this many vectors are kept in locals, where observations are written out. */
const MOST_SUMS_IN_LOCALS = 24;

/** What the kernel reads: the inputs that it uses, their addresses and pads, and lengths, in locals. */
const openInputs = (
  writer: FunctionWriter,
  { inShared, perPair, back }: GradientLayout,
  inputs: readonly Traced[],
) => {
  const direct = [...inShared, ...perPair];
  const backward = [...back.single, ...back.perObservation, ...back.perInner];
  const used = reachable([...direct, ...backward].map(({ partial }) => partial));
  const present = inputs.filter((input) => used.has(input));
  const inner = present.filter((input) => (bitsOf(input) & INNER) !== 0);
  const shared = inner.filter((input) => (bitsOf(input) & OUTER) === 0);
  const paired = inner.filter((input) => (bitsOf(input) & OUTER) !== 0);
  const S = loadWord(writer, WORDS.inner);
  const T = loadWord(writer, WORDS.observations);
  const B = loadWord(writer, WORDS.outer);
  const padded = loadWord(writer, WORDS.logBytes);
  const { row, end } = blockOfRows(writer);
  const scratch = keepPlace(writer, WORDS.scratch, 1, WORDS.scratchBytes);
  const part = keepPlace(writer, WORDS.parts, 2, WORDS.partBytes);
  const stride = VECTOR * inShared.length;
  const sumsEnd = keep(writer, () => pushAt(writer, scratch, T, stride));
  const pads = inner.map((_, k) =>
    keep(writer, () =>
      writer
        .get(sumsEnd)
        .i32(VECTOR * k)
        .op("i32.add"),
    ),
  );
  const padOf = (input: Traced) => pads[inner.indexOf(input)];
  const zero = writer.local(I32);
  const pointers = new InputPointers(writer, present, (input) => inputs.indexOf(input), {
    outer: zero,
    inner: S,
    observations: T,
  });
  writePads(
    writer,
    shared.map((input) => pointers.row(input)),
    shared.map(padOf),
    S,
  );
  return {
    direct,
    backward,
    shared,
    paired,
    S,
    T,
    B,
    padded,
    row,
    end,
    scratch,
    part,
    stride,
    padOf,
    pointers,
  };
};

/** Everything that the parts of the kernel share; locals are taken in this order. */
const openFrame = (
  writer: FunctionWriter,
  tables: TableLayout,
  layout: GradientLayout,
  options: KernelOptions,
) => {
  const { inShared, perPair } = layout;
  const { fma, pool, written } = options;
  const opened = openInputs(writer, layout, options.inputs);
  const sample = writer.local(I32); // 4 * inner sample, in rows that the batch shares
  const pair = writer.local(I32); // 4 * (outer * inner samples + inner sample)
  const partial = writer.local(I32); // whether this row is the last and not full
  const b = writer.local(I32);
  const table = writer.local(I32);
  const entry = new Cursor(writer, tables.entry);
  const keptAt = new Cursor(writer, 4 * layout.kept.length);
  const slot = new Cursor(writer, opened.stride);
  const weight = writer.local(V128);
  const places = { ...opened, sample, pair, partial, b, table, entry, keptAt };
  const g = new VectorGraph({ fma, pool });
  const lowering = new Lowering(g, (node) => leafOf(writer, g, node, tables, layout, places));
  const values = new Map(opened.direct.map((each) => [each, lowering.value(each.partial)]));
  const all = [...values.values()];
  /** What does not vary in any of the loops. */
  const kept = new Map<VectorNode, number>();
  writeVectors(
    writer,
    frontier(all, (node) => node.axes !== 0),
    kept,
  );
  const inLocals = written !== undefined && written * inShared.length <= MOST_SUMS_IN_LOCALS;
  /** Sums over the batch, by observation and stand-in; undefined where they are in scratch. */
  const sums = inLocals
    ? Array.from({ length: written * inShared.length }, () => writer.local(V128))
    : undefined;
  const adjointSum = writer.local(V128);
  const pairSums = perPair.map(() => writer.local(V128));
  const innerGradients = loadWord(writer, WORDS.innerGradients);
  return {
    ...places,
    ...{ writer, tables, layout, options, slot, weight, all, kept, sums, adjointSum, pairSums },
    vectorOf(each: Partial): VectorNode {
      const found = values.get(each);
      if (found === undefined) throw new RangeError("a derivative was not computed");
      return found;
    },
    /** Pushes the address of this row in the `line`-th gradient, `line` being on the stack. */
    pushInnerGradient(): void {
      writer.get(opened.padded).op("i32.mul").get(innerGradients).op("i32.add");
      writer.get(opened.row).i32(VECTOR).op("i32.mul").op("i32.add");
    },
  };
};

type Frame = ReturnType<typeof openFrame>;
/** What nodes are loaded from: locals, and cursors over the tables. */
type Places = Pick<ReturnType<typeof openInputs>, "padOf" | "pointers"> &
  Readonly<Record<"sample" | "pair" | "partial" | "b" | "table", number>> &
  Readonly<Record<"entry" | "keptAt", Cursor>>;

/** How a node is loaded at (outer b, row, observation t), where it is not computed. */
const leafOf = (
  writer: FunctionWriter,
  g: VectorGraph,
  node: Traced,
  tables: TableLayout,
  layout: GradientLayout,
  { padOf, pointers, sample, pair, partial, b, table, entry, keptAt }: Places,
): VectorNode | undefined => {
  const j = layout.kept.indexOf(node);
  if (j >= 0) {
    return g.leaf(`kept ${j}`, OUTER | OBSERVATION, () => keptAt.load(4 * j, "v128.load32_splat"));
  }
  if (node.op !== "input") return undefined;
  const bits = bitsOf(node);
  const place = tables.place(node);
  if (place !== undefined) {
    return (bits & OBSERVATION) !== 0
      ? g.leaf(`node ${node.id}`, bits, () => entry.load(place))
      : g.leaf(`node ${node.id}`, bits, () => writer.get(table).memory("v128.load", place));
  }
  return g.leaf(`node ${node.id}`, bits, () => {
    if ((bits & INNER) === 0) {
      if ((bits & OUTER) === 0) writer.get(pointers.row(node));
      else pushAt(writer, pointers.row(node), b, 4);
      writer.memory("v128.load32_splat");
      return;
    }
    if ((bits & OUTER) === 0) writer.get(pointers.row(node)).get(sample).op("i32.add");
    else {
      // A full row is read in place; the last, partial one through its pad.
      writer.get(padOf(node)).get(pointers.row(node)).get(pair).op("i32.add").get(partial).op("select");
    }
    writer.memory("v128.load");
  });
};

/** weight = adjoint[b] e^(ll[b, s] - logsumexp ll[b, .]) */
const writeWeight = ({ writer, options: { fma, pool }, b, row, weight }: Frame): void => {
  const logs = keepPlace(writer, WORDS.logs, b, WORDS.logBytes);
  const own = keep(writer, () => {
    pushWord(writer, WORDS.weights);
    writer.get(b).i32(3).op("i32.shl").op("i32.add");
  });
  const load = (push: () => void, instruction: "v128.load" | "v128.load32_splat", offset = 0) =>
    keepVector(writer, () => {
      push();
      writer.memory(instruction, offset);
    });
  const weighted = compute(
    writer,
    fma,
    pool,
    [
      load(() => pushAt(writer, logs, row, VECTOR), "v128.load"),
      load(() => writer.get(own), "v128.load32_splat"),
      load(() => writer.get(own), "v128.load32_splat", 4),
    ],
    (h, log, total, adjoint) => h.mul(adjoint, weightOf(h, h.sub(log, total), 1)),
  );
  writer.get(weighted).set(weight);
};

/** Where inputs per pair are read: their place in this row, and pads of it where it is not full. */
const writePairs = ({ writer, paired, b, S, row, pair, partial, pointers, padOf }: Frame): void => {
  if (paired.length === 0) return;
  writer.get(b).get(S).op("i32.mul").get(row).i32(2).op("i32.shl").op("i32.add");
  writer.i32(2).op("i32.shl").set(pair);
  writer.get(partial);
  writer.when(() => {
    const bases = paired.map((input) =>
      keep(writer, () => {
        writer.get(pointers.row(input)).get(b).get(S).op("i32.mul");
        writer.i32(2).op("i32.shl").op("i32.add");
      }),
    );
    writePads(writer, bases, paired.map(padOf), S);
  });
};

/** Adds the weighted derivatives of the joint part. */
const writeDirect = (frame: Frame, outside: ReadonlyMap<VectorNode, number>): void => {
  const { writer, tables, layout, all, vectorOf, weight, sums, pairSums, entry, keptAt, slot, b, T } = frame;
  const { inShared, perPair } = layout;
  const { fma, careful, written } = frame.options;
  writePairs(frame);
  entry.start(() => writer.get(frame.table).i32(tables.head).op("i32.add"));
  keptAt.start(() => {
    pushWord(writer, WORDS.kept);
    writer.get(b).get(T).op("i32.mul").i32(keptAt.bytes).op("i32.mul").op("i32.add");
  });
  slot.start(() => writer.get(frame.scratch));
  const inB = new Map(outside);
  writeVectors(
    writer,
    frontier(all, (node) => (node.axes & OBSERVATION) !== 0).filter((node) => !inB.has(node)),
    inB,
  );
  walk(writer, [entry, keptAt, slot], T, written, (step) => {
    const inside = new Map(inB);
    writeVectors(writer, all, inside);
    const pushValue = (each: Partial) => {
      writer.get(local(inside, vectorOf(each)));
      if (careful) pushMask(writer, weight);
    };
    const pushWeight = () => writer.get(weight);
    const addWeighted = (sum: number, each: Partial) =>
      accumulateProduct(writer, fma, sum, () => pushValue(each), pushWeight);
    for (const [k, each] of inShared.entries()) {
      const sum = sums?.[step * inShared.length + k];
      if (sum === undefined) {
        slot.accumulate(VECTOR * k, fma, () => pushValue(each), pushWeight);
      } else addWeighted(sum, each);
    }
    for (const [v, each] of perPair.entries()) addWeighted(pairSums[v], each);
  });
};

/** The derivatives of the sums over the batch in the inputs behind the tables; `step` is the observation's number. */
const lowerBack = (frame: Frame, offset: number, step: () => number): readonly VectorNode[] => {
  const { writer, layout, sums, adjointSum, slot, pointers, sample, backward } = frame;
  const h = new VectorGraph(frame.options);
  const lowering = new Lowering(h, (node) => {
    if (node.op !== "input") return undefined;
    const bits = bitsOf(node);
    const k = layout.adjoints.indexOf(node);
    if (k >= 0) {
      return h.leaf(`node ${node.id}`, bits | OBSERVATION, () => {
        const sum = sums?.[step() * layout.inShared.length + k];
        if (sum === undefined) slot.load(VECTOR * k);
        else writer.get(sum);
      });
    }
    if (node === layout.innerAdjoint) return h.leaf(`node ${node.id}`, bits, () => writer.get(adjointSum));
    if ((bits & INNER) === 0) return h.leaf(`node ${node.id}`, bits, () => pointers.pushSplat(node, offset));
    return h.leaf(`node ${node.id}`, bits, () =>
      writer.get(pointers.row(node)).get(sample).op("i32.add").memory("v128.load"),
    );
  });
  return backward.map(({ partial }) => lowering.value(partial));
};

/** From the sums over the batch to the inputs behind the tables, once per row. */
const writeBack = (frame: Frame): void => {
  const { writer, layout, slot, sums, part, B, T } = frame;
  const { back, perPair } = layout;
  if (frame.backward.length === 0) return;
  const offset = keep(writer, () => writer.i32(0)); // 4 * observation
  let step = 0;
  const results = lowerBack(frame, offset, () => step);
  const before = new Map<VectorNode, number>();
  writeVectors(
    writer,
    frontier(results, (node) => (node.axes & OBSERVATION) !== 0),
    before,
  );
  const innerSums = back.perInner.map(() => zeroVector(writer));
  slot.start(() => writer.get(frame.scratch));
  const perStep = new Cursor(writer, VECTOR * back.perObservation.length);
  perStep.start(() =>
    writer
      .get(part)
      .i32(VECTOR * back.single.length)
      .op("i32.add"),
  );
  const single = new Cursor(writer, 0);
  single.start(() => writer.get(part));
  walk(writer, [slot, perStep], T, sums === undefined ? undefined : frame.options.written, (current) => {
    step = current;
    const inside = new Map(before);
    writeVectors(writer, results, inside);
    const addTo = (cursor: Cursor, at: number, node: VectorNode) =>
      cursor.store(at, () => {
        cursor.load(at);
        writer.get(local(inside, node)).simd("f32x4.add");
      });
    for (const v of back.single.keys()) addTo(single, VECTOR * v, results[v]);
    for (const v of back.perObservation.keys()) {
      addTo(perStep, VECTOR * v, results[back.single.length + v]);
    }
    for (const v of back.perInner.keys()) {
      const node = results[back.single.length + back.perObservation.length + v];
      accumulate(writer, innerSums[v], () => writer.get(local(inside, node)));
    }
    advance(writer, offset, 4);
  });
  for (const [v, sum] of innerSums.entries()) {
    // After the gradients per pair.
    writer.get(B).i32(perPair.length).op("i32.mul").i32(v).op("i32.add");
    frame.pushInnerGradient();
    writer.get(sum).memory("v128.store");
  }
};

/** The start of a row: where it is read, and sums over the batch at zero. */
const startRow = (frame: Frame): void => {
  const { writer, row, sample, partial, table, sums, slot, S, T } = frame;
  writer.get(row).i32(VECTOR).op("i32.mul").set(sample);
  writer.get(writeIsPartial(writer, S, row)).tee(partial);
  writer.when(() => {
    for (const input of frame.shared) writer.get(frame.padOf(input)).set(frame.pointers.row(input));
    writer.i32(0).set(sample);
  });
  writer.get(keepPlace(writer, WORDS.tables, row, WORDS.tableBytes)).set(table);
  writer.splat32(0).set(frame.adjointSum);
  for (const sum of sums ?? []) writer.splat32(0).set(sum);
  if (sums !== undefined) return;
  slot.start(() => writer.get(frame.scratch));
  walk(writer, [slot], T, undefined, () => {
    for (const k of frame.layout.inShared.keys()) slot.store(VECTOR * k, () => writer.splat32(0));
  });
};

/** One outer sample at one row. */
const writePair = (frame: Frame, here: ReadonlyMap<VectorNode, number>): void => {
  const { writer, weight, pairSums, B, b } = frame;
  writeWeight(frame);
  for (const sum of pairSums) writer.splat32(0).set(sum);
  writer.get(weight).simd("v128.any_true");
  writer.when(() => {
    accumulate(writer, frame.adjointSum, () => writer.get(weight));
    if (frame.direct.length > 0) writeDirect(frame, here);
  });
  for (const [v, sum] of pairSums.entries()) {
    writer.get(B).i32(v).op("i32.mul").get(b).op("i32.add");
    frame.pushInnerGradient();
    writer.get(sum).memory("v128.store");
  }
};

/** The second pass: a task is a block of rows. */
export const writeGradient = (
  module: ModuleWriter,
  tables: TableLayout,
  layout: GradientLayout,
  options: KernelOptions,
): void => {
  module.function("gradient", [I32, I32, I32], [], (writer) => {
    const frame = openFrame(writer, tables, layout, options);
    const { row, end, b, B, all } = frame;
    writer.loop(
      row,
      () => writer.get(row),
      () => writer.get(end),
      1,
      () => {
        startRow(frame);
        const here = new Map(frame.kept);
        writeVectors(
          writer,
          frontier(all, (node) => (node.axes & (OBSERVATION | OUTER)) !== 0).filter(
            (node) => !here.has(node),
          ),
          here,
        );
        writer.loop(
          b,
          () => writer.i32(0),
          () => writer.get(B),
          1,
          () => writePair(frame, here),
        );
        writeBack(frame);
      },
    );
  });
};
