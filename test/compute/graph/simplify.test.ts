import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Graph, type Traced } from "../../../src/compute/graph/expression.js";
import { computeScalar, type Elementwise } from "../../../src/compute/graph/scalar.js";
import { evaluateAt } from "../../../src/compute/graph/trace.js";
import { evaluate, expression, type Tree } from "./expressions.js";

interface Build {
  readonly x: Traced;
  readonly y: Traced;
  readonly z: Traced;
  of(op: Elementwise, ...args: (Traced | number)[]): Traced;
}

/** Every identity: what is written, what must come of it, and whether constants are gathered (and so rounded). */
const identities: readonly [string, (g: Build) => Traced, (g: Build) => Traced | number, "rounds"?][] = [
  ["x + 0", ({ of, x }) => of("add", x, 0), ({ x }) => x],
  ["0 + x", ({ of, x }) => of("add", 0, x), ({ x }) => x],
  ["x + -0", ({ of, x }) => of("add", x, -0), ({ x }) => x],
  ["x + (-y)", ({ of, x, y }) => of("add", x, of("neg", y)), ({ of, x, y }) => of("sub", x, y)],
  ["(-x) + y", ({ of, x, y }) => of("add", of("neg", x), y), ({ of, x, y }) => of("sub", y, x)],
  ["2 + (3 + x)", ({ of, x }) => of("add", 2, of("add", 3, x)), ({ of, x }) => of("add", 5, x), "rounds"],
  ["(x + 3) + 2", ({ of, x }) => of("add", of("add", x, 3), 2), ({ of, x }) => of("add", 5, x), "rounds"],
  ["x - 0", ({ of, x }) => of("sub", x, 0), ({ x }) => x],
  ["0 - x", ({ of, x }) => of("sub", 0, x), ({ of, x }) => of("neg", x)],
  ["x - (-y)", ({ of, x, y }) => of("sub", x, of("neg", y)), ({ of, x, y }) => of("add", x, y)],
  ["x - 3", ({ of, x }) => of("sub", x, 3), ({ of, x }) => of("add", -3, x)],
  ["(x - 3) + 3", ({ of, x }) => of("add", of("sub", x, 3), 3), ({ x }) => x, "rounds"],
  ["x 1", ({ of, x }) => of("mul", x, 1), ({ x }) => x],
  ["1 x", ({ of, x }) => of("mul", 1, x), ({ x }) => x],
  ["x (-1)", ({ of, x }) => of("mul", x, -1), ({ of, x }) => of("neg", x)],
  ["-1 x", ({ of, x }) => of("mul", -1, x), ({ of, x }) => of("neg", x)],
  ["x x", ({ of, x }) => of("mul", x, x), ({ of, x }) => of("square", x)],
  ["(-x) 3", ({ of, x }) => of("mul", of("neg", x), 3), ({ of, x }) => of("mul", -3, x)],
  ["3 (-x)", ({ of, x }) => of("mul", 3, of("neg", x)), ({ of, x }) => of("mul", -3, x)],
  ["(-x) y", ({ of, x, y }) => of("mul", of("neg", x), y), ({ of, x, y }) => of("neg", of("mul", x, y))],
  ["x (-y)", ({ of, x, y }) => of("mul", x, of("neg", y)), ({ of, x, y }) => of("neg", of("mul", x, y))],
  ["(-x) (-y)", ({ of, x, y }) => of("mul", of("neg", x), of("neg", y)), ({ of, x, y }) => of("mul", x, y)],
  ["2 (3 x)", ({ of, x }) => of("mul", 2, of("mul", 3, x)), ({ of, x }) => of("mul", 6, x), "rounds"],
  [
    "y (3 x)",
    ({ of, x, y }) => of("mul", y, of("mul", 3, x)),
    ({ of, x, y }) => of("mul", 3, of("mul", y, x)),
    "rounds",
  ],
  [
    "(3 x) y",
    ({ of, x, y }) => of("mul", of("mul", 3, x), y),
    ({ of, x, y }) => of("mul", 3, of("mul", x, y)),
    "rounds",
  ],
  ["x / 1", ({ of, x }) => of("div", x, 1), ({ x }) => x],
  ["x / -1", ({ of, x }) => of("div", x, -1), ({ of, x }) => of("neg", x)],
  ["x / 3", ({ of, x }) => of("div", x, 3), ({ of, x }) => of("mul", 1 / 3, x), "rounds"],
  ["3 / x", ({ of, x }) => of("div", 3, x), ({ of, x }) => of("mul", 3, of("div", 1, x)), "rounds"],
  [
    "(3 x) / y",
    ({ of, x, y }) => of("div", of("mul", 3, x), y),
    ({ of, x, y }) => of("mul", 3, of("div", x, y)),
    "rounds",
  ],
  ["(-x) / y", ({ of, x, y }) => of("div", of("neg", x), y), ({ of, x, y }) => of("neg", of("div", x, y))],
  ["x / (-y)", ({ of, x, y }) => of("div", x, of("neg", y)), ({ of, x, y }) => of("neg", of("div", x, y))],
  ["-(-x)", ({ of, x }) => of("neg", of("neg", x)), ({ x }) => x],
  ["-(x - y)", ({ of, x, y }) => of("neg", of("sub", x, y)), ({ of, x, y }) => of("sub", y, x)],
  ["-(3 x)", ({ of, x }) => of("neg", of("mul", 3, x)), ({ of, x }) => of("mul", -3, x)],
  [
    "(3 x)^2",
    ({ of, x }) => of("square", of("mul", 3, x)),
    ({ of, x }) => of("mul", 9, of("square", x)),
    "rounds",
  ],
  ["(-x)^2", ({ of, x }) => of("square", of("neg", x)), ({ of, x }) => of("square", x)],
  ["|x|^2", ({ of, x }) => of("square", of("abs", x)), ({ of, x }) => of("square", x)],
  ["|-x|", ({ of, x }) => of("abs", of("neg", x)), ({ of, x }) => of("abs", x)],
  ["||x||", ({ of, x }) => of("abs", of("abs", x)), ({ of, x }) => of("abs", x)],
  ["|x^2|", ({ of, x }) => of("abs", of("square", x)), ({ of, x }) => of("square", x)],
  ["|e^x|", ({ of, x }) => of("abs", of("exp", x)), ({ of, x }) => of("exp", x)],
  ["x^0", ({ of, x }) => of("pow", x, 0), () => 1],
  ["x^1", ({ of, x }) => of("pow", x, 1), ({ x }) => x],
  ["x^2", ({ of, x }) => of("pow", x, 2), ({ of, x }) => of("square", x)],
  ["x^-1", ({ of, x }) => of("pow", x, -1), ({ of, x }) => of("div", 1, x)],
  ["x^-2", ({ of, x }) => of("pow", x, -2), ({ of, x }) => of("div", 1, of("square", x)), "rounds"],
  ["x^3", ({ of, x }) => of("pow", x, 3), ({ of, x }) => of("mul", of("square", x), x), "rounds"],
  [
    "x^8",
    ({ of, x }) => of("pow", x, 8),
    ({ of, x }) => of("square", of("square", of("square", x))),
    "rounds",
  ],
  [
    "(x^2)^(1/2)",
    ({ of, x }) => of("pow", of("square", x), 0.5),
    ({ of, x }) => of("sqrt", of("square", x)),
    "rounds",
  ],
  ["min(x, x)", ({ of, x }) => of("min", x, x), ({ x }) => x],
  ["max(x, x)", ({ of, x }) => of("max", x, x), ({ x }) => x],
  ["select(z, x, x)", ({ of, x, z }) => of("select", z, x, x), ({ x }) => x],
  ["select(1, x, y)", ({ of, x, y }) => of("select", 1, x, y), ({ x }) => x],
  ["select(0, x, y)", ({ of, x, y }) => of("select", 0, x, y), ({ y }) => y],
  ["select(NaN, x, y)", ({ of, x, y }) => of("select", Number.NaN, x, y), ({ x }) => x],
];

