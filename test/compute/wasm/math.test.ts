/**
 * Every vector function against float64, on a million points and more: random bits over all of float32, a dense
 * grid on the working range, subnormal numbers, NaN of every kind, and the neighbourhood of every edge and of
 * every place where the code takes another way. The bounds are those of the doc comments.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { detectFeatures } from "../../../src/compute/features.js";
import { I32, ModuleWriter } from "../../../src/compute/wasm/encoder.js";
import { type Range, vectorMath } from "../../../src/compute/wasm/math.js";
import { VectorGraph, type VectorNode, writeVectors } from "../../../src/compute/wasm/vector.js";
import {
  DIGAMMA_VECTORS,
  digamma,
  ERF_VECTORS,
  erf,
  LGAMMA_VECTORS,
  lgamma,
  TRIGAMMA_VECTORS,
  trigamma,
} from "./math/reference.js";

const fused = detectFeatures().relaxedSimd;
const MACHINES = fused ? [true, false] : [false];
const GREATEST = (2 - 2 ** -23) * 2 ** 127;
const LEAST = 2 ** -149;
const LEAST_NORMAL = 2 ** -126;

/** Runs a function of one or two vectors over arrays of the same length. */
const evaluate = (
  fma: boolean,
  build: (g: VectorGraph, x: VectorNode, y: VectorNode) => VectorNode,
  xs: Float32Array,
  ys: Float32Array = xs,
): Float32Array => {
  const bytes = Math.ceil(xs.length / 4) * 16;
  const module = new ModuleWriter();
  module.function("run", [], [], (writer) => {
    const g = new VectorGraph({ fma });
    const at = writer.local(I32);
    const load = (name: string, offset: number) =>
      g.leaf(name, 1, (w) => w.get(at).memory("v128.load", offset));
    writer.loop(
      at,
      () => writer.i32(0),
      () => writer.i32(bytes),
      16,
      () => {
        const kept = new Map<VectorNode, number>();
        const root = build(g, load("x", 0), load("y", bytes));
        writer.get(at);
        writeVectors(writer, [root], kept);
        writer.get(kept.get(root) as number).memory("v128.store", 2 * bytes);
      },
    );
  });
  const memory = new WebAssembly.Memory({ initial: Math.ceil((3 * bytes) / 65_536) });
  // Bits, and not numbers: some copies change the bits of a NaN.
  new Uint32Array(memory.buffer, 0, xs.length).set(new Uint32Array(xs.buffer, xs.byteOffset, xs.length));
  new Uint32Array(memory.buffer, bytes, ys.length).set(new Uint32Array(ys.buffer, ys.byteOffset, ys.length));
  const compiled = new WebAssembly.Module(module.bytes({ shared: false }));
  const { run } = new WebAssembly.Instance(compiled, { env: { memory } }).exports;
  (run as () => void)();
  return new Float32Array(memory.buffer, 2 * bytes, xs.length);
};

/** Marsaglia's xorshift: the same points on every run. */
const randomBits = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
};

const MANY = 1_001_000;
const NEIGHBOURS = 64;
const EDGES = [0, LEAST, LEAST_NORMAL, GREATEST, 1, 2, 0.5, 2 ** 23, 2 ** 24, 2 ** 126, 2 ** 127, 2 ** -64];

const view = new DataView(new ArrayBuffer(4));
const bitsOf = (value: number): number => {
  view.setFloat32(0, value);
  return view.getUint32(0);
};

/** A million and more arguments; `grid` is the working range, `edges` what is special about the function. */
const points = (grid: Range, edges: readonly number[]): Float32Array<ArrayBuffer> => {
  const next = randomBits(2463534242);
  const near = [...EDGES, ...edges].flatMap((edge) => [edge, -edge]);
  const rest = [Infinity, -Infinity, Number.NaN].map(bitsOf).concat(0x7f800001, 0xffc00123);
  const bits = new Uint32Array(MANY + near.length * (2 * NEIGHBOURS + 1) + rest.length);
  for (let i = 0; i < 500_000; i++) bits[i] = next();
  for (let i = 500_000; i < 550_000; i++) bits[i] = next() & 0x807fffff; // subnormal
  for (let i = 550_000; i < 551_000; i++) bits[i] = 0x7f800000 | next(); // NaN, quiet or signalling
  const floats = new Float32Array(bits.buffer);
  for (let i = 0; i < 450_000; i++) floats[551_000 + i] = grid.low + ((grid.high - grid.low) * i) / 449_999;
  let at = MANY;
  for (const edge of near)
    for (let step = -NEIGHBOURS; step <= NEIGHBOURS; step++) bits[at++] = bitsOf(edge) + step;
  bits.set(rest, at);
  return floats;
};

