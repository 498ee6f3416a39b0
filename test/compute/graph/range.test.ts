import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Graph, Traced } from "../../../src/compute/graph/expression.js";
import { ANYTHING, type Range, rangeOf } from "../../../src/compute/graph/range.js";
import { computeScalar, type Elementwise, scalar } from "../../../src/compute/graph/scalar.js";
import { evaluateAt } from "../../../src/compute/graph/trace.js";
import { build, expression } from "./expressions.js";

const OPERATIONS = Object.keys(scalar) as Elementwise[];

/** Zero has no sign in interval arithmetic. */
const unsigned = (x: number) => (x === 0 ? 0 : x);
const end = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: -30, max: 30, noNaN: true }).map(unsigned) },
  { weight: 2, arbitrary: fc.constantFrom(-2, -1, 0, 0.5, 1, 3, Infinity, -Infinity) },
  { weight: 1, arbitrary: fc.double({ noNaN: true }).map(unsigned) },
);
const range = fc.tuple(end, end).map(([a, b]): Range => ({ low: Math.min(a, b), high: Math.max(a, b) }));

/** A range and numbers inside it, its ends among them. */
const inside = range.chain(({ low, high }) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(low, high),
        fc.double({ min: low, max: high, noNaN: true }).map(unsigned),
        fc
          .double({ min: 0, max: 1, noNaN: true })
          .map((u) =>
            unsigned(
              Math.min(
                high,
                Math.max(low, Math.max(low, -50) + u * (Math.min(high, 50) - Math.max(low, -50))),
              ),
            ),
          ),
      ),
      { minLength: 8, maxLength: 8 },
    )
    .map((values) => ({ range: { low, high }, values: values.filter((x) => x >= low && x <= high) })),
);

/** Values at a bound may pass it by rounding. */
const within = (value: number, { low, high }: Range): boolean => {
  const slack = 1e-12 * Math.abs(value) + 1e-300;
  return (
    Number.isNaN(value) || value === low || value === high || (value >= low - slack && value <= high + slack)
  );
};

describe("rangeOf", () => {
  test.each(OPERATIONS)("bounds every value of %s", (op) => {
    const n = scalar[op].length;
    fc.assert(
      fc.property(fc.array(inside, { minLength: n, maxLength: n }), (args) => {
        const bounds = rangeOf(
          op,
          args.map((arg) => arg.range),
        );
        expect(bounds.low).not.toBeNaN();
        expect(bounds.high).not.toBeNaN();
        for (let k = 0; k < 8; k++) {
          const values = args.map((arg) => arg.values[k % arg.values.length]);
          const value = computeScalar(op, values);
          expect(
            within(value, bounds),
            `${op}(${values}) = ${value} in [${bounds.low}, ${bounds.high}]`,
          ).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("says what backends rely on", () => {
    const unit = { low: 0, high: 1 };
    expect(rangeOf("add", [{ low: 1e-4, high: 1e-4 }, rangeOf("square", [ANYTHING])])).toEqual({
      low: 1e-4,
      high: Infinity,
    });
    expect(
      rangeOf("div", [
        { low: 1, high: 1 },
        { low: 1e-4, high: Infinity },
      ]),
    ).toEqual({ low: 0, high: 1e4 });
    expect(rangeOf("exp", [ANYTHING])).toEqual({ low: 0, high: Infinity });
    expect(rangeOf("exp", [{ low: -Infinity, high: 0 }])).toEqual(unit);
    expect(rangeOf("tanh", [ANYTHING])).toEqual({ low: -1, high: 1 });
    expect(rangeOf("sigmoid", [ANYTHING])).toEqual(unit);
    expect(rangeOf("greater", [ANYTHING, ANYTHING])).toEqual(unit);
    expect(rangeOf("abs", [{ low: -3, high: -2 }])).toEqual({ low: 2, high: 3 });
    // The square overflows where the number itself does not.
    expect(rangeOf("abs", [{ low: 1e200, high: 1e201 }])).toEqual({ low: 1e200, high: 1e201 });
    expect(
      rangeOf("mul", [
        { low: 0, high: 0 },
        { low: 0, high: Infinity },
      ]),
    ).toEqual({ low: 0, high: 0 });
    expect(rangeOf("log", [unit])).toEqual({ low: -Infinity, high: 0 });
    expect(rangeOf("sub", [unit, { low: 2, high: 5 }])).toEqual({ low: -5, high: -1 });
    expect(rangeOf("max", [unit, { low: -5, high: 0.5 }])).toEqual(unit);
  });

  test("bounds every node of random expressions", () => {
    fc.assert(
      fc.property(
        expression({ inputs: ["x", "y"], depth: 5 }),
        fc.double({ min: -3, max: 3, noNaN: true }).map(unsigned),
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        (tree, x, y) => {
          const graph = new Graph([]);
          const inputs = { x: graph.input("x", []), y: graph.input("y", [], { low: 0.5, high: 2 }) };
          if (!(build(tree, inputs) instanceof Traced)) return;
          const values = evaluateAt(graph, { x, y });
          for (const node of graph.nodes) expect(within(values[node.id], node.range)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("bounds sums and log-sum-exps of one element and of many", () => {
    const graph = new Graph(["b"]);
    const x = graph.input("x", ["b"], { low: 2, high: 3 });
    expect(graph.reduce("sum", "b", x).range).toEqual({ low: 2, high: Infinity });
    expect(graph.reduce("logsumexp", "b", x).range).toEqual({ low: 2, high: Infinity });
    const negative = graph.input("y", ["b"], { low: -3, high: -2 });
    expect(graph.reduce("sum", "b", negative).range).toEqual({ low: -Infinity, high: -2 });
    const either = graph.input("z", ["b"], { low: -3, high: 2 });
    expect(graph.reduce("sum", "b", either).range).toEqual(ANYTHING);
    expect(graph.size("b").range).toEqual({ low: 1, high: Infinity });
  });
});
