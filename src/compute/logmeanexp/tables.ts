/**
 * The passes over what the whole batch shares: before the first pass, tables of the shared parts g_k(inner,
 * observation); after it, the gradient.
 *
 * With w[b, s] = adjoint[b] e^(ll[b, s] - logsumexp_s ll[b, .]), the second pass goes through the inner samples and, for
 * each, through the batch. It sums w df/dg_k over the batch first and differentiates g_k once per inner sample
 * instead of once per pair. Tasks are blocks of inner samples of a fixed size, so sums do not depend on threads.
 */
import { reachable, type Traced } from "../graph/expression.js";
import { type FunctionWriter, I32, type ModuleWriter, V128 } from "../wasm/encoder.js";
import {
  accumulate,
  advance,
  Cursor,
  frontier,
  keep,
  local,
  VECTOR,
  walk,
  whenBelow,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";
import { InputPointers, innerInputs, keepPlace, loadWord, observationParts, WORDS } from "./kernel.js";
import { type Partial, type Plan, partials } from "./plan.js";
import { type KernelOptions, writePads } from "./stream.js";

/**
 * A row of the tables holds four inner samples: the sum of the inner part, the sum of its sizes, then g_k without and
 * with observation.
 */
export interface TableLayout {
  readonly perRow: readonly { readonly node: Traced; readonly stand: Traced }[];
  readonly perEntry: readonly { readonly node: Traced; readonly stand: Traced }[];
  /** Bytes before the first observation. */
  readonly head: number;
  /** Bytes of an observation. */
  readonly entry: number;
  /** Where the vector of a stand-in is, from the row or from its observation; undefined for other nodes. */
  place(stand: Traced): number | undefined;
  rowBytes(observations: number): number;
}

/** Vectors at the start of a row. */
const ROW_HEAD = 2;

export const tableLayout = ({ shared }: Plan): TableLayout => {
  const varies = ({ stand }: { stand: Traced }) => (bitsOf(stand) & OBSERVATION) !== 0;
  const perRow = shared.filter((each) => !varies(each));
  const perEntry = shared.filter(varies);
  const head = VECTOR * (ROW_HEAD + perRow.length);
  const entry = VECTOR * perEntry.length;
  const places = new Map<Traced, number>([
    ...perRow.map(({ stand }, k): [Traced, number] => [stand, VECTOR * (ROW_HEAD + k)]),
    ...perEntry.map(({ stand }, k): [Traced, number] => [stand, VECTOR * k]),
  ]);
  return {
    perRow,
    perEntry,
    head,
    entry,
    place: (stand) => places.get(stand),
    rowBytes: (observations) => head + entry * observations,
  };
};

/** What the second pass computes and where it puts it. */
export interface GradientLayout {
  /** Derivatives of the joint part in the stand-ins. */
  readonly inShared: readonly Partial[];
  /** In inputs that vary with both outer and inner sample: [outer, inner] each. */
  readonly perPair: readonly Partial[];
  /** Derivatives of sum_k a_k g_k + a inner, the a being the sums over the batch. */
  readonly back: {
    /** One value for every block. */
    readonly single: readonly Partial[];
    /** [observations, perObservation] for every block. */
    readonly perObservation: readonly Partial[];
    /** [inner] each. */
    readonly perInner: readonly Partial[];
  };
  /** The inputs that stand for a_k and a. */
  readonly adjoints: readonly Traced[];
  readonly innerAdjoint: Traced;
  /** What the first pass keeps for this one. */
  readonly kept: readonly Traced[];
  /** Vectors of a block's sums. */
  part(observations: number): number;
  /** Scratch bytes of a thread. */
  scratch(observations: number): number;
}

export const gradientLayout = (plan: Plan): GradientLayout => {
  const { graph, shared, wanted } = plan;
  const has = (bit: number) => (each: Partial) => (bitsOf(each.leaf) & bit) !== 0;
  const inShared = partials(
    plan.joint,
    shared.map(({ stand }) => stand),
  );
  const pairs = wanted.filter((leaf) => (bitsOf(leaf) & INNER) !== 0 && (bitsOf(leaf) & OUTER) !== 0);
  const perPair = partials(plan.joint, pairs);
  const adjoints = inShared.map(({ leaf }) => graph.standIn(leaf.axes));
  const innerAdjoint = graph.standIn(["inner"]);
  const nodeOf = (stand: Traced) => shared.find((each) => each.stand === stand)?.node ?? stand;
  const weighted = inShared.map(({ leaf, factor }, k) =>
    graph.apply("mul", [graph.constant(factor), graph.apply("mul", [adjoints[k], nodeOf(leaf)])]),
  );
  const total = weighted.reduce(
    (sum, term) => graph.apply("add", [sum, term]),
    graph.apply("mul", [innerAdjoint, plan.inner]),
  );
  const back = partials(total, wanted);
  const perObservation = back.filter(has(OBSERVATION));
  const perInner = back.filter(has(INNER));
  const single = back.filter((each) => !has(OBSERVATION)(each) && !has(INNER)(each));
  return {
    inShared,
    perPair,
    back: { single, perObservation, perInner },
    adjoints,
    innerAdjoint,
    kept: observationParts([...inShared, ...perPair].map(({ partial }) => partial)),
    part: (observations) => single.length + observations * perObservation.length,
    scratch: (observations) => VECTOR * (inShared.length * observations + innerInputs(graph)),
  };
};

/** The rows of the task: from `row` to before `end`. */
export const blockOfRows = (writer: FunctionWriter): { row: number; end: number } => {
  const block = loadWord(writer, WORDS.block);
  const row = keep(writer, () => writer.get(2).get(block).op("i32.mul"));
  const rows = loadWord(writer, WORDS.inner);
  writer.get(rows).i32(3).op("i32.add").i32(2).op("i32.shr_u").set(rows);
  const end = keep(writer, () => writer.get(row).get(block).op("i32.add"));
  whenBelow(writer, rows, end, () => writer.get(rows).set(end));
  return { row, end };
};

/** A local that is 1 where the row is the last and holds fewer than four samples. */
export const writeIsPartial = (writer: FunctionWriter, S: number, row: number): number =>
  keep(writer, () => writer.get(S).get(row).i32(2).op("i32.shl").op("i32.sub").i32(4).op("i32.lt_u"));

/** Fills the tables: a task is a block of rows. */
export const writeTables = (
  module: ModuleWriter,
  plan: Plan,
  layout: TableLayout,
  { inputs, fma, pool }: KernelOptions,
): void => {
  module.function("tables", [I32, I32, I32], [], (writer) => {
    const used = reachable([plan.inner, ...plan.shared.map(({ node }) => node)]);
    const present = inputs.filter((input) => used.has(input));
    const inner = present.filter((input) => (bitsOf(input) & INNER) !== 0);
    const S = loadWord(writer, WORDS.inner);
    const T = loadWord(writer, WORDS.observations);
    const zero = writer.local(I32);
    const pointers = new InputPointers(writer, present, (input) => inputs.indexOf(input), {
      outer: zero,
      inner: S,
      observations: T,
    });
    const { row, end } = blockOfRows(writer);
    const scratch = keepPlace(writer, WORDS.scratch, 1, WORDS.scratchBytes);
    const pads = inner.map((_, k) =>
      keep(writer, () =>
        writer
          .get(scratch)
          .i32(VECTOR * k)
          .op("i32.add"),
      ),
    );
    writePads(
      writer,
      inner.map((input) => pointers.row(input)),
      pads,
      S,
    );
    const offset = writer.local(I32); // 4 * observation
    const sample = writer.local(I32); // 4 * inner sample
    const g = new VectorGraph({ fma, pool });
    const lowering = new Lowering(g, (node) => {
      if (node.op !== "input") return undefined;
      const bits = bitsOf(node);
      if ((bits & INNER) === 0)
        return g.leaf(`node ${node.id}`, bits, () => pointers.pushSplat(node, offset));
      return g.leaf(`node ${node.id}`, bits, () =>
        writer.get(pointers.row(node)).get(sample).op("i32.add").memory("v128.load"),
      );
    });
    const innerPart = lowering.value(plan.inner);
    const rowParts = layout.perRow.map(({ node }) => lowering.value(node));
    const entryParts = layout.perEntry.map(({ node }) => lowering.value(node));
    const perObservation = [innerPart, ...entryParts];
    const kept = new Map<VectorNode, number>();
    writeVectors(
      writer,
      frontier([...perObservation, ...rowParts], (node) => node.axes !== 0),
      kept,
    );
    const sum = writer.local(V128);
    const sizes = writer.local(V128);
    const table = writer.local(I32);
    const entry = new Cursor(writer, layout.entry);
    writer.loop(
      row,
      () => writer.get(row),
      () => writer.get(end),
      1,
      () => {
        writer.get(row).i32(VECTOR).op("i32.mul").set(sample);
        writer.get(writeIsPartial(writer, S, row));
        writer.when(() => {
          for (const [k, input] of inner.entries()) writer.get(pads[k]).set(pointers.row(input));
          writer.i32(0).set(sample);
        });
        writer.get(keepPlace(writer, WORDS.tables, row, WORDS.tableBytes)).set(table);
        entry.start(() => writer.get(table).i32(layout.head).op("i32.add"));
        const here = new Map(kept);
        const beforeLoop = frontier(perObservation, (node) => (node.axes & OBSERVATION) !== 0);
        writeVectors(
          writer,
          [...beforeLoop, ...rowParts].filter((node) => !here.has(node)),
          here,
        );
        for (const [k, part] of rowParts.entries()) {
          writer.get(table).get(local(here, part));
          writer.memory("v128.store", VECTOR * (ROW_HEAD + k));
        }
        writer.splat32(0).set(sum).splat32(0).set(sizes);
        writer.i32(0).set(offset);
        walk(writer, [entry], T, undefined, () => {
          const inside = new Map(here);
          writeVectors(writer, perObservation, inside);
          accumulate(writer, sum, () => writer.get(local(inside, innerPart)));
          accumulate(writer, sizes, () => writer.get(local(inside, innerPart)).simd("f32x4.abs"));
          for (const [k, part] of entryParts.entries()) {
            entry.store(VECTOR * k, () => writer.get(local(inside, part)));
          }
          advance(writer, offset, 4);
        });
        writer.get(table).get(sum).memory("v128.store");
        writer.get(table).get(sizes).memory("v128.store", VECTOR);
      },
    );
  });
};
