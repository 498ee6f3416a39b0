/**
 * The pass over the inner samples of one outer sample: value and gradient together, with nothing stored per inner
 * sample.
 *
 * With ll_s = sum_t f(s, t), the kernel keeps a shift m near the largest ll_s seen so far, Z = sum_s e^(ll_s - m)
 * and, for every wanted derivative, sum_s e^(ll_s - m) df/dv; when a larger ll_s comes by, all of them are scaled to
 * the new shift. The quotients with Z are the softmax-weighted means that the gradient consists of.
 */
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
  local,
  pushAt,
  pushLaneMax,
  pushLaneSum,
  VECTOR,
  walk,
  weightOf,
  whenBelow,
  zeroVector,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { type ConstantPool, VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION } from "./axes.js";
import {
  InputPointers,
  innerInputs,
  keepPlace,
  loadWord,
  observationParts,
  pushWord,
  WORDS,
} from "./kernel.js";
import { type Partial, type Plan, partials, splitFactor } from "./plan.js";
import type { TableLayout } from "./tables.js";

/** How far above the shift a log-likelihood may be before everything is scaled: e^20 is far from overflow. */
const HEADROOM = 20;
/** Below every log-likelihood, and finite, so that differences are never NaN. */
const LOWEST = -3e38;

/** What one task computes and where it puts it; a record is one task's result, in floats. */
export interface StreamLayout {
  /** f = factor * joint, plus what does not vary with the inner sample. */
  readonly factor: number;
  readonly joint: Traced;
  readonly outer: Traced;
  /** Derivatives of the joint part in inputs that vary with the observation: [observations, perObservation]. */
  readonly perObservation: readonly Partial[];
  /** Those of them that are kept in scratch until the weight is known; the others are only loads. */
  readonly stored: readonly Partial[];
  /** Derivatives in inputs that do not vary with the observation: [perOuter]. */
  readonly perOuter: readonly Partial[];
  /** Derivatives of the outer part, in any input: [observations, outerPartials]. */
  readonly outerPartials: readonly Partial[];
  /** Values that do not vary with the inner sample, kept in scratch for every observation. */
  readonly slots: readonly Traced[];
  /** Scratch bytes of one observation: the slots, this sample's derivatives, the weighted sums. */
  readonly stride: number;
  /** Floats of a record. */
  size(observations: number): number;
  /** Scratch bytes of a thread. */
  scratch(observations: number): number;
}

/** Floats at the start of a record: the shift, Z, the sum of the outer part and the sum of its sizes. */
export const RECORD_HEAD = 4;

export const streamLayout = (plan: Plan): StreamLayout => {
  const { factor, rest: joint } = splitFactor(plan.joint);
  const derivatives = partials(
    plan.joint,
    plan.wanted.filter((leaf) => (bitsOf(leaf) & INNER) === 0),
  );
  const varies = ({ leaf }: Partial) => (bitsOf(leaf) & OBSERVATION) !== 0;
  const perObservation = derivatives.filter(varies);
  const outerPartials = partials(plan.outer, plan.wanted);
  const slots = observationParts([joint, ...derivatives.map(({ partial }) => partial)]);
  const stored = perObservation.filter(({ partial }) => partial.op !== "input" && !slots.includes(partial));
  const perOuter = derivatives.filter((each) => !varies(each));
  const stride = VECTOR * (slots.length + stored.length + perObservation.length);
  return {
    factor,
    joint,
    outer: plan.outer,
    perObservation,
    stored,
    perOuter,
    outerPartials,
    slots,
    stride,
    size: (observations) =>
      RECORD_HEAD + perOuter.length + observations * (perObservation.length + outerPartials.length),
    scratch: (observations) => stride * observations + VECTOR * innerInputs(plan.graph),
  };
};

/** How the joint part reads the tables, where there are any, and what the second pass wants kept. */
export interface TableUse {
  readonly layout: TableLayout;
  /**
   * Values per outer sample and observation that a second pass reads, floats [outer, observations, kept]; undefined
   * where there is none, and then log-likelihoods are not kept either.
   */
  readonly kept: readonly Traced[] | undefined;
}

export interface KernelOptions {
  readonly inputs: readonly Traced[];
  readonly fma: boolean;
  readonly pool: ConstantPool;
  /** The number of observations where loops over them are written out. */
  readonly written: number | undefined;
  /** Derivatives may be infinite where the weight is zero, and then count as nothing. */
  readonly careful: boolean;
}

