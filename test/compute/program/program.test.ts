import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backendTexts, requireBackend } from "../../../src/compute/backend.js";
import { detectFeatures } from "../../../src/compute/features.js";
import type { Value } from "../../../src/compute/graph/expression.js";
import {
  add,
  div,
  exp,
  lgamma,
  logsumexp,
  mul,
  neg,
  select,
  sigmoid,
  square,
  sub,
  sum,
  tanh,
} from "../../../src/compute/graph/operations.js";
import { trace } from "../../../src/compute/graph/trace.js";
import { axisOrderTexts } from "../../../src/compute/program/axis-order.js";
import { type CompileOptions, compile, compileTexts } from "../../../src/compute/program/program.js";
import { Workspace, workspaceTexts } from "../../../src/compute/workspace.js";
import { InputError } from "../../../src/core/errors.js";
import { seededStream } from "../../../src/core/random.js";
import { axesOf, build, evaluate, expression, offset, points, type Tree } from "../graph/expressions.js";

type Axes = Readonly<Record<string, readonly string[]>>;
type Sizes = Readonly<Record<string, number>>;
type Values = Readonly<Record<string, Value>>;
type Fn = (inputs: Values) => Value | Values;

const RELAXED = detectFeatures().relaxedSimd ? [true, false] : [false];

/** Compiles, fills, runs and reads everything. */
const execute = (
  fn: Fn,
  options: CompileOptions<Axes>,
  sizes: Sizes,
  data: Readonly<Record<string, ArrayLike<number>>>,
  outputs: readonly string[] = ["value"],
) => {
  const program = compile(fn, options);
  program.resize(sizes);
  for (const [name, values] of Object.entries(data)) program.input(name).set(values);
  program.run();
  const read = {
    outputs: outputs.map((name) => [...program.output(name)]),
    gradients: (options.gradients ?? []).map((name) => [...program.gradient(name)]),
  };
  program.dispose();
  return read;
};

const largest = (values: readonly number[]) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/** Float32 against float64: NaN and infinities in the same places, numbers within `bound` of the largest. */
const expectClose = (actual: readonly number[], expected: readonly number[], bound: number, scale = 0) => {
  expect(actual.length).toBe(expected.length);
  const size = Math.max(scale, largest(expected.filter(Number.isFinite)));
  const off = actual.findIndex(
    (value, i) =>
      !Object.is(value, expected[i]) &&
      value !== expected[i] &&
      !(Math.abs(value - expected[i]) <= bound * size + 1e-30),
  );
  expect(off < 0 ? "close" : `${actual[off]} instead of ${expected[off]} at ${off}, of size ${size}`).toBe(
    "close",
  );
};

/** Inputs over one to three axes, in orders that make every kind of load: vector, splat and strided. */
const layouts: readonly Axes[] = [
  { x: ["b"], y: ["b"], z: [] },
  { x: ["b", "t"], y: ["t"], z: ["b"] },
  { x: ["b", "t"], y: ["b", "s"], z: ["t", "s"] },
  { x: ["b", "t", "s"], y: ["t"], z: ["s"] },
  { x: ["s", "t", "b"], y: ["b", "t"], z: [] },
];
/** All axes, as outputs are laid out. */
const axisOrder = (axes: Axes) => [...new Set(Object.values(axes).flat())];

const layout = fc.constantFrom(...layouts);
const size = fc.integer({ min: 1, max: 9 });
const number = fc
  .noBias(fc.integer({ min: 0, max: 2 ** 30 }))
  .map((u) => Math.fround((3 * u) / 2 ** 30 - 1.5));

const problem = (options: { analytic?: boolean; depth?: number } = {}) =>
  layout.chain((axes) =>
    fc.record({
      axes: fc.constant(axes),
      trees: fc.array(expression({ inputs: Object.keys(axes), axes: axisOrder(axes), ...options }), {
        minLength: 1,
        maxLength: 3,
      }),
      sizes: fc.record(Object.fromEntries(axisOrder(axes).map((axis) => [axis, size]))),
      numbers: fc.infiniteStream(number),
    }),
  );

const fillFrom = (axes: Axes, sizes: Sizes, numbers: Iterator<number>) =>
  Object.fromEntries(
    Object.entries(axes).map(([name, own]) => [
      name,
      points(own, sizes).map(() => numbers.next().value as number),
    ]),
  );

const fnOf =
  (trees: readonly Tree[]): Fn =>
  (inputs) =>
    Object.fromEntries(trees.map((tree, i) => [`out${i}`, build(tree, inputs)]));

const streamData = (axes: Axes, sizes: Sizes, seed: string) => {
  const stream = seededStream(seed);
  const draw: Iterator<number> = { next: () => ({ value: Math.fround(stream.normal()), done: false }) };
  return fillFrom(axes, sizes, draw);
};

