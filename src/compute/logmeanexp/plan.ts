/**
 * How `logmeanexp_inner sum_observation f` is computed: what is taken out of which loop.
 *
 * The log-likelihood f is split into terms that do not vary with the inner sample (summed once per outer sample;
 * they cancel in the weights), terms that do not vary with the outer sample (summed once per inner sample), and
 * the joint rest. With g_k the parts of the joint rest that the batch shares and that are worth keeping, it is
 * computed from tables of them.
 */
import { InputError } from "../../core/errors.js";
import { type Graph, reachable, reachableUntil, substitute, type Traced } from "../graph/expression.js";
import { gradient } from "../graph/gradient.js";
import { isElementwise } from "../graph/scalar.js";
import { AXES, bitsOf, INNER, OUTER } from "./axes.js";
import { separate } from "./separate.js";

export const planTexts = {
  axis: (name: string, axis: string) =>
    `the input "${name}" has the axis "${axis}": the axes of a log-likelihood are "outer", "observation" and "inner"`,
  both: (name: string) =>
    `the input "${name}" varies along both "inner" and "observation", which no array here may: give a parameter over "inner" or a design over "observation"`,
  twice: (name: string) => `the input "${name}" names an axis twice: name each once`,
  single: "a log-likelihood is one value: return a traced value and not an object of them",
  unknownGradient: (name: string, names: readonly string[]) =>
    `a gradient in "${name}" was asked for: the inputs are ${names.map((n) => `"${n}"`).join(", ")}`,
  reduction:
    "a log-likelihood is one observation's: leave out sum and logsumexp, which the kernel does itself",
};

export interface Plan {
  readonly graph: Graph;
  /** Summed over observations once per outer sample. */
  readonly outer: Traced;
  /** Summed over observations once per inner sample; 0 where everything is in `joint`. */
  readonly inner: Traced;
  /** The rest, in terms of `shared` where that is not empty. */
  readonly joint: Traced;
  /** Batch-independent parts that are kept in tables, and the inputs that stand for them in `joint`. */
  readonly shared: readonly { readonly node: Traced; readonly stand: Traced }[];
  /** Whether the joint part is in the matrix-product form. */
  readonly product: boolean;
  /** Inputs whose gradient is wanted. */
  readonly wanted: readonly Traced[];
}

/** Rough cost of an operation in SIMD instructions. */
const COST: Readonly<Record<string, number>> = {
  div: 6,
  sqrt: 8,
  exp: 14,
  log: 18,
  log1p: 24,
  expm1: 24,
  tanh: 24,
  sigmoid: 20,
  softplus: 34,
  pow: 50,
  lgamma: 80,
  digamma: 80,
  trigamma: 80,
  erf: 40,
};

/** Rough cost of computing all of these nodes. */
export const cost = (...nodes: readonly Traced[]): number => {
  let total = 0;
  for (const each of reachable(nodes)) if (isElementwise(each.op)) total += COST[each.op] ?? 1;
  return total;
};

/** A table entry costs a store and a load for every sample and observation: below this, computing is cheaper. */
const WORTH_KEEPING = 8;

/** Signed terms whose sum is the node, each once: nodes from the last to the first, so that factors are complete. */
const terms = (root: Traced): { factor: number; node: Traced }[] => {
  const factors = new Map<Traced, number>([[root, 1]]);
  const found: { factor: number; node: Traced }[] = [];
  const give = (node: Traced, factor: number) => factors.set(node, (factors.get(node) ?? 0) + factor);
  for (const node of reachableUntil([root], () => false).reverse()) {
    const factor = factors.get(node);
    if (factor === undefined) continue;
    const [a, b] = node.args;
    if (node.op === "add") {
      give(a, factor);
      give(b, factor);
    } else if (node.op === "sub") {
      give(a, factor);
      give(b, -factor);
    } else if (node.op === "neg") give(a, -factor);
    else if (node.op === "mul" && a.op === "constant" && Number.isFinite(a.value)) give(b, factor * a.value);
    else found.push({ factor, node });
  }
  return found;
};

const sumOf = (graph: Graph, parts: readonly { factor: number; node: Traced }[]): Traced =>
  parts.reduce(
    (sum, { factor, node }) => graph.apply("add", [sum, graph.apply("mul", [graph.constant(factor), node])]),
    graph.constant(0),
  );

/** The largest parts of `joint` that the batch shares and that are worth a table. */
const sharedParts = (joint: Traced): Traced[] => {
  const found = new Set<Traced>();
  const seen = new Set<Traced>();
  const visit = (node: Traced): void => {
    if (seen.has(node)) return;
    seen.add(node);
    const bits = bitsOf(node);
    if ((bits & INNER) !== 0 && (bits & OUTER) === 0 && cost(node) >= WORTH_KEEPING) found.add(node);
    else node.args.forEach(visit);
  };
  visit(joint);
  return [...found];
};

