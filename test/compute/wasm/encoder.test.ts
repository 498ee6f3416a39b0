import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  F32,
  F64,
  type FunctionWriter,
  I32,
  I64,
  type MemoryInstruction,
  ModuleWriter,
  type PlainInstruction,
  type SimdInstruction,
  V128,
  type ValueType,
} from "../../../src/compute/wasm/encoder.js";

const memory = new WebAssembly.Memory({ initial: 1 });

/** A function of one module, compiled. */
const compiled = <T extends (...args: never[]) => unknown>(
  params: readonly ValueType[],
  results: readonly ValueType[],
  write: (writer: FunctionWriter) => void,
): T => {
  const module = new ModuleWriter();
  module.function("run", params, results, write);
  const bytes = module.bytes({ shared: false });
  expect(WebAssembly.validate(bytes)).toBe(true);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  return exports.run as T;
};

const valid = (
  params: readonly ValueType[],
  results: readonly ValueType[],
  write: (writer: FunctionWriter) => void,
) => {
  const module = new ModuleWriter();
  module.function("run", params, results, write);
  return WebAssembly.validate(module.bytes({ shared: false }));
};

describe("LEB128", () => {
  const EDGES = [0, 1, 63, 64, 127, 128, 8191, 8192, 16_383, 16_384, 2 ** 20, 2 ** 27, 2 ** 28, 2 ** 31 - 1];

  test.each([...EDGES, ...EDGES.map((x) => -x), -65, -129, -8193, -(2 ** 31)])(
    "the 32-bit constant %d",
    (value) => {
      expect(compiled<() => number>([], [I32], (w) => w.i32(value))()).toBe(value | 0);
    },
  );

  test("constants of 32 and 64 bits come out as they went in", () => {
    fc.assert(
      fc.property(fc.integer(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (small, large) => {
        expect(compiled<() => number>([], [I32], (w) => w.i32(small))()).toBe(small);
        expect(compiled<() => bigint>([], [I64], (w) => w.i64(large))()).toBe(large);
      }),
      { numRuns: 100 },
    );
    for (const value of [0n, 63n, 64n, -64n, -65n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      expect(compiled<() => bigint>([], [I64], (w) => w.i64(value))()).toBe(value);
    }
    expect(compiled<() => bigint>([], [I64], (w) => w.i64(2n ** 63n))()).toBe(-(2n ** 63n));
    expect(compiled<() => number>([], [I32], (w) => w.i32(0xffffffff))()).toBe(-1);
  });

  test.each([0, 4, 127, 128, 16_383, 16_384, 65_532])("the offset %d of a load and a store", (offset) => {
    const run = compiled<(value: number) => number>([I32], [I32], (w) =>
      w.i32(0).get(0).memory("i32.store", offset).i32(0).memory("i32.load", offset),
    );
    expect(run(123_456_789)).toBe(123_456_789);
    expect(new DataView(memory.buffer).getInt32(offset, true)).toBe(123_456_789);
  });

  test("an offset of nearly 4 GiB is encoded, and out of bounds", () => {
    const run = compiled<() => number>([], [I32], (w) => w.i32(0).memory("i32.load", 2 ** 32 - 8));
    expect(() => run()).toThrow(WebAssembly.RuntimeError);
  });

  test.each([1, 127, 128, 129, 1000])("%d locals", (count) => {
    const run = compiled<() => number>([], [I32], (w) => {
      const locals = Array.from({ length: count }, (_, k) =>
        w.local(k % 3 === 0 ? I32 : k % 3 === 1 ? V128 : F64),
      );
      const last = locals.filter((_, k) => k % 3 === 0).at(-1) ?? 0;
      w.i32(42).set(last).get(last);
    });
    expect(run()).toBe(42);
  });

  test("bodies and names longer than 127 bytes, and more than 127 functions", () => {
    const module = new ModuleWriter();
    for (let k = 0; k < 200; k++) {
      module.function(`${"long name ü ".repeat(20)}${k}`, [], [I32], (w) => {
        w.i32(k);
        for (let n = 0; n < 100; n++) w.i32(1).op("i32.add");
      });
    }
    const last = module.function("last", [], [I32], (w) => w.call(150).call(0).op("i32.sub"));
    expect(last).toBe(200);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes({ shared: false })), {
      env: { memory },
    });
    expect((exports.last as () => number)()).toBe(150);
    expect((exports[`${"long name ü ".repeat(20)}7`] as () => number)()).toBe(107);
  });
});

