import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Graph, Traced, type Value } from "../../../src/compute/graph/expression.js";
import { gradient, gradientTexts } from "../../../src/compute/graph/gradient.js";
import { computeScalar, type Elementwise } from "../../../src/compute/graph/scalar.js";
import { evaluateAt } from "../../../src/compute/graph/trace.js";
import { compile } from "../../../src/compute/program/program.js";
import { STEP } from "./complex.js";
import {
  type Arrays,
  axesOf,
  build,
  evaluate,
  evaluateComplex,
  expression,
  operationNamed,
  points,
  type Tree,
} from "./expressions.js";

const NAMES = ["x", "y", "z"] as const;
const NO_AXES = { x: [], y: [], z: [] };
/** Spread evenly: fast-check's own choice of awkward numbers would stand on kinks, where differences mean nothing. */
const number = fc.noBias(fc.integer({ min: 0, max: 2 ** 30 })).map((u) => (3 * u) / 2 ** 30 - 1.5);

/** Value and gradient of an expression at a point by the graph; undefined where it is a constant. */
const reverse = (tree: Tree, at: readonly number[]) => {
  const graph = new Graph([]);
  const inputs = NAMES.map((name) => graph.input(name, []));
  const root = build(tree, { x: inputs[0], y: inputs[1], z: inputs[2] });
  if (!(root instanceof Traced)) return undefined;
  const derivatives = gradient(root, inputs);
  const values = evaluateAt(graph, { x: at[0], y: at[1], z: at[2] });
  return derivatives.map((node) => values[node.id]);
};

const direct = (tree: Tree, at: readonly number[]): number =>
  evaluate(tree, { axes: NO_AXES, sizes: {}, values: { x: [at[0]], y: [at[1]], z: [at[2]] } }, {});

/** Central differences, extrapolated once (error h^4), and by how much the slopes to either side differ. */
const difference = (f: (x: number) => number, x: number, h = 1e-3): { slope: number; kink: number } => {
  const central = (step: number) => (f(x + step) - f(x - step)) / (2 * step);
  const kink = Math.abs(f(x + 2 * h) - 2 * f(x) + f(x - 2 * h)) / h;
  return { slope: (4 * central(h / 2) - central(h)) / 3, kink };
};

describe("gradients of random expressions", () => {
  test("against the complex step, to rounding", () => {
    fc.assert(
      fc.property(
        expression({ inputs: NAMES, analytic: true, depth: 5 }),
        fc.tuple(number, number, number),
        (tree, at) => {
          const actual = reverse(tree, at);
          if (actual === undefined) return;
          actual.forEach((derivative, i) => {
            const values = Object.fromEntries(
              NAMES.map((name, k) => [name, [{ re: at[k], im: i === k ? STEP : 0 }]]),
            );
            const expected = evaluateComplex(tree, { axes: NO_AXES, sizes: {}, values }, {}).im / STEP;
            expect(Math.abs(derivative - expected)).toBeLessThanOrEqual(1e-11 * (1 + Math.abs(expected)));
          });
        },
      ),
      { numRuns: 600, seed: 6615, endOnFailure: true },
    );
  });

  test("against finite differences, with every operation that has a derivative", () => {
    let sharp = 0;
    let all = 0;
    fc.assert(
      fc.property(expression({ inputs: NAMES, depth: 5 }), fc.tuple(number, number, number), (tree, at) => {
        const actual = reverse(tree, at);
        if (actual === undefined) return;
        actual.forEach((derivative, i) => {
          const along = (x: number) => direct(tree, at.with(i, x));
          const { slope, kink } = difference(along, at[i]);
          const scale = 1 + Math.abs(slope) + Math.abs(along(at[i]));
          // With a kink within the step the difference means nothing.
          all++;
          if (kink > 0.02 * scale) return;
          sharp++;
          expect(Math.abs(derivative - slope)).toBeLessThanOrEqual(1e-6 * scale);
        });
      }),
      { numRuns: 600, seed: 6615, endOnFailure: true },
    );
    expect(sharp / all).toBeGreaterThan(0.9);
  });

  test("are themselves differentiable", () => {
    fc.assert(
      fc.property(
        expression({ inputs: NAMES, analytic: true, depth: 4 }),
        fc.tuple(number, number, number),
        (tree, at) => {
          const graph = new Graph([]);
          const inputs = NAMES.map((name) => graph.input(name, []));
          const root = build(tree, { x: inputs[0], y: inputs[1], z: inputs[2] });
          if (!(root instanceof Traced)) return;
          const [first] = gradient(root, [inputs[0]]);
          const [second] = gradient(first, [inputs[1]]);
          const point = { x: at[0], y: at[1], z: at[2] };
          const along = (y: number) => evaluateAt(graph, { ...point, y })[first.id];
          const { slope } = difference(along, at[1]);
          const scale = 1 + Math.abs(slope) + Math.abs(along(at[1]));
          expect(Math.abs(evaluateAt(graph, point)[second.id] - slope)).toBeLessThanOrEqual(1e-6 * scale);
        },
      ),
      { numRuns: 150, seed: 6615, endOnFailure: true },
    );
  });
});

