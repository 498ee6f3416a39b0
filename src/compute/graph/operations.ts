/**
 * The operations a model is written in. Given traced values (or a mix with numbers) they build the graph; given
 * only numbers they compute, so that the same function runs on both.
 *
 * Error bounds of the float32 kernels are in `wasm/math.ts`; in float64 they are those of the platform's `Math`
 * and of `core/math.ts`.
 */
import { TraceError } from "../../core/errors.js";
import { currentGraph, Graph, type Reduction, Traced, texts, type Value } from "./expression.js";
import { callerOf } from "./location.js";
import { computeScalar, type Elementwise, isComparison, scalar } from "./scalar.js";

/** An operation on one value. */
export type Unary = (x: Value) => Value;
/** An operation on two values. */
export type Binary = (a: Value, b: Value) => Value;

const graphOf = (values: readonly unknown[]): Graph =>
  currentGraph() ?? values.find((value): value is Traced => value instanceof Traced)?.graph ?? new Graph([]);

/** One use of an operation: what it gave, and the line that it stands on. */
export interface Call {
  readonly op: Elementwise | Reduction;
  readonly result: Value;
  readonly location: string | undefined;
}

let calls: Call[] | undefined;

/** The operations that `run` uses, in order, up to the error that it throws, if it throws one. */
export const recordCalls = (run: () => unknown): Call[] => {
  const outer = calls;
  const own: Call[] = [];
  calls = own;
  try {
    run();
  } catch {
    // Whoever asks where two runs part does not mind that one of them ended there.
  } finally {
    calls = outer;
  }
  return own;
};

const operation = (op: Elementwise): ((...values: Value[]) => Value) => {
  const arity = scalar[op].length;
  const build = (values: readonly Value[]): Value => {
    if (values.length > arity) {
      throw new TraceError("too-many", texts.tooMany(op, arity, values.length), callerOf(apply));
    }
    if (values.length === arity && values.every((value) => typeof value === "number")) {
      return computeScalar(op, values);
    }
    const graph = graphOf(values);
    const nodes = Array.from({ length: arity }, (_, i) => graph.lift(values[i], op, apply));
    const node = graph.apply(op, nodes);
    if (isComparison(op)) node.location ??= callerOf(apply);
    return node;
  };
  const apply = (...values: Value[]): Value => {
    const result = build(values);
    calls?.push({ op, result, location: callerOf(apply) });
    return result;
  };
  return apply;
};

const reduction = (op: Reduction): ((axis: string, value: Value) => Value) => {
  const build = (axis: string, value: Value): Value => {
    // On plain numbers an axis has length one, and both reductions leave the number as it is.
    if (typeof value === "number" && currentGraph() === undefined) return value;
    const graph = graphOf([value]);
    const node = graph.lift(value, op, apply);
    if (!graph.axes.includes(axis)) {
      throw new TraceError("unknown-axis", texts.unknownAxis(op, axis, graph.axes), callerOf(apply));
    }
    return graph.reduce(op, axis, node);
  };
  const apply = (axis: string, value: Value): Value => {
    const result = build(axis, value);
    calls?.push({ op, result, location: callerOf(apply) });
    return result;
  };
  return apply;
};

/** a + b */
export const add: Binary = operation("add");
/** a - b */
export const sub: Binary = operation("sub");
/** a b */
export const mul: Binary = operation("mul");
/** a / b */
export const div: Binary = operation("div");
/** -x */
export const neg: Unary = operation("neg");
/** x^2 */
export const square: Unary = operation("square");
/** Square root; NaN below zero. */
export const sqrt: Unary = operation("sqrt");
/** a^b; whole exponents up to 8 become products. */
export const pow: Binary = operation("pow");
/** e^x */
export const exp: Unary = operation("exp");
/** Natural logarithm; -Infinity at zero, NaN below. */
export const log: Unary = operation("log");
/** log(1 + x), accurate near zero. */
export const log1p: Unary = operation("log1p");
/** e^x - 1, accurate near zero. */
export const expm1: Unary = operation("expm1");
/** Hyperbolic tangent. */
export const tanh: Unary = operation("tanh");
/** 1 / (1 + e^-x) */
export const sigmoid: Unary = operation("sigmoid");
/** log(1 + e^x) */
export const softplus: Unary = operation("softplus");
/** |x|; its derivative at zero is taken as zero. */
export const abs: Unary = operation("abs");
/** The smaller of two; NaN if either is. Where they are equal the derivative goes half to each. */
export const min: Binary = operation("min");
/** The larger of two; NaN if either is. Where they are equal the derivative goes half to each. */
export const max: Binary = operation("max");
/** `a` where the condition holds (is not zero), else `b`: what takes the place of an `if`. */
export const select: (condition: Value, a: Value, b: Value) => Value = operation("select");
/** 1 where a < b, else 0. */
export const less: Binary = operation("less");
/** 1 where a <= b, else 0. */
export const lessEqual: Binary = operation("lessEqual");
/** 1 where a > b, else 0. */
export const greater: Binary = operation("greater");
/** 1 where a >= b, else 0. */
export const greaterEqual: Binary = operation("greaterEqual");
/** 1 where a = b, else 0. */
export const equal: Binary = operation("equal");
/** 1 where a and b differ (or either is NaN), else 0. */
export const notEqual: Binary = operation("notEqual");
/** log |Gamma(x)| */
export const lgamma: Unary = operation("lgamma");
/** The derivative of lgamma. */
export const digamma: Unary = operation("digamma");
/** The derivative of digamma. */
export const trigamma: Unary = operation("trigamma");
/** 2 / sqrt(pi) times the integral of e^(-u^2) from 0 to x. */
export const erf: Unary = operation("erf");

/** The sum along a named axis. */
export const sum: (axis: string, value: Value) => Value = reduction("sum");
/** log of the sum of e^value along a named axis, without overflow. */
export const logsumexp: (axis: string, value: Value) => Value = reduction("logsumexp");
