/**
 * Uniforms and normals from the words of a stream, two float64 lanes a vector, with the rounded operations of
 * core/random and core/math in their order, so that every bit agrees. Nothing here may be fused.
 */
import {
  LN2_HI,
  LN2_LO,
  LOG_COEFFICIENTS,
  LOG_SQRT_HALF_HIGH,
  QUANTILE_CENTRAL_DENOMINATOR,
  QUANTILE_CENTRAL_NUMERATOR,
  QUANTILE_FAR_DENOMINATOR,
  QUANTILE_FAR_NUMERATOR,
  QUANTILE_TAIL_DENOMINATOR,
  QUANTILE_TAIL_NUMERATOR,
} from "../../core/math.js";
import { type FunctionWriter, I32 } from "../wasm/encoder.js";
import { keep } from "../wasm/kernel.js";
import type { WideConstants } from "./constants.js";
import { apply, each, shift, type Vectors } from "./lockstep.js";

/** Where a task finds and leaves its numbers: locals with addresses. */
export interface Places {
  /** Two words of the stream for each element. */
  readonly words: number;
  /** The results, float32. */
  readonly out: number;
  /** How many elements, rounded up to a multiple of {@link STEP}: as many are read and written. */
  readonly count: number;
}

/** Vectors of two elements that are computed together: as many as registers allow. */
const GROUPS = 4;
/** Elements that one turn of the loop over all of them takes. */
export const STEP = 2 * GROUPS;
/** Elements that one turn of the loop over the tails takes: more, because each waits for a root and two divisions. */
export const TAIL_STEP = 12;

const EXPONENT_OF_ONE = 0x3ffn << 52n;
const SIGN = 1n << 63n;

/** u = ((a >>> 6) 2^26 + (b >>> 6) + 0.5) / 2^52 for each pair of words (a, b), as `uniformFromWords`. */
const uniforms = (writer: FunctionWriter, constants: WideConstants, words: Vectors): Vectors => {
  // The 52 bits are the fraction of 1 + n / 2^52; from it, 1 - 2^-53 is subtracted exactly.
  const high = shift(
    writer,
    "i64x2.shl",
    apply(writer, "v128.and", words, constants.integer(writer, 0xffffffc0n)),
    20,
  );
  const low = shift(writer, "i64x2.shr_u", words, 38);
  const fraction = apply(writer, "v128.or", high, low);
  const bits = apply(writer, "v128.or", fraction, constants.integer(writer, EXPONENT_OF_ONE));
  return apply(writer, "f64x2.sub", bits, constants.float(writer, 1 - 2 ** -53));
};

/** Horner's rule from the highest coefficient, each step rounded twice. */
const polynomial = (
  writer: FunctionWriter,
  constants: WideConstants,
  coefficients: readonly number[],
  x: Vectors,
): Vectors => {
  const highest = constants.float(writer, coefficients[coefficients.length - 1]);
  let sum: Vectors = x.map(() => highest);
  for (let i = coefficients.length - 2; i >= 0; i--) {
    const product = apply(writer, "f64x2.mul", sum, x);
    sum = apply(writer, "f64x2.add", product, constants.float(writer, coefficients[i]));
  }
  return sum;
};

/** mean + sd z, rounded to float32 in lanes 0 and 1. */
const scaled = (writer: FunctionWriter, z: Vectors, { mean, sd }: { mean: number; sd: number }): Vectors =>
  apply(
    writer,
    "f32x4.demote_f64x2_zero",
    apply(writer, "f64x2.add", apply(writer, "f64x2.mul", z, sd), mean),
  );

/** Stores the two floats of each vector, two vectors at a time. */
const store = (writer: FunctionWriter, address: number, floats: Vectors): void => {
  for (let k = 0; k < floats.length; k += 2) {
    writer
      .get(address)
      .get(floats[k])
      .get(floats[k + 1])
      .shuffle32(0, 1, 4, 5)
      .memory("v128.store", 8 * k);
  }
};

/** Calls `body` for every {@link STEP} elements, with locals of: the first one's byte offset in `out`, both addresses. */
const forEachStep = (
  writer: FunctionWriter,
  { words, out, count }: Places,
  body: (offset: number, words: number, out: number) => void,
): void => {
  const offset = writer.local(I32);
  const bytes = keep(writer, () => writer.get(count).i32(2).op("i32.shl"));
  const from = writer.local(I32);
  const to = writer.local(I32);
  writer.loop(
    offset,
    () => writer.i32(0),
    () => writer.get(bytes),
    4 * STEP,
    () => {
      writer.get(words).get(offset).i32(1).op("i32.shl").op("i32.add").set(from);
      writer.get(out).get(offset).op("i32.add").set(to);
      body(offset, from, to);
    },
  );
};

const loadWords = (writer: FunctionWriter, address: number): Vectors =>
  each(writer, GROUPS, (k) => writer.get(address).memory("v128.load", 16 * k));

