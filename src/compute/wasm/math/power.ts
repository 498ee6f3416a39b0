/** x^y, with its logarithm in float64. Coefficients: scripts/minimax.mjs. */
import type { VectorGraph, VectorNode } from "../vector.js";
import { SCALED_EXP_ROUND, scaledExp } from "./exponential.js";
import { MANTISSA_BITS, SIGN_BIT } from "./float32.js";
import { split } from "./logarithm.js";
import { EVERYTHING, type Range } from "./range.js";

/** 2 atanh(s) / (s ln 2) in s^2, s = f / (2 + f), sqrt(1/2) <= 1 + f < sqrt(2): relative error 4.21e-12. */
const LOG2 = [
  2.88539008179008, 0.9617966733501206, 0.577083583265731, 0.41167282691319607, 0.3407280095900642,
];
/** Beyond, 2^t rounds to 0 or to Infinity. */
const EXP2_LOW = -150;
const EXP2_HIGH = 128;

/** Byte selections for `i8x16.swizzle`, four to a lane; 0x80 gives a zero byte. */
type Selection = readonly [number, number, number, number];
const UPPER_TO_LOWER: Selection = [0x0b0a0908, 0x0f0e0d0c, 0x80808080, 0x80808080];
const LOWER_TO_UPPER: Selection = [0x80808080, 0x80808080, 0x03020100, 0x07060504];

const swizzle = (g: VectorGraph, x: VectorNode, selection: Selection): VectorNode => {
  const indices = g.leaf(`integers ${selection.join()}`, 0, (writer) => writer.integers(...selection));
  return g.apply("i8x16.swizzle", x, indices);
};

/** A float64 constant in both lanes. */
const double = (g: VectorGraph, value: number): VectorNode =>
  g.leaf(`f64 ${value}`, 0, (writer) => writer.f64(value).simd("f64x2.splat"));

/** The four float32 lanes as two vectors of float64. */
const promote = (g: VectorGraph, x: VectorNode): readonly [VectorNode, VectorNode] => [
  g.apply("f64x2.promote_low_f32x4", x),
  g.apply("f64x2.promote_low_f32x4", swizzle(g, x, UPPER_TO_LOWER)),
];

/** Two vectors of float64 as one of float32. */
const demote = (g: VectorGraph, lower: VectorNode, upper: VectorNode): VectorNode =>
  g.apply(
    "v128.or",
    g.apply("f32x4.demote_f64x2_zero", lower),
    swizzle(g, g.apply("f32x4.demote_f64x2_zero", upper), LOWER_TO_UPPER),
  );

/** log2(1 + f) in float64. */
const log2Mantissa = (g: VectorGraph, f: VectorNode): VectorNode => {
  const s = g.apply("f64x2.div", f, g.apply("f64x2.add", f, double(g, 2)));
  const z = g.apply("f64x2.mul", s, s);
  const series = LOG2.slice(0, -1).reduceRight(
    (sum, c) => g.apply("f64x2.add", g.apply("f64x2.mul", sum, z), double(g, c)),
    double(g, LOG2[LOG2.length - 1]),
  );
  return g.apply("f64x2.mul", s, series);
};

/** 2^t = 2^n exp(r) for t = y log2 x, from the exponent of x (times 2^23) and f. */
const reducedPower = (
  g: VectorGraph,
  exponent: VectorNode,
  f: VectorNode,
  y: VectorNode,
): { readonly n: VectorNode; readonly r: VectorNode } => {
  const k = g.apply("f64x2.mul", exponent, double(g, 2 ** -MANTISSA_BITS));
  const t = g.apply("f64x2.mul", y, g.apply("f64x2.add", k, log2Mantissa(g, f)));
  const above = g.apply("f64x2.pmax", t, double(g, EXP2_LOW));
  const inside = g.apply("f64x2.pmin", above, double(g, EXP2_HIGH));
  const n = g.apply("f64x2.nearest", inside);
  return { n, r: g.apply("f64x2.mul", g.apply("f64x2.sub", inside, n), double(g, Math.LN2)) };
};

/** The sign and the NaN of negative x: x^y is negative for odd y and no number for y that are not integers. */
const withSign = (g: VectorGraph, x: VectorNode, y: VectorNode, size: VectorNode): VectorNode => {
  const fractional = (v: VectorNode) => g.apply("f32x4.ne", v, g.apply("f32x4.nearest", v));
  const broken = fractional(y);
  const odd = g.apply("v128.andnot", fractional(g.mul(y, g.float(0.5))), broken);
  const sign = g.apply("v128.and", g.apply("v128.and", x, g.bits(SIGN_BIT)), odd);
  const negative = g.apply(
    "v128.and",
    g.apply("f32x4.lt", x, g.float(0)),
    g.apply("f32x4.gt", x, g.float(-Infinity)),
  );
  return g.apply("v128.or", g.apply("v128.or", size, sign), g.apply("v128.and", negative, broken));
};

/**
 * x^y: within 1 ulp with FMA and 1.25 ulp without on all pairs of float32 (subnormal results: of the subnormal
 * spacing). The range is that of x; one that begins at 0 has no -0.
 *
 * The edges are those of `Math.pow`, which are C's but for |x| = 1: x^0 is 1 for every x, NaN too; NaN otherwise
 * where x or y is NaN (1^NaN too); negative x with an integer y has its sign, with another y it is NaN;
 * (-1)^(+-Infinity) and 1^(+-Infinity) are NaN, where C has 1.
 */
export const pow = (g: VectorGraph, x: VectorNode, y: VectorNode, range: Range = EVERYTHING): VectorNode => {
  const size = range.low > 0 ? x : g.apply("f32x4.abs", x);
  const { exponent, f } = split(g, size, range);
  // Infinity and NaN are not below Infinity: they are their own exponents; that of 0 is -Infinity.
  const finite = g.select(
    g.apply("f32x4.lt", size, g.float(Infinity)),
    g.apply("f32x4.convert_i32x4_s", exponent),
    size,
  );
  const zero = g.float(0);
  const k = range.low > 0 ? finite : g.select(g.apply("f32x4.eq", size, zero), g.float(-Infinity), finite);
  const [ks, fs, ys] = [promote(g, k), promote(g, f), promote(g, y)];
  const lower = reducedPower(g, ks[0], fs[0], ys[0]);
  const upper = reducedPower(g, ks[1], fs[1], ys[1]);
  const n = demote(g, lower.n, upper.n);
  const r = demote(g, lower.r, upper.r);
  const result = scaledExp(g, r, g.add(n, g.float(SCALED_EXP_ROUND)));
  const signed = range.low >= 0 ? result : withSign(g, x, y, result);
  return g.select(g.apply("f32x4.eq", y, zero), g.float(1), signed);
};