/** The task's outer sample, its share of the inner samples and what it reads, in locals. */
const openTask = (
  writer: FunctionWriter,
  layout: StreamLayout,
  inputs: readonly Traced[],
  tables: TableUse | undefined,
) => {
  const { perObservation, perOuter, stride } = layout;
  const roots = [layout.joint, ...[...perObservation, ...perOuter].map(({ partial }) => partial)];
  const used = reachable([...roots, layout.outer, ...(tables?.kept ?? [])]);
  const present = inputs.filter((input) => used.has(input));
  const inner = present.filter((input) => (bitsOf(input) & INNER) !== 0);
  const S = loadWord(writer, WORDS.inner);
  const T = loadWord(writer, WORDS.observations);
  const chunks = loadWord(writer, WORDS.chunks);
  const chunk = loadWord(writer, WORDS.chunk);
  const b = keep(writer, () => writer.get(2).get(chunks).op("i32.div_u"));
  const from = keep(writer, () => writer.get(2).get(chunks).op("i32.rem_u").get(chunk).op("i32.mul"));
  const to = keep(writer, () => writer.get(from).get(chunk).op("i32.add"));
  whenBelow(writer, S, to, () => writer.get(S).set(to));
  const scratch = keepPlace(writer, WORDS.scratch, 1, WORDS.scratchBytes);
  const record = keepPlace(writer, WORDS.records, 2, WORDS.recordBytes);
  const pointers = new InputPointers(writer, present, (input) => inputs.indexOf(input), {
    outer: b,
    inner: S,
    observations: T,
  });
  const slot = new Cursor(writer, stride);
  return {
    ...{ writer, layout, tables, inner, T, b, from, to, scratch, record, pointers, slot },
    rewind: () => slot.start(() => writer.get(scratch)),
    /** Where the weighted sum of a derivative is, from the slots of its observation. */
    sumAt: (v: number) => VECTOR * (layout.slots.length + layout.stored.length + v),
  };
};

type Task = ReturnType<typeof openTask>;

/** Once per observation: what does not vary with the inner sample goes to scratch. Locals with two sums of the outer part. */
const writeOuterPart = (
  { writer, layout, tables, T, b, record, pointers, slot, rewind, sumAt }: Task,
  { fma, pool }: KernelOptions,
): { outerSum: number; outerSizes: number } => {
  const { slots, perObservation, perOuter } = layout;
  const outerSum = zeroVector(writer);
  const outerSizes = zeroVector(writer);
  const offset = keep(writer, () => writer.i32(0)); // 4 * observation
  const keptBytes = 4 * (tables?.kept?.length ?? 0);
  const keptRow = keep(writer, () => {
    pushWord(writer, WORDS.kept);
    writer.get(b).get(T).op("i32.mul").i32(keptBytes).op("i32.mul").op("i32.add");
  });
  const sums = keep(writer, () => pushAt(writer, record, T, 4 * perObservation.length));
  advance(writer, sums, 4 * (RECORD_HEAD + perOuter.length));
  const g = new VectorGraph({ fma, pool });
  const lowering = new Lowering(g, (node) =>
    node.op === "input"
      ? g.leaf(`node ${node.id}`, bitsOf(node), () => pointers.pushSplat(node, offset))
      : undefined,
  );
  const outer = lowering.value(layout.outer);
  const parts = slots.map((node) => lowering.value(node));
  const keptParts = (tables?.kept ?? []).map((node) => lowering.value(node));
  const outerPartials = layout.outerPartials.map(({ partial }) => lowering.value(partial));
  rewind();
  walk(writer, [slot], T, undefined, () => {
    const kept = new Map<VectorNode, number>();
    writeVectors(writer, [outer, ...parts, ...keptParts, ...outerPartials], kept);
    accumulate(writer, outerSum, () => writer.get(local(kept, outer)));
    accumulate(writer, outerSizes, () => writer.get(local(kept, outer)).simd("f32x4.abs"));
    for (const [j, part] of parts.entries()) {
      slot.store(VECTOR * j, () => writer.get(local(kept, part)));
    }
    for (const v of perObservation.keys()) slot.store(sumAt(v), () => writer.splat32(0));
    const storeFloats = (pointer: number, nodes: readonly VectorNode[]) => {
      for (const [j, node] of nodes.entries()) {
        writer.get(pointer).get(local(kept, node));
        writer.storeLane(0, 4 * j);
      }
      advance(writer, pointer, 4 * nodes.length);
    };
    storeFloats(keptRow, keptParts);
    storeFloats(sums, outerPartials);
    advance(writer, offset, 4);
  });
  return { outerSum, outerSizes };
};

