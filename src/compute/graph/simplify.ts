/**
 * Identities that hold for every float up to the sign of zero, NaN and infinities included, and make the graph
 * smaller. What fails for some value (x * 0 = 0, x - x = 0) is left alone; rounding may change where constants are
 * gathered.
 */
import type { Graph, Traced } from "./expression.js";
import type { Elementwise } from "./scalar.js";

const isConstant = (node: Traced, value?: number): boolean =>
  node.op === "constant" && (value === undefined || node.value === value);

/** A product with a constant, which stands first. */
const hasFactor = (node: Traced): boolean =>
  node.op === "mul" && isConstant(node.args[0]) && isOrdinary(node.args[0].value);

/** Far enough from overflow and underflow in float32 that moving it past another operation does no harm. */
const isOrdinary = (value: number): boolean => Math.abs(value) > 1e-15 && Math.abs(value) < 1e15;

/** The largest whole exponent that is written out as products. */
const LONGEST_POWER = 8;

const power = (graph: Graph, base: Traced, exponent: number): Traced => {
  if (exponent === 1) return base;
  const half = power(graph, base, Math.floor(exponent / 2));
  const even = graph.apply("square", [half]);
  return exponent % 2 === 0 ? even : graph.apply("mul", [even, base]);
};

/** What the operation reduces to, or undefined where it stays as it is. */
export const simplify = (graph: Graph, op: Elementwise, args: readonly Traced[]): Traced | undefined => {
  const [a, b, c] = args;
  const of = (operation: Elementwise, ...operands: Traced[]) => graph.apply(operation, operands);
  switch (op) {
    case "add": {
      if (isConstant(b, 0)) return a;
      if (isConstant(a, 0)) return b;
      if (b.op === "neg") return of("sub", a, b.args[0]);
      if (a.op === "neg") return of("sub", b, a.args[0]);
      if (isConstant(a) && b.op === "add" && isConstant(b.args[0]))
        return of("add", graph.constant(a.value + b.args[0].value), b.args[1]);
      return inOrder(graph, op, a, b);
    }
    case "sub":
      if (isConstant(b, 0)) return a;
      if (isConstant(a, 0)) return of("neg", b);
      if (b.op === "neg") return of("add", a, b.args[0]);
      if (isConstant(b)) return of("add", graph.constant(-b.value), a);
      return undefined;
    case "mul":
      if (isConstant(b, 1)) return a;
      if (isConstant(a, 1)) return b;
      if (isConstant(b, -1)) return of("neg", a);
      if (isConstant(a, -1)) return of("neg", b);
      if (a === b) return of("square", a);
      if (a.op === "neg" && isConstant(b)) return of("mul", graph.constant(-b.value), a.args[0]);
      if (b.op === "neg" && isConstant(a)) return of("mul", graph.constant(-a.value), b.args[0]);
      if (a.op === "neg") return of("neg", of("mul", a.args[0], b));
      if (b.op === "neg") return of("neg", of("mul", a, b.args[0]));
      if (isConstant(a) && isOrdinary(a.value) && hasFactor(b))
        return of("mul", graph.constant(a.value * b.args[0].value), b.args[1]);
      // Constant factors move outwards, where they meet others or leave the loop altogether.
      if (!isConstant(a) && hasFactor(b)) return of("mul", b.args[0], of("mul", a, b.args[1]));
      if (!isConstant(b) && hasFactor(a)) return of("mul", a.args[0], of("mul", a.args[1], b));
      return inOrder(graph, op, a, b);
    case "div":
      if (isConstant(b, 1)) return a;
      if (isConstant(b, -1)) return of("neg", a);
      if (isConstant(b) && isOrdinary(1 / b.value)) return of("mul", graph.constant(1 / b.value), a);
      if (isConstant(a) && a.value !== 1 && isOrdinary(a.value))
        return of("mul", a, of("div", graph.constant(1), b));
      if (hasFactor(a)) return of("mul", a.args[0], of("div", a.args[1], b));
      if (a.op === "neg") return of("neg", of("div", a.args[0], b));
      if (b.op === "neg") return of("neg", of("div", a, b.args[0]));
      return undefined;
    case "neg":
      if (a.op === "neg") return a.args[0];
      if (a.op === "sub") return of("sub", a.args[1], a.args[0]);
      if (a.op === "mul" && isConstant(a.args[0]))
        return of("mul", graph.constant(-a.args[0].value), a.args[1]);
      return undefined;
    case "square":
      if (hasFactor(a)) return of("mul", graph.constant(a.args[0].value ** 2), of("square", a.args[1]));
      return a.op === "neg" || a.op === "abs" ? of("square", a.args[0]) : undefined;
    case "abs":
      if (a.op === "neg" || a.op === "abs") return of("abs", a.args[0]);
      return a.op === "square" || a.op === "exp" ? a : undefined;
    case "pow":
      if (isConstant(b, 0)) return graph.constant(1);
      if (isConstant(b, 0.5) && a.range.low >= 0) return of("sqrt", a);
      if (isConstant(b) && Number.isInteger(b.value) && Math.abs(b.value) <= LONGEST_POWER) {
        const positive = power(graph, a, Math.abs(b.value));
        return b.value > 0 ? positive : of("div", graph.constant(1), positive);
      }
      return undefined;
    case "min":
    case "max":
      return a === b ? a : inOrder(graph, op, a, b);
    case "select":
      if (b === c) return b;
      if (isConstant(a)) return a.value !== 0 ? b : c;
      return undefined;
    default:
      return undefined;
  }
};

/** Commutative operations are written one way round, constants first, so that equal ones are found. */
const inOrder = (graph: Graph, op: Elementwise, a: Traced, b: Traced): Traced | undefined => {
  const swap = b.op === "constant" ? a.op !== "constant" : a.op !== "constant" && b.id < a.id;
  return swap ? graph.apply(op, [b, a]) : undefined;
};
