import { describe, expect, test } from "vitest";
import { detectFeatures } from "../../../src/compute/features.js";
import { Graph, type Traced } from "../../../src/compute/graph/expression.js";
import { computeScalar, type Elementwise, scalar } from "../../../src/compute/graph/scalar.js";
import { I32, ModuleWriter } from "../../../src/compute/wasm/encoder.js";
import { Lowering } from "../../../src/compute/wasm/lower.js";
import { VectorGraph, type VectorNode, writeVectors } from "../../../src/compute/wasm/vector.js";

const FMA = detectFeatures().relaxedSimd ? [true, false] : [false];
const N = 64;

/** Values of a node over arrays of its inputs a, b and c; `counts` are the SIMD values that were made. */
const execute = (fma: boolean, node: Traced, data: Readonly<Record<string, readonly number[]>>): number[] => {
  const names = Object.keys(data);
  const memory = new WebAssembly.Memory({ initial: 1 });
  const module = new ModuleWriter();
  module.function("run", [], [], (writer) => {
    const at = writer.local(I32);
    const g = new VectorGraph({ fma });
    const lowering = new Lowering(g, (each) =>
      each.op === "input"
        ? g.leaf(each.name, 1, (w) => w.get(at).memory("v128.load", 4 * N * (1 + names.indexOf(each.name))))
        : undefined,
    );
    const root = lowering.value(node);
    expect(lowering.value(node)).toBe(root);
    writer.loop(
      at,
      () => writer.i32(0),
      () => writer.i32(4 * N),
      16,
      () => {
        const kept = new Map<VectorNode, number>();
        writeVectors(writer, [root], kept);
        writer
          .get(at)
          .get(kept.get(root) as number)
          .memory("v128.store");
      },
    );
  });
  const floats = new Float32Array(memory.buffer);
  names.forEach((name, k) => {
    floats.set(data[name], N * (1 + k));
  });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.bytes({ shared: false })), {
    env: { memory },
  });
  (instance.exports.run as () => void)();
  return [...floats.subarray(0, N)];
};

const SPECIAL = [0, 1, -1, 0.5, 2, -2.5, Infinity, -Infinity, Number.NaN, 1.5, 3, -0.75, 10, 0.125, 7, -4];
const first = Array.from({ length: N }, (_, k) => SPECIAL[k % 16]);
const second = Array.from({ length: N }, (_, k) => SPECIAL[(k + 3 * Math.floor(k / 16) + 1) % 16]);
const third = Array.from({ length: N }, (_, k) => SPECIAL[(5 * k + 2) % 16]);

const close = (actual: number, expected: number): boolean => {
  const single = Math.fround(expected);
  if (Object.is(actual, single) || actual === single) return true;
  return Math.abs(actual - expected) <= 3e-6 * Math.abs(expected) + 1e-6;
};

describe.each(FMA)("lowering (fma %s)", (fma) => {
  test.each(Object.keys(scalar) as Elementwise[])("%s is what the scalar is", (op) => {
    const graph = new Graph([]);
    const columns = [first, second, third].slice(0, scalar[op].length);
    const inputs = columns.map((_, i) => graph.input("abc"[i], []));
    const data = Object.fromEntries(columns.map((column, i) => ["abc"[i], column]));
    const actual = execute(fma, graph.raw(op, inputs), data);
    actual.forEach((value, k) => {
      const values = columns.map((column) => column[k]);
      const expected = computeScalar(op, values);
      // lgamma and its derivatives have their own tests and bounds at the poles.
      if (op.endsWith("gamma") && values[0] <= 0) return;
      expect(close(value, expected), `${op}(${values}) = ${value}, not ${expected}`).toBe(true);
    });
  });

  test("sums of products, products of sums, and conditions that are numbers", () => {
    const graph = new Graph([]);
    const [a, b, c] = ["a", "b", "c"].map((name) => graph.input(name, []));
    const of = (op: Elementwise, ...args: Traced[]) => graph.raw(op, args);
    const number = (value: number) => graph.constant(value);
    const cases: [Traced, (a: number, b: number, c: number) => number][] = [
      [of("add", a, of("mul", b, c)), (x, y, z) => x + y * z],
      [of("add", of("mul", a, b), c), (x, y, z) => x * y + z],
      [of("add", of("mul", a, b), of("mul", b, c)), (x, y, z) => x * y + y * z],
      [of("add", of("square", a), c), (x, _, z) => x * x + z],
      [of("sub", a, of("mul", b, c)), (x, y, z) => x - y * z],
      [of("sub", of("mul", a, b), c), (x, y, z) => x * y - z],
      [of("sub", a, of("square", b)), (x, y) => x - y * y],
      [of("div", a, number(8)), (x) => x / 8],
      [of("div", a, number(1e35)), (x) => x / 1e35],
      [of("div", a, number(0)), (x) => x / 0],
      [of("select", a, b, c), (x, y, z) => (x !== 0 ? y : z)],
      [of("select", of("less", a, b), b, c), (x, y, z) => (x < y ? y : z)],
      [
        of("select", of("add", of("less", a, b), of("less", b, c)), b, c),
        (x, y, z) => (x < y || y < z ? y : z),
      ],
      [of("mul", of("notEqual", a, a), c), (x, _, z) => (Number.isNaN(x) ? 1 : 0) * z],
      [of("max", a, number(0)), (x) => Math.max(x, 0)],
      [of("min", number(1), a), (x) => Math.min(1, x)],
      [of("max", number(Number.NaN), a), () => Number.NaN],
    ];
    const data = { a: first, b: second, c: third };
    cases.forEach(([node, expected], i) => {
      execute(fma, node, data).forEach((value, k) => {
        const wanted = expected(first[k], second[k], third[k]);
        expect(close(value, wanted), `case ${i}: ${value}, not ${wanted}`).toBe(true);
      });
    });
  });

  test("a reduction that the kernel does not provide is a mistake of the kernel", () => {
    const graph = new Graph(["b"]);
    const node = graph.reduce("sum", "b", graph.input("x", ["b"]));
    const lowering = new Lowering(new VectorGraph({ fma }), () => undefined);
    expect(() => lowering.value(node)).toThrow(RangeError);
  });
});