/** The last inner samples, where they do not fill a vector: copied out, the last one repeated. Locals with the copies. */
const writeLastSamples = ({ writer, layout, inner, scratch, pointers, T, to }: Task): readonly number[] => {
  const end = keep(writer, () => pushAt(writer, scratch, T, layout.stride));
  const pads = inner.map((_, k) =>
    keep(writer, () =>
      writer
        .get(end)
        .i32(VECTOR * k)
        .op("i32.add"),
    ),
  );
  writePads(
    writer,
    inner.map((input) => pointers.row(input)),
    pads,
    to,
  );
  return pads;
};

/** What the loop over the inner samples computes, what of it is done before it starts, and its locals. */
const openLoop = (task: Task, options: KernelOptions) => {
  const { writer, layout, tables, pointers, slot, b } = task;
  const { slots, perObservation, stored, perOuter } = layout;
  const offset = writer.local(I32); // 4 * inner sample
  const tableRow = writer.local(I32);
  const entry = new Cursor(writer, tables?.layout.entry ?? 0);
  const g = new VectorGraph(options);
  const lowering = new Lowering(g, (node) => {
    const j = slots.indexOf(node);
    if (j >= 0) return g.leaf(`slot ${j}`, OBSERVATION, () => slot.load(VECTOR * j));
    if (node.op !== "input") return undefined;
    const bits = bitsOf(node);
    const place = tables?.layout.place(node);
    if (place !== undefined) {
      return (bits & OBSERVATION) !== 0
        ? g.leaf(`node ${node.id}`, bits, () => entry.load(place))
        : g.leaf(`node ${node.id}`, bits, () => writer.get(tableRow).memory("v128.load", place));
    }
    if ((bits & INNER) === 0)
      return g.leaf(`node ${node.id}`, bits, () => pointers.pushSplat(node, undefined));
    return g.leaf(`node ${node.id}`, bits, () =>
      writer.get(pointers.row(node)).get(offset).op("i32.add").memory("v128.load"),
    );
  });
  const joint = lowering.value(layout.joint);
  // A product is multiplied as it is added.
  const factors = lowering.factors(layout.joint);
  const derivatives = new Map(
    [...perObservation, ...perOuter].map((each) => [each, lowering.value(each.partial)]),
  );
  const vectorOf = (each: Partial) => derivatives.get(each) ?? joint;
  const all = [...(factors ?? [joint]), ...[...stored, ...perOuter].map(vectorOf)];
  const kept = new Map<VectorNode, number>();
  writeVectors(
    writer,
    frontier(all, (node) => (node.axes & (INNER | OBSERVATION)) !== 0),
    kept,
  );
  const logRow = keepPlace(writer, WORDS.logs, b, WORDS.logBytes);
  const shift = writer.local(V128);
  writer.f32(LOWEST).simd("f32x4.splat").set(shift);
  const z = zeroVector(writer);
  const outerSums = perOuter.map(() => zeroVector(writer));
  const outerHere = perOuter.map(() => writer.local(V128));
  const ll = writer.local(V128);
  const odd = writer.local(V128); // every second term: two chains of additions are faster than one
  const weight = writer.local(V128);
  const partial = writer.local(I32); // samples in the last vector, where it is not full
  const s = writer.local(I32);
  return {
    ...task,
    ...{ options, offset, tableRow, entry, joint, factors, vectorOf, all, kept, logRow },
    ...{ shift, z, outerSums, outerHere, ll, odd, weight, partial, s },
    startEntry: () =>
      entry.start(() =>
        writer
          .get(tableRow)
          .i32(tables?.layout.head ?? 0)
          .op("i32.add"),
      ),
    eachObservation(body: (step: number) => void): void {
      task.rewind();
      walk(writer, [slot, entry], task.T, options.written, body);
    },
  };
};

type Loop = ReturnType<typeof openLoop>;