describe("the js backend", () => {
  test("agrees with the function on plain numbers and loops for reductions", () => {
    fc.assert(
      fc.property(problem({ depth: 5 }), ({ axes, trees, sizes, numbers }) => {
        const data = fillFrom(axes, sizes, numbers);
        const names = trees.map((_, i) => `out${i}`);
        const { outputs } = execute(
          fnOf(trees),
          { inputs: axes, axes: axisOrder(axes), backend: "js" },
          sizes,
          data,
          names,
        );
        const traced = trace(fnOf(trees), axes).outputs;
        const first = Object.fromEntries(axisOrder(axes).map((axis) => [axis, 0]));
        trees.forEach((tree, i) => {
          // Simplification may leave fewer axes than were written, as in select(x < x, y, y).
          const own = traced[`out${i}`].axes;
          const written = axesOf(tree, axes, axisOrder(axes));
          expect(written).toEqual(expect.arrayContaining([...own]));
          const at = { axes, sizes, values: data };
          const expected = points(own, sizes).map((point) => evaluate(tree, at, { ...first, ...point }));
          expect(outputs[i].length).toBe(expected.length);
          expected.forEach((value, k) => {
            expect(Math.abs(outputs[i][k] - value)).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(value)));
          });
        });
      }),
      { numRuns: 200, seed: 11, endOnFailure: true },
    );
  });
});

/** The same inputs, declared in another order and each with its axes in another order, and the same data. */
const rearranged = (axes: Axes, names: readonly string[], turn: number): Axes =>
  Object.fromEntries(
    names.map((name) => {
      const own = axes[name];
      const shift = own.length === 0 ? 0 : turn % own.length;
      const turned = [...own.slice(shift), ...own.slice(0, shift)];
      return [name, turn >= 3 ? turned.reverse() : turned];
    }),
  );

/** The numbers of an array over `from`, as an array over `to`. */
const laidOutAs = (
  values: readonly number[],
  from: readonly string[],
  to: readonly string[],
  sizes: Sizes,
): number[] => points(to, sizes).map((point) => values[offset(from, sizes, point)]);

describe.each(["js", "wasm"] as const)("arrays of the backend %s", (backend) => {
  const weighted = ({ x, w }: Values) => sum("t", mul(x, w));

  test("are laid out as each input's own list says, whatever is declared first", () => {
    const sizes = { b: 2, t: 3 };
    const data = { x: [1, 2, 3, 4, 5, 6], w: [1, 10, 100] };
    const run = (inputs: Axes, values: typeof data) =>
      execute(weighted, { inputs, gradients: ["x"], backend }, sizes, values);
    const expected = { outputs: [[321, 654]], gradients: [[1, 10, 100, 1, 10, 100]] };
    expect(run({ x: ["b", "t"], w: ["t"] }, data)).toEqual(expected);
    expect(run({ w: ["t"], x: ["b", "t"] }, data)).toEqual(expected);
    const transposed = run({ w: ["t"], x: ["t", "b"] }, { ...data, x: [1, 4, 2, 5, 3, 6] });
    expect(transposed).toEqual({ outputs: [[321, 654]], gradients: [[1, 1, 10, 10, 100, 100]] });
  });

  test("an output has the order that the lists agree on, or that of the option axes", () => {
    const sizes = { b: 2, t: 3 };
    const data = { x: [1, 2, 3, 4, 5, 6], w: [1, 10, 100] };
    const product = ({ x, w }: Values) => mul(x, w);
    const rows = [1, 20, 300, 4, 50, 600];
    const columns = [1, 4, 20, 50, 300, 600];
    const run = (inputs: Axes, axes?: readonly string[]) =>
      execute(product, { inputs, axes, backend }, sizes, data).outputs[0];
    expect(run({ x: ["b", "t"], w: ["t"] })).toEqual(rows);
    expect(run({ w: ["t"], x: ["b", "t"] })).toEqual(rows);
    expect(run({ w: ["t"], x: ["b", "t"] }, ["t", "b"])).toEqual(columns);
    // By way of an axis that the output does not have.
    const chained = { x: ["b", "s"], y: ["s", "t"], z: ["t"] };
    const outer = execute(
      ({ x, y, z }) => add(sum("s", add(x, y)), z),
      { inputs: { z: chained.z, y: chained.y, x: chained.x }, backend },
      { b: 2, s: 1, t: 3 },
      { x: [0, 10], y: [1, 2, 3], z: [0, 0, 0] },
    );
    expect(outer.outputs[0]).toEqual([1, 2, 3, 11, 12, 13]);
  });

  test("an output that the lists leave open is an error, and not a guess", () => {
    const product = ({ x, y }: Values) => mul(x, y);
    const open = { x: ["b"], y: ["t"] };
    const contradiction = { x: ["b", "t"], y: ["t", "b"] };
    for (const inputs of [open, contradiction]) {
      expect(() => compile(product, { inputs, backend })).toThrow(
        axisOrderTexts.undecided("value", "b", "t"),
      );
      compile(product, { inputs, axes: ["t", "b"], backend }).dispose();
      compile((at: Values) => sum("t", product(at as { x: Value; y: Value })), { inputs, backend }).dispose();
    }
    for (const axes of [["b"], ["b", "b"], ["b", "t", "s"], ["b", "s"]]) {
      expect(() => compile(product, { inputs: open, axes, backend })).toThrow(
        axisOrderTexts.option(axes, ["b", "t"]),
      );
    }
  });

  test("any order of declaration and of axes gives the same numbers for the same data", () => {
    fc.assert(
      fc.property(
        problem({ depth: 4 }),
        fc.shuffledSubarray(["x", "y", "z"], { minLength: 3 }),
        fc.integer({ min: 0, max: 5 }),
        ({ axes, trees, sizes, numbers }, order, turn) => {
          const data = fillFrom(axes, sizes, numbers);
          const other = rearranged(axes, order, turn);
          const turned = Object.fromEntries(
            order.map((name) => [name, laidOutAs(data[name], axes[name], other[name], sizes)]),
          );
          const names = trees.map((_, i) => `out${i}`);
          const gradients = Object.keys(axes);
          const options = { axes: axisOrder(axes), gradients, of: "out0", backend, threads: 1 };
          const one = execute(fnOf(trees), { ...options, inputs: axes }, sizes, data, names);
          const two = execute(fnOf(trees), { ...options, inputs: other }, sizes, turned, names);
          // Sums over two axes are taken in the order of their names: equal but for rounding.
          const bound = backend === "js" ? 1e-9 : 2e-4;
          one.outputs.forEach((values, i) => {
            expectClose(two.outputs[i], values, bound, 1);
          });
          one.gradients.forEach((values, i) => {
            const own = laidOutAs(values, axes[gradients[i]], other[gradients[i]], sizes);
            expectClose(two.gradients[i], own, bound, 1);
          });
        },
      ),
      { numRuns: 100, seed: 13, endOnFailure: true },
    );
  });
});

