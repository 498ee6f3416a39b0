/**
 * Sums and log-sum-exps in float32 kernels that keep their digits however long they are.
 *
 * Elements are taken in blocks of `BLOCK`, four lanes at a time, in float32; what a block gives is gathered in float64,
 * and rounded to float32 at the end of a task and of the whole. So an element goes through fewer than B = BLOCK / 4
 * roundings in its block, and with u = 2^-24
 *
 *     |error of a sum| <= (B - 1) u sum |x| + u sum |x| + u |sum| <= 2e-6 sum |x|,
 *
 * for any length: a few 1e-7 in practice. In a log-sum-exp a step rounds an exponential, a product and a sum, 4.5 u in
 * all, so it is within 4.5 B u + 2 u |result| < 1e-5 + 2 u |result|.
 */
import { type FunctionWriter, I32, V128 } from "../wasm/encoder.js";
import { accumulate, compute, keep, keepVector, pushLaneMax, zeroVector } from "../wasm/kernel.js";
import { vectorMath } from "../wasm/math.js";
import type { ConstantPool } from "../wasm/vector.js";

/** Elements of a block, a multiple of the four lanes. */
const BLOCK = 128;
/** The least finite float32: differences from it are never NaN, as those from -Infinity would be. */
const LOWEST = -(2 - 2 ** -23) * 2 ** 127;
const NOT_ABOVE_ZERO = { low: -Infinity, high: 0 };

export type ReductionKind = "sum" | "logsumexp";

/** Code around a kernel, and how it makes constants. */
export interface CodeOptions {
  readonly fma: boolean;
  readonly pool: ConstantPool;
}

/** One result while it is being computed. */
interface Running {
  startBlock(): void;
  /** Takes the lanes of the local `value` in where those of `valid` have all bits set. */
  take(value: number, valid: number): void;
  /** The local `first` is not zero where no block came before. */
  endBlock(first: number): void;
  /** Pushes the result, a float. */
  push(): void;
}

/** Reduces `count` values over [from, to); `values` computes the four from i on into locals. */
export const writeReduction = (
  writer: FunctionWriter,
  kind: ReductionKind,
  count: number,
  { from, to, i, values }: { from: () => void; to: () => void; i: number; values: () => readonly number[] },
  options: CodeOptions,
): readonly Running[] => {
  const running = Array.from({ length: count }, () =>
    kind === "sum" ? runningSum(writer) : runningLogSumExp(writer, options),
  );
  const [start, end] = [writer.local(I32), writer.local(I32)];
  const valid = writer.local(V128);
  writer.loop(start, from, to, BLOCK, () => {
    const pushBlockEnd = () => writer.get(start).i32(BLOCK).op("i32.add");
    pushBlockEnd();
    to();
    pushBlockEnd();
    to();
    writer.op("i32.lt_u").op("select").set(end);
    for (const each of running) each.startBlock();
    writer.loop(
      i,
      () => writer.get(start),
      () => writer.get(end),
      4,
      () => {
        const locals = values();
        writer.integers(0, 1, 2, 3).get(end).get(i).op("i32.sub");
        writer.simd("i32x4.splat").simd("i32x4.lt_s").set(valid);
        running.forEach((each, r) => {
          each.take(locals[r], valid);
        });
      },
    );
    const first = keep(writer, () => {
      writer.get(start);
      from();
      writer.op("i32.eq");
    });
    for (const each of running) each.endBlock(first);
  });
  return running;
};

/** Pushes lanes 0 and 1 of a float32 vector, or 2 and 3, in float64. */
const pushWide = (writer: FunctionWriter, vector: number, half: 0 | 1): void => {
  writer.get(vector);
  if (half === 1) writer.get(vector).shuffle32(2, 3, 2, 3);
  writer.simd("f64x2.promote_low_f32x4");
};

/** Pushes the sum of two float64 vectors' lanes, always in the same order, rounded to float32. */
const pushWideSum = (writer: FunctionWriter, [low, high]: readonly [number, number]): void => {
  const both = keepVector(writer, () => writer.get(low).get(high).simd("f64x2.add"));
  writer.get(both).get(both).get(both).shuffle32(2, 3, 2, 3).simd("f64x2.add");
  writer.simd("f32x4.demote_f64x2_zero").lane(0);
};