/** Things that look like identities and fail for some float. */
const kept: readonly [string, (g: Build) => Traced, Elementwise][] = [
  ["x 0", ({ of, x }) => of("mul", x, 0), "mul"],
  ["x - x", ({ of, x }) => of("sub", x, x), "sub"],
  ["x / x", ({ of, x }) => of("div", x, x), "div"],
  ["0 / x", ({ of, x }) => of("div", 0, x), "div"],
  ["log e^x", ({ of, x }) => of("log", of("exp", x)), "log"],
  ["x^(1/2), x of any sign", ({ of, x }) => of("pow", x, 0.5), "pow"],
  ["x^9", ({ of, x }) => of("pow", x, 9), "pow"],
  ["x^2.5", ({ of, x }) => of("pow", x, 2.5), "pow"],
  ["1^x", ({ of, x }) => of("pow", 1, x), "pow"],
  ["x / 0", ({ of, x }) => of("div", x, 0), "div"],
  ["x / 1e300", ({ of, x }) => of("div", x, 1e300), "div"],
];

const builder = (plain: boolean) => {
  const graph = new Graph([]);
  const of = (op: Elementwise, ...args: (Traced | number)[]) => {
    const nodes = args.map((arg) => (typeof arg === "number" ? graph.constant(arg) : arg));
    return plain ? graph.raw(op, nodes) : graph.apply(op, nodes);
  };
  const [x, y, z] = ["x", "y", "z"].map((name) => graph.input(name, []));
  return { graph, x, y, z, of };
};