describe("the wasm backend", () => {
  test("agrees with js on random graphs over one to three axes, values and gradients", () => {
    fc.assert(
      fc.property(
        problem({ depth: 4 }),
        fc.constantFrom(...RELAXED),
        ({ axes, trees, sizes, numbers }, relaxed) => {
          const data = fillFrom(axes, sizes, numbers);
          const names = trees.map((_, i) => `out${i}`);
          const options = {
            inputs: axes,
            axes: axisOrder(axes),
            gradients: Object.keys(axes),
            of: "out0",
            relaxed,
            threads: 1,
          };
          const expected = execute(fnOf(trees), { ...options, backend: "js" }, sizes, data, names);
          const actual = execute(fnOf(trees), options, sizes, data, names);
          actual.outputs.forEach((values, i) => {
            expectClose(values, expected.outputs[i], 3e-5, 1);
          });
          actual.gradients.forEach((values, i) => {
            expectClose(values, expected.gradients[i], 2e-4, 1);
          });
        },
      ),
      { numRuns: 200, seed: 12, endOnFailure: true },
    );
  });

  const mixed: Fn = ({ x, y, z }) => {
    const inner = tanh(add(mul(x, y), z));
    const perPair = logsumexp("s", sub(inner, square(z)));
    return {
      total: sum("b", perPair),
      each: div(inner, add(1, exp(perPair))),
      scaled: mul(0.1, sum("t", x)),
    };
  };
  const mixedAxes: Axes = { x: ["b", "t", "s"], y: ["t"], z: ["b", "s"] };
  const mixedNames = ["total", "each", "scaled"];
  const mixedSizes = [
    { b: 3, t: 5, s: 130 },
    { b: 130, t: 3, s: 5 },
    { b: 1, t: 1, s: 10_001 },
    { b: 4001, t: 2, s: 1 },
    { b: 1, t: 7001, s: 2 },
    { b: 64, t: 33, s: 17 },
  ];

  test.each(mixedSizes)("agrees with js for $b x $t x $s", (sizes) => {
    const data = streamData(mixedAxes, sizes, "mixed");
    const options = { inputs: mixedAxes, gradients: ["x", "y", "z"], of: "each" };
    const expected = execute(mixed, { ...options, backend: "js" }, sizes, data, mixedNames);
    for (const relaxed of RELAXED) {
      const actual = execute(mixed, { ...options, relaxed, threads: 2 }, sizes, data, mixedNames);
      actual.outputs.forEach((values, i) => {
        expectClose(values, expected.outputs[i], 5e-5);
      });
      actual.gradients.forEach((values, i) => {
        expectClose(values, expected.gradients[i], 5e-5);
      });
    }
  });

  test.each(mixedSizes)("gives the same bits on 1, 2 and 3 threads for $b x $t x $s", (sizes) => {
    const data = streamData(mixedAxes, sizes, "threads");
    const [one, two, three] = [1, 2, 3].map((threads) => {
      const options = { inputs: mixedAxes, gradients: ["x", "y", "z"], of: "each", threads };
      const program = compile(mixed, options);
      program.resize(sizes);
      for (const [name, values] of Object.entries(data)) program.input(name).set(values);
      for (let repeat = 0; repeat < 10; repeat++) program.run();
      const bits = (array: Float32Array | Float64Array) => [
        ...new Int32Array(Float32Array.from(array).buffer),
      ];
      const all = [
        ...mixedNames.map((name) => bits(program.output(name))),
        ...["x", "y", "z"].map((name) => bits(program.gradient(name))),
      ];
      program.dispose();
      return all;
    });
    expect(two).toEqual(one);
    expect(three).toEqual(one);
  });

  test("with and without fused multiply-add agrees to rounding", () => {
    const sizes = { b: 9, t: 7, s: 11 };
    const data = streamData(mixedAxes, sizes, "relaxed");
    const run = (relaxed: boolean) =>
      execute(mixed, { inputs: mixedAxes, relaxed, threads: 1 }, sizes, data, mixedNames);
    const [fused, plain] = [run(true), run(false)];
    fused.outputs.forEach((values, i) => {
      expectClose(values, plain.outputs[i], 5e-6);
    });
  });

  test("outputs that are inputs, constants, lengths or the same value twice", () => {
    const fn: Fn = ({ x, y }) => ({
      same: x,
      twice: exp(x),
      again: exp(x),
      number: 2.5,
      count: sum("b", 1),
      both: add(x, y),
      total: sum("t", sum("b", mul(x, y))),
      totalToo: sum("b", sum("t", mul(x, y))),
    });
    const names = ["same", "twice", "again", "number", "count", "both", "total", "totalToo"];
    const axes: Axes = { x: ["b"], y: ["t"] };
    const sizes = { b: 6, t: 5 };
    const data = streamData(axes, sizes, "outputs");
    const options = { inputs: axes, axes: ["b", "t"] };
    const expected = execute(fn, { ...options, backend: "js" }, sizes, data, names);
    const actual = execute(fn, options, sizes, data, names);
    expect(expected.outputs[0]).toEqual(data.x);
    expect(expected.outputs[3]).toEqual([2.5]);
    expect(expected.outputs[4]).toEqual([6]);
    expect(expected.outputs[5].length).toBe(30);
    actual.outputs.forEach((values, i) => {
      expectClose(values, expected.outputs[i], 1e-6);
    });
    expect(actual.outputs[2]).toEqual(actual.outputs[1]);
  });

  test("the gradient of an output that is an input, or does not depend on one", () => {
    for (const backend of ["js", "wasm"] as const) {
      const { gradients } = execute(
        ({ x }) => x,
        { inputs: { x: ["b"], y: ["b", "t"], c: [] }, gradients: ["x", "y", "c"], backend },
        { b: 5, t: 3 },
        {},
      );
      expect(gradients).toEqual([[1, 1, 1, 1, 1], Array(15).fill(0), [0]]);
    }
  });

  test("axes whose names are not identifiers, and inputs named like a method", () => {
    for (const backend of ["js", "wasm"] as const) {
      const axes: Axes = { toString: ["a b", "c,d"], constructor: ["c"], hasOwnProperty: ["d"] };
      const { outputs, gradients } = execute(
        (inputs) => {
          const [a, b, c] = Object.keys(axes).map((name) => inputs[name]);
          return sum("a b", mul(a, mul(b, c)));
        },
        { inputs: axes, axes: ["a b", "c,d", "c", "d"], gradients: ["constructor"], backend },
        { "a b": 2, "c,d": 3, c: 2, d: 1 },
        { toString: [1, 2, 3, 4, 5, 6], constructor: [1, 10], hasOwnProperty: [1] },
      );
      expect(outputs[0]).toEqual([5, 50, 7, 70, 9, 90]);
      expect(gradients[0]).toEqual([21, 21]);
    }
  });

  test("reductions nested in each other, over values that do not vary along the axis", () => {
    const fn: Fn = ({ x, y }) => {
      const inner = logsumexp("t", mul(x, y));
      const middle = sum("s", add(inner, logsumexp("b", mul(inner, 0.5))));
      return logsumexp("b", sub(middle, sum("b", mul(0.01, middle))));
    };
    const axes: Axes = { x: ["b", "t"], y: ["t"], unused: ["s"] };
    const sizes = { b: 7, t: 6, s: 3 };
    const data = streamData(axes, sizes, "nested");
    const options = { inputs: axes, gradients: ["x", "y", "unused"] };
    const expected = execute(fn, { ...options, backend: "js" }, sizes, data);
    const actual = execute(fn, options, sizes, data);
    expectClose(actual.outputs[0], expected.outputs[0], 1e-6);
    actual.gradients.forEach((values, i) => {
      expectClose(values, expected.gradients[i], 1e-5);
    });
    expect(actual.gradients[2]).toEqual([0, 0, 0]);
  });

  test("a reduction that shares its loops with an earlier one waits for what it needs", () => {
    const fn: Fn = ({ x, y, z }) => {
      const early = sum("b", sum("t", x));
      const late = sum("b", mul(y, sum("t", z)));
      return { early, late };
    };
    const axes: Axes = { x: ["b", "t"], y: ["b"], z: ["t"] };
    const data = { x: [1, 2, 3, 4, 5, 6], y: [10, 20], z: [1, 2, 3] };
    for (const backend of ["js", "wasm"] as const) {
      const { outputs } = execute(fn, { inputs: axes, backend }, { b: 2, t: 3 }, data, ["early", "late"]);
      expect(outputs).toEqual([[21], [180]]);
    }
  });

  test("ten thousand operations in each other", () => {
    const count = 10_000;
    const chain = (x: Value) => {
      let value = x;
      for (let k = 0; k < count; k++) value = tanh(add(value, 0.01));
      return value;
    };
    const x = [1, -1, 0.5];
    const expected = x.map((each) => chain(each) as number);
    for (const backend of ["js", "wasm"] as const) {
      const options = { inputs: { x: ["b"] }, gradients: ["x"], backend };
      const { outputs, gradients } = execute(({ x }) => chain(x), options, { b: 3 }, { x });
      expectClose(outputs[0], expected, 1e-5);
      // Every step shrinks a difference: x is forgotten long before the end.
      expectClose(gradients[0], [0, 0, 0], 1e-6, 1);
    }
  });

  test("deep expressions whose short ways down pass over any depth, and with the depth on either side", () => {
    const ladder: Fn = ({ x }) => {
      let value = mul(x, 0.3);
      for (let k = 0; k < 4000; k++) {
        // One step down on the left, three on the right.
        value = sub(mul(0.5, tanh(value)), mul(0.01, square(sigmoid(mul(0.7, value)))));
        value = add(0.001, select(value, add(x, value), value));
        value = mul(0.4, value);
      }
      return value;
    };
    const x = [0.5, -0.25];
    const expected = x.map((each) => ladder({ x: each }) as number);
    for (const backend of ["js", "wasm"] as const) {
      const { outputs } = execute(ladder, { inputs: { x: ["b"] }, backend }, { b: 2 }, { x });
      expectClose(outputs[0], expected, 1e-5);
    }
  });

  test("a deep expression", () => {
    const fn: Fn = ({ x }) => {
      let value: Value = x;
      for (let k = 0; k < 100; k++) value = add(mul(0.5, tanh(value)), 0.01);
      return value;
    };
    const run = (backend: "js" | "wasm") =>
      execute(fn, { inputs: { x: ["b"] }, gradients: ["x"], backend }, { b: 3 }, { x: [1, -1, 0.5] });
    expectClose(run("wasm").outputs[0], run("js").outputs[0], 1e-5);
  });

  test("a program without axes needs no resize", () => {
    for (const backend of ["js", "wasm"] as const) {
      const program = compile(({ x }) => lgamma(x), { inputs: { x: [] }, gradients: ["x"], backend });
      program.input("x")[0] = 3;
      program.run();
      expect(program.output()[0]).toBeCloseTo(Math.LN2, 6);
      expect(program.gradient("x")[0]).toBeCloseTo(0.9227843350984671, 6);
      program.dispose();
    }
  });
});