/** Where a vector of samples and its row of the tables are read. */
const startSamples = (loop: Loop, pads: readonly number[]): void => {
  const { writer, s, to, offset, partial, inner, pointers } = loop;
  writer.get(s).i32(2).op("i32.shl").set(offset);
  writer.get(to).get(s).op("i32.sub").tee(partial).i32(4).op("i32.lt_u");
  writer.when(() => {
    for (const [k, input] of inner.entries()) writer.get(pads[k]).set(pointers.row(input));
    writer.i32(0).set(offset);
  });
  if (loop.tables === undefined) return;
  pushWord(writer, WORDS.tables);
  writer.get(s).i32(2).op("i32.shr_u");
  pushWord(writer, WORDS.tableBytes);
  writer.op("i32.mul").op("i32.add").set(loop.tableRow);
};

/** ll and the derivatives of this vector of samples. */
const writeLogs = (loop: Loop, here: ReadonlyMap<VectorNode, number>): void => {
  const { writer, layout, tables, slot, all, joint, factors, vectorOf, outerHere, ll, odd, partial } = loop;
  writer.splat32(0).set(ll).splat32(0).set(odd);
  for (const sum of outerHere) writer.splat32(0).set(sum);
  loop.startEntry();
  loop.eachObservation((step) => {
    const inside = new Map(here);
    writeVectors(writer, all, inside);
    const sum = step % 2 === 0 ? ll : odd;
    const push = (node: VectorNode) => () => writer.get(local(inside, node));
    if (factors === undefined) accumulate(writer, sum, push(joint));
    else accumulateProduct(writer, loop.options.fma, sum, push(factors[0]), push(factors[1]));
    for (const [v, each] of layout.stored.entries()) {
      slot.store(VECTOR * (layout.slots.length + v), push(vectorOf(each)));
    }
    for (const [v, each] of layout.perOuter.entries()) {
      accumulate(writer, outerHere[v], push(vectorOf(each)));
    }
  });
  writer.get(ll).get(odd).simd("f32x4.add").f32(layout.factor).simd("f32x4.splat").simd("f32x4.mul");
  if (tables !== undefined) writer.get(loop.tableRow).memory("v128.load").simd("f32x4.add");
  writer.set(ll);
  // Lanes without a sample weigh nothing.
  writer.get(partial).i32(4).op("i32.lt_u");
  writer.when(() => {
    writer.get(ll).f32(-Infinity).simd("f32x4.splat");
    writer.integers(0, 1, 2, 3).get(partial).simd("i32x4.splat").simd("i32x4.lt_s");
    writer.simd("v128.bitselect").set(ll);
  });
  if (tables?.kept !== undefined) {
    pushAt(writer, loop.logRow, loop.s, 4);
    writer.get(ll).memory("v128.store");
  }
};

/** Where one is much larger than the shift, everything so far is scaled to it. */
const writeRescaling = ({ writer, layout, slot, rewind, sumAt, T, options, ...loop }: Loop): void => {
  const { ll, shift, z, outerSums } = loop;
  writer.get(ll).get(shift).f32(HEADROOM).simd("f32x4.splat").simd("f32x4.add");
  writer.simd("f32x4.gt").simd("v128.any_true");
  writer.when(() => {
    const higher = writer.local(V128);
    pushLaneMax(writer, ll);
    writer.simd("f32x4.splat").set(higher);
    const scale = compute(writer, options.fma, options.pool, [shift, higher], (h, low, high) =>
      weightOf(h, h.sub(low, high), 0),
    );
    writer.get(higher).set(shift);
    for (const sum of [z, ...outerSums]) writer.get(sum).get(scale).simd("f32x4.mul").set(sum);
    rewind();
    walk(writer, [slot], T, undefined, () => {
      for (const v of layout.perObservation.keys()) {
        slot.store(sumAt(v), () => {
          slot.load(sumAt(v));
          writer.get(scale).simd("f32x4.mul");
        });
      }
    });
  });
};

