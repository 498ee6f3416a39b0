import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  Graph,
  reachable,
  reachableUntil,
  substitute,
  Traced,
} from "../../../src/compute/graph/expression.js";
import { gradient } from "../../../src/compute/graph/gradient.js";
import { computeScalar, type Elementwise, scalar } from "../../../src/compute/graph/scalar.js";
import { evaluateAt } from "../../../src/compute/graph/trace.js";
import { build, expression, operationNamed } from "./expressions.js";

const OPERATIONS = Object.keys(scalar) as Elementwise[];
const arity = (op: Elementwise) => scalar[op].length;

describe("hash-consing", () => {
  test.each(OPERATIONS)("two equal uses of %s are one node", (op) => {
    const graph = new Graph([]);
    const inputs = ["x", "y", "z"].slice(0, arity(op)).map((name) => graph.input(name, []));
    expect(graph.apply(op, inputs)).toBe(graph.apply(op, inputs));
  });

  test("equal expressions, built twice, are the same node and add none", () => {
    fc.assert(
      fc.property(expression({ inputs: ["x", "y"], axes: ["b"] }), (tree) => {
        const graph = new Graph(["b"]);
        const inputs = { x: graph.input("x", ["b"]), y: graph.input("y", []) };
        const first = build(tree, inputs);
        const count = graph.nodes.length;
        expect(build(tree, inputs)).toBe(first);
        expect(graph.nodes.length).toBe(count);
      }),
      { numRuns: 200 },
    );
  });

  test("sums and products are found whichever way round they are written", () => {
    const graph = new Graph([]);
    const [x, y] = [graph.input("x", []), graph.input("y", [])];
    for (const op of ["add", "mul", "min", "max"] as const) {
      expect(graph.apply(op, [x, y])).toBe(graph.apply(op, [y, x]));
      expect(graph.apply(op, [x, graph.constant(3)])).toBe(graph.apply(op, [graph.constant(3), x]));
    }
    expect(graph.apply("sub", [x, y])).not.toBe(graph.apply("sub", [y, x]));
    expect(graph.apply("div", [x, y])).not.toBe(graph.apply("div", [y, x]));
    expect(graph.apply("pow", [x, y])).not.toBe(graph.apply("pow", [y, x]));
  });

  test("zeros of different sign and NaN are constants of their own", () => {
    const graph = new Graph([]);
    expect(graph.constant(0)).not.toBe(graph.constant(-0));
    expect(graph.constant(Number.NaN)).toBe(graph.constant(Number.NaN));
    expect(Object.is(graph.constant(-0).value, -0)).toBe(true);
    expect(graph.constant(1)).not.toBe(graph.input("1", []));
  });

  test("arguments come before the nodes that use them", () => {
    fc.assert(
      fc.property(expression({ inputs: ["x", "y"], depth: 5 }), (tree) => {
        const graph = new Graph([]);
        const [x, y] = [graph.input("x", []), graph.input("y", [])];
        const root = build(tree, { x, y });
        if (root instanceof Traced) gradient(root, [x, y]);
        graph.nodes.forEach((node, i) => {
          expect(node.id).toBe(i);
          for (const arg of node.args) expect(arg.id).toBeLessThan(node.id);
        });
      }),
      { numRuns: 50 },
    );
  });
});

describe("constant folding", () => {
  const edge = fc.oneof(fc.double(), fc.constantFrom(0, -0, 1, -1, Infinity, -Infinity, Number.NaN));

  test.each(OPERATIONS)("%s of constants is the constant", (op) => {
    fc.assert(
      fc.property(fc.array(edge, { minLength: arity(op), maxLength: arity(op) }), (values) => {
        const graph = new Graph([]);
        const node = graph.apply(
          op,
          values.map((value) => graph.constant(value)),
        );
        expect(node.op).toBe("constant");
        expect(node.value).toBe(computeScalar(op, values));
      }),
      { numRuns: 30 },
    );
  });

  test.each(OPERATIONS)("%s given numbers gives a number", (op) => {
    const values = [0.75, 1.5, 2.5].slice(0, arity(op));
    expect(operationNamed(op)(...values)).toBe(computeScalar(op, values));
  });

  test("whole expressions of constants fold to one node", () => {
    const graph = new Graph([]);
    const two = graph.constant(2);
    const folded = graph.apply("exp", [graph.apply("mul", [two, graph.apply("log", [graph.constant(3)])])]);
    expect(folded.op).toBe("constant");
    expect(folded.value).toBeCloseTo(9, 12);
  });
});