describe("log-sum-exp", () => {
  const NaNs = Number.NaN;
  const rows: readonly [string, readonly number[], number][] = [
    ["one number", [3.5], 3.5],
    ["equal numbers", [2, 2, 2, 2, 2], 2 + Math.log(5)],
    ["very large numbers", [1e30, 1e30, -1e30], 1e30],
    ["near the largest float", [3e38, 3.2e38, 1], Math.fround(3.2e38)],
    ["near the least float", [-3.3e38, -3.3e38, -3.4e38], Math.fround(-3.3e38)],
    ["numbers far apart", [-1000, 0, 1000, 2000, -5000, 100], 2000],
    [
      "rising and falling",
      [1, 2, 3, 4, 5, 4, 3, 2, 1],
      Math.log(Math.E ** 5 + 2 * (Math.E ** 4 + Math.E ** 3 + Math.E ** 2 + Math.E)),
    ],
    ["all -Infinity", [-Infinity, -Infinity, -Infinity], -Infinity],
    ["one -Infinity", [-Infinity], -Infinity],
    ["some -Infinity", [-Infinity, 1, -Infinity, 1, -Infinity], 1 + Math.LN2],
    ["an Infinity", [1, Infinity, 3], Infinity],
    ["two Infinities", [Infinity, 1, -Infinity, 2, Infinity, 4], Infinity],
    ["a NaN", [1, NaNs, 3], NaNs],
    ["NaN alone", [NaNs], NaNs],
    ["NaN and -Infinity", [-Infinity, NaNs, -Infinity, -Infinity, -Infinity], NaNs],
    ["NaN and Infinity in the same lane", [Infinity, 0, 0, 0, NaNs, 0], NaNs],
    ["NaN and Infinity in other lanes", [NaNs, Infinity, 0, 0, 0, 0], NaNs],
    ["Infinity after NaN", [NaNs, 0, 0, 0, Infinity], NaNs],
  ];
  test.each(rows)("of %s", (_, values, expected) => {
    for (const backend of ["js", "wasm"] as const) {
      for (const axes of [
        ["b", "t"],
        ["t", "b"],
      ]) {
        // Rows of which only the middle one has the values: what lies beyond a row must not come in.
        const sizes = { b: 3, t: values.length };
        const x = points(axes, sizes).map(({ b, t }) => (b === 1 ? values[t] : 7));
        const { outputs } = execute(({ x }) => logsumexp("t", x), { inputs: { x: axes }, backend }, sizes, {
          x,
        });
        const around = 7 + Math.log(values.length);
        expectClose(outputs[0], [around, expected, around], 2e-7, 1);
      }
    }
  });

  test("sums of infinities and NaN", () => {
    for (const backend of ["js", "wasm"] as const) {
      const of = (x: number[]) =>
        execute(({ x }) => sum("b", x), { inputs: { x: ["b"] }, backend }, { b: x.length }, { x })
          .outputs[0][0];
      expect(of([1, 2, 3, 4, 5])).toBe(15);
      expect(of([1, -Infinity, 3])).toBe(-Infinity);
      expect(of([Infinity, -Infinity, 3])).toBeNaN();
      expect(of([1, 2, 3, 4, NaNs])).toBeNaN();
    }
  });
});

