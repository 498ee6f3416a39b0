/** Random expressions as plain trees, and what they mean without any of the library's graph. */
import fc from "fast-check";
import type { Reduction, Value } from "../../../src/compute/graph/expression.js";
import * as everything from "../../../src/compute/graph/operations.js";
import { computeScalar, type Elementwise } from "../../../src/compute/graph/scalar.js";
import { type Complex, complexLogSumExp, complexOperations, complexSum, real } from "./complex.js";

const operations: Readonly<Record<string, unknown>> = { ...everything };
/** An operation of a model by its name. */
export const operationNamed = (op: Elementwise) => operations[op] as (...args: Value[]) => Value;
const reductionNamed = (op: Reduction) => operations[op] as (axis: string, value: Value) => Value;

export type Tree =
  | { readonly kind: "input"; readonly name: string }
  | { readonly kind: "constant"; readonly value: number }
  | { readonly kind: "apply"; readonly op: Elementwise; readonly args: readonly Tree[] }
  | {
      readonly kind: "reduce";
      readonly op: Reduction;
      readonly axis: string;
      readonly arg: Tree;
    };

export const input = (name: string): Tree => ({ kind: "input", name });
export const constant = (value: number): Tree => ({ kind: "constant", value });
export const apply = (op: Elementwise, ...args: Tree[]): Tree => ({ kind: "apply", op, args });
export const reduce = (op: Reduction, axis: string, arg: Tree): Tree => ({
  kind: "reduce",
  op,
  axis,
  arg,
});

/** The expression by the library's operations: traced, or computed when the inputs are numbers. */
export const build = (tree: Tree, inputs: Readonly<Record<string, Value>>): Value => {
  if (tree.kind === "input") return inputs[tree.name];
  if (tree.kind === "constant") return tree.value;
  if (tree.kind === "reduce") return reductionNamed(tree.op)(tree.axis, build(tree.arg, inputs));
  return operationNamed(tree.op)(...tree.args.map((arg) => build(arg, inputs)));
};

export interface Arrays<T> {
  readonly axes: Readonly<Record<string, readonly string[]>>;
  readonly sizes: Readonly<Record<string, number>>;
  readonly values: Readonly<Record<string, readonly T[]>>;
}

type Index = Readonly<Record<string, number>>;

/** Row-major. */
export const offset = (axes: readonly string[], sizes: Readonly<Record<string, number>>, at: Index): number =>
  axes.reduce((sofar, axis) => sofar * sizes[axis] + at[axis], 0);

interface Algebra<T> {
  constant(value: number): T;
  apply(op: Elementwise, args: readonly T[]): T;
  reduce(op: Reduction, values: readonly T[]): T;
}

const evaluateWith =
  <T>(algebra: Algebra<T>) =>
  (tree: Tree, arrays: Arrays<T>, at: Index): T => {
    const visit = (node: Tree, index: Index): T => {
      if (node.kind === "input") {
        return arrays.values[node.name][offset(arrays.axes[node.name], arrays.sizes, index)];
      }
      if (node.kind === "constant") return algebra.constant(node.value);
      if (node.kind === "apply") {
        return algebra.apply(
          node.op,
          node.args.map((arg) => visit(arg, index)),
        );
      }
      const { axis, arg } = node;
      return algebra.reduce(
        node.op,
        Array.from({ length: arrays.sizes[axis] }, (_, i) => visit(arg, { ...index, [axis]: i })),
      );
    };
    return visit(tree, at);
  };

/** At one point of the tree's axes, reductions by loops. */
export const evaluate = evaluateWith<number>({
  constant: (value) => value,
  apply: computeScalar,
  reduce: (op, values) => {
    if (op === "sum") return values.reduce((sum, value) => sum + value, 0);
    const most = Math.max(...values);
    return Number.isFinite(most)
      ? most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0))
      : most;
  },
});

export const evaluateComplex = evaluateWith<Complex>({
  constant: real,
  apply: (op, args) => complexOperations[op](...args),
  reduce: (op, values) => (op === "sum" ? complexSum(values) : complexLogSumExp(values)),
});

/** The axes that the value of a tree varies along, in the order of `all`. */
export const axesOf = (
  tree: Tree,
  axes: Readonly<Record<string, readonly string[]>>,
  all: readonly string[],
): string[] => {
  const own = (node: Tree): Set<string> => {
    if (node.kind === "input") return new Set(axes[node.name]);
    if (node.kind === "constant") return new Set();
    if (node.kind === "apply") return new Set(node.args.flatMap((arg) => [...own(arg)]));
    const inside = own(node.arg);
    inside.delete(node.axis);
    return inside;
  };
  const found = own(tree);
  return all.filter((axis) => found.has(axis));
};