/** The weighted sums. */
const writeSums = (loop: Loop, here: ReadonlyMap<VectorNode, number>): void => {
  const { writer, layout, slot, sumAt, vectorOf, ll, shift, z, weight, outerSums, outerHere } = loop;
  const { fma, pool, careful } = loop.options;
  const { perObservation, stored, slots } = layout;
  const e = compute(writer, fma, pool, [ll, shift], (h, x, m) => weightOf(h, h.sub(x, m), HEADROOM + 1));
  writer.get(e).set(weight);
  accumulate(writer, z, () => writer.get(weight));
  for (const [v, sum] of outerSums.entries()) {
    accumulate(writer, sum, () => {
      writer.get(outerHere[v]);
      if (careful) pushMask(writer, weight);
      writer.get(weight).simd("f32x4.mul");
    });
  }
  if (perObservation.length === 0) return;
  loop.startEntry();
  loop.eachObservation(() => {
    for (const [v, each] of perObservation.entries()) {
      const at = stored.indexOf(each);
      const pushDerivative = () => {
        if (at >= 0) slot.load(VECTOR * (slots.length + at));
        else if (here.has(vectorOf(each))) writer.get(local(here, vectorOf(each)));
        else vectorOf(each).write(writer);
        if (careful) pushMask(writer, weight);
      };
      slot.accumulate(sumAt(v), fma, pushDerivative, () => writer.get(weight));
    }
  });
};

/** The task's record. */
const writeRecord = (
  { writer, layout, record, slot, rewind, sumAt, shift, z, outerSums, T }: Loop,
  { outerSum, outerSizes }: { readonly outerSum: number; readonly outerSizes: number },
): void => {
  const { perObservation, perOuter } = layout;
  writer.get(record).get(shift).storeLane(0, 0);
  writer.get(record).get(outerSum).storeLane(0, 8);
  writer.get(record).get(outerSizes).storeLane(0, 12);
  const storeSum = (sum: number, offset: number) => {
    writer.get(record);
    pushLaneSum(writer, sum);
    writer.memory("f32.store", offset);
  };
  storeSum(z, 4);
  for (const [v, sum] of outerSums.entries()) storeSum(sum, 4 * (RECORD_HEAD + v));
  if (perObservation.length === 0) return;
  const total = writer.local(V128);
  rewind();
  walk(writer, [slot], T, undefined, () => {
    for (const v of perObservation.keys()) {
      slot.load(sumAt(v));
      writer.set(total);
      storeSum(total, 4 * (RECORD_HEAD + perOuter.length + v));
    }
    advance(writer, record, 4 * perObservation.length);
  });
};

/** The first pass: a task is a share of the inner samples of one outer sample. */
export const writeStream = (
  module: ModuleWriter,
  layout: StreamLayout,
  options: KernelOptions,
  tables?: TableUse,
): void => {
  module.function("stream", [I32, I32, I32], [], (writer) => {
    const task = openTask(writer, layout, options.inputs, tables);
    const outer = writeOuterPart(task, options);
    const pads = writeLastSamples(task);
    const loop = openLoop(task, options);
    writer.loop(
      loop.s,
      () => writer.get(task.from),
      () => writer.get(task.to),
      4,
      () => {
        startSamples(loop, pads);
        const here = new Map(loop.kept);
        writeVectors(
          writer,
          frontier(loop.all, (node) => (node.axes & OBSERVATION) !== 0).filter((node) => !here.has(node)),
          here,
        );
        writeLogs(loop, here);
        writeRescaling(loop);
        writeSums(loop, here);
      },
    );
    writeRecord(loop, outer);
  });
};

/** Copies the last to % 4 floats of every row to its pad and repeats the last one. */
export const writePads = (
  writer: FunctionWriter,
  rows: readonly number[],
  pads: readonly number[],
  to: number,
): void => {
  writer.get(to).i32(3).op("i32.and");
  writer.when(() => {
    for (const [k, row] of rows.entries()) {
      for (let lane = 0; lane < 4; lane++) {
        writer.get(pads[k]).get(row);
        // min((to & ~3) + lane, to - 1)
        writer.get(to).i32(-4).op("i32.and").i32(lane).op("i32.add");
        writer.get(to).i32(1).op("i32.sub");
        writer.get(to).i32(3).op("i32.and").i32(lane).op("i32.gt_u").op("select");
        writer.i32(2).op("i32.shl").op("i32.add").memory("f32.load");
        writer.memory("f32.store", 4 * lane);
      }
    }
  });
};

/** Makes the lanes of the vector on the stack zero where the weight is. */
export const pushMask = (writer: FunctionWriter, weight: number): void => {
  writer.get(weight).splat32(0).simd("f32x4.ne").simd("v128.and");
};