export const checkInputs = (
  inputs: Readonly<Record<string, readonly string[]>>,
  wanted: readonly string[],
) => {
  for (const [name, axes] of Object.entries(inputs)) {
    const unknown = axes.find((axis) => !(AXES as readonly string[]).includes(axis));
    if (unknown !== undefined) throw new InputError("axis", planTexts.axis(name, unknown));
    if (new Set(axes).size !== axes.length) throw new InputError("axis", planTexts.twice(name));
    if (axes.includes("inner") && axes.includes("observation")) {
      throw new InputError("axes", planTexts.both(name));
    }
  }
  const missing = wanted.find((name) => !Object.hasOwn(inputs, name));
  if (missing !== undefined) {
    throw new InputError("gradient", planTexts.unknownGradient(missing, Object.keys(inputs)));
  }
};

/**
 * `product`: write the joint part as a matrix product where the likelihood permits it (see `separate.ts`), which
 * is faster and loses digits when its terms are large.
 */
export const plan = (root: Traced, wanted: readonly Traced[], { product }: { product: boolean }): Plan => {
  const { graph } = root;
  const parts = terms(root);
  const pick = (test: (bits: number) => boolean) => parts.filter(({ node }) => test(bitsOf(node)));
  let outer = sumOf(
    graph,
    pick((bits) => (bits & INNER) === 0),
  );
  let inner = sumOf(
    graph,
    pick((bits) => (bits & INNER) !== 0 && (bits & OUTER) === 0),
  );
  let joint = sumOf(
    graph,
    pick((bits) => (bits & INNER) !== 0 && (bits & OUTER) !== 0),
  );

  let shared = sharedParts(joint);
  const separated = product && shared.length > 0 ? separate(joint) : undefined;
  if (separated !== undefined) {
    outer = graph.apply("add", [outer, separated.outer]);
    inner = graph.apply("add", [inner, separated.inner]);
    joint = separated.joint;
    shared = [...separated.shared];
  }
  // A gradient in something that the batch shares is summed over the batch, as a table's is.
  const free = reachable(substitute([joint], new Map(shared.map((node) => [node, graph.constant(0)]))));
  for (const leaf of wanted) {
    const bits = bitsOf(leaf);
    if ((bits & INNER) !== 0 && (bits & OUTER) === 0 && free.has(leaf) && !shared.includes(leaf))
      shared.push(leaf);
  }
  const needsTables =
    shared.length > 0 || cost(inner) >= WORTH_KEEPING || wanted.some((leaf) => (bitsOf(leaf) & INNER) !== 0);
  if (!needsTables) {
    return {
      graph,
      outer,
      inner: graph.constant(0),
      joint: graph.apply("add", [inner, joint]),
      shared: [],
      product: false,
      wanted,
    };
  }
  const stands = shared.map((node) => ({ node, stand: graph.standIn(node.axes) }));
  const [replaced] = substitute([joint], new Map(stands.map(({ node, stand }) => [node, stand])));
  return { graph, outer, inner, joint: replaced, shared: stands, product: separated !== undefined, wanted };
};

/** Whether the plan works through tables that the batch shares, in two passes, or in one pass without any. */
export const usesTables = ({ shared, inner, wanted }: Plan): boolean =>
  shared.length > 0 || inner.op !== "constant" || wanted.some((leaf) => (bitsOf(leaf) & INNER) !== 0);

/** d(node)/d(leaf) = factor * partial, for a leaf on which the node depends. */
export interface Partial {
  readonly leaf: Traced;
  readonly partial: Traced;
  readonly factor: number;
}

/** A node as a constant factor times the rest: the factor is applied to a sum and not to every term of it. */
export const splitFactor = (node: Traced): { factor: number; rest: Traced } => {
  let factor = 1;
  let rest = node;
  for (;;) {
    if (rest.op === "neg") {
      factor = -factor;
      rest = rest.args[0];
    } else if (rest.op === "mul" && rest.args[0].op === "constant") {
      factor *= rest.args[0].value;
      rest = rest.args[1];
    } else return { factor, rest };
  }
};

/** Derivatives at a point. */
export const partials = (node: Traced, leaves: readonly Traced[]): Partial[] => {
  const inside = reachable([node]);
  const present = leaves.filter((leaf) => inside.has(leaf));
  return gradient(node, present, { pointwise: true }).map((derivative, i) => {
    const { factor, rest } = splitFactor(derivative);
    return { leaf: present[i], partial: rest, factor };
  });
};