const SPECIAL = [Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, 0.5, -3];
const points = SPECIAL.flatMap((x) => SPECIAL.map((y) => ({ x, y, z: y })));

/** Equal; zeros of either sign are. */
const close = (a: number, b: number, rounding: number): boolean =>
  Object.is(a, b) || a === b || Math.abs(a - b) <= rounding * Math.max(Math.abs(a), Math.abs(b));

/** 1 / -0 and 1 / 0 differ, so infinities may too where a zero was divided by. */
const value = (graph: Graph, node: Traced, at: Readonly<Record<string, number>>) =>
  evaluateAt(graph, at)[node.id];

describe("identities", () => {
  test.each(identities)("%s is simplified", (_, written, expected) => {
    const g = builder(false);
    const result = expected(g);
    expect(written(g)).toBe(typeof result === "number" ? g.graph.constant(result) : result);
  });

  test.each(identities)("%s keeps its value, NaN and infinities included", (name, written, _, rounds) => {
    const [simple, plain] = [builder(false), builder(true)];
    const [a, b] = [written(simple), written(plain)];
    const check = (at: Readonly<Record<string, number>>, rounding: number) => {
      const [left, right] = [value(simple.graph, a, at), value(plain.graph, b, at)];
      // (x - 3) + 3 loses digits of a small x, and so does what is compared with.
      expect(
        close(left, right, rounding) || (rounds && close(left + 10, right + 10, rounding)),
        `${name}: ${left} ${right}`,
      ).toBe(true);
    };
    for (const at of points) check(at, rounds ? 1e-14 : 0);
    const number = fc
      .double({ min: -1e6, max: 1e6, noNaN: true })
      .filter((x) => x === 0 || Math.abs(x) > 1e-6);
    fc.assert(
      fc.property(number, number, (x, y) => check({ x, y, z: y }, rounds ? 1e-14 : 0)),
      { numRuns: 100 },
    );
  });

  test.each(kept)("%s is left alone", (_, written, op) => {
    expect(written(builder(false)).op).toBe(op);
  });

  test("constants that would overflow are not gathered", () => {
    const { graph, x, of } = builder(false);
    const large = of("mul", 1e300, of("mul", 1e14, x));
    expect(value(graph, large, { x: 0 })).toBe(0);
    expect(value(graph, large, { x: 1e-10 })).toBeCloseTo(1e304, -290);
    const small = of("mul", 5e-324, of("mul", 0.1, x));
    expect(value(graph, small, { x: Infinity })).toBe(Infinity);
  });

  test("random expressions keep their value", () => {
    const number = fc.double({ min: -2, max: 2, noNaN: true });
    fc.assert(
      fc.property(expression({ inputs: ["x", "y"], depth: 5 }), number, number, (tree, x, y) => {
        const expected = evaluate(
          tree,
          { axes: { x: [], y: [] }, sizes: {}, values: { x: [x], y: [y] } },
          {},
        );
        const { graph, of, ...inputs } = builder(false);
        const build = (node: Tree): Traced => {
          if (node.kind === "input") return node.name === "x" ? inputs.x : inputs.y;
          if (node.kind === "constant") return graph.constant(node.value);
          if (node.kind === "apply") return of(node.op, ...node.args.map(build));
          throw new RangeError("no reductions here");
        };
        const actual = value(graph, build(tree), { x, y });
        expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-10 * (1 + Math.abs(expected)));
      }),
      { numRuns: 400 },
    );
  });

  test("an operation on numbers is what the graph computes", () => {
    for (const [, written] of identities) {
      const { graph, ...rest } = builder(true);
      const node = written({ ...rest } as Build);
      const at = { x: 0.7, y: -1.3, z: 1 };
      const direct = (each: Traced): number =>
        each.op === "input"
          ? at[each.name as "x"]
          : each.op === "constant"
            ? each.value
            : computeScalar(each.op as Elementwise, each.args.map(direct));
      expect(value(graph, node, at)).toBe(direct(node));
    }
  });
});