describe("scalar operations", () => {
  test("say what their names say", () => {
    expect(scalar.sigmoid(0)).toBe(0.5);
    expect(scalar.sigmoid(-800)).toBe(0);
    expect(scalar.sigmoid(800)).toBe(1);
    expect(scalar.sigmoid(2)).toBeCloseTo(0.880797077977882, 14);
    expect(scalar.softplus(0)).toBeCloseTo(Math.LN2, 15);
    expect(scalar.softplus(1000)).toBe(1000);
    expect(scalar.softplus(-40) / Math.exp(-40)).toBeCloseTo(1, 14);
    expect(scalar.softplus(Number.NaN)).toBeNaN();
    expect(scalar.softplus(-Infinity)).toBe(0);
    expect(scalar.min(Number.NaN, 1)).toBeNaN();
    expect(scalar.max(1, Number.NaN)).toBeNaN();
    expect(scalar.select(Number.NaN, 1, 2)).toBe(1);
    expect(scalar.select(0, 1, 2)).toBe(2);
    expect(scalar.notEqual(Number.NaN, Number.NaN)).toBe(1);
    expect(scalar.equal(Number.NaN, Number.NaN)).toBe(0);
    expect(scalar.lgamma(0.5)).toBeCloseTo(0.5 * Math.log(Math.PI), 14);
    expect(scalar.digamma(1)).toBeCloseTo(-0.5772156649015329, 14);
    expect(scalar.trigamma(1)).toBeCloseTo(Math.PI ** 2 / 6, 13);
    expect(scalar.erf(0.5)).toBeCloseTo(0.5204998778130465, 14);
  });
});

describe("axes", () => {
  test("are those of the arguments, in the graph's order, and a reduction takes one away", () => {
    const graph = new Graph(["b", "s", "t"]);
    const [x, y] = [graph.input("x", ["t", "b"]), graph.input("y", ["s"])];
    expect(x.axes).toEqual(["b", "t"]);
    const both = graph.apply("mul", [y, x]);
    expect(both.axes).toEqual(["b", "s", "t"]);
    expect(graph.reduce("sum", "s", both).axes).toEqual(["b", "t"]);
    expect(graph.reduce("logsumexp", "b", both).axes).toEqual(["s", "t"]);
  });

  test("a reduction over an axis that the value lacks is by the length", () => {
    const graph = new Graph(["b", "t"]);
    const x = graph.input("x", ["b"]);
    expect(graph.reduce("sum", "t", x)).toBe(graph.apply("mul", [graph.size("t"), x]));
    const logOfSize = graph.apply("log", [graph.size("t")]);
    expect(graph.reduce("logsumexp", "t", x)).toBe(graph.apply("add", [logOfSize, x]));
  });
});

describe("reachable", () => {
  test("stops where it is told and keeps the order", () => {
    const graph = new Graph([]);
    const x = graph.input("x", []);
    const inner = graph.apply("exp", [x]);
    const outer = graph.apply("tanh", [inner]);
    graph.apply("log", [x]);
    expect([...reachable([outer])].map(({ op }) => op).sort()).toEqual(["exp", "input", "tanh"]);
    expect(reachableUntil([outer], (node) => node === inner)).toEqual([inner, outer]);
  });

  test("evaluateAt gives every node its value", () => {
    const graph = new Graph(["b"]);
    const x = graph.input("x", ["b"]);
    const node = graph.reduce("sum", "b", graph.apply("mul", [x, graph.apply("exp", [x])]));
    expect(evaluateAt(graph, { x: 1 })[node.id]).toBeCloseTo(Math.E, 15);
  });
});

describe("substitute", () => {
  test("replaces parts, shares what stays, and builds what simplification makes of the rest", () => {
    const graph = new Graph([]);
    const [x, y] = ["x", "y"].map((name) => graph.input(name, []));
    const inner = graph.apply("exp", [x]);
    const kept = graph.apply("log", [y]);
    const node = graph.apply("mul", [graph.apply("add", [inner, kept]), inner]);
    expect(substitute([node, kept], new Map())).toEqual([node, kept]);
    const [replaced, same, stand] = substitute([node, kept, inner], new Map([[inner, graph.constant(0)]]));
    expect(replaced).toBe(graph.apply("mul", [kept, graph.constant(0)]));
    expect(same).toBe(kept);
    expect(stand).toBe(graph.constant(0));
  });

  test("goes as deep as the expression is", () => {
    const graph = new Graph([]);
    const [x, y] = ["x", "y"].map((name) => graph.input(name, []));
    const chain = (start: Traced) => {
      let node = start;
      for (let k = 0; k < 20_000; k++) node = graph.apply("tanh", [graph.apply("add", [node, x])]);
      return node;
    };
    const node = chain(graph.apply("exp", [x]));
    const [replaced] = substitute([node], new Map([[graph.apply("exp", [x]), y]]));
    expect(replaced).toBe(chain(y));
    expect(node.depth).toBe(40_001);
  });
});