/** Every index over some axes, in row-major order. */
export const points = (axes: readonly string[], sizes: Readonly<Record<string, number>>): Index[] =>
  axes.reduce<Index[]>(
    (sofar, axis) =>
      sofar.flatMap((at) => Array.from({ length: sizes[axis] }, (_, i) => ({ ...at, [axis]: i }))),
    [{}],
  );

export interface ExpressionOptions {
  readonly inputs: readonly string[];
  /** Axes that may be reduced over. */
  readonly axes?: readonly string[];
  /** Only operations that have a complex evaluator. */
  readonly analytic?: boolean;
  /** How deep operations may be nested. */
  readonly depth?: number;
}

const positive = (tree: Tree): Tree => apply("add", constant(0.5), apply("square", tree));
/** Between -1 and 1, so that nothing overflows however deep it stands. */
const bounded = (tree: Tree): Tree => apply("tanh", tree);

type Make = (...args: Tree[]) => Tree;

/** One way to use each operation with its argument inside its domain, and results of ordinary size. */
const ANALYTIC: Readonly<Record<string, Make>> = {
  add: (a, b) => apply("add", a, b),
  sub: (a, b) => apply("sub", a, b),
  mul: (a, b) => apply("mul", a, bounded(b)),
  square: (a) => apply("square", bounded(a)),
  product: (a, b) => apply("mul", bounded(a), b),
  div: (a, b) => apply("div", a, positive(b)),
  reciprocal: (a) => apply("div", constant(1), positive(a)),
  neg: (a) => apply("neg", a),
  sqrt: (a) => apply("sqrt", positive(a)),
  exp: (a) => apply("exp", bounded(a)),
  log: (a) => apply("log", positive(a)),
  log1p: (a) => apply("log1p", apply("square", a)),
  expm1: (a) => apply("expm1", bounded(a)),
  tanh: (a) => apply("tanh", a),
  sigmoid: (a) => apply("sigmoid", a),
  softplus: (a) => apply("softplus", a),
  power: (a) => apply("pow", positive(bounded(a)), constant(1.7)),
  root: (a) => apply("pow", positive(a), constant(-0.5)),
  cube: (a) => apply("pow", bounded(a), constant(3)),
  shift: (a) => apply("add", constant(0.75), a),
  scale: (a) => apply("mul", constant(-1.25), a),
};

const OTHERS: Readonly<Record<string, Make>> = {
  powers: (a, b) => apply("pow", positive(bounded(a)), bounded(b)),
  abs: (a) => apply("abs", a),
  min: (a, b) => apply("min", a, b),
  max: (a, b) => apply("max", a, b),
  lgamma: (a) => apply("lgamma", positive(bounded(a))),
  digamma: (a) => apply("digamma", positive(a)),
  erf: (a) => apply("erf", a),
};

const COMPARISONS = ["less", "lessEqual", "greater", "greaterEqual", "equal", "notEqual"] as const;

export const expression = ({
  inputs,
  axes = [],
  analytic = false,
  depth = 4,
}: ExpressionOptions): fc.Arbitrary<Tree> => {
  const leaf = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...inputs).map(input) },
    { weight: 1, arbitrary: fc.constantFrom(-2, -1, 0.5, 1, 3).map(constant) },
  );
  const makers = Object.values(analytic ? ANALYTIC : { ...ANALYTIC, ...OTHERS });
  const level = fc.memo((n): fc.Arbitrary<Tree> => {
    if (n <= 1) return leaf;
    const below = level(n - 1);
    const branches = [
      { weight: 1, arbitrary: leaf },
      {
        weight: 8,
        arbitrary: fc
          .tuple(fc.constantFrom(...makers), below, below)
          .map(([make, a, b]) => make(...[a, b].slice(0, make.length))),
      },
    ];
    if (!analytic) {
      // Conditions on inputs alone, so that rounding does not decide them.
      branches.push({
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom(...COMPARISONS), leaf, leaf, below, below)
          .map(([op, x, y, a, b]) => apply("select", apply(op, x, y), a, b)),
      });
    }
    if (axes.length > 0) {
      branches.push({
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom("sum" as const, "logsumexp" as const), fc.constantFrom(...axes), below)
          .map(([op, axis, arg]) =>
            op === "sum" ? apply("mul", constant(0.2), reduce(op, axis, arg)) : reduce(op, axis, arg),
          ),
      });
    }
    return fc.oneof(...branches);
  });
  return level(depth);
};