/** out[i] = uniform i. */
export const writeUniforms = (writer: FunctionWriter, constants: WideConstants, places: Places): void =>
  forEachStep(writer, places, (_, words, out) => {
    const u = uniforms(writer, constants, loadWords(writer, words));
    store(writer, out, apply(writer, "f32x4.demote_f64x2_zero", u));
  });

/** For each set of lanes as a mask of four bits, the byte offsets of its floats, in order, in 64-bit halves. */
export const LANE_OFFSETS: readonly bigint[] = Array.from({ length: 16 }, (_, mask) => {
  const offsets = [0, 1, 2, 3].filter((lane) => (mask >> lane) & 1).map((lane) => BigInt(4 * lane));
  const [a = 0n, b = 0n, c = 0n, d = 0n] = offsets;
  return [a | (b << 32n), c | (d << 32n)];
}).flat();

/**
 * out[i] = mean + sd normalQuantile(uniform i).
 *
 * A branch on where an element lies would be mispredicted for one in seven. Instead the central formula is computed
 * for all, the offsets of those outside (15 %) are collected without a branch in `list`, and these are then computed
 * anew, close together. `list` is the address of room for `count` + {@link TAIL_STEP} words, `lanes` that of
 * {@link LANE_OFFSETS}.
 */
export const writeNormals = (
  writer: FunctionWriter,
  constants: WideConstants,
  places: Places,
  { list, lanes, mean, sd }: { list: number; lanes: number; mean: number; sd: number },
): void => {
  const end = keep(writer, () => writer.get(list));
  const mask = writer.local(I32);
  forEachStep(writer, places, (offset, words, out) => {
    const p = uniforms(writer, constants, loadWords(writer, words));
    const q = apply(writer, "f64x2.sub", p, constants.float(writer, 0.5));
    store(writer, out, scaled(writer, central(writer, constants, q), { mean, sd }));
    const size = apply(writer, "f64x2.abs", q);
    const outside = apply(writer, "f64x2.gt", size, constants.float(writer, 0.425));
    for (let k = 0; k < GROUPS; k += 2) {
      writer
        .get(outside[k])
        .get(outside[k + 1])
        .shuffle32(0, 2, 4, 6)
        .simd("i32x4.bitmask")
        .set(mask);
      writer.get(end);
      writer.get(lanes).get(mask).i32(4).op("i32.shl").op("i32.add").memory("v128.load");
      writer
        .get(offset)
        .i32(8 * k)
        .op("i32.add")
        .simd("i32x4.splat")
        .simd("i32x4.add");
      writer.memory("v128.store");
      writer.get(end).get(mask).op("i32.popcnt").i32(2).op("i32.shl").op("i32.add").set(end);
    }
  });
  // The list is filled up with its first entry: computing an element twice does no harm.
  for (let i = 0; i < TAIL_STEP; i += 4) {
    writer
      .get(end)
      .get(list)
      .memory("v128.load32_splat")
      .memory("v128.store", 4 * i);
  }
  writeTails(writer, constants, places, { list, end, mean, sd });
};

/** z = (q * N(r)) / D(r), r = 0.180625 - q * q. */
const central = (writer: FunctionWriter, constants: WideConstants, q: Vectors): Vectors => {
  const square = apply(writer, "f64x2.mul", q, q);
  const limit = constants.float(writer, 0.180625);
  const r = each(writer, q.length, (k) => writer.get(limit).get(square[k]).simd("f64x2.sub"));
  const numerator = apply(
    writer,
    "f64x2.mul",
    q,
    polynomial(writer, constants, QUANTILE_CENTRAL_NUMERATOR, r),
  );
  const denominator = polynomial(writer, constants, QUANTILE_CENTRAL_DENOMINATOR, r);
  return apply(writer, "f64x2.div", numerator, denominator);
};

/**
 * Computes the elements whose byte offsets in `out` lie from `list` to `end`.
 *
 * The far region, one element in 36 billion, is stored over the other results instead of being selected before: V8
 * would write the code of the vectors one after the other where they meet at a branch.
 */
