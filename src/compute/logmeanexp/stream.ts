/**
 * One pass over the inner samples of one outer sample: value and gradient together, with nothing stored per inner
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
  accumulateAt,
  compute,
  frontier,
  keep,
  local,
  pushLaneMax,
  pushLaneSum,
  VECTOR,
  weightOf,
  zeroVector,
} from "../wasm/kernel.js";
import { Lowering } from "../wasm/lower.js";
import { type ConstantPool, VectorGraph, type VectorNode, writeVectors } from "../wasm/vector.js";
import { bitsOf, INNER, OBSERVATION } from "./axes.js";
import { InputPointers, loadWord, observationParts, WORDS } from "./kernel.js";
import { type Partial, type Plan, partials, splitFactor } from "./plan.js";
import type { TableLayout } from "./tables.js";

/** How far above the shift a log-likelihood may be before everything is scaled: e^20 is far from overflow. */
export const HEADROOM = 20;
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
  /** The same for inputs that do not: [perOuter]. */
  readonly perOuter: readonly Partial[];
  /** Derivatives of the outer part, in any input: [observations, outerPartials]. */
  readonly outerPartials: readonly Partial[];
  /** Values that do not vary with the inner sample, kept in scratch for every observation. */
  readonly slots: readonly Traced[];
  /** Scratch bytes of one observation: the slots, this sample's derivatives, their weighted sums. */
  readonly stride: number;
  /** Floats of a record. */
  size(observations: number): number;
  /** Scratch bytes of a thread. */
  scratch(observations: number): number;
}

/** Floats at the start of a record: the shift, Z, and the sum of the outer part. */
export const RECORD_HEAD = 3;

/** Room after the scratch of the observations for the ends of the rows of inner samples. */
const MOST_INPUTS = 64;

/** With `tables` the derivatives of the joint part are left to a second pass, over what this one keeps. */
export const streamLayout = (plan: Plan, { tables }: { tables: boolean }): StreamLayout => {
  const { factor, rest: joint } = splitFactor(plan.joint);
  const derivatives = tables ? [] : partials(plan.joint, plan.wanted);
  const varies = ({ leaf }: Partial) => (bitsOf(leaf) & OBSERVATION) !== 0;
  const perObservation = derivatives.filter(varies);
  const perOuter = derivatives.filter((each) => !varies(each));
  const outerPartials = partials(plan.outer, plan.wanted);
  const slots = observationParts([joint, ...derivatives.map(({ partial }) => partial)]);
  const stride = VECTOR * (slots.length + 2 * perObservation.length);
  return {
    factor,
    joint,
    outer: plan.outer,
    perObservation,
    perOuter,
    outerPartials,
    slots,
    stride,
    size: (observations) =>
      RECORD_HEAD + perOuter.length + observations * (perObservation.length + outerPartials.length),
    scratch: (observations) => stride * observations + VECTOR * MOST_INPUTS,
  };
};

/** How the joint part reads the tables, where there are any, and what the second pass wants kept. */
export interface TableUse {
  readonly layout: TableLayout;
  /** Slots that the second pass reads: kept as floats [outer, observations, kept]. */
  readonly kept: readonly Traced[];
}