/** The derivatives of one operation in its arguments at a point. */
const slopes = (op: Elementwise, ...at: number[]): number[] => {
  const graph = new Graph([]);
  const inputs = at.map((_, i) => graph.input(`x${i}`, []));
  const derivatives = gradient(graph.apply(op, inputs), inputs);
  const values = evaluateAt(graph, Object.fromEntries(at.map((value, i) => [`x${i}`, value])));
  return derivatives.map((node) => values[node.id]);
};

const span = (low: number, high: number) =>
  Array.from({ length: 41 }, (_, k) => low + ((high - low) * (k + 0.37)) / 41);

describe("each operation", () => {
  const unary: readonly [Elementwise, number, number][] = [
    ["neg", -3, 3],
    ["square", -3, 3],
    ["sqrt", 0.01, 20],
    ["exp", -20, 5],
    ["log", 0.01, 20],
    ["log1p", -0.95, 20],
    ["expm1", -20, 5],
    ["tanh", -10, 10],
    ["sigmoid", -30, 30],
    ["softplus", -30, 30],
    ["abs", -3, 3],
    ["lgamma", 0.05, 30],
    ["lgamma", -3.9, -3.1],
    ["digamma", 0.2, 30],
    ["digamma", -2.9, -2.1],
    ["erf", -5, 5],
  ];
  test.each(unary)("%s from %d to %d", (op, low, high) => {
    for (const x of span(low, high)) {
      const distance = Math.min(Math.abs(x), Math.abs(x - Math.round(x)), 1);
      const h = 1e-3 * (op === "abs" || op.endsWith("gamma") || low > 0 ? Math.min(distance || 1, 1) : 1);
      const { slope } = difference((at) => computeScalar(op, [at]), x, h);
      const [actual] = slopes(op, x);
      const size = Math.abs(computeScalar(op, [x]));
      // Rounding of the values, divided by the step.
      expect(Math.abs(actual - slope), `${op}'(${x})`).toBeLessThanOrEqual(
        1e-8 * Math.abs(slope) + (1e-15 * (size + 1e-3)) / h + 1e-12,
      );
    }
  });

  const binary: readonly Elementwise[] = ["add", "sub", "mul", "div", "pow", "min", "max"];
  test.each(binary)("%s in both arguments", (op) => {
    for (const a of span(op === "pow" ? 0.1 : -4, 4)) {
      for (const b of [-2.3, -0.7, 0.4, 1, 3.1]) {
        if ((op === "min" || op === "max") && Math.abs(a - b) < 1e-2) continue;
        const actual = slopes(op, a, b);
        const expected = [
          difference((x) => computeScalar(op, [x, b]), a, 1e-3 * Math.min(1, Math.abs(a))).slope,
          difference((x) => computeScalar(op, [a, x]), b).slope,
        ];
        actual.forEach((slope, i) => {
          expect(Math.abs(slope - expected[i])).toBeLessThanOrEqual(1e-7 * (1 + Math.abs(expected[i])));
        });
      }
    }
  });

  test("comparisons are flat and select passes what it chose", () => {
    for (const op of ["less", "lessEqual", "greater", "greaterEqual", "equal", "notEqual"] as const) {
      expect(slopes(op, 1, 2)).toEqual([0, 0]);
    }
    expect(slopes("select", 1, 5, 7)).toEqual([0, 1, 0]);
    expect(slopes("select", 0, 5, 7)).toEqual([0, 0, 1]);
  });

  test("at kinks, ties and edges", () => {
    expect(slopes("abs", 0)).toEqual([0]);
    expect(slopes("abs", -0)).toEqual([0]);
    expect(slopes("abs", -2)).toEqual([-1]);
    for (const op of ["min", "max"] as const) expect(slopes(op, 1.5, 1.5)).toEqual([0.5, 0.5]);
    expect(slopes("max", 2, 1)).toEqual([1, 0]);
    expect(slopes("min", 2, 1)).toEqual([0, 1]);
    expect(slopes("sqrt", 0)).toEqual([Infinity]);
    expect(slopes("sqrt", 1e-300)[0]).toBeCloseTo(5e149, -140);
    expect(slopes("sqrt", 5e-324)[0]).toBeGreaterThan(1e161);
    expect(slopes("log", 0)).toEqual([Infinity]);
    expect(slopes("exp", -Infinity)).toEqual([0]);
    expect(slopes("sigmoid", 1000)).toEqual([0]);
    expect(slopes("softplus", 1000)).toEqual([1]);
    expect(slopes("softplus", -1000)).toEqual([0]);
    expect(slopes("tanh", 1000)).toEqual([0]);
    expect(slopes("erf", 0)[0]).toBeCloseTo(2 / Math.sqrt(Math.PI), 15);
    expect(slopes("erf", 40)).toEqual([0]);
    expect(slopes("lgamma", 1)[0]).toBeCloseTo(-0.5772156649015329, 14);
    expect(slopes("digamma", 1)[0]).toBeCloseTo(Math.PI ** 2 / 6, 13);
  });

  test("pow at zero and at whole exponents", () => {
    expect(slopes("pow", 0, 2)).toEqual([0, 0]);
    expect(slopes("pow", 0, 1)).toEqual([1, 0]);
    expect(slopes("pow", 0, 0.5)).toEqual([Infinity, 0]);
    // a^0 = 1 for every a, so it is flat in a.
    expect(slopes("pow", 0, 0)[0]).toBe(0);
    expect(slopes("pow", -3, 0)[0]).toBe(0);
    expect(slopes("pow", -2, 3)[0]).toBe(12);
    const graph = new Graph([]);
    const x = graph.input("x", []);
    const at = (exponent: number, value: number) => {
      const [slope] = gradient(graph.apply("pow", [x, graph.constant(exponent)]), [x]);
      return evaluateAt(graph, { x: value })[slope.id];
    };
    for (let n = -9; n <= 9; n++) expect(at(n, 1.3)).toBeCloseTo(n * 1.3 ** (n - 1), 9);
    expect(at(2, 0)).toBe(0);
    expect(at(1, 0)).toBe(1);
    expect(at(0, 0)).toBe(0);
    expect(at(2.5, 0)).toBe(0);
  });

  test("a constant numerator, of any size", () => {
    for (const a of [0, 1, -1, 3, 1e-30, 1e30, 1e-200, -1e200]) {
      for (const x of [0.5, -2, 4]) {
        const graph = new Graph([]);
        const node = graph.input("x", []);
        const [slope] = gradient(graph.apply("div", [graph.constant(a), node]), [node]);
        const expected = -a / (x * x);
        expect(Math.abs(evaluateAt(graph, { x })[slope.id] - expected)).toBeLessThanOrEqual(
          1e-15 * Math.abs(expected),
        );
      }
    }
  });

  test("trigamma has none, and says so", () => {
    const graph = new Graph([]);
    const x = graph.input("x", []);
    expect(() => gradient(graph.apply("trigamma", [x]), [x])).toThrow(gradientTexts.trigamma);
    expect(() => gradient(graph.apply("trigamma", [x]), [graph.input("y", [])])).not.toThrow();
  });
});