const writeTails = (
  writer: FunctionWriter,
  constants: WideConstants,
  { words, out }: Places,
  { list, end, mean, sd }: { list: number; end: number; mean: number; sd: number },
): void => {
  const at = writer.local(I32);
  writer.loop(
    at,
    () => writer.get(list),
    () => writer.get(end),
    4 * TAIL_STEP,
    () => {
      const offsets = Array.from({ length: TAIL_STEP }, (_, i) =>
        keep(writer, () => writer.get(at).memory("i32.load", 4 * i)),
      );
      const gathered = each(writer, TAIL_STEP / 2, (k) => {
        for (const offset of offsets.slice(2 * k, 2 * k + 2)) {
          writer.get(words).get(offset).i32(1).op("i32.shl").op("i32.add").memory("v128.load64_zero");
        }
        writer.shuffle32(0, 1, 4, 5);
      });
      const p = uniforms(writer, constants, gathered);
      const r = roots(writer, constants, p);
      const sign = signs(writer, constants, p);
      const scatter = (z: Vectors): void => {
        const floats = scaled(writer, apply(writer, "v128.xor", z, sign), { mean, sd });
        offsets.forEach((offset, i) => {
          writer
            .get(out)
            .get(offset)
            .op("i32.add")
            .get(floats[i >> 1])
            .storeLane(i % 2);
        });
      };
      const z = fraction(writer, constants, r, 1.6, QUANTILE_TAIL_NUMERATOR, QUANTILE_TAIL_DENOMINATOR);
      scatter(z);
      const five = constants.float(writer, 5);
      const isFar = apply(writer, "f64x2.gt", r, five);
      for (const vector of isFar) writer.get(vector);
      for (let k = 1; k < isFar.length; k++) writer.simd("v128.or");
      writer.simd("v128.any_true").when(() => {
        const far = fraction(writer, constants, r, 5, QUANTILE_FAR_NUMERATOR, QUANTILE_FAR_DENOMINATOR);
        scatter(
          each(writer, far.length, (k) => writer.get(far[k]).get(z[k]).get(isFar[k]).simd("v128.bitselect")),
        );
      });
    },
  );
};

/** r = sqrt(-log(min(p, 1 - p))). */
const roots = (writer: FunctionWriter, constants: WideConstants, p: Vectors): Vectors => {
  const one = constants.float(writer, 1);
  const other = each(writer, p.length, (k) => writer.get(one).get(p[k]).simd("f64x2.sub"));
  const smaller = apply(writer, "f64x2.pmin", p, other);
  return apply(writer, "f64x2.sqrt", apply(writer, "f64x2.neg", log(writer, constants, smaller)));
};

/** The sign bit of p - 0.5. */
const signs = (writer: FunctionWriter, constants: WideConstants, p: Vectors): Vectors => {
  const q = apply(writer, "f64x2.sub", p, constants.float(writer, 0.5));
  return apply(writer, "v128.and", q, constants.integer(writer, SIGN));
};

/** N(t) / D(t), t = r - from. */
const fraction = (
  writer: FunctionWriter,
  constants: WideConstants,
  r: Vectors,
  from: number,
  numerator: readonly number[],
  denominator: readonly number[],
): Vectors => {
  const t = apply(writer, "f64x2.sub", r, constants.float(writer, from));
  return apply(
    writer,
    "f64x2.div",
    polynomial(writer, constants, numerator, t),
    polynomial(writer, constants, denominator, t),
  );
};

/** The natural logarithm of positive, normal, finite numbers: the formula of core/math/log.ts. */
const log = (writer: FunctionWriter, constants: WideConstants, x: Vectors): Vectors => {
  const toOne = BigInt(0x3ff00000 - LOG_SQRT_HALF_HIGH) << 32n;
  const biased = shift(
    writer,
    "i64x2.shr_u",
    apply(writer, "i64x2.add", x, constants.integer(writer, toOne)),
    52,
  );
  // With its bits below the exponent of 2^52, an integer is that float64 less 2^52.
  const shifted = apply(writer, "v128.or", biased, constants.integer(writer, 0x433n << 52n));
  const k = apply(writer, "f64x2.sub", shifted, constants.float(writer, 2 ** 52 + 1023));
  const twice = constants.integer(writer, 2046n);
  const inverse = shift(
    writer,
    "i64x2.shl",
    each(writer, x.length, (i) => writer.get(twice).get(biased[i]).simd("i64x2.sub")),
    52,
  );
  const scaledDown = apply(writer, "f64x2.mul", x, inverse);
  const f = apply(writer, "f64x2.sub", scaledDown, constants.float(writer, 1));
  const s = apply(writer, "f64x2.div", f, apply(writer, "f64x2.add", f, constants.float(writer, 2)));
  const z = apply(writer, "f64x2.mul", s, s);
  const remainder = apply(writer, "f64x2.mul", z, polynomial(writer, constants, LOG_COEFFICIENTS, z));
  const h = apply(writer, "f64x2.mul", apply(writer, "f64x2.mul", f, constants.float(writer, 0.5)), f);
  const product = apply(writer, "f64x2.mul", s, apply(writer, "f64x2.add", h, remainder));
  const kLow = apply(writer, "f64x2.mul", k, constants.float(writer, LN2_LO));
  const kHigh = apply(writer, "f64x2.mul", k, constants.float(writer, LN2_HI));
  const corrected = apply(writer, "f64x2.sub", apply(writer, "f64x2.add", product, kLow), h);
  return apply(writer, "f64x2.add", apply(writer, "f64x2.add", corrected, f), kHigh);
};
