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
  whenBelow,
  zeroVector,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";
import {
  InputPointers,
  innerInputs,
  keepPlace,
  loadWord,
  observationParts,
  pushWord,
  WORDS,
} from "./kernel.js";
import { type Partial, type Plan, partials } from "./plan.js";
import { type KernelOptions, pushMask, writePads } from "./stream.js";

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
const blockOfRows = (writer: FunctionWriter): { row: number; end: number } => {
  const block = loadWord(writer, WORDS.block);
  const row = keep(writer, () => writer.get(2).get(block).op("i32.mul"));
  const rows = loadWord(writer, WORDS.inner);
  writer.get(rows).i32(3).op("i32.add").i32(2).op("i32.shr_u").set(rows);
  const end = keep(writer, () => writer.get(row).get(block).op("i32.add"));
  whenBelow(writer, rows, end, () => writer.get(rows).set(end));
  return { row, end };
};

/** A local that is 1 where the row is the last and holds fewer than four samples. */
const writeIsPartial = (writer: FunctionWriter, S: number, row: number): number =>
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

/** Sums of this many vectors are kept in locals, where observations are written out. */
const MOST_SUMS_IN_LOCALS = 24;

/** The second pass: a task is a block of rows. */
export const writeGradient = (
  module: ModuleWriter,
  tables: TableLayout,
  layout: GradientLayout,
  { inputs, fma, pool, written, careful }: KernelOptions,
): void => {
  module.function("gradient", [I32, I32, I32], [], (writer) => {
    const { inShared, perPair, back } = layout;
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
    const sample = writer.local(I32); // 4 * inner sample, in rows that the batch shares
    const pair = writer.local(I32); // 4 * (outer * inner samples + inner sample)
    const partial = writer.local(I32); // whether this row is the last and not full
    const b = writer.local(I32);
    const table = writer.local(I32);
    const entry = new Cursor(writer, tables.entry);
    const keptAt = new Cursor(writer, 4 * layout.kept.length);
    const slot = new Cursor(writer, stride);
    const weight = writer.local(V128);

    // Derivatives of the joint part at (outer b, row, observation t).
    const g = new VectorGraph({ fma, pool });
    const lowering = new Lowering(g, (node) => {
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
    });
    const values = new Map(direct.map((each) => [each, lowering.value(each.partial)]));
    const vectorOf = (each: Partial): VectorNode => {
      const found = values.get(each);
      if (found === undefined) throw new RangeError("a derivative was not computed");
      return found;
    };
    const all = [...values.values()];
    const kept = new Map<VectorNode, number>();
    writeVectors(
      writer,
      frontier(all, (node) => node.axes !== 0),
      kept,
    );

    const inLocals = written !== undefined && written * inShared.length <= MOST_SUMS_IN_LOCALS;
    const sums = inLocals
      ? Array.from({ length: written * inShared.length }, () => writer.local(V128))
      : undefined;
    const adjointSum = writer.local(V128);
    const pairSums = perPair.map(() => writer.local(V128));
    const innerGradients = loadWord(writer, WORDS.innerGradients);
    /** Pushes the address of this row in the `line`-th gradient, `line` being on the stack. */
    const pushInnerGradient = () => {
      writer.get(padded).op("i32.mul").get(innerGradients).op("i32.add");
      writer.get(row).i32(VECTOR).op("i32.mul").op("i32.add");
    };

    writer.loop(
      row,
      () => writer.get(row),
      () => writer.get(end),
      1,
      () => {
        writer.get(row).i32(VECTOR).op("i32.mul").set(sample);
        writer.get(writeIsPartial(writer, S, row)).tee(partial);
        writer.when(() => {
          for (const input of shared) writer.get(padOf(input)).set(pointers.row(input));
          writer.i32(0).set(sample);
        });
        writer.get(keepPlace(writer, WORDS.tables, row, WORDS.tableBytes)).set(table);
        // Sums over the batch start at zero.
        writer.splat32(0).set(adjointSum);
        for (const sum of sums ?? []) writer.splat32(0).set(sum);
        if (sums === undefined) {
          slot.start(() => writer.get(scratch));
          walk(writer, [slot], T, undefined, () => {
            for (const k of inShared.keys()) slot.store(VECTOR * k, () => writer.splat32(0));
          });
        }
        const here = new Map(kept);
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
          () => {
            writeWeight();
            for (const sum of pairSums) writer.splat32(0).set(sum);
            writer.get(weight).simd("v128.any_true");
            writer.when(() => {
              accumulate(writer, adjointSum, () => writer.get(weight));
              if (direct.length > 0) writeDirect(here);
            });
            for (const [v, sum] of pairSums.entries()) {
              writer.get(B).i32(v).op("i32.mul").get(b).op("i32.add");
              pushInnerGradient();
              writer.get(sum).memory("v128.store");
            }
          },
        );
        writeBack();
      },
    );

    /** adjoint[b] e^(ll[b, s] - logsumexp ll[b, .]) */
    function writeWeight(): void {
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
    }

    /** Adds the weighted derivatives of the joint part. */
    function writeDirect(outside: ReadonlyMap<VectorNode, number>): void {
      if (paired.length > 0) {
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
      }
      entry.start(() => writer.get(table).i32(tables.head).op("i32.add"));
      keptAt.start(() => {
        pushWord(writer, WORDS.kept);
        writer.get(b).get(T).op("i32.mul").i32(keptAt.bytes).op("i32.mul").op("i32.add");
      });
      slot.start(() => writer.get(scratch));
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
    }

    /** From the sums over the batch to the inputs behind the tables, once per row. */
    function writeBack(): void {
      if (backward.length === 0) return;
      const offset = keep(writer, () => writer.i32(0)); // 4 * observation
      let step = 0;
      const h = new VectorGraph({ fma, pool });
      const lower = new Lowering(h, (node) => {
        if (node.op !== "input") return undefined;
        const bits = bitsOf(node);
        const k = layout.adjoints.indexOf(node);
        if (k >= 0) {
          return h.leaf(`node ${node.id}`, bits | OBSERVATION, () => {
            const sum = sums?.[step * inShared.length + k];
            if (sum === undefined) slot.load(VECTOR * k);
            else writer.get(sum);
          });
        }
        if (node === layout.innerAdjoint)
          return h.leaf(`node ${node.id}`, bits, () => writer.get(adjointSum));
        if ((bits & INNER) === 0)
          return h.leaf(`node ${node.id}`, bits, () => pointers.pushSplat(node, offset));
        return h.leaf(`node ${node.id}`, bits, () =>
          writer.get(pointers.row(node)).get(sample).op("i32.add").memory("v128.load"),
        );
      });
      const results = backward.map(({ partial }) => lower.value(partial));
      const before = new Map<VectorNode, number>();
      writeVectors(
        writer,
        frontier(results, (node) => (node.axes & OBSERVATION) !== 0),
        before,
      );
      const innerSums = back.perInner.map(() => zeroVector(writer));
      slot.start(() => writer.get(scratch));
      const perStep = new Cursor(writer, VECTOR * back.perObservation.length);
      perStep.start(() =>
        writer
          .get(part)
          .i32(VECTOR * back.single.length)
          .op("i32.add"),
      );
      const single = new Cursor(writer, 0);
      single.start(() => writer.get(part));
      walk(writer, [slot, perStep], T, sums === undefined ? undefined : written, (current) => {
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
        pushInnerGradient();
        writer.get(sum).memory("v128.store");
      }
    }
  });
};