describe("gradients over axes", () => {
  const AXES = { x: ["b", "t"], y: ["t"], z: [], w: ["s", "b"] } as const;
  const ORDER = ["b", "t", "s"];
  const sizes = fc.record({
    b: fc.integer({ min: 1, max: 3 }),
    t: fc.integer({ min: 1, max: 3 }),
    s: fc.integer({ min: 1, max: 2 }),
  });

  test("with broadcasting, reductions and missing axes, against the complex step", () => {
    let reduced = 0;
    fc.assert(
      fc.property(
        expression({ inputs: Object.keys(AXES), axes: ORDER, analytic: true, depth: 4 }),
        sizes,
        fc.infiniteStream(number),
        (tree, size, numbers) => {
          const values = Object.fromEntries(
            Object.entries<readonly string[]>(AXES).map(([name, axes]) => [
              name,
              points(axes, size).map(() => numbers.next().value),
            ]),
          );
          const program = compile((inputs: Readonly<Record<string, Value>>) => build(tree, inputs), {
            inputs: AXES,
            axes: ORDER,
            gradients: ["x", "y", "z", "w"],
            backend: "js",
          });
          program.resize(size);
          for (const name of Object.keys(AXES) as (keyof typeof AXES)[])
            program.input(name).set(values[name]);
          program.run();
          const axes = axesOf(tree, AXES, ORDER);
          if (JSON.stringify(tree).includes("reduce")) reduced++;
          for (const name of Object.keys(AXES) as (keyof typeof AXES)[]) {
            const actual = program.gradient(name);
            expect(actual.length).toBe(values[name].length);
            actual.forEach((derivative, k) => {
              const stepped: Arrays<{ re: number; im: number }> = {
                axes: AXES,
                sizes: size,
                values: Object.fromEntries(
                  Object.entries(values).map(([other, array]) => [
                    other,
                    array.map((re, i) => ({ re, im: other === name && i === k ? STEP : 0 })),
                  ]),
                ),
              };
              const expected = points(axes, size).reduce(
                (sum, at) => sum + evaluateComplex(tree, stepped, at).im / STEP,
                0,
              );
              expect(Math.abs(derivative - expected)).toBeLessThanOrEqual(1e-10 * (1 + Math.abs(expected)));
            });
          }
        },
      ),
      { numRuns: 150, seed: 6615, endOnFailure: true },
    );
    expect(reduced).toBeGreaterThan(30);
  });

  const run = (fn: (inputs: Readonly<Record<string, Value>>) => Value, x: number[], extra = 3) => {
    const program = compile(fn, {
      inputs: { x: ["b"], other: ["t"] },
      axes: ["b", "t"],
      gradients: ["x", "other"],
      backend: "js",
    });
    program.resize({ b: x.length, t: extra });
    program.input("x").set(x);
    program.run();
    return {
      value: [...program.output()],
      x: [...program.gradient("x")],
      other: [...program.gradient("other")],
    };
  };
  const [sum, logsumexp] = (["sum", "logsumexp"] as const).map(
    (op) => (axis: string, value: Value) =>
      build({ kind: "reduce", op, axis, arg: { kind: "input", name: "v" } }, { v: value }),
  );
  const mul = operationNamed("mul");

  test("a sum over a missing axis counts it", () => {
    const { value, x } = run(({ x }) => sum("t", x), [1, 2]);
    expect(value).toEqual([3, 6]);
    expect(x).toEqual([3, 3]);
  });

  test("a log-sum-exp over a missing axis adds the log of its length", () => {
    const { value, x } = run(({ x }) => logsumexp("t", x), [1, 2], 5);
    expect(value[0]).toBeCloseTo(1 + Math.log(5), 14);
    expect(x).toEqual([1, 1]);
  });

  test("an input that is not used has gradient zero, and one that is the output has one", () => {
    const { x, other } = run(({ x }) => x, [4, 5]);
    expect(x).toEqual([1, 1]);
    expect(other).toEqual([0, 0, 0]);
  });

  test("an output over both axes sums to each", () => {
    const { x, other } = run(({ x, other }) => mul(x, operationNamed("add")(other, 2)), [4, 5], 3);
    expect(x).toEqual([6, 6]);
    expect(other).toEqual([9, 9, 9]);
  });

  test("the gradient of log-sum-exp is the softmax, with infinities where they weigh nothing", () => {
    const { value, x } = run(({ x }) => logsumexp("b", x), [1000, 1000 + Math.log(3), -Infinity]);
    expect(value[0]).toBeCloseTo(1000 + Math.log(4), 11);
    expect(x[0]).toBeCloseTo(0.25, 12);
    expect(x[1]).toBeCloseTo(0.75, 12);
    expect(x[2]).toBe(0);
  });

  test("the seed weighs the elements, and pointwise derivatives are not summed", () => {
    const graph = new Graph(["b"]);
    const [x, c, seed] = [graph.input("x", ["b"]), graph.input("c", []), graph.input("seed", ["b"])];
    const node = graph.apply("mul", [x, c]);
    const [weighted] = gradient(node, [c], { seed });
    expect(weighted).toBe(graph.reduce("sum", "b", graph.apply("mul", [seed, x])));
    const [pointwise] = gradient(node, [c], { pointwise: true });
    expect(pointwise).toBe(x);
  });
});