describe("constants", () => {
  test.each([0, -0, 1, -1.5, 1e-45, 3.4028234663852886e38, Infinity, -Infinity, Number.NaN, 0.1])(
    "%d",
    (value) => {
      expect(compiled<() => number>([], [F32], (w) => w.f32(value))()).toBe(Math.fround(value));
      expect(compiled<() => number>([], [F64], (w) => w.f64(value))()).toBe(value);
      expect(compiled<() => number>([], [F32], (w) => w.f32(value).simd("f32x4.splat").lane(3))()).toBe(
        Math.fround(value),
      );
    },
  );

  test("vectors of bits and of integers", () => {
    const store = (write: (writer: FunctionWriter) => void) => {
      compiled<() => void>([], [], (w) => {
        w.i32(64);
        write(w);
        w.memory("v128.store");
      })();
      return [...new Int32Array(memory.buffer, 64, 4)];
    };
    expect(store((w) => w.splat32(0x80000001))).toEqual(Array(4).fill(0x80000001 | 0));
    expect(store((w) => w.integers(0, -1, 2 ** 31 - 1, -(2 ** 31)))).toEqual([
      0,
      -1,
      2 ** 31 - 1,
      -(2 ** 31),
    ]);
  });
});

/** Instructions by what they take and give. */
const unary = (type: ValueType, result: ValueType, names: readonly PlainInstruction[]) =>
  names.map((name) => [name, [type], result] as const);
const binary = (type: ValueType, result: ValueType, names: readonly PlainInstruction[]) =>
  names.map((name) => [name, [type, type], result] as const);
const plain: readonly (readonly [PlainInstruction, readonly ValueType[], ValueType])[] = [
  ...unary(I32, I32, ["i32.eqz"]),
  ...binary(I32, I32, [
    "i32.eq",
    "i32.ne",
    "i32.lt_s",
    "i32.lt_u",
    "i32.gt_s",
    "i32.gt_u",
    "i32.le_u",
    "i32.ge_s",
    "i32.ge_u",
    "i32.add",
    "i32.sub",
    "i32.mul",
    "i32.div_u",
    "i32.rem_u",
    "i32.and",
    "i32.or",
    "i32.xor",
    "i32.shl",
    "i32.shr_s",
    "i32.shr_u",
  ]),
  ...binary(I64, I64, [
    "i64.add",
    "i64.sub",
    "i64.mul",
    "i64.and",
    "i64.or",
    "i64.shl",
    "i64.shr_s",
    "i64.shr_u",
  ]),
  ...binary(F32, F32, ["f32.add", "f32.sub", "f32.mul", "f32.div", "f32.max"]),
  ...binary(F32, I32, ["f32.gt"]),
  ...unary(F64, F64, ["f64.abs", "f64.neg", "f64.sqrt"]),
  ...binary(F64, F64, ["f64.add", "f64.sub", "f64.mul", "f64.div"]),
  ...binary(F64, I32, ["f64.lt", "f64.gt", "f64.le"]),
  ...unary(I64, I64, ["i64.popcnt"]),
  ...unary(I64, I32, ["i32.wrap_i64"]),
  ...unary(I32, I64, ["i64.extend_i32_u"]),
  ...unary(F64, F32, ["f32.demote_f64"]),
  ...unary(I32, F64, ["f64.convert_i32_s", "f64.convert_i32_u"]),
  ...unary(I64, F64, ["f64.convert_i64_s", "f64.reinterpret_i64"]),
  ...unary(F64, I64, ["i64.reinterpret_f64"]),
];

