import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detectFeatures } from "../../../src/compute/features.js";
import { type FunctionWriter, ModuleWriter } from "../../../src/compute/wasm/encoder.js";
import { frontier } from "../../../src/compute/wasm/kernel.js";
import {
  ConstantPool,
  VectorGraph,
  type VectorNode,
  writeVectors,
} from "../../../src/compute/wasm/vector.js";

const FMA = detectFeatures().relaxedSimd ? [true, false] : [false];

/** Writes `roots` of leaves x and y (at addresses 0 and 16) and returns the lanes of each; counts the loads. */
const execute = (
  fma: boolean,
  x: readonly number[],
  y: readonly number[],
  make: (g: VectorGraph, x: VectorNode, y: VectorNode) => readonly VectorNode[],
  pooled = false,
  spare?: number[],
) => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const pool = new ConstantPool((w) => w.i32(512), 4);
  let loads = 0;
  const module = new ModuleWriter();
  module.function("run", [], [], (writer) => {
    const g = new VectorGraph({ fma, pool: pooled ? pool : undefined });
    const leaf = (name: string, at: number) =>
      g.leaf(name, 1, (w) => {
        loads++;
        w.i32(at).memory("v128.load");
      });
    const roots = make(g, leaf("x", 0), leaf("y", 16));
    const kept = new Map<VectorNode, number>();
    writeVectors(writer, roots, kept, spare);
    roots.forEach((root, k) => {
      writer
        .i32(64 + 16 * k)
        .get(kept.get(root) as number)
        .memory("v128.store");
    });
  });
  const floats = new Float32Array(memory.buffer);
  floats.set(x, 0);
  floats.set(y, 4);
  new Int32Array(memory.buffer, 516, pool.bits.length).set(pool.bits);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.bytes({ shared: false })), {
    env: { memory },
  });
  (instance.exports.run as () => void)();
  const read = (k: number) => [...floats.subarray(16 + 4 * k, 20 + 4 * k)];
  return { read, loads, bits: pool.bits };
};

const X = [1, -2, 3.5, 0.25];
const Y = [4, 0.5, -1, 8];

describe("VectorGraph", () => {
  test("shares equal expressions and keeps different ones apart", () => {
    const g = new VectorGraph({ fma: false });
    const [x, y] = ["x", "y"].map((name) => g.leaf(name, 1, (w) => w.splat32(0)));
    expect(g.leaf("x", 1, (w) => w.splat32(0))).toBe(x);
    expect(g.add(x, y)).toBe(g.add(x, y));
    expect(g.add(x, y)).not.toBe(g.sub(x, y));
    expect(g.add(x, y)).not.toBe(g.add(y, x));
    expect(g.float(1)).toBe(g.bits(0x3f800000));
    expect(g.float(0)).not.toBe(g.float(-0));
    expect(g.float(0.1)).toBe(g.float(Math.fround(0.1)));
    expect(g.shift("i32x4.shl", x, 1)).not.toBe(g.shift("i32x4.shl", x, 2));
  });

  test("knows what a value depends on", () => {
    const g = new VectorGraph({ fma: true });
    const [x, y] = [1, 2].map((axes) => g.leaf(`${axes}`, axes, (w) => w.splat32(0)));
    expect(g.mul(x, y).axes).toBe(3);
    expect(g.float(2).axes).toBe(0);
    expect(g.float(2).cheap).toBe(true);
  });

  test.each(FMA)("computes what it says, with and without a pool of constants (fma %s)", (fma) => {
    for (const pooled of [false, true]) {
      const { read, bits } = execute(
        fma,
        X,
        Y,
        (g, x, y) => [
          g.madd(x, y, g.float(2)),
          g.nmadd(x, y, g.float(2)),
          g.polynomial(x, [1, -2, 0.5, 3]),
          g.select(g.apply("f32x4.gt", x, y), x, y),
          g.polynomial(x, []),
          g.shift("i32x4.shr_u", g.shift("i32x4.shl", x, 1), 1),
          g.float(2),
          x,
        ],
        pooled,
      );
      expect(read(0)).toEqual(X.map((x, k) => x * Y[k] + 2));
      expect(read(1)).toEqual(X.map((x, k) => 2 - x * Y[k]));
      expect(read(2)).toEqual(X.map((x) => 1 - 2 * x + 0.5 * x * x + 3 * x * x * x));
      expect(read(3)).toEqual([4, 0.5, 3.5, 8]);
      expect(read(4)).toEqual([0, 0, 0, 0]);
      expect(read(5)).toEqual(X.map(Math.abs));
      expect(read(6)).toEqual([2, 2, 2, 2]);
      expect(read(7)).toEqual(X);
      // Each constant once.
      expect(new Set(bits).size).toBe(bits.length);
      expect(bits.length).toBe(pooled ? 6 : 0);
    }
  });

  test("a fused product is rounded once, the other twice", () => {
    const x = 1 + 2 ** -12;
    const at = (fma: boolean) =>
      execute(fma, [x, x, x, x], Y, (g, v) => [g.madd(v, v, g.float(-1 - 2 ** -11))]).read(0)[0];
    expect(at(false)).toBe(0);
    if (FMA.includes(true)) expect([0, 2 ** -24]).toContain(at(true));
  });
});

