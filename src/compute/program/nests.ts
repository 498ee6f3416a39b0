/**
 * From a graph with reductions to loops: every reduction and every output is one result of a nest, a loop over the
 * result's axes around one over the reduced axis (or the result's last axis). Elementwise values are computed where
 * they are used; results that run over the same loops and do not need each other share a nest.
 */
import { type Graph, reachable, type Traced } from "../graph/expression.js";

export interface Nest {
  readonly kind: "map" | "sum" | "logsumexp";
  /** Loops around the innermost one, outermost first. */
  readonly outer: readonly string[];
  /** The innermost loop; undefined for a single value. */
  readonly inner: string | undefined;
  readonly results: readonly NestResult[];
}

export interface NestResult {
  /** What is stored (map) or reduced. */
  readonly body: Traced;
  /** The node whose value this is. */
  readonly node: Traced;
  /** The axes of the stored array. */
  readonly axes: readonly string[];
}

const isReduction = (node: Traced): node is Traced & { op: "sum" | "logsumexp" } =>
  node.op === "sum" || node.op === "logsumexp";

/** Reductions under a node that are nested in each other, counted. */
const levels = (nodes: Iterable<Traced>): Map<Traced, number> => {
  const level = new Map<Traced, number>();
  for (const node of [...nodes].sort((a, b) => a.id - b.id)) {
    const below = node.args.reduce((most, arg) => Math.max(most, level.get(arg) ?? 0), 0);
    level.set(node, isReduction(node) ? below + 1 : below);
  }
  return level;
};

/** An output to store: a node, and the axes its array has (it is constant along those it lacks). */
export interface Output {
  readonly node: Traced;
  readonly axes: readonly string[];
}

/** The nests in an order in which each finds what it needs. */
export const planNests = (graph: Graph, outputs: readonly Output[]): Nest[] => {
  const nodes = reachable(outputs.map(({ node }) => node));
  const level = levels(nodes);
  const groups = new Map<string, { order: number; nest: Nest & { results: NestResult[] } }>();
  const add = (
    order: number,
    kind: Nest["kind"],
    axes: readonly string[],
    inner: string | undefined,
    result: NestResult,
  ) => {
    const outer = axes.filter((axis) => axis !== inner);
    const key = JSON.stringify([order, kind, outer, inner]);
    const group = groups.get(key);
    if (group !== undefined) group.nest.results.push(result);
    else groups.set(key, { order, nest: { kind, outer, inner, results: [result] } });
  };
  for (const node of graph.nodes) {
    if (!nodes.has(node) || !isReduction(node)) continue;
    add(level.get(node) ?? 0, node.op, node.axes, node.name, { body: node.args[0], node, axes: node.axes });
  }
  for (const { node, axes } of outputs) {
    // After the reductions that it needs.
    add((level.get(node) ?? 0) + 0.5, "map", axes, axes.at(-1), { body: node, node, axes });
  }
  return [...groups.values()].sort((a, b) => a.order - b.order).map(({ nest }) => nest);
};