const ULPS = Float64Array.from({ length: 2048 }, (_, e) => 2 ** Math.max(Math.min(e - 1023, 127) - 23, -149));
const parts = new Float64Array(1);
const words = new Uint32Array(parts.buffer);
/** The distance of neighbouring float32 at `value`. */
const ulp = (value: number): number => {
  parts[0] = value;
  return ULPS[(words[1] >>> 20) & 0x7ff];
};

/** Infinity as the number that would come after the greatest, so that overflow has an error too. */
const finite = (value: number): number => Math.max(-(2 ** 128), Math.min(2 ** 128, value));

/** The error in units of `unit`, or Infinity where NaN, an infinity or the sign of 0 is wrong. */
const errorOf = (got: number, want: number, unit: number): number => {
  if (Number.isNaN(want) || Number.isNaN(got)) return Number.isNaN(want) && Number.isNaN(got) ? 0 : Infinity;
  if (want === 0 || want === Infinity || want === -Infinity) return Object.is(got, want) ? 0 : Infinity;
  return Math.abs(finite(got) - finite(want)) / unit;
};

/** The largest error in `units` among the arguments of one sign (NaN and both zeros count as positive), and where it is. */
const worstError = (
  got: Float32Array,
  want: Float64Array,
  units: Float64Array,
  xs: Float32Array,
  negative: boolean,
): { readonly error: number; readonly at: number } => {
  let error = 0;
  let at = 0;
  for (let i = 0; i < got.length; i++) {
    if (negative !== xs[i] < 0) continue;
    const e = errorOf(got[i], want[i], units[i]);
    if (e > error) {
      error = e;
      at = i;
    }
  }
  return { error, at };
};

type Unary = (g: VectorGraph, x: VectorNode, range?: Range) => VectorNode;

interface Bound {
  readonly fused: number;
  readonly plain: number;
}

interface Case {
  readonly name: keyof typeof vectorMath;
  readonly reference: (x: number) => number;
  readonly grid: Range;
  readonly edges?: readonly number[];
  /** The bound of the doc comment, in ulp, with and without FMA. */
  readonly bound: Bound;
  /** The same for x < 0, where it is another. */
  readonly boundBelowZero?: Bound;
  /** The least magnitude that the bound is relative to. */
  readonly scale?: (x: number) => number;
  /** Ranges to compile for, besides everything; NaN is in every range. */
  readonly ranges?: readonly Range[];
}

