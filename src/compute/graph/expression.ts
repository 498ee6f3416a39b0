/**
 * The expression graph: what a traced function builds instead of numbers.
 *
 * A `Traced` value is a node of a `Graph`: an operation on other nodes, hash-consed (equal expressions are the same
 * node), with constants folded and identities simplified as it is built. A node knows the named axes it varies
 * along (an input over `["b", "t"]` has a value for every pair) and the range its values lie in, so that a
 * backend can leave out what cannot happen (a logarithm of a positive number needs no check for zero).
 */
import { TraceError } from "../../core/errors.js";
import { callerOf } from "./location.js";
import { type Range, rangeOf } from "./range.js";
import { computeScalar, type Elementwise, isComparison, isElementwise } from "./scalar.js";
import { simplify } from "./simplify.js";

export type Reduction = "sum" | "logsumexp";
export type Operation = Elementwise | Reduction | "input" | "constant" | "size";

export const texts = {
  primitive: (hint: string) =>
    `a traced value was used where JavaScript needs a plain ${hint === "string" ? "string" : "number"}: ` +
    "operators, if and Math.* do not see traced values, so write add(a, b) for a + b, log(x) for Math.log(x), " +
    "and select(greater(x, 0), a, b) for x > 0 ? a : b",
  mixedGraphs:
    "values of two different traced functions were combined: use only the arguments of this function",
  notAValue: (operation: string, given: unknown) =>
    `${operation}(...) was given ${describe(given)}, and takes traced values and numbers: pass one of those`,
  tooMany: (operation: string, takes: number, given: number) =>
    `${operation}(...) was given ${given} values, and takes ${takes}: leave the others out, or combine two at a time`,
  unknownAxis: (operation: string, axis: string, axes: readonly string[]) =>
    `${operation} over the axis "${axis}", which no input has: the axes here are ${axes.map((a) => `"${a}"`).join(", ") || "none"}`,
};

/** What something is, in words, for an error. */
export const describe = (given: unknown): string => {
  if (given === undefined || given === null) return String(given);
  if (Array.isArray(given)) return "an array";
  return typeof given === "object" ? "an object" : `a ${typeof given}`;
};

/** A value that stands for a number in a traced function; made by the compiler, combined by its operations. */
export class Traced {
  /** @internal */
  readonly graph: Graph;
  readonly id: number;
  /** @internal */
  readonly op: Operation;
  readonly args: readonly Traced[];
  /** How many operations are nested in each other here; 0 for an input or a constant. */
  readonly depth: number;
  /** The axes the value varies along, in the graph's order. */
  readonly axes: readonly string[];
  /** @internal */
  readonly range: Range;
  /** The number of a constant. */
  readonly value: number;
  /** The name of an input, or the axis of a reduction or size. */
  readonly name: string;
  /** Where the user's code built a comparison: an `if` on it is the one mistake that cannot be trapped at once. */
  location: string | undefined;

  /** @internal */
  constructor(graph: Graph, id: number, op: Operation, args: readonly Traced[], fields: NodeFields) {
    this.graph = graph;
    this.id = id;
    this.op = op;
    this.args = args;
    this.depth = args.reduce((most, arg) => Math.max(most, arg.depth + 1), 0);
    this.axes = fields.axes;
    this.range = fields.range;
    this.value = fields.value ?? Number.NaN;
    this.name = fields.name ?? "";
  }

  [Symbol.toPrimitive](hint: string): never {
    throw new TraceError("untraceable", texts.primitive(hint), callerOf(this[Symbol.toPrimitive]));
  }
}

interface NodeFields {
  readonly axes: readonly string[];
  readonly range: Range;
  readonly value?: number | undefined;
  readonly name?: string | undefined;
}

/** What a model is written in: traced values, and numbers for constants. */
export type Value = Traced | number;

export class Graph {
  /** All axes, outermost first: the order in which arrays are laid out. */
  readonly axes: readonly string[];
  readonly #nodes = new Map<string, Traced>();
  /** What the user wrote and simplification left out of a node: the condition of select(c, x, x), which is x. */
  readonly #dropped = new Map<Traced, Set<Traced>>();
  /** In the order they were built: arguments come before the nodes that use them. */
  readonly nodes: Traced[] = [];

  constructor(axes: readonly string[]) {
    this.axes = axes;
  }

