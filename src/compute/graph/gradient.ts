/**
 * Reverse-mode differentiation: the gradient of a node as more nodes of the same graph, so that value and gradient
 * share their parts and are compiled together.
 */
import { InputError } from "../../core/errors.js";
import { type Graph, reachable, type Traced } from "./expression.js";
import { type Elementwise, isElementwise } from "./scalar.js";

export const gradientTexts = {
  trigamma:
    "a gradient through trigamma was asked for: the derivative of trigamma is not an operation, so use digamma and " +
    "lgamma where a gradient is wanted",
};

/** d(node)/d(argument i) times `adjoint`, or undefined where it is zero. */
const pullback = (node: Traced, i: number, adjoint: Traced): Traced | undefined => {
  const { graph, args } = node;
  const [a, b] = args;
  const of = (op: Elementwise, ...operands: Traced[]) => graph.apply(op, operands);
  const number = (value: number) => graph.constant(value);
  const times = (factor: Traced) => of("mul", adjoint, factor);
  switch (node.op) {
    case "add":
      return adjoint;
    case "sub":
      return i === 0 ? adjoint : of("neg", adjoint);
    case "mul":
      return times(i === 0 ? b : a);
    case "div":
      if (i === 0) return of("div", adjoint, b);
      // -a / b^2, through the quotient that is there already; 1 / b needs no second division.
      return a.op === "constant" && a.value === 1
        ? of("neg", of("mul", adjoint, of("square", node)))
        : of("neg", of("mul", of("div", adjoint, b), node));
    case "neg":
      return of("neg", adjoint);
    case "square":
      return of("mul", of("mul", number(2), adjoint), a);
    case "sqrt":
      return of("div", of("mul", number(0.5), adjoint), node);
    case "pow":
      if (i === 0) {
        const slope = of("mul", b, of("pow", a, of("sub", b, number(1))));
        // a^0 is flat, also where a^-1 is infinite.
        return times(b.op === "constant" ? slope : of("select", b, slope, number(0)));
      }
      // a^b log a is 0 in the limit a -> 0 for b > 0, where the product would be 0 * -infinity.
      return times(of("select", of("equal", node, number(0)), number(0), of("mul", node, of("log", a))));
    case "exp":
      return times(node);
    case "log":
      // As a product, so that the division does not wait for the adjoint.
      return times(of("div", number(1), a));
    case "log1p":
      return of("div", adjoint, of("add", number(1), a));
    case "expm1":
      return times(of("add", number(1), node));
    case "tanh":
      return times(of("sub", number(1), of("square", node)));
    case "sigmoid":
      return times(of("mul", node, of("sub", number(1), node)));
    case "softplus":
      return times(of("sigmoid", a));
    case "abs":
      return times(of("sub", of("greater", a, number(0)), of("less", a, number(0))));
    case "min":
    case "max": {
      // 1 where this argument is the one chosen, a half where both are.
      const [self, other] = i === 0 ? [a, b] : [b, a];
      const wins = of(node.op === "max" ? "greater" : "less", self, other);
      return times(of("add", wins, of("mul", number(0.5), of("equal", self, other))));
    }
    case "select":
      if (i === 0) return undefined;
      return i === 1 ? of("select", a, adjoint, number(0)) : of("select", a, number(0), adjoint);
    case "lgamma":
      return times(of("digamma", a));
    case "digamma":
      return times(of("trigamma", a));
    case "trigamma":
      throw new InputError("derivative", gradientTexts.trigamma);
    case "erf":
      return times(of("mul", number(2 / Math.sqrt(Math.PI)), of("exp", of("neg", of("square", a)))));
    case "sum":
      return adjoint;
    case "logsumexp":
      return times(of("exp", of("sub", a, node)));
    default:
      return undefined; // comparisons are flat; inputs, constants and sizes have no arguments
  }
};

export interface GradientOptions {
  /** The adjoint of the node, 1 unless given. */
  readonly seed?: Traced | undefined;
  /**
   * Derivatives at a point, all axes held fixed: what a fused kernel weighs and sums itself. Otherwise an argument
   * that lacks an axis of the node gets the sum over that axis, so that the result has the argument's axes.
   */
  readonly pointwise?: boolean | undefined;
}

/** d(sum of all elements of node) / d(each of `wrt`). A node that does not depend on an input has gradient 0. */
export const gradient = (
  node: Traced,
  wrt: readonly Traced[],
  { seed, pointwise = false }: GradientOptions = {},
): Traced[] => {
  const { graph } = node;
  const needed = dependents(reachable([node]), wrt);
  const adjoints = new Map<Traced, Traced>([[node, seed ?? graph.constant(1)]]);
  // Ids grow from arguments to results, so descending ids are a reverse topological order.
  const order = [...needed].sort((x, y) => y.id - x.id);
  for (const current of order) {
    const adjoint = adjoints.get(current);
    if (adjoint === undefined) continue;
    current.args.forEach((arg, i) => {
      if (!needed.has(arg)) return;
      const part = pullback(current, i, adjoint);
      if (part === undefined) return;
      const summed = pointwise ? part : sumToAxes(graph, part, current, arg);
      const sofar = adjoints.get(arg);
      adjoints.set(arg, sofar === undefined ? summed : graph.apply("add", [sofar, summed]));
    });
  }
  return wrt.map((input) => adjoints.get(input) ?? graph.constant(0));
};

/** The nodes of `all` through which some of `wrt` is reached. */
const dependents = (all: ReadonlySet<Traced>, wrt: readonly Traced[]): Set<Traced> => {
  const found = new Set<Traced>(wrt);
  for (const node of [...all].sort((x, y) => x.id - y.id)) {
    if (node.args.some((arg) => found.has(arg))) found.add(node);
  }
  return found;
};

/** Sums over the axes that `node` has and its argument lacks. */
const sumToAxes = (graph: Graph, part: Traced, node: Traced, arg: Traced): Traced => {
  const own = new Set(arg.axes);
  const iterated = isElementwise(node.op) ? node.axes : arg.axes;
  return iterated
    .filter((axis) => !own.has(axis))
    .reduceRight((sofar, axis) => graph.reduce("sum", axis, sofar), part);
};