export const writeStream = (
  module: ModuleWriter,
  layout: StreamLayout,
  inputs: readonly Traced[],
  fma: boolean,
  pool: ConstantPool,
  tables?: TableUse,
): void => {
  module.function("stream", [I32, I32, I32], [], (writer) => {
    const { slots, stride, perObservation, perOuter } = layout;
    const roots = [layout.joint, ...[...perObservation, ...perOuter].map(({ partial }) => partial)];
    const used = reachable([...roots, layout.outer]);
    const present = inputs.filter((input) => used.has(input));
    const inner = present.filter((input) => (bitsOf(input) & INNER) !== 0);

    // The task's outer sample and its share of the inner samples.
    const S = loadWord(writer, WORDS.inner);
    const T = loadWord(writer, WORDS.observations);
    const chunks = loadWord(writer, WORDS.chunks);
    const chunk = loadWord(writer, WORDS.chunk);
    const b = keep(writer, () => writer.get(2).get(chunks).op("i32.div_u"));
    const from = keep(writer, () => writer.get(2).get(chunks).op("i32.rem_u").get(chunk).op("i32.mul"));
    const to = keep(writer, () => writer.get(from).get(chunk).op("i32.add"));
    writer
      .get(to)
      .get(S)
      .op("i32.gt_u")
      .when(() => writer.get(S).set(to));
    const scratch = keep(writer, () => {
      writer.get(0).memory("i32.load", 4 * WORDS.scratch);
      writer
        .get(1)
        .get(0)
        .memory("i32.load", 4 * WORDS.scratchBytes)
        .op("i32.mul")
        .op("i32.add");
    });
    const end = keep(writer, () => writer.get(T).i32(stride).op("i32.mul").get(scratch).op("i32.add"));
    const record = keep(writer, () => {
      writer.get(0).memory("i32.load", 4 * WORDS.records);
      writer
        .get(2)
        .get(0)
        .memory("i32.load", 4 * WORDS.recordBytes)
        .op("i32.mul")
        .op("i32.add");
    });
    const pointers = new InputPointers(writer, present, (input) => inputs.indexOf(input), {
      outer: b,
      inner: S,
      observations: T,
    });
    const offset = writer.local(I32); // 4 * observation, or 4 * inner sample
    const slot = writer.local(I32); // scratch of the current observation
    const t = writer.local(I32);

    // Once per observation: what does not vary with the inner sample goes to scratch.
    const outerSum = zeroVector(writer);
    {
      const keptRow = keep(writer, () => {
        writer.get(0).memory("i32.load", 4 * WORDS.kept);
        writer
          .get(b)
          .get(T)
          .op("i32.mul")
          .i32(4 * (tables?.kept.length ?? 0))
          .op("i32.mul")
          .op("i32.add");
      });
      const g = new VectorGraph({ fma, pool });
      const lowering = new Lowering(g, (node) =>
        node.op === "input"
          ? g.leaf(node.name, bitsOf(node), () => pointers.pushSplat(node, offset))
          : undefined,
      );
      const outerPartials = layout.outerPartials.map(({ partial }) => lowering.value(partial));
      const parts = slots.map((node) => lowering.value(node));
      const outer = lowering.value(layout.outer);
      const keptParts = (tables?.kept ?? []).map((node) => lowering.value(node));
      const outerRecord = keep(writer, () =>
        writer
          .get(record)
          .i32(4 * (RECORD_HEAD + perOuter.length))
          .op("i32.add")
          .get(T)
          .i32(4 * perObservation.length)
          .op("i32.mul")
          .op("i32.add"),
      );
      writer.get(scratch).set(slot);
      writer.loop(
        t,
        () => writer.i32(0),
        () => writer.get(T),
        1,
        () => {
          const kept = new Map<VectorNode, number>();
          writer.get(t).i32(2).op("i32.shl").set(offset);
          writeVectors(writer, [outer, ...parts, ...keptParts, ...outerPartials], kept);
          keptParts.forEach((part, j) => {
            writer
              .get(keptRow)
              .get(local(kept, part))
              .storeLane(0, 4 * j);
          });
          writer
            .get(keptRow)
            .i32(4 * keptParts.length)
            .op("i32.add")
            .set(keptRow);
          accumulate(writer, outerSum, () => writer.get(local(kept, outer)));
          parts.forEach((part, j) => {
            writer
              .get(slot)
              .get(local(kept, part))
              .memory("v128.store", VECTOR * j);
          });
          for (let v = 0; v < perObservation.length; v++) {
            writer.get(slot).splat32(0);
            writer.memory("v128.store", VECTOR * (slots.length + perObservation.length + v));
          }
          outerPartials.forEach((partial, v) => {
            writer
              .get(outerRecord)
              .get(local(kept, partial))
              .storeLane(0, 4 * v);
          });
          writer
            .get(outerRecord)
            .i32(4 * outerPartials.length)
            .op("i32.add")
            .set(outerRecord);
          writer.get(slot).i32(stride).op("i32.add").set(slot);
        },
      );
    }

    // The last inner samples, where they do not fill a vector: copied out, the last one repeated.
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

    // The loop over inner samples, four at a time.
    const tableRow = writer.local(I32);
    const entry = writer.local(I32); // the table's values of the current observation
    const logRow = keep(writer, () => {
      writer.get(0).memory("i32.load", 4 * WORDS.logs);
      writer
        .get(b)
        .get(0)
        .memory("i32.load", 4 * WORDS.logBytes)
        .op("i32.mul")
        .op("i32.add");
    });
    const g = new VectorGraph({ fma, pool });
    const lowering = new Lowering(g, (node) => {
      const j = slots.indexOf(node);
      if (j >= 0) {
        return g.leaf(`slot ${j}`, OBSERVATION, () => writer.get(slot).memory("v128.load", VECTOR * j));
      }
      if (node.op !== "input") return undefined;
      const bits = bitsOf(node);
      const place = tables?.layout.place(node);
      if (place !== undefined) {
        const pointer = (bits & OBSERVATION) !== 0 ? entry : tableRow;
        return g.leaf(node.name, bits, () => writer.get(pointer).memory("v128.load", place));
      }
      if ((bits & INNER) === 0) return g.leaf(node.name, bits, () => pointers.pushSplat(node, undefined));
      return g.leaf(node.name, bits, () =>
        writer.get(pointers.row(node)).get(offset).op("i32.add").memory("v128.load"),
      );
    });
    const joint = lowering.value(layout.joint);
    const jointPartials = perObservation.map(({ partial }) => lowering.value(partial));
    const outerDerivatives = perOuter.map(({ partial }) => lowering.value(partial));
    const all = [joint, ...jointPartials, ...outerDerivatives];
    const kept = new Map<VectorNode, number>();
    writeVectors(
      writer,
      frontier(all, (node) => (node.axes & (INNER | OBSERVATION)) !== 0),
      kept,
    );

    const shift = writer.local(V128);
    writer.f32(LOWEST).simd("f32x4.splat").set(shift);
    const z = zeroVector(writer);
    const outerSums = perOuter.map(() => zeroVector(writer));
    const outerHere = perOuter.map(() => writer.local(V128));
    const ll = writer.local(V128);
    const weight = writer.local(V128);
    const valid = writer.local(V128);
    const s = writer.local(I32);
    const accumulatorAt = (v: number) => VECTOR * (slots.length + perObservation.length + v);
    const eachObservation = (body: () => void) =>
      writer.loop(
        slot,
        () => writer.get(scratch),
        () => writer.get(end),
        stride,
        body,
      );

    writer.loop(
      s,
      () => writer.get(from),
      () => writer.get(to),
      4,
      () => {
        writer.get(s).i32(2).op("i32.shl").set(offset);
        // Which lanes hold samples: all but in the last, partial vector.
        writer
          .integers(0, 1, 2, 3)
          .get(to)
          .get(s)
          .op("i32.sub")
          .simd("i32x4.splat")
          .simd("i32x4.lt_s")
          .set(valid);
        writer
          .get(to)
          .get(s)
          .op("i32.sub")
          .i32(4)
          .op("i32.lt_u")
          .when(() => {
            inner.forEach((input, k) => {
              writer.get(pads[k]).set(pointers.row(input));
            });
            writer.i32(0).set(offset);
          });
        if (tables !== undefined) {
          writer.get(0).memory("i32.load", 4 * WORDS.tables);
          writer
            .get(s)
            .i32(2)
            .op("i32.shr_u")
            .get(0)
            .memory("i32.load", 4 * WORDS.tableBytes);
          writer.op("i32.mul").op("i32.add").tee(tableRow).i32(tables.layout.head).op("i32.add").set(entry);
        }
        const here = new Map(kept);
        writeVectors(
          writer,
          frontier(all, (node) => (node.axes & OBSERVATION) !== 0).filter((node) => !here.has(node)),
          here,
        );
        writer.splat32(0).set(ll);
        for (const local of outerHere) writer.splat32(0).set(local);
        eachObservation(() => {
          const inside = new Map(here);
          writeVectors(writer, all, inside);
          accumulate(writer, ll, () => writer.get(local(inside, joint)));
          if (tables !== undefined) writer.get(entry).i32(tables.layout.entry).op("i32.add").set(entry);
          jointPartials.forEach((partial, v) => {
            writer
              .get(slot)
              .get(local(inside, partial))
              .memory("v128.store", VECTOR * (slots.length + v));
          });
          outerDerivatives.forEach((derivative, v) => {
            accumulate(writer, outerHere[v], () => writer.get(local(inside, derivative)));
          });
        });
        // Lanes without a sample weigh nothing.
        writer.get(ll).f32(layout.factor).simd("f32x4.splat").simd("f32x4.mul");
        if (tables !== undefined) writer.get(tableRow).memory("v128.load").simd("f32x4.add");
        writer.f32(LOWEST).simd("f32x4.splat").get(valid).simd("v128.bitselect").set(ll);
        if (tables !== undefined) {
          writer.get(logRow).get(s).i32(2).op("i32.shl").op("i32.add").get(ll).memory("v128.store");
        }
        writer
          .get(ll)
          .get(shift)
          .f32(HEADROOM)
          .simd("f32x4.splat")
          .simd("f32x4.add")
          .simd("f32x4.gt")
          .simd("v128.any_true")
          .when(() => {
            const higher = writer.local(V128);
            pushLaneMax(writer, ll);
            writer.simd("f32x4.splat").set(higher);
            const scale = compute(writer, fma, pool, [shift, higher], (h, low, high) =>
              weightOf(h, h.sub(low, high), 0),
            );
            writer.get(higher).set(shift);
            for (const sum of [z, ...outerSums]) writer.get(sum).get(scale).simd("f32x4.mul").set(sum);
            if (perObservation.length > 0) {
              eachObservation(() => {
                perObservation.forEach((_, v) => {
                  writer.get(slot).get(slot).memory("v128.load", accumulatorAt(v));
                  writer.get(scale).simd("f32x4.mul").memory("v128.store", accumulatorAt(v));
                });
              });
            }
          });
        const e = compute(writer, fma, pool, [ll, shift], (h, x, m) =>
          weightOf(h, h.sub(x, m), HEADROOM + 1),
        );
        writer.get(e).get(valid).simd("v128.and").set(weight);
        accumulate(writer, z, () => writer.get(weight));
        outerSums.forEach((sum, v) => {
          accumulate(writer, sum, () => writer.get(weight).get(outerHere[v]).simd("f32x4.mul"));
        });
        if (perObservation.length > 0) {
          eachObservation(() => {
            perObservation.forEach((_, v) => {
              accumulateAt(
                writer,
                fma,
                slot,
                accumulatorAt(v),
                () => writer.get(slot).memory("v128.load", VECTOR * (slots.length + v)),
                () => writer.get(weight),
              );
            });
          });
        }
      },
    );

    // The record.
    writer.get(record).get(shift).storeLane(0, 0);
    writer.get(record);
    pushLaneSum(writer, z);
    writer.memory("f32.store", 4);
    writer.get(record).get(outerSum).storeLane(0, 8);
    outerSums.forEach((sum, v) => {
      writer.get(record);
      pushLaneSum(writer, sum);
      writer.memory("f32.store", 4 * (RECORD_HEAD + v));
    });
    if (perObservation.length > 0) {
      const total = writer.local(V128);
      eachObservation(() => {
        perObservation.forEach((_, v) => {
          writer.get(slot).memory("v128.load", accumulatorAt(v)).set(total);
          writer.get(record);
          pushLaneSum(writer, total);
          writer.memory("f32.store", 4 * (RECORD_HEAD + perOuter.length + v));
        });
        writer
          .get(record)
          .i32(4 * perObservation.length)
          .op("i32.add")
          .set(record);
      });
    }
  });
};

/** Copies the last to % 4 floats of every row to its pad and repeats the last one. */
export const writePads = (
  writer: FunctionWriter,
  rows: readonly number[],
  pads: readonly number[],
  to: number,
): void => {
  writer
    .get(to)
    .i32(3)
    .op("i32.and")
    .when(() => {
      rows.forEach((row, k) => {
        for (let lane = 0; lane < 4; lane++) {
          writer.get(pads[k]).get(row);
          // min((to & ~3) + lane, to - 1)
          writer.get(to).i32(-4).op("i32.and").i32(lane).op("i32.add");
          writer.get(to).i32(1).op("i32.sub");
          writer.get(to).i32(3).op("i32.and").i32(lane).op("i32.gt_u").op("select");
          writer
            .i32(2)
            .op("i32.shl")
            .op("i32.add")
            .memory("f32.load")
            .memory("f32.store", 4 * lane);
        }
      });
    });
};