describe("writeVectors", () => {
  test("computes a value that is used twice once", () => {
    const { read, loads } = execute(false, X, Y, (g, x, y) => {
      const product = g.mul(x, y);
      return [g.add(product, product), g.sub(product, x), product, product];
    });
    expect(loads).toBe(2);
    expect(read(0)).toEqual(X.map((x, k) => 2 * x * Y[k]));
    expect(read(1)).toEqual(X.map((x, k) => x * Y[k] - x));
    expect(read(2)).toEqual(X.map((x, k) => x * Y[k]));
    expect(read(3)).toEqual(read(2));
  });

  test("uses what is kept already", () => {
    let writes = 0;
    const module = new ModuleWriter();
    module.function("run", [], [], (writer: FunctionWriter) => {
      const g = new VectorGraph({ fma: false });
      const x = g.leaf("x", 1, (w) => {
        writes++;
        w.splat32(1);
      });
      const kept = new Map<VectorNode, number>();
      writeVectors(writer, [x], kept);
      writeVectors(writer, [g.add(x, x), x], kept);
      writeVectors(writer, [g.add(x, x)], kept);
    });
    expect(writes).toBe(1);
    expect(WebAssembly.validate(module.bytes({ shared: false }))).toBe(true);
  });

  test("takes locals again after their last use, and then keeps the roots alone", () => {
    const count = (spare?: number[]) => {
      let locals = 0;
      const module = new ModuleWriter();
      module.function("run", [], [], (writer: FunctionWriter) => {
        const g = new VectorGraph({ fma: false });
        const x = g.leaf("x", 1, (w) => w.splat32(1));
        let value = x;
        for (let k = 0; k < 30_000; k++) value = g.mul(g.add(value, x), value);
        const kept = new Map<VectorNode, number>();
        writeVectors(writer, [value, x], kept, spare);
        expect(kept.has(value) && kept.has(x)).toBe(true);
        if (spare !== undefined) expect(kept.size).toBe(2);
        locals = writer.local(0x7b);
      });
      expect(WebAssembly.validate(module.bytes({ shared: false }))).toBe(true);
      return locals;
    };
    expect(count()).toBeGreaterThan(29_000);
    expect(count([])).toBeLessThan(10);
  });

  test("finds what lies before a loop, thirty thousand operations down", () => {
    const g = new VectorGraph({ fma: false });
    const [x, y] = [1, 0].map((axes) => g.leaf(`${axes}`, axes, (w) => w.splat32(1)));
    const before = g.mul(y, y);
    let value = g.add(x, before);
    for (let k = 0; k < 30_000; k++) value = g.mul(value, y);
    expect(frontier([value], ({ axes }) => axes !== 0)).toEqual([before, y]);
  });

  test("random graphs come out as they are meant", () => {
    type Step = readonly ["add" | "sub" | "mul", number, number];
    const steps = fc.array(
      fc.tuple(fc.constantFrom("add", "sub", "mul"), fc.nat(), fc.nat()) as fc.Arbitrary<Step>,
      { minLength: 1, maxLength: 25 },
    );
    fc.assert(
      fc.property(steps, fc.boolean(), fc.boolean(), (all, pooled, sparing) => {
        const f = Math.fround;
        const values = [X, Y, [3, 3, 3, 3]].map((lanes) => lanes.map(f));
        for (const [op, a, b] of all) {
          const [left, right] = [values[a % values.length], values[b % values.length]];
          const compute = {
            add: (x: number, y: number) => x + y,
            sub: (x: number, y: number) => x - y,
            mul: (x: number, y: number) => x * y,
          };
          values.push(left.map((x, k) => f(compute[op](x, right[k]))));
        }
        const { read } = execute(
          false,
          X,
          Y,
          (g, x, y) => {
            const nodes = [x, y, g.float(3)];
            for (const [op, a, b] of all) nodes.push(g[op](nodes[a % nodes.length], nodes[b % nodes.length]));
            return nodes.slice(-8);
          },
          pooled,
          sparing ? [] : undefined,
        );
        values.slice(-8).forEach((lanes, k) => {
          expect(read(k).map((x) => x + 0)).toEqual(lanes.map((x) => x + 0));
        });
      }),
      { numRuns: 100 },
    );
  });
});
