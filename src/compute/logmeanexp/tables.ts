/**
 * The passes over what the whole batch shares: before the first pass, tables of the shared parts g_k(inner,
 * observation); after it, the gradient.
 *
 * With w[b, s] = adjoint[b] e^(ll[b, s] - logsumexp_s ll[b, .]), the second pass goes through the inner samples and, for
 * each, through the batch. It sums w df/dg_k over the batch first and differentiates g_k once per inner sample
 * instead of once per pair. Tasks are blocks of inner samples of a fixed size, so sums do not depend on threads.
 */
import { reachable, type Traced } from "../graph/expression.js";
import { I32, type ModuleWriter, V128 } from "../wasm/encoder.js";
import {
  accumulate,
  accumulateAt,
  compute,
  frontier,
  keep,
  keepVector,
  local,
  VECTOR,
  weightOf,
  zeroVector,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { type ConstantPool, VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";
import { InputPointers, loadWord, observationParts, WORDS } from "./kernel.js";
import { type Partial, type Plan, partials } from "./plan.js";
import { writePads } from "./stream.js";

/** A row of the tables holds four inner samples: the sum of the inner part, then g_k without and with observation. */
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

export const tableLayout = ({ shared }: Plan): TableLayout => {
  const varies = ({ stand }: { stand: Traced }) => (bitsOf(stand) & OBSERVATION) !== 0;
  const perRow = shared.filter((each) => !varies(each));
  const perEntry = shared.filter(varies);
  const head = VECTOR * (1 + perRow.length);
  const entry = VECTOR * perEntry.length;
  const places = new Map<Traced, number>([
    ...perRow.map(({ stand }, k): [Traced, number] => [stand, VECTOR * (1 + k)]),
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
  /** In inputs that vary with the observation, [outer, observations, perObservation] for every block. */
  readonly perObservation: readonly Partial[];
  /** In inputs that vary with neither, [outer, perOuter] for every block. */
  readonly perOuter: readonly Partial[];
  /** In inputs that vary with both outer and inner sample: [outer, inner] each. */
  readonly perPair: readonly Partial[];
  /** Derivatives of sum_k a_k g_k + a inner, the a being the sums over the batch. */
  readonly back: {
    /** [observations, perObservation] for every block. */
    readonly perObservation: readonly Partial[];
    /** One value for every block. */
    readonly single: readonly Partial[];
    /** [inner] each. */
    readonly perInner: readonly Partial[];
  };
  readonly adjoints: readonly Traced[];
  readonly innerAdjoint: Traced;
  /** What the first pass keeps for this one. */
  readonly kept: readonly Traced[];
  /** Vectors of an outer sample's sums. */
  part(observations: number): number;
  /** Vectors of a block's own sums. */
  blockPart(observations: number): number;
  scratch(observations: number): number;
}

export const gradientLayout = (plan: Plan): GradientLayout => {
  const { graph, shared, wanted } = plan;
  const stands = shared.map(({ stand }) => stand);
  const direct = partials(plan.joint, [...stands, ...wanted.filter((leaf) => !stands.includes(leaf))]);
  const inShared = direct.filter(({ leaf }) => stands.includes(leaf));
  const others = direct.filter(({ leaf }) => !stands.includes(leaf));
  const has = (bit: number) => (each: Partial) => (bitsOf(each.leaf) & bit) !== 0;
  const not = (test: (each: Partial) => boolean) => (each: Partial) => !test(each);
  const perPair = others.filter(has(INNER));
  const perObservation = others.filter(not(has(INNER))).filter(has(OBSERVATION));
  const perOuter = others.filter(not(has(INNER))).filter(not(has(OBSERVATION)));

  const adjoints = inShared.map(({ leaf }) => graph.input(`@${leaf.name}`, leaf.axes));
  const innerAdjoint = graph.input("@inner", ["inner"]);
  const nodeOf = (stand: Traced) => shared.find((each) => each.stand === stand)?.node ?? stand;
  const backward = inShared.reduce(
    (sum, { leaf, factor }, k) =>
      graph.apply("add", [
        sum,
        graph.apply("mul", [graph.constant(factor), graph.apply("mul", [adjoints[k], nodeOf(leaf)])]),
      ]),
    graph.apply("mul", [innerAdjoint, plan.inner]),
  );
  const back = partials(backward, wanted);
  return {
    inShared,
    perObservation,
    perOuter,
    perPair,
    back: {
      perObservation: back.filter(has(OBSERVATION)),
      single: back.filter(not(has(OBSERVATION))).filter(not(has(INNER))),
      perInner: back.filter(has(INNER)),
    },
    adjoints,
    innerAdjoint,
    kept: observationParts(direct.map(({ partial }) => partial)),
    part: (observations) => perOuter.length + observations * perObservation.length,
    blockPart(observations) {
      return this.back.single.length + observations * this.back.perObservation.length;
    },
    scratch: (observations) => VECTOR * (inShared.length * observations + 64),
  };
};

/** Fills the tables: a task is a block of rows. */
export const writeTables = (
  module: ModuleWriter,
  plan: Plan,
  layout: TableLayout,
  inputs: readonly Traced[],
  fma: boolean,
  pool: ConstantPool,
): void => {
  module.function("tables", [I32, I32, I32], [], (writer) => {
    const roots = [plan.inner, ...plan.shared.map(({ node }) => node)];
    const used = reachable(roots);
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
    const scratch = threadScratch(writer);
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
    const offset = writer.local(I32);
    const sample = writer.local(I32);
    const g = new VectorGraph({ fma, pool });
    const lowering = new Lowering(g, (node) => {
      if (node.op !== "input") return undefined;
      const bits = bitsOf(node);
      if ((bits & INNER) === 0) return g.leaf(node.name, bits, () => pointers.pushSplat(node, offset));
      return g.leaf(node.name, bits, () =>
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
    const table = writer.local(I32);
    const entry = writer.local(I32);
    const t = writer.local(I32);
    writer.loop(
      row,
      () => writer.get(row),
      () => writer.get(end),
      1,
      () => {
        writer.get(row).i32(4).op("i32.shl").set(sample);
        writer
          .get(S)
          .get(row)
          .i32(2)
          .op("i32.shl")
          .op("i32.sub")
          .i32(4)
          .op("i32.lt_u")
          .when(() => {
            inner.forEach((input, k) => {
              writer.get(pads[k]).set(pointers.row(input));
            });
            writer.i32(0).set(sample);
          });
        writer.get(0).memory("i32.load", 4 * WORDS.tables);
        writer
          .get(row)
          .get(0)
          .memory("i32.load", 4 * WORDS.tableBytes)
          .op("i32.mul")
          .op("i32.add");
        writer.tee(table).i32(layout.head).op("i32.add").set(entry);
        const here = new Map(kept);
        writeVectors(
          writer,
          [...frontier(perObservation, (node) => (node.axes & OBSERVATION) !== 0), ...rowParts].filter(
            (node) => !here.has(node),
          ),
          here,
        );
        rowParts.forEach((part, k) => {
          writer
            .get(table)
            .get(local(here, part))
            .memory("v128.store", VECTOR * (1 + k));
        });
        writer.splat32(0).set(sum);
        writer.loop(
          t,
          () => writer.i32(0),
          () => writer.get(T),
          1,
          () => {
            writer.get(t).i32(2).op("i32.shl").set(offset);
            const inside = new Map(here);
            writeVectors(writer, perObservation, inside);
            accumulate(writer, sum, () => writer.get(local(inside, innerPart)));
            entryParts.forEach((part, k) => {
              writer
                .get(entry)
                .get(local(inside, part))
                .memory("v128.store", VECTOR * k);
            });
            writer.get(entry).i32(layout.entry).op("i32.add").set(entry);
          },
        );
        writer.get(table).get(sum).memory("v128.store");
      },
    );
  });
};

/** The second pass: a task is a block of rows. */
export const writeGradient = (
  module: ModuleWriter,
  tables: TableLayout,
  layout: GradientLayout,
  inputs: readonly Traced[],
  fma: boolean,
  pool: ConstantPool,
): void => {
  module.function("gradient", [I32, I32, I32], [], (writer) => {
    const { inShared, perObservation, perOuter, perPair, back } = layout;
    const direct = [...inShared, ...perObservation, ...perOuter, ...perPair];
    const backward = [...back.perObservation, ...back.single, ...back.perInner];
    const used = reachable([...direct, ...backward].map(({ partial }) => partial));
    const present = inputs.filter((input) => used.has(input));
    const inner = present.filter((input) => (bitsOf(input) & INNER) !== 0);
    const S = loadWord(writer, WORDS.inner);
    const T = loadWord(writer, WORDS.observations);
    const B = loadWord(writer, WORDS.outer);
    const padded = loadWord(writer, WORDS.logBytes);
    const { row, end } = blockOfRows(writer);
    const scratch = threadScratch(writer);
    const stride = VECTOR * inShared.length;
    const sumsEnd = keep(writer, () => writer.get(T).i32(stride).op("i32.mul").get(scratch).op("i32.add"));
    const pads = inner.map((_, k) =>
      keep(writer, () =>
        writer
          .get(sumsEnd)
          .i32(VECTOR * k)
          .op("i32.add"),
      ),
    );
    const blockPart = keep(writer, () => {
      writer.get(0).memory("i32.load", 4 * WORDS.blockParts);
      writer
        .get(2)
        .get(0)
        .memory("i32.load", 4 * WORDS.blockPartBytes)
        .op("i32.mul")
        .op("i32.add");
    });
    const firstPart = keep(writer, () => {
      writer.get(0).memory("i32.load", 4 * WORDS.parts);
      writer
        .get(2)
        .get(0)
        .memory("i32.load", 4 * WORDS.partBytes)
        .op("i32.mul")
        .get(B)
        .op("i32.mul");
      writer.op("i32.add");
    });
    const zero = writer.local(I32);
    const shared = inner.filter((input) => (bitsOf(input) & OUTER) === 0);
    const perOuterInner = inner.filter((input) => (bitsOf(input) & OUTER) !== 0);
    // Rows of inputs over both outer and inner sample move with the batch: their base is kept and added to.
    const pointers = new InputPointers(writer, present, (input) => inputs.indexOf(input), {
      outer: zero,
      inner: S,
      observations: T,
    });
    writePads(
      writer,
      shared.map((input) => pointers.row(input)),
      shared.map((input) => pads[inner.indexOf(input)]),
      S,
    );
    const sample = writer.local(I32); // byte offset into rows of shared inner inputs
    const pairOffset = writer.local(I32); // 4 * (b * S + s)
    const partial = writer.local(I32); // whether this row is the last and not full
    const b = writer.local(I32);
    const t = writer.local(I32);
    const offset = writer.local(I32);
    const table = writer.local(I32);
    const entry = writer.local(I32);
    const slot = writer.local(I32);
    const keptAt = writer.local(I32);
    const part = writer.local(I32);
    const weight = writer.local(V128);

    // Derivatives of the joint part at (outer b, row, observation t).
    const g = new VectorGraph({ fma, pool });
    const lowering = new Lowering(g, (node) => {
      const j = layout.kept.indexOf(node);
      if (j >= 0) {
        return g.leaf(`kept ${j}`, OUTER | OBSERVATION, () =>
          writer.get(keptAt).memory("v128.load32_splat", 4 * j),
        );
      }
      if (node.op !== "input") return undefined;
      const bits = bitsOf(node);
      const place = tables.place(node);
      if (place !== undefined) {
        const pointer = (bits & OBSERVATION) !== 0 ? entry : table;
        return g.leaf(node.name, bits, () => writer.get(pointer).memory("v128.load", place));
      }
      if ((bits & INNER) === 0) {
        return g.leaf(node.name, bits, () => {
          writer.get(pointers.row(node));
          if ((bits & OUTER) !== 0) writer.get(b).i32(2).op("i32.shl").op("i32.add");
          writer.memory("v128.load32_splat");
        });
      }
      return g.leaf(node.name, bits, () => {
        if ((bits & OUTER) === 0) writer.get(pointers.row(node)).get(sample).op("i32.add");
        else {
          // A full row is read in place; the last, partial one through its pad.
          writer.get(pads[inner.indexOf(node)]).get(pointers.row(node)).get(pairOffset).op("i32.add");
          writer.get(partial).op("select");
        }
        writer.memory("v128.load");
      });
    });
    const values = new Map(direct.map((each) => [each, lowering.value(each.partial)]));
    const all = [...values.values()];

    const kept = new Map<VectorNode, number>();
    writeVectors(
      writer,
      frontier(all, (node) => node.axes !== 0),
      kept,
    );
    const adjointSum = zeroVector(writer);
    const pairSums = perPair.map(() => writer.local(V128));
    const outerSums = perOuter.map(() => writer.local(V128));
    const innerGradients = loadWord(writer, WORDS.innerGradients);

    writer.loop(
      row,
      () => writer.get(row),
      () => writer.get(end),
      1,
      () => {
        writer.get(row).i32(4).op("i32.shl").set(sample);
        writer
          .get(S)
          .get(row)
          .i32(2)
          .op("i32.shl")
          .op("i32.sub")
          .i32(4)
          .op("i32.lt_u")
          .tee(partial)
          .when(() => {
            for (const input of shared) writer.get(pads[inner.indexOf(input)]).set(pointers.row(input));
            writer.i32(0).set(sample);
          });
        writer.get(0).memory("i32.load", 4 * WORDS.tables);
        writer
          .get(row)
          .get(0)
          .memory("i32.load", 4 * WORDS.tableBytes)
          .op("i32.mul")
          .op("i32.add")
          .set(table);
        // Sums over the batch start at zero.
        if (inShared.length > 0) {
          writer.loop(
            slot,
            () => writer.get(scratch),
            () => writer.get(sumsEnd),
            VECTOR,
            () => writer.get(slot).splat32(0).memory("v128.store"),
          );
        }
        writer.splat32(0).set(adjointSum);
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
            const logs = writer.local(I32);
            writer
              .get(0)
              .memory("i32.load", 4 * WORDS.logs)
              .get(b)
              .get(padded)
              .op("i32.mul")
              .op("i32.add");
            writer.get(row).i32(4).op("i32.shl").op("i32.add").set(logs);
            const weights = writer.local(I32);
            writer
              .get(0)
              .memory("i32.load", 4 * WORDS.weights)
              .get(b)
              .i32(3)
              .op("i32.shl")
              .op("i32.add")
              .set(weights);
            const weighted = compute(
              writer,
              fma,
              pool,
              [
                keepVector(writer, () => writer.get(logs).memory("v128.load")),
                keepVector(writer, () => writer.get(weights).memory("v128.load32_splat")),
                keepVector(writer, () => writer.get(weights).memory("v128.load32_splat", 4)),
              ],
              (h, log, total, adjoint) => h.mul(adjoint, weightOf(h, h.sub(log, total), 1)),
            );
            writer.get(weighted).set(weight);
            for (const [v] of perPair.entries()) writer.splat32(0).set(pairSums[v]);
            // Far samples weigh exactly nothing, and most samples are far.
            writer
              .get(weight)
              .simd("v128.any_true")
              .when(() => {
                accumulate(writer, adjointSum, () => writer.get(weight));
                if (direct.length === 0) return;
                if (perOuterInner.length > 0) {
                  writer.get(b).get(S).op("i32.mul").get(row).i32(2).op("i32.shl").op("i32.add");
                  writer.i32(2).op("i32.shl").set(pairOffset);
                  writer.get(partial).when(() => {
                    for (const input of perOuterInner) {
                      const base = keep(writer, () =>
                        writer
                          .get(pointers.row(input))
                          .get(b)
                          .get(S)
                          .op("i32.mul")
                          .i32(2)
                          .op("i32.shl")
                          .op("i32.add"),
                      );
                      writePads(writer, [base], [pads[inner.indexOf(input)]], S);
                    }
                  });
                }
                writer.get(table).i32(tables.head).op("i32.add").set(entry);
                writer.get(0).memory("i32.load", 4 * WORDS.kept);
                writer
                  .get(b)
                  .get(T)
                  .op("i32.mul")
                  .i32(4 * layout.kept.length)
                  .op("i32.mul")
                  .op("i32.add")
                  .set(keptAt);
                writer
                  .get(firstPart)
                  .get(b)
                  .get(0)
                  .memory("i32.load", 4 * WORDS.partBytes)
                  .op("i32.mul");
                writer.op("i32.add").set(part);
                const ofOuter = keep(writer, () => writer.get(part));
                writer
                  .get(part)
                  .i32(VECTOR * perOuter.length)
                  .op("i32.add")
                  .set(part);
                for (const sum of outerSums) writer.splat32(0).set(sum);
                const inB = new Map(here);
                writeVectors(
                  writer,
                  frontier(all, (node) => (node.axes & OBSERVATION) !== 0).filter((node) => !inB.has(node)),
                  inB,
                );
                const addTo = (sum: number, each: Partial, from: ReadonlyMap<VectorNode, number>) =>
                  accumulate(writer, sum, () =>
                    writer
                      .get(weight)
                      .get(local(from, vectorOf(values, each)))
                      .simd("f32x4.mul"),
                  );
                writer.get(scratch).set(slot);
                writer.loop(
                  t,
                  () => writer.i32(0),
                  () => writer.get(T),
                  1,
                  () => {
                    const inside = new Map(inB);
                    writeVectors(writer, all, inside);
                    inShared.forEach((each, k) => {
                      const value = local(inside, vectorOf(values, each));
                      accumulateAt(
                        writer,
                        fma,
                        slot,
                        VECTOR * k,
                        () => writer.get(value),
                        () => writer.get(weight),
                      );
                    });
                    perObservation.forEach((each, v) => {
                      const value = local(inside, vectorOf(values, each));
                      accumulateAt(
                        writer,
                        fma,
                        part,
                        VECTOR * v,
                        () => writer.get(value),
                        () => writer.get(weight),
                      );
                    });
                    for (const [v, each] of perOuter.entries()) addTo(outerSums[v], each, inside);
                    for (const [v, each] of perPair.entries()) addTo(pairSums[v], each, inside);
                    const advance = (pointer: number, bytes: number) => {
                      if (bytes > 0) writer.get(pointer).i32(bytes).op("i32.add").set(pointer);
                    };
                    advance(slot, stride);
                    advance(part, VECTOR * perObservation.length);
                    advance(entry, tables.entry);
                    advance(keptAt, 4 * layout.kept.length);
                  },
                );
                outerSums.forEach((sum, v) => {
                  writer
                    .get(ofOuter)
                    .get(ofOuter)
                    .memory("v128.load", VECTOR * v)
                    .get(sum)
                    .simd("f32x4.add");
                  writer.memory("v128.store", VECTOR * v);
                });
              });
            pairSums.forEach((sum, v) => {
              // innerGradients + (v B + b) padded + 16 row
              writer.get(innerGradients).get(B).i32(v).op("i32.mul").get(b).op("i32.add");
              writer.get(padded).op("i32.mul").op("i32.add").get(row).i32(4).op("i32.shl").op("i32.add");
              writer.get(sum).memory("v128.store");
            });
          },
        );
        writeBack();
      },
    );

    /** From the sums over the batch to the inputs behind the tables, once per row. */
    function writeBack(): void {
      if (backward.length === 0) return;
      const h = new VectorGraph({ fma, pool });
      const lower = new Lowering(h, (node) => {
        if (node.op !== "input") return undefined;
        const bits = bitsOf(node);
        const k = layout.adjoints.indexOf(node);
        if (k >= 0)
          return h.leaf(node.name, bits | OBSERVATION, () =>
            writer.get(slot).memory("v128.load", VECTOR * k),
          );
        if (node === layout.innerAdjoint) return h.leaf(node.name, bits, () => writer.get(adjointSum));
        if ((bits & INNER) === 0) return h.leaf(node.name, bits, () => pointers.pushSplat(node, offset));
        return h.leaf(node.name, bits, () =>
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
      writer.get(scratch).set(slot);
      writer
        .get(blockPart)
        .i32(VECTOR * back.single.length)
        .op("i32.add")
        .set(part);
      writer.loop(
        t,
        () => writer.i32(0),
        () => writer.get(T),
        1,
        () => {
          writer.get(t).i32(2).op("i32.shl").set(offset);
          const inside = new Map(before);
          writeVectors(writer, results, inside);
          const addAt = (pointer: number, at: number, node: VectorNode) => {
            writer.get(pointer).get(pointer).memory("v128.load", at).get(local(inside, node));
            writer.simd("f32x4.add").memory("v128.store", at);
          };
          for (const v of back.perObservation.keys()) addAt(part, VECTOR * v, results[v]);
          for (const v of back.single.keys()) {
            addAt(blockPart, VECTOR * v, results[back.perObservation.length + v]);
          }
          back.perInner.forEach((_, v) => {
            const node = results[back.perObservation.length + back.single.length + v];
            accumulate(writer, innerSums[v], () => writer.get(local(inside, node)));
          });
          writer.get(slot).i32(stride).op("i32.add").set(slot);
          writer
            .get(part)
            .i32(VECTOR * back.perObservation.length)
            .op("i32.add")
            .set(part);
        },
      );
      innerSums.forEach((sum, v) => {
        // After the gradients per pair: innerGradients + (pairs B + v) padded + 16 row
        writer.get(innerGradients).get(B).i32(perPair.length).op("i32.mul").i32(v).op("i32.add");
        writer.get(padded).op("i32.mul").op("i32.add").get(row).i32(4).op("i32.shl").op("i32.add");
        writer.get(sum).memory("v128.store");
      });
    }
  });
};

const vectorOf = (values: ReadonlyMap<Partial, VectorNode>, each: Partial): VectorNode => {
  const found = values.get(each);
  if (found === undefined) throw new RangeError("a derivative was not computed");
  return found;
};

type Writer = Parameters<Parameters<ModuleWriter["function"]>[3]>[0];

/** The rows of the task: from `row` to before `end`. */
const blockOfRows = (writer: Writer): { row: number; end: number } => {
  const block = loadWord(writer, WORDS.block);
  const row = keep(writer, () => writer.get(2).get(block).op("i32.mul"));
  const rows = keep(writer, () =>
    writer
      .get(0)
      .memory("i32.load", 4 * WORDS.inner)
      .i32(3)
      .op("i32.add")
      .i32(2)
      .op("i32.shr_u"),
  );
  const end = keep(writer, () => writer.get(row).get(block).op("i32.add"));
  writer
    .get(end)
    .get(rows)
    .op("i32.gt_u")
    .when(() => writer.get(rows).set(end));
  return { row, end };
};

const threadScratch = (writer: Writer): number =>
  keep(writer, () => {
    writer.get(0).memory("i32.load", 4 * WORDS.scratch);
    writer
      .get(1)
      .get(0)
      .memory("i32.load", 4 * WORDS.scratchBytes)
      .op("i32.mul")
      .op("i32.add");
  });