describe("instructions", () => {
  test.each(plain)("%s has the type of its name", (name, params, result) => {
    const write = (w: FunctionWriter) => {
      for (const i of params.keys()) w.get(i);
      w.op(name);
    };
    expect(valid(params, [result], write)).toBe(true);
    const other = result === I32 ? F64 : I32;
    expect(valid(params, [other], write)).toBe(false);
  });

  test("integers and floats compute what they are named after", () => {
    const i32 = (name: PlainInstruction, a: number, b: number) =>
      compiled<(a: number, b: number) => number>([I32, I32], [I32], (w) => w.get(0).get(1).op(name))(a, b);
    expect(i32("i32.sub", 5, 7)).toBe(-2);
    expect(i32("i32.div_u", -1, 2)).toBe(2 ** 31 - 1);
    expect(i32("i32.rem_u", 17, 5)).toBe(2);
    expect(i32("i32.lt_s", -1, 1)).toBe(1);
    expect(i32("i32.lt_u", -1, 1)).toBe(0);
    expect(i32("i32.gt_u", -1, 1)).toBe(1);
    expect(i32("i32.ge_s", -1, 1)).toBe(0);
    expect(i32("i32.ge_u", 1, 1)).toBe(1);
    expect(i32("i32.le_u", 2, 1)).toBe(0);
    expect(i32("i32.shl", 3, 4)).toBe(48);
    expect(i32("i32.shr_s", -16, 2)).toBe(-4);
    expect(i32("i32.shr_u", -16, 28)).toBe(15);
    expect(i32("i32.xor", 6, 3)).toBe(5);
    expect(i32("i32.or", 6, 3)).toBe(7);
    expect(i32("i32.and", 6, 3)).toBe(2);
    const f64 = (name: PlainInstruction, a: number, b: number) =>
      compiled<(a: number, b: number) => number>([F64, F64], [F64], (w) => w.get(0).get(1).op(name))(a, b);
    expect([f64("f64.add", 5, 2), f64("f64.sub", 5, 2), f64("f64.mul", 5, 2), f64("f64.div", 5, 2)]).toEqual([
      7, 3, 10, 2.5,
    ]);
    expect(
      compiled<(a: bigint, b: bigint) => bigint>([I64, I64], [I64], (w) => w.get(0).get(1).op("i64.mul"))(
        3n,
        -7n,
      ),
    ).toBe(-21n);
    expect(compiled<(a: bigint) => bigint>([I64], [I64], (w) => w.get(0).op("i64.popcnt"))(-2n)).toBe(63n);
  });

  const lanes = (
    write: (writer: FunctionWriter) => void,
    ...vectors: readonly (readonly number[])[]
  ): number[] => {
    const floats = new Float32Array(memory.buffer, 128, 16);
    vectors.forEach((vector, k) => {
      floats.set(vector, 4 * k);
    });
    compiled<() => void>([], [], (w) => {
      w.i32(128 + 48);
      for (const k of vectors.keys()) w.i32(128 + 16 * k).memory("v128.load");
      write(w);
      w.memory("v128.store");
    })();
    return [...floats.subarray(12)];
  };

  test.each<[SimdInstruction, number[]]>([
    ["f32x4.add", [5, -1, 3.5, 6]],
    ["f32x4.sub", [-3, -5, 1.5, 2]],
    ["f32x4.mul", [4, -6, 2.5, 8]],
    ["f32x4.div", [0.25, -1.5, 2.5, 2]],
    ["f32x4.min", [1, -3, 1, 2]],
    ["f32x4.max", [4, 2, 2.5, 4]],
    ["f32x4.pmin", [1, -3, 1, 2]],
    ["f32x4.pmax", [4, 2, 2.5, 4]],
  ])("%s of two vectors", (name, expected) => {
    expect(lanes((w) => w.simd(name), [1, -3, 2.5, 4], [4, 2, 1, 2])).toEqual(expected);
  });

  test.each<[SimdInstruction, number[]]>([
    ["f32x4.abs", [1.5, 4, 0, 2.25]],
    ["f32x4.neg", [1.5, -4, -0, -2.25]],
    ["f32x4.ceil", [-1, 4, 0, 3]],
    ["f32x4.floor", [-2, 4, 0, 2]],
    ["f32x4.trunc", [-1, 4, 0, 2]],
    ["f32x4.nearest", [-2, 4, 0, 2]],
    ["f32x4.sqrt", [Number.NaN, 2, 0, 1.5]],
  ])("%s of a vector", (name, expected) => {
    expect(
      lanes((w) => w.simd(name), [-1.5, 4, 0, 2.25]).map((x) =>
        Object.is(x, -0) && name !== "f32x4.neg" ? 0 : x,
      ),
    ).toEqual(expected);
  });

  test.each<[SimdInstruction, number]>([
    ["i32x4.eq", 2],
    ["i32x4.ne", 2],
    ["i32x4.lt_s", 2],
    ["i32x4.lt_u", 2],
    ["i32x4.gt_s", 2],
    ["i32x4.gt_u", 2],
    ["i32x4.ge_s", 2],
    ["f32x4.eq", 2],
    ["f32x4.ne", 2],
    ["f32x4.lt", 2],
    ["f32x4.gt", 2],
    ["f32x4.le", 2],
    ["f32x4.ge", 2],
    ["v128.not", 1],
    ["v128.and", 2],
    ["v128.andnot", 2],
    ["v128.or", 2],
    ["v128.xor", 2],
    ["v128.bitselect", 3],
    ["i8x16.swizzle", 2],
    ["f32x4.demote_f64x2_zero", 1],
    ["f64x2.promote_low_f32x4", 1],
    ["f64x2.nearest", 1],
    ["i32x4.add", 2],
    ["i32x4.sub", 2],
    ["i32x4.mul", 2],
    ["i32x4.min_s", 2],
    ["i32x4.max_s", 2],
    ["f64x2.add", 2],
    ["f64x2.sub", 2],
    ["f64x2.mul", 2],
    ["f64x2.div", 2],
    ["f64x2.pmin", 2],
    ["f64x2.pmax", 2],
    ["i32x4.trunc_sat_f32x4_s", 1],
    ["f32x4.convert_i32x4_s", 1],
  ])("%s takes %d vectors", (name, count) => {
    const write = (n: number) => (w: FunctionWriter) => {
      for (let k = 0; k < n; k++) w.splat32(k);
      w.simd(name).op("drop");
    };
    expect(valid([], [], write(count))).toBe(true);
    expect(valid([], [], write(count - 1))).toBe(false);
    expect(valid([], [], write(count + 1))).toBe(false);
  });

  test("shifts, splats, tests and lanes", () => {
    for (const name of ["i32x4.shl", "i32x4.shr_s", "i32x4.shr_u"] as const) {
      expect(valid([], [], (w) => w.splat32(-8).i32(2).simd(name).op("drop"))).toBe(true);
    }
    expect(valid([I32], [V128], (w) => w.get(0).simd("i32x4.splat"))).toBe(true);
    expect(valid([F32], [V128], (w) => w.get(0).simd("f32x4.splat"))).toBe(true);
    expect(valid([F64], [V128], (w) => w.get(0).simd("f64x2.splat"))).toBe(true);
    expect(valid([V128], [I32], (w) => w.get(0).simd("v128.any_true"))).toBe(true);
    for (let k = 0; k < 4; k++) {
      expect(lanes((w) => w.f32(9).replaceLane(k), [1, 2, 3, 4])).toEqual([1, 2, 3, 4].with(k, 9));
      expect(lanes((w) => w.lane(k).simd("f32x4.splat"), [1, 2, 3, 4])).toEqual(Array(4).fill(k + 1));
    }
  });

  test.each<[MemoryInstruction, ValueType, "load" | "store"]>([
    ["i32.load", I32, "load"],
    ["f32.load", F32, "load"],
    ["f64.load", F64, "load"],
    ["v128.load", V128, "load"],
    ["v128.load32_splat", V128, "load"],
    ["v128.load32_zero", V128, "load"],
    ["i32.store", I32, "store"],
    ["f32.store", F32, "store"],
    ["f64.store", F64, "store"],
    ["v128.store", V128, "store"],
  ])("%s", (name, type, kind) => {
    if (kind === "load") expect(valid([I32], [type], (w) => w.get(0).memory(name, 1000))).toBe(true);
    else expect(valid([I32, type], [], (w) => w.get(0).get(1).memory(name, 1000))).toBe(true);
  });

  test("a stored lane, a splat and a lane with zeros", () => {
    const floats = new Float32Array(memory.buffer, 256, 8);
    floats.set([1, 2, 3, 4, 0, 0, 0, 0]);
    compiled<() => void>([], [], (w) => {
      w.i32(272).i32(256).memory("v128.load").storeLane(2, 4);
    })();
    expect([...floats]).toEqual([1, 2, 3, 4, 0, 3, 0, 0]);
    compiled<() => void>([], [], (w) => {
      w.i32(272).i32(260).memory("v128.load32_splat").memory("v128.store");
    })();
    expect([...floats.subarray(4)]).toEqual([2, 2, 2, 2]);
    compiled<() => void>([], [], (w) => {
      w.i32(272).i32(260).memory("v128.load32_zero").memory("v128.store");
    })();
    expect([...floats.subarray(4)]).toEqual([2, 0, 0, 0]);
  });
});

