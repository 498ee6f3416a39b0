/**
 * The matrix-product form. Where the joint part of a log-likelihood is a sum of products F_r(outer, observation)
 * G_r(inner, observation), its sum over observations is a product of two matrices. Every exponential family with
 * designs that the batch shares has this form; for a Gaussian, (y - g)^2 = y^2 - 2 y g + g^2.
 */
import type { Graph, Traced } from "../graph/expression.js";
import { bitsOf, INNER, OUTER } from "./axes.js";

interface Product {
  /** Does not vary with the inner sample. */
  readonly f: Traced;
  /** Does not vary with the outer sample. */
  readonly g: Traced;
}

export interface Separated {
  readonly outer: Traced;
  readonly inner: Traced;
  readonly joint: Traced;
  /** The distinct G_r. */
  readonly shared: readonly Traced[];
}

/** Beyond this many products the plain form is as fast. */
const MOST_PRODUCTS = 4;

/** More than this many products on the way, and the expansion is given up. */
const MOST_ON_THE_WAY = 12;

/** The node as a sum of products, put together at every level so that the list stays short. */
const products = (node: Traced): Product[] | undefined => {
  const expanded = expand(node);
  if (expanded === undefined || expanded.length > MOST_ON_THE_WAY ** 2) return undefined;
  const gathered = gather(node.graph, expanded);
  return gathered.length > MOST_ON_THE_WAY ? undefined : gathered;
};

const expand = (node: Traced): Product[] | undefined => {
  const { graph } = node;
  const one = graph.constant(1);
  const own = bitsOf(node);
  if ((own & INNER) === 0) return [{ f: node, g: one }];
  if ((own & OUTER) === 0) return [{ f: one, g: node }];
  const of = (op: "mul" | "div" | "neg" | "add", ...args: Traced[]) => graph.apply(op, args);
  const [a, b] = node.args;
  const both = (): [Product[], Product[]] | undefined => {
    const first = products(a);
    const second = products(b);
    return first === undefined || second === undefined ? undefined : [first, second];
  };
  const cross = (first: readonly Product[], second: readonly Product[]): Product[] =>
    first.flatMap((p) => second.map((q) => ({ f: of("mul", p.f, q.f), g: of("mul", p.g, q.g) })));
  switch (node.op) {
    case "add":
      return both()?.flat();
    case "sub": {
      const pair = both();
      return pair && [...pair[0], ...pair[1].map(({ f, g }) => ({ f: of("neg", f), g }))];
    }
    case "neg":
      return products(a)?.map(({ f, g }) => ({ f: of("neg", f), g }));
    case "mul": {
      const pair = both();
      return pair && cross(...pair);
    }
    case "square": {
      const inside = products(a);
      return inside && cross(inside, inside);
    }
    case "div": {
      const above = products(a);
      if (above === undefined) return undefined;
      if ((bitsOf(b) & INNER) === 0) return above.map(({ f, g }) => ({ f: of("div", f, b), g }));
      if ((bitsOf(b) & OUTER) === 0) return above.map(({ f, g }) => ({ f, g: of("div", g, b) }));
      return undefined;
    }
    default:
      return undefined;
  }
};

/** Products with the same G put together, then with the same F. */
const gather = (graph: Graph, list: readonly Product[]): Product[] => {
  const byG = new Map<Traced, Traced>();
  for (const { f, g } of list) {
    // A sign or a constant factor belongs to F, so that y g and -2 y g meet.
    const [factor, bare] =
      g.op === "mul" && g.args[0].op === "constant" ? [g.args[0], g.args[1]] : [undefined, g];
    const scaled = factor === undefined ? f : graph.apply("mul", [factor, f]);
    const sofar = byG.get(bare);
    byG.set(bare, sofar === undefined ? scaled : graph.apply("add", [sofar, scaled]));
  }
  return [...byG].map(([g, f]) => ({ f, g }));
};

/** The separated form, or undefined where the joint part is not a short sum of products. */
export const separate = (joint: Traced): Separated | undefined => {
  const { graph } = joint;
  const list = products(joint);
  if (list === undefined) return undefined;
  const gathered = gather(graph, list);
  const sum = (nodes: readonly Traced[]) =>
    nodes.reduce((total, node) => graph.apply("add", [total, node]), graph.constant(0));
  const pureOuter = gathered.filter(({ g }) => g.op === "constant");
  const pureInner = gathered.filter(({ f, g }) => (bitsOf(f) & OUTER) === 0 && g.op !== "constant");
  const mixed = gathered.filter(({ f, g }) => (bitsOf(f) & OUTER) !== 0 && g.op !== "constant");
  if (mixed.length === 0 || mixed.length > MOST_PRODUCTS) return undefined;
  const mul = (a: Traced, b: Traced) => graph.apply("mul", [a, b]);
  return {
    outer: sum(pureOuter.map(({ f, g }) => mul(g, f))),
    inner: sum(pureInner.map(({ f, g }) => mul(f, g))),
    joint: sum(mixed.map(({ f, g }) => mul(f, g))),
    shared: mixed.map(({ g }) => g),
  };
};