describe("long reductions", () => {
  const ROUNDING = 2 ** -24;
  const reductions: Fn = ({ x }) => ({ total: sum("b", x), smooth: logsumexp("b", x) });
  const names = ["total", "smooth"];

  test.each([1e6, 1e7])("keep their digits over %d elements, alone and in rows", (n) => {
    const tenth = Math.fround(0.1);
    for (const [axes, sizes] of [
      [["b"], { b: n }],
      [["c", "b"], { c: 2, b: n / 2 }],
      [["b", "c"], { b: n / 2, c: 2 }],
    ] as const) {
      const program = compile(reductions, { inputs: { x: axes } });
      program.resize(sizes);
      program.input("x").fill(tenth);
      program.run();
      for (const total of program.output("total")) {
        expect(Math.abs(total / (sizes.b * tenth) - 1)).toBeLessThan(2e-6);
      }
      for (const smooth of program.output("smooth")) {
        const expected = tenth + Math.log(sizes.b);
        expect(Math.abs(smooth - expected)).toBeLessThan(1e-5 + 2 * ROUNDING * expected);
      }
      program.dispose();
    }
  });

  test.each([
    ["rising", (i: number) => i * 2 ** -20],
    ["falling", (i: number) => (1e7 - 1 - i) * 2 ** -20],
    // Multiplication by an odd number permutes what is below a power of two, and 1e7 is not: 2^23 elements.
    ["mixed", (i: number) => (Math.imul(i, 2654435761) & (2 ** 23 - 1)) * 2 ** -20],
  ])("log-sum-exp of %s numbers against the geometric sum", (order, at) => {
    const n = order === "mixed" ? 2 ** 23 : 1e7;
    const program = compile(reductions, { inputs: { x: ["b"] } });
    program.resize({ b: n });
    const x = program.input("x");
    for (let i = 0; i < n; i++) x[i] = at(i);
    program.run();
    const h = 2 ** -20;
    // sum of e^(i h) for i < n
    const expected = n * h + Math.log(-Math.expm1(-n * h)) - Math.log(Math.expm1(h));
    expect(Math.abs(program.output("smooth")[0] - expected)).toBeLessThan(1e-5 + 2 * ROUNDING * expected);
    expect(Math.abs(program.output("total")[0] / ((h * n * (n - 1)) / 2) - 1)).toBeLessThan(2e-6);
    program.dispose();
  });

  test("to one value are shared by the threads, whose number does not change a bit", () => {
    const x = streamData({ x: ["b"] }, { b: 100_003 }, "long").x;
    const bits = [1, 2, 3].map((threads) => {
      const workspace = new Workspace({ threads });
      const tasks = new Map<string, number>();
      const load = workspace.load.bind(workspace);
      workspace.load = (module, kernels) => {
        const loaded = load(module, kernels);
        return {
          ...loaded,
          run(name, descriptor, count) {
            tasks.set(name, count);
            loaded.run(name, descriptor, count);
          },
        };
      };
      const program = compile(reductions, { inputs: { x: ["b"] }, workspace });
      program.resize({ b: x.length });
      program.input("x").set(x);
      program.run();
      expect(Math.max(...tasks.values())).toBeGreaterThan(30);
      const results = names.map((name) => program.output(name)[0]);
      workspace.dispose();
      return results;
    });
    expect(bits[1]).toEqual(bits[0]);
    expect(bits[2]).toEqual(bits[0]);
    const exact = x.reduce((sofar, each) => sofar + each, 0);
    expectClose([bits[0][0]], [exact], 1e-6, 100_003);
  });

  test.each([
    ["NaN", Number.NaN, Number.NaN],
    ["Infinity", Infinity, Infinity],
    ["-Infinity", -Infinity, undefined],
  ])("see one %s among many, wherever it stands", (_, value, smooth) => {
    const n = 10_000;
    const program = compile(reductions, { inputs: { x: ["b"] }, threads: 1 });
    program.resize({ b: n });
    for (const place of [0, 3, 127, 128, 2047, 2048, 5001, n - 1]) {
      program.input("x").fill(0.5);
      program.input("x")[place] = value;
      program.run();
      expect(program.output("total")[0]).toBe(value);
      if (smooth !== undefined) expect(program.output("smooth")[0]).toBe(smooth);
      else expect(program.output("smooth")[0]).toBeCloseTo(0.5 + Math.log(n - 1), 5);
    }
    program.dispose();
  });
});