  #intern(key: string, op: Operation, args: readonly Traced[], fields: NodeFields): Traced {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node = new Traced(this, this.nodes.length, op, args, fields);
    this.#nodes.set(key, node);
    this.nodes.push(node);
    return node;
  }

  #ordered(axes: Iterable<string>): readonly string[] {
    const all = new Set(axes);
    return this.axes.filter((axis) => all.has(axis));
  }

  input(name: string, axes: readonly string[], range: Range = { low: -Infinity, high: Infinity }): Traced {
    return this.#intern(`input ${name}`, "input", [], { axes: this.#ordered(axes), range, name });
  }

  /** An input of the library's own: never the same as another one, whatever the user's inputs are called. */
  standIn(axes: readonly string[]): Traced {
    const name = `stand-in ${this.nodes.length}`;
    const range = { low: -Infinity, high: Infinity };
    return this.#intern(`own ${name}`, "input", [], { axes: this.#ordered(axes), range, name });
  }

  constant(value: number): Traced {
    const key = Object.is(value, -0) ? "-0" : String(value);
    return this.#intern(`constant ${key}`, "constant", [], {
      axes: [],
      range: Number.isNaN(value) ? { low: -Infinity, high: Infinity } : { low: value, high: value },
      value,
    });
  }

  /** The length of an axis, known when the program runs. */
  size(axis: string): Traced {
    return this.#intern(`size ${axis}`, "size", [], {
      axes: [],
      range: { low: 1, high: Infinity },
      name: axis,
    });
  }

  /** A node without any simplification. */
  raw(op: Elementwise, args: readonly Traced[]): Traced {
    return this.#intern(`${op}(${args.map((arg) => arg.id).join()})`, op, args, {
      axes: this.#ordered(args.flatMap((arg) => arg.axes)),
      range: rangeOf(
        op,
        args.map((arg) => arg.range),
      ),
    });
  }

  /** Sum or log-sum-exp over one axis. Over an axis that the argument is constant along, the length does it. */
  reduce(op: Reduction, axis: string, arg: Traced): Traced {
    if (!arg.axes.includes(axis)) {
      return op === "sum"
        ? this.apply("mul", [this.size(axis), arg])
        : this.apply("add", [this.apply("log", [this.size(axis)]), arg]);
    }
    return this.#intern(`${op} ${axis}(${arg.id})`, op, [arg], {
      axes: arg.axes.filter((other) => other !== axis),
      range: op === "sum" ? sumRange(arg.range) : { low: arg.range.low, high: Infinity },
      name: axis,
    });
  }

  /** An operation on nodes of this graph: folded, simplified or built. */
  apply(op: Elementwise, args: readonly Traced[]): Traced {
    const simpler = args.every((arg) => arg.op === "constant")
      ? this.constant(
          computeScalar(
            op,
            args.map((arg) => arg.value),
          ),
        )
      : simplify(this, op, args);
    if (simpler === undefined) return this.raw(op, args);
    const dropped = this.#dropped.get(simpler) ?? new Set();
    this.#dropped.set(simpler, dropped);
    for (const arg of args) dropped.add(arg);
    return simpler;
  }

  /** A number or a node of this graph, as a node; anything else is the user's mistake. */
  lift(value: unknown, operation: string, caller: (...args: never[]) => unknown): Traced {
    if (typeof value === "number") return this.constant(value);
    if (!(value instanceof Traced)) {
      throw new TraceError("not-a-value", texts.notAValue(operation, value), callerOf(caller));
    }
    if (value.graph !== this) throw new TraceError("mixed-graphs", texts.mixedGraphs, callerOf(caller));
    return value;
  }

  /** The first comparison that nothing in `roots` uses, if any: its result was thrown away or branched on. */
  unusedComparison(roots: readonly Traced[]): Traced | undefined {
    const used = visit(roots, (node) => [...node.args, ...(this.#dropped.get(node) ?? [])]);
    return this.nodes.find((node) => isElementwise(node.op) && isComparison(node.op) && !used.has(node));
  }
}

const sumRange = (range: Range): Range => ({
  low: range.low >= 0 ? range.low : -Infinity,
  high: range.high <= 0 ? range.high : Infinity,
});

/** Every node that is reached from `roots` by `next`, themselves included. */
const visit = (roots: Iterable<Traced>, next: (node: Traced) => readonly Traced[]): Set<Traced> => {
  const seen = new Set<Traced>();
  const stack = [...roots];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    stack.push(...next(node));
  }
  return seen;
};

/** Every node that `roots` depend on, themselves included. */
export const reachable = (roots: Iterable<Traced>): Set<Traced> => visit(roots, (node) => node.args);

/** The nodes that `roots` are computed from, arguments first; those that `stop` holds for are not looked into. */
export const reachableUntil = (roots: Iterable<Traced>, stop: (node: Traced) => boolean): Traced[] =>
  [...visit(roots, (node) => (stop(node) ? [] : node.args))].sort((a, b) => a.id - b.id);

let current: Graph | undefined;

/** The graph of the function that is being traced, if one is. */
export const currentGraph = (): Graph | undefined => current;

/** Runs a function that builds `graph`. */
export const building = <T>(graph: Graph, run: () => T): T => {
  const outer = current;
  current = graph;
  try {
    return run();
  } finally {
    current = outer;
  }
};

/** The nodes with some of their parts replaced. */
export const substitute = (nodes: readonly Traced[], stands: ReadonlyMap<Traced, Traced>): Traced[] => {
  const done = new Map<Traced, Traced>(stands);
  const replaced = (node: Traced): Traced => done.get(node) ?? node;
  for (const each of reachableUntil(nodes, (node) => stands.has(node))) {
    if (done.has(each) || !isElementwise(each.op)) continue;
    const args = each.args.map(replaced);
    if (args.some((arg, i) => arg !== each.args[i])) done.set(each, each.graph.apply(each.op, args));
  }
  return nodes.map(replaced);
};