const exact = { fused: 0.5, plain: 0.5 };
const rangeOf = (low: number, high: number): Range => ({ low, high });
const sigmoid = (x: number): number => (x > 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const INTEGERS = [3, 4, 5, 6, 7, 10, 100];
const HALVES = [1.5, 2.5, 3.5, 4.5, 5.5];

const CASES: readonly Case[] = [
  {
    name: "exp",
    reference: Math.exp,
    grid: rangeOf(-104, 89),
    edges: [103.97208, 103.27893, 104, 87.33655, 87, 88, 88.72284, 89, 71, Math.LN2 / 2, Math.LN2],
    bound: { fused: 1, plain: 1.25 },
    ranges: [
      rangeOf(-Infinity, 30),
      rangeOf(-87, 88),
      rangeOf(-87, Infinity),
      rangeOf(-Infinity, 0),
      rangeOf(-104, 71),
      rangeOf(-95, 60),
      rangeOf(-80, 88.5),
      rangeOf(-Infinity, 80),
    ],
  },
  {
    name: "expm1",
    reference: Math.expm1,
    grid: rangeOf(-18, 5),
    edges: [17.32868, 20, 87, 88, 88.72284, 89, Math.LN2 / 2, Math.LN2],
    bound: { fused: 1.75, plain: 1.75 },
    ranges: [
      rangeOf(-Infinity, 0),
      rangeOf(-20, 20),
      rangeOf(0.1, 88),
      rangeOf(-1, 88.5),
      rangeOf(-5, -0.1),
      rangeOf(0, Infinity),
    ],
  },
  {
    name: "log",
    reference: Math.log,
    grid: rangeOf(0, 4),
    edges: [Math.SQRT1_2, Math.SQRT2, Math.SQRT2 * 2 ** 126, Math.SQRT2 * 2 ** 127, 4],
    bound: { fused: 1, plain: 1.25 },
    ranges: [
      rangeOf(0.1, 1e5),
      rangeOf(LEAST_NORMAL, 2 ** 126),
      rangeOf(LEAST_NORMAL, Infinity),
      rangeOf(LEAST, 10),
      rangeOf(0, Infinity),
      rangeOf(-1, 1),
    ],
  },
  {
    name: "log1p",
    reference: Math.log1p,
    grid: rangeOf(-1, 3),
    edges: [Math.SQRT1_2 - 1, Math.SQRT2 - 1, Math.SQRT2 * 2 ** 126, Math.SQRT2 * 2 ** 127, 1 - 2 ** -12],
    bound: { fused: 1.75, plain: 1.75 },
    ranges: [
      rangeOf(-0.99, 1e5),
      rangeOf(0, Infinity),
      rangeOf(0.01, 100),
      rangeOf(2 ** -60, Infinity),
      rangeOf(-1, 2 ** 126),
      rangeOf(-2, GREATEST),
    ],
  },
  {
    name: "tanh",
    reference: Math.tanh,
    grid: rangeOf(-10, 10),
    edges: [9.010913, 10, Math.LN2 / 4, Math.LN2 / 2],
    bound: { fused: 2.75, plain: 2.75 },
    ranges: [rangeOf(-3, 3), rangeOf(0, Infinity), rangeOf(0.5, 1), rangeOf(-Infinity, -1)],
  },
  {
    name: "sigmoid",
    reference: sigmoid,
    grid: rangeOf(-105, 20),
    edges: [87, 88, 103.97208, 104, 16.635532, 17.32868],
    bound: { fused: 2.5, plain: 2.5 },
    ranges: [rangeOf(-20, 20), rangeOf(0, Infinity), rangeOf(-Infinity, 0)],
  },
  {
    name: "softplus",
    reference: softplus,
    grid: rangeOf(-105, 20),
    edges: [87, 88, 103.97208, 104, 16.635532, 17.32868],
    bound: { fused: 2, plain: 2.25 },
    ranges: [rangeOf(-20, 20), rangeOf(0, Infinity), rangeOf(-Infinity, 0)],
  },
  {
    name: "erf",
    reference: erf,
    grid: rangeOf(-4.5, 4.5),
    edges: [3.8325067, 3.9375, 0.1, 3],
    bound: { fused: 2, plain: 2.25 },
    ranges: [rangeOf(0, Infinity), rangeOf(-1, 1)],
  },
  {
    name: "lgamma",
    reference: lgamma,
    grid: rangeOf(-10, 20),
    edges: [...INTEGERS, ...HALVES, 2.457024, 2.747682, 3.143583, 4.0850034e36],
    bound: { fused: 6, plain: 8 },
    boundBelowZero: { fused: 3.5, plain: 3.5 },
    scale: (x) => (x > 0 ? 0 : Math.max(1, lgamma(-x))),
    ranges: [
      rangeOf(0, Infinity),
      rangeOf(LEAST_NORMAL, 1e30),
      rangeOf(0.5, 100),
      rangeOf(4.5, Infinity),
      rangeOf(-0.25, 10),
      rangeOf(-1e3, 0),
    ],
  },
  {
    name: "digamma",
    reference: digamma,
    grid: rangeOf(-10, 20),
    edges: [...INTEGERS, ...HALVES, 1.4616321, 0.504083],
    bound: { fused: 9, plain: 9 },
    scale: (x) => (x > 0 ? 1 : Math.max(1, digamma(1 - x))),
    ranges: [rangeOf(0, Infinity), rangeOf(0.1, 1e5), rangeOf(3, Infinity), rangeOf(-50, 0)],
  },
  {
    name: "trigamma",
    reference: trigamma,
    grid: rangeOf(-10, 20),
    edges: [...INTEGERS, ...HALVES, 5.421011e-20],
    bound: { fused: 4, plain: 4 },
    boundBelowZero: { fused: 8.5, plain: 8.5 },
    ranges: [rangeOf(0, Infinity), rangeOf(0.1, 1e5), rangeOf(3, Infinity), rangeOf(-50, 0)],
  },
  { name: "sqrt", reference: Math.sqrt, grid: rangeOf(0, 100), bound: exact },
  { name: "abs", reference: Math.abs, grid: rangeOf(-1, 1), bound: { fused: 0, plain: 0 } },
  { name: "neg", reference: (x) => -x, grid: rangeOf(-1, 1), bound: { fused: 0, plain: 0 } },
  { name: "square", reference: (x) => x * x, grid: rangeOf(-10, 10), bound: exact },
  { name: "reciprocal", reference: (x) => 1 / x, grid: rangeOf(-10, 10), bound: exact },
];

describe.each(CASES)("$name", ({ name, reference, grid, edges = [], ranges = [], ...rest }) => {
  const build = vectorMath[name] as Unary;
  const { scale = () => 0, bound, boundBelowZero = bound } = rest;
  let all = new Float32Array();
  let want = new Float64Array();
  let units = new Float64Array();
  beforeAll(() => {
    all = points(grid, edges);
    want = Float64Array.from(all, reference);
    units = want.map((value, i) => ulp(Math.max(Math.abs(value), scale(all[i]))));
  });
  afterAll(() => {
    all = new Float32Array();
    want = units = new Float64Array();
  });

  const check = (range?: Range, chosen = all, wanted = want, unit = units): void => {
    for (const fma of MACHINES) {
      const got = evaluate(fma, (g, x) => build(g, x, range), chosen);
      for (const negative of [false, true]) {
        const { error, at } = worstError(got, wanted, unit, chosen, negative);
        const { fused: withFma, plain } = negative ? boundBelowZero : bound;
        const note = `${name}(${chosen[at]}) = ${got[at]} for ${wanted[at]}, fma ${fma}`;
        expect(error, note).toBeLessThanOrEqual(fma ? withFma : plain);
      }
    }
  };

  it("is within its bound on a million points", () => {
    expect(all.length).toBeGreaterThan(1_000_000);
    check();
  });

  if (ranges.length > 0)
    it.each(ranges)("is within its bound when compiled for [$low, $high]", (range) => {
      const bits = new Uint32Array(all.buffer);
      const inside: number[] = [];
      // All edges and, as the formulas are the same ones, every third of the rest.
      for (let i = 0; i < all.length; i += i < MANY - 3 ? 3 : 1)
        if (!(all[i] < range.low || all[i] > range.high)) inside.push(i);
      const chosen = new Uint32Array(inside.map((i) => bits[i]));
      const pick = (from: Float64Array) => Float64Array.from(inside, (i) => from[i]);
      check(range, new Float32Array(chosen.buffer), pick(want), pick(units));
    });
});

describe("the references", () => {
  it.each([
    ["lgamma", lgamma, LGAMMA_VECTORS],
    ["digamma", digamma, DIGAMMA_VECTORS],
    ["trigamma", trigamma, TRIGAMMA_VECTORS],
    ["erf", erf, ERF_VECTORS],
  ] as const)("%s agrees with mpmath", (_, f, vectors) => {
    for (const [x, want] of vectors) {
      const tolerance = 1e-12 * Math.max(Math.abs(want), x < 0 ? 1 : 1e-3);
      expect(Math.abs(f(x) - want), `at ${x}: ${f(x)} for ${want}`).toBeLessThanOrEqual(tolerance);
    }
  });
});

describe("pow", () => {
  const special = [
    0,
    1,
    2,
    0.5,
    3,
    2.5,
    LEAST,
    LEAST_NORMAL,
    GREATEST,
    1e30,
    2 ** 23 - 0.5,
    2 ** 23 + 1,
    2 ** 24 - 1,
    2 ** 24,
    1 - 2 ** -24,
    1 + 2 ** -23,
    Infinity,
  ];
  const numbers = [...special, ...special.map((v) => -v), Number.NaN];
  const size = 1_050_000;
  const xs = new Float32Array(size);
  const ys = new Float32Array(size);
  const next = randomBits(88675123);
  const unit = () => next() / 2 ** 32;
  const [xBits, yBits] = [new Uint32Array(xs.buffer), new Uint32Array(ys.buffer)];
  numbers.forEach((x, i) => {
    numbers.forEach((y, j) => {
      xs[i * numbers.length + j] = x;
      ys[i * numbers.length + j] = y;
    });
  });
  for (let i = numbers.length ** 2; i < size; i++) {
    const kind = i % 4;
    xBits[i] = kind === 0 ? next() : next() & 0x7fffffff;
    if (kind === 0) yBits[i] = next();
    else if (kind === 1) {
      xs[i] = 2 ** (20 * unit() - 10);
      ys[i] = 20 * unit() - 10;
    } else if (kind === 2) {
      ys[i] = (300 * unit() - 150) / Math.log2(xs[i]); // results all over the range
    } else {
      xs[i] = -10 * unit();
      ys[i] = Math.round(60 * unit() - 30);
    }
  }
  const want = Float64Array.from(xs, (x, i) => x ** ys[i]);

  it.each([undefined, rangeOf(0, Infinity), rangeOf(LEAST_NORMAL, Infinity), rangeOf(0.1, 10)])(
    "is within its bound for bases in %o",
    (range) => {
      const chosen = Array.from(xs.keys()).filter(
        (i) => range === undefined || !(xs[i] < range.low || xs[i] > range.high || Object.is(xs[i], -0)),
      );
      const [a, b] = [Float32Array.from(chosen, (i) => xs[i]), Float32Array.from(chosen, (i) => ys[i])];
      const wanted = Float64Array.from(chosen, (i) => want[i]);
      for (const fma of MACHINES) {
        const bound = fma ? 1 : 1.25;
        const got = evaluate(fma, (g, x, y) => vectorMath.pow(g, x, y, range), a, b);
        for (let i = 0; i < got.length; i++) {
          const error = errorOf(got[i], wanted[i], ulp(wanted[i]));
          if (error > bound)
            expect(error, `${a[i]} ** ${b[i]} = ${got[i]}, fma ${fma}`).toBeLessThanOrEqual(bound);
        }
      }
    },
  );
});

describe("two arguments", () => {
  const numbers = [0, -0, 1, -1, 2.5, LEAST, -LEAST, GREATEST, -GREATEST, Infinity, -Infinity, Number.NaN];
  const xs = Float32Array.from(numbers.flatMap((x) => numbers.map(() => x)));
  const ys = Float32Array.from(numbers.flatMap(() => numbers));
  const numeric = (value: number): number => (value === 0 ? 0 : value);

  it.each([
    ["min", Math.min],
    ["max", Math.max],
  ] as const)("%s has the NaN of either", (name, reference) => {
    const got = evaluate(false, vectorMath[name], xs, ys);
    got.forEach((value, i) => {
      expect(numeric(value), `${name}(${xs[i]}, ${ys[i]})`).toBe(numeric(reference(xs[i], ys[i])));
    });
  });

  it.each([
    ["min", Math.min],
    ["max", Math.max],
  ] as const)("%s with a constant on either side", (name, reference) => {
    for (const constant of [1, -Infinity, Number.NaN]) {
      const first = evaluate(false, (g, x) => vectorMath[name](g, g.float(constant), x), xs);
      const second = evaluate(false, (g, x) => vectorMath[name](g, x, g.float(constant)), xs);
      xs.forEach((x, i) => {
        expect(numeric(first[i])).toBe(numeric(reference(constant, x)));
        expect(numeric(second[i])).toBe(numeric(reference(x, constant)));
      });
    }
  });

  it.each([
    ["less", (a: number, b: number) => a < b],
    ["lessEqual", (a: number, b: number) => a <= b],
    ["greater", (a: number, b: number) => a > b],
    ["greaterEqual", (a: number, b: number) => a >= b],
    ["equal", (a: number, b: number) => a === b],
    ["notEqual", (a: number, b: number) => a !== b],
  ] as const)("%s is a mask that select takes", (name, reference) => {
    const got = evaluate(
      false,
      (g, x, y) => vectorMath.select(g, vectorMath[name](g, x, y), g.float(1), g.float(2)),
      xs,
      ys,
    );
    got.forEach((value, i) => {
      expect(value, `${name}(${xs[i]}, ${ys[i]})`).toBe(reference(xs[i], ys[i]) ? 1 : 2);
    });
  });
});