describe("a program", () => {
  const axes = { x: ["b", "t"], y: ["t"] } as const;
  const fn = ({ x, y }: Values) => ({ value: sum("t", mul(sigmoid(x), y)), other: neg(x) });

  test.each(["js", "wasm"] as const)("grows and shrinks (%s)", (backend) => {
    const program = compile(fn, { inputs: axes, gradients: ["y"], of: "value", backend, threads: 2 });
    for (const [b, t] of [
      [2, 3],
      [500, 300],
      [1, 1],
      [7, 1],
      [3, 2000],
      [2, 3],
    ]) {
      program.resize({ b, t });
      expect(program.input("x").length).toBe(b * t);
      expect(program.gradient("y").length).toBe(t);
      expect(program.input("x").every((x) => x === 0) && program.input("y").every((y) => y === 0)).toBe(true);
      expect(program.output().every((x) => x === 0)).toBe(true);
      program.input("x").fill(0.75);
      program.input("y").fill(0.01);
      program.run();
      expectClose([...program.output()], Array(b).fill(0.01 * t * 0.679178699175393), 1e-5);
      expectClose([...program.gradient("y")], Array(t).fill(b * 0.679178699175393), 1e-5);
      expect(program.output("other").every((x) => x === -0.75)).toBe(true);
      expect(program.input("x").every((x) => x === 0.75)).toBe(true);
    }
    program.dispose();
  });

  test("shares a workspace with others and gives back what it took", () => {
    const workspace = new Workspace({ threads: 1 });
    const options = { inputs: axes, workspace };
    const [first, second] = [compile(fn, options), compile(fn, options)];
    for (const program of [first, second]) program.resize({ b: 4, t: 9 });
    first.input("x").fill(1);
    second.input("x").fill(2);
    first.run();
    second.run();
    expect([...first.output("other")]).toEqual(Array(36).fill(-1));
    expect([...second.output("other")]).toEqual(Array(36).fill(-2));
    first.dispose();
    const third = compile(fn, options);
    third.resize({ b: 4, t: 9 });
    third.input("x").fill(3);
    // Once disposed of, a program must not free what others now have.
    first.dispose();
    const fourth = workspace.floats(workspace.allocate(400_000), 100_000);
    fourth.fill(9);
    third.run();
    second.run();
    expect([...third.output("other")]).toEqual(Array(36).fill(-3));
    expect([...second.output("other")]).toEqual(Array(36).fill(-2));
    expect(fourth.every((value) => value === 9)).toBe(true);
    const before = workspace.bytes;
    for (let k = 0; k < 50; k++) {
      const program = compile(fn, options);
      program.resize({ b: 20, t: 200 });
      program.run();
      program.dispose();
    }
    expect(workspace.bytes).toBeLessThanOrEqual(before + 200_000);
    workspace.dispose();
    expect(() => third.output("other")).toThrow(workspaceTexts.disposed);
  });

  test("that does not fit keeps the workspace whole", () => {
    const workspace = new Workspace({ threads: 1 });
    const program = compile(fn, { inputs: axes, workspace });
    const before = workspace.bytes;
    expect(() => program.resize({ b: 40_000, t: 40_000 })).toThrow(/use fewer samples at a time/);
    // Each array would fit, all of them do not.
    expect(() => program.resize({ b: 1, t: 500_000_000 })).toThrow(/the arrays need 5723 MiB/);
    expect(workspace.bytes).toBe(before);
    expect(() => program.run()).toThrow(compileTexts.unsized(["b", "t"]));
    const address = workspace.allocate(1000);
    workspace.floats(address, 250).fill(5);
    program.resize({ b: 2, t: 2 });
    program.input("x").fill(1);
    program.run();
    expect([...program.output("other")]).toEqual([-1, -1, -1, -1]);
    expect(workspace.floats(address, 250).every((value) => value === 5)).toBe(true);
    workspace.dispose();
  });
});