describe("control flow", () => {
  test("a loop counts from start to end by steps, and not at all when it starts there", () => {
    const sum = compiled<(from: number, to: number) => number>([I32, I32], [I32], (w) => {
      const [i, total] = [w.local(I32), w.local(I32)];
      w.loop(
        i,
        () => w.get(0),
        () => w.get(1),
        3,
        () => w.get(total).get(i).op("i32.add").set(total),
      );
      w.get(total);
    });
    expect(sum(0, 10)).toBe(0 + 3 + 6 + 9);
    expect(sum(0, 9)).toBe(0 + 3 + 6);
    expect(sum(5, 5)).toBe(0);
    expect(sum(7, 5)).toBe(0);
  });

  test("when runs its body for anything but zero; tee, select and calls", () => {
    const module = new ModuleWriter();
    const double = module.function("double", [I32], [I32], (w) => w.get(0).i32(2).op("i32.mul"));
    module.function("run", [I32], [I32], (w) => {
      const [x, y] = [w.local(I32), w.local(I32)];
      w.get(0)
        .tee(x)
        .when(() => w.get(x).call(double).set(y));
      w.get(y).i32(-1).get(y).op("select");
    });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes({ shared: false })), {
      env: { memory },
    });
    const run = exports.run as (x: number) => number;
    expect([run(0), run(1), run(-3)]).toEqual([-1, 2, -6]);
  });

  test("a shared memory is another import", () => {
    const module = new ModuleWriter();
    module.function("run", [I32], [], () => {});
    const shared = new WebAssembly.Memory({ initial: 1, maximum: 65_536, shared: true });
    const build = (flag: boolean) => new WebAssembly.Module(module.bytes({ shared: flag }));
    expect(() => new WebAssembly.Instance(build(true), { env: { memory: shared } })).not.toThrow();
    expect(() => new WebAssembly.Instance(build(false), { env: { memory } })).not.toThrow();
    expect(() => new WebAssembly.Instance(build(true), { env: { memory } })).toThrow(WebAssembly.LinkError);
    expect(() => new WebAssembly.Instance(build(false), { env: { memory: shared } })).toThrow(
      WebAssembly.LinkError,
    );
  });
});
