/**
 * The functions of a model as float32 SIMD code: four lanes at a time, no branches, no tables, no calls.
 *
 * Every function says how far it may be from the exact value, in ulp (the distance between the neighbouring
 * float32 at that value, 2^-149 for subnormal ones), as measured by test/compute/wasm/math.test.ts. The result of
 * a NaN is NaN. With a `range` a function leaves out the care that its argument does not need; outside that range
 * its result means nothing.
 */
import { erf } from "./math/erf.js";
import { exp, expm1, sigmoid, softplus, tanh } from "./math/exponential.js";
import { digamma, lgamma, trigamma } from "./math/gamma.js";
import { log, log1p } from "./math/logarithm.js";
import { pow } from "./math/power.js";
import type { VectorGraph, VectorNode } from "./vector.js";

export type { Range } from "./math/range.js";

type Unary = (g: VectorGraph, x: VectorNode) => VectorNode;
type Binary = (g: VectorGraph, a: VectorNode, b: VectorNode) => VectorNode;

/** Correctly rounded. */
const sqrt: Unary = (g, x) => g.apply("f32x4.sqrt", x);
/** Exact. */
const abs: Unary = (g, x) => g.apply("f32x4.abs", x);
/** Exact. */
const neg: Unary = (g, x) => g.apply("f32x4.neg", x);
/** Correctly rounded. */
const square: Unary = (g, x) => g.mul(x, x);
/** 1 / x, correctly rounded. */
const reciprocal: Unary = (g, x) => g.div(g.float(1), x);

/** A constant that is not NaN (`float` has one NaN). */
const isNumber = (g: VectorGraph, x: VectorNode): boolean => x.cheap && x !== g.float(Number.NaN);

/**
 * The lesser or greater of two, NaN if either is NaN. `pmin` and `pmax` are one instruction where `min` and `max`
 * are seven, and lose the NaN of their second argument only. Of +0 and -0 it returns either.
 */
const extreme =
  (instruction: "f32x4.pmin" | "f32x4.pmax"): Binary =>
  (g, a, b) => {
    if (isNumber(g, b)) return g.apply(instruction, a, b);
    if (isNumber(g, a)) return g.apply(instruction, b, a);
    return g.apply("v128.or", g.apply(instruction, a, b), g.apply("f32x4.ne", b, b));
  };
const min = extreme("f32x4.pmin");
const max = extreme("f32x4.pmax");

/** Comparisons are masks: all bits of a lane or none. With NaN all are false but `notEqual`. */
const less: Binary = (g, a, b) => g.apply("f32x4.lt", a, b);
const lessEqual: Binary = (g, a, b) => g.apply("f32x4.le", a, b);
const greater: Binary = (g, a, b) => g.apply("f32x4.gt", a, b);
const greaterEqual: Binary = (g, a, b) => g.apply("f32x4.ge", a, b);
const equal: Binary = (g, a, b) => g.apply("f32x4.eq", a, b);
const notEqual: Binary = (g, a, b) => g.apply("f32x4.ne", a, b);

/** a where the mask is set, b elsewhere. */
const select = (g: VectorGraph, mask: VectorNode, a: VectorNode, b: VectorNode): VectorNode =>
  g.select(mask, a, b);

export const vectorMath = {
  exp,
  log,
  log1p,
  expm1,
  tanh,
  sigmoid,
  softplus,
  lgamma,
  digamma,
  trigamma,
  erf,
  sqrt,
  abs,
  neg,
  square,
  reciprocal,
  pow,
  min,
  max,
  less,
  lessEqual,
  greater,
  greaterEqual,
  equal,
  notEqual,
  select,
};