const HALVES = [0, 1] as const;

const runningSum = (writer: FunctionWriter): Running => {
  const wide = [zeroVector(writer), zeroVector(writer)] as const;
  const block = writer.local(V128);
  return {
    startBlock: () => writer.splat32(0).set(block),
    take: (value, valid) => accumulate(writer, block, () => writer.get(value).get(valid).simd("v128.and")),
    endBlock() {
      for (const half of HALVES) {
        writer.get(wide[half]);
        pushWide(writer, block, half);
        writer.simd("f64x2.add").set(wide[half]);
      }
    },
    push: () => pushWideSum(writer, wide),
  };
};

/**
 * How far a lane's largest element may rise above what its exponentials are taken relative to. That is moved only
 * then, and what was summed before shrinks by e^-16 when it is: factors near 1 would round it again with every block.
 */
const RISE = 16;
/** e^x for elements above the reference: RISE, and what the rounding of large numbers may add. */
const RAISED = { low: -Infinity, high: 4 * RISE };

/** In a block, lane by lane: z = sum of e^(x - m), m the largest x. Over blocks: Z = sum of z e^(m - r), as float64. */
const runningLogSumExp = (writer: FunctionWriter, { fma, pool }: CodeOptions): Running => {
  const lowest = () => keepVector(writer, () => writer.f32(LOWEST).simd("f32x4.splat"));
  const [reference, largest] = [lowest(), lowest()];
  const wide = [zeroVector(writer), zeroVector(writer)] as const;
  const [most, sum] = [writer.local(V128), writer.local(V128)];
  /** Z = Z * factor (+ term), float32 vectors both. */
  const scale = (factor: number, term?: number): void => {
    for (const half of HALVES) {
      writer.get(wide[half]);
      pushWide(writer, factor, half);
      writer.simd("f64x2.mul");
      if (term !== undefined) {
        pushWide(writer, term, half);
        writer.simd("f64x2.add");
      }
      writer.set(wide[half]);
    }
  };
  /** Z = Z e^(r - r') + z e^(m - r') */
  const join = (): void => {
    const next = compute(writer, fma, pool, [most, reference], (g, m, r) =>
      g.select(g.apply("f32x4.gt", m, g.add(r, g.float(RISE))), m, r),
    );
    const shrunk = compute(writer, fma, pool, [reference, next], (g, r, r1) =>
      vectorMath.exp(g, g.sub(r, r1), NOT_ABOVE_ZERO),
    );
    const part = compute(writer, fma, pool, [sum, most, next], (g, z, m, r1) =>
      g.mul(z, vectorMath.exp(g, g.sub(m, r1), RAISED)),
    );
    scale(shrunk, part);
    writer.get(next).set(reference);
  };
  return {
    startBlock: () => writer.f32(LOWEST).simd("f32x4.splat").set(most).splat32(0).set(sum),
    /** z = z e^(m - m') + e^(x - m'), m' = max(m, x); lanes outside the array count as -Infinity. */
    take(value, valid) {
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
    },
    endBlock(first) {
      writer.get(largest).get(most).simd("f32x4.max").set(largest);
      // Short rows are common, and they have no other block.
      writer.get(first).when(() => {
        writer.get(most).set(reference);
        for (const half of HALVES) {
          pushWide(writer, sum, half);
          writer.set(wide[half]);
        }
      });
      writer.get(first).op("i32.eqz").when(join);
    },
    /** The lanes together: M + log sum Z e^(r - M), and Infinity where M is. */
    push() {
      const all = keepVector(writer, () => {
        pushLaneMax(writer, largest);
        writer.simd("f32x4.splat");
      });
      scale(
        compute(writer, fma, pool, [reference, all], (g, r, m) =>
          vectorMath.exp(g, g.sub(r, m), NOT_ABOVE_ZERO),
        ),
      );
      const total = keepVector(writer, () => {
        pushWideSum(writer, wide);
        writer.simd("f32x4.splat");
      });
      const result = compute(writer, fma, pool, [all, total], (g, m, z) =>
        g.select(g.apply("f32x4.eq", m, g.float(Infinity)), m, g.add(m, vectorMath.log(g, z))),
      );
      writer.get(result).lane(0);
    },
  };
};