describe("mistakes", () => {
  const inputs: Axes = { x: ["b"], y: ["b"] };
  const one: Fn = ({ x, y }) => mul(x, y);
  const two: Fn = ({ x, y }) => ({ a: x, b: y });

  test.each(["js", "wasm"] as const)("are named in one sentence (%s)", (backend) => {
    expect(() => compile(one, { inputs, gradients: ["z"], backend })).toThrow(
      compileTexts.unknownGradient("z", ["x", "y"]),
    );
    expect(() => compile(one, { inputs, gradients: ["toString"], backend })).toThrow(
      compileTexts.unknownGradient("toString", ["x", "y"]),
    );
    expect(() => compile(two, { inputs, gradients: ["x"], backend })).toThrow(
      compileTexts.of(undefined, ["a", "b"]),
    );
    expect(() => compile(two, { inputs, gradients: ["x"], of: "c", backend })).toThrow(
      compileTexts.of("c", ["a", "b"]),
    );
    expect(() => compile(two, { inputs, gradients: ["x"], of: "constructor", backend })).toThrow(
      compileTexts.of("constructor", ["a", "b"]),
    );
    expect(() => compile(({ x }) => x, { inputs: { x: ["b", "t", "b"] }, backend })).toThrow(
      new InputError("axes", compileTexts.repeatedAxis("x", "b")),
    );
    const program = compile(one, { inputs, gradients: ["x"], backend });
    expect(() => program.run()).toThrow(compileTexts.unsized(["b"]));
    expect(() => program.input("x")).toThrow(compileTexts.unsized(["b"]));
    for (const b of [0, -1, 1.5, Number.NaN, undefined, "3"]) {
      expect(() => program.resize({ b } as unknown as Sizes)).toThrow(compileTexts.size("b", b));
    }
    program.resize({ b: 2 });
    expect(() => program.input("z")).toThrow(compileTexts.name("input", "z", ["x", "y"]));
    expect(() => program.output("z")).toThrow(compileTexts.name("output", "z", ["value"]));
    expect(() => program.gradient("y")).toThrow(compileTexts.name("gradient", "y", ["x"]));
    program.dispose();
    expect(() => program.run()).toThrow(compileTexts.disposed);
    expect(() => program.output()).toThrow(compileTexts.disposed);
    expect(() => program.resize({ b: 1 })).toThrow(compileTexts.disposed);
  });

  test("a backend that is none", () => {
    for (const backend of ["gpu", "", "JS"]) {
      expect(() => compile(one, { inputs, backend: backend as "js" })).toThrow(
        new InputError("backend", backendTexts.unknown(backend)),
      );
    }
    expect(requireBackend("js")).toBe("js");
  });

  test.each([1, 2])("a run after the workspace was disposed of (%d threads)", (threads) => {
    const workspace = new Workspace({ threads });
    const program = compile(one, { inputs, workspace });
    program.resize({ b: 5000 });
    program.run();
    workspace.dispose();
    // Its memory is the next one's.
    const next = new Workspace({ threads });
    expect(() => program.run()).toThrow(new InputError("disposed", workspaceTexts.disposed));
    expect(() => program.dispose()).not.toThrow();
    next.dispose();
  });

  test("a number of threads that is none", () => {
    for (const threads of [0, -1, 1.5, Number.NaN]) {
      expect(() => compile(one, { inputs, threads })).toThrow(workspaceTexts.threads(threads));
    }
  });

  test("a condition is of inputs alone in both backends", () => {
    const fn: Fn = ({ x, y }) => select(x, y, neg(y));
    for (const backend of ["js", "wasm"] as const) {
      const { outputs } = execute(
        fn,
        { inputs, backend },
        { b: 4 },
        { x: [0, -0, Number.NaN, 2], y: [1, 2, 3, 4] },
      );
      expect(outputs[0]).toEqual([-1, -2, 3, 4]);
    }
  });
});
