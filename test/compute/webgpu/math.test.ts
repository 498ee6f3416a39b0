/** Every operation on a GPU against float64, at the bound that src/compute/webgpu/wgsl/math.ts states. */
import { expect, test } from "vitest";
import type { Value } from "../../../src/compute/graph/expression.js";
import { computeScalar, type Elementwise } from "../../../src/compute/graph/scalar.js";
import * as operations from "../../../src/compute/operations.js";
import { mapOnGpu } from "../../../src/compute/webgpu/map.js";
import { describeOnGpu } from "../../setup/gpu.js";

/** The distance between neighbouring float32 at a value. */
const ulp = (value: number): number =>
  2 ** (Math.max(-126, Math.floor(Math.log2(Math.max(2 ** -126, Math.abs(value))))) - 23);

const COUNT = 4000;
/** Half of the points evenly over the range, half closing in on 0 from inside it. */
const points = (low: number, high: number): Float32Array =>
  Float32Array.from({ length: COUNT }, (_, i) => {
    const share = (i + 0.5) / COUNT;
    if (i % 2 === 0) return low + (high - low) * share;
    const end = i % 4 === 1 ? high : low;
    return Math.min(high, Math.max(low, end * 10 ** (-8 * share)));
  });
/** Evenly over the exponents. */
const powers = (low: number, high: number): Float32Array =>
  Float32Array.from({ length: COUNT }, (_, i) => 2 ** (low + ((high - low) * (i + 0.5)) / COUNT));

const abs = Math.abs;
const of = (op: Elementwise, ...args: number[]) => computeScalar(op, args);

/** The most ulp, and of which size where it is not that of the result. */
const UNARY: Readonly<
  Partial<
    Record<Elementwise, { x: Float32Array; bound: number; size?: (x: number, exact: number) => number }>
  >
> = {
  exp: { x: points(-87, 88), bound: 1.5 },
  log: { x: powers(-126, 127), bound: 2 },
  log1p: { x: points(-0.999, 1e6), bound: 2 },
  expm1: { x: points(-30, 88), bound: 2 },
  tanh: { x: points(-12, 12), bound: 6 },
  sigmoid: { x: points(-80, 80), bound: 5 },
  softplus: { x: points(-80, 80), bound: 4 },
  erf: { x: points(-5, 5), bound: 4 },
  lgamma: {
    x: points(-20.3, 60),
    bound: 10,
    size: (x, exact) => Math.max(1, abs(exact), of("lgamma", abs(x))),
  },
  digamma: {
    x: points(-20.3, 60),
    bound: 12,
    size: (x, exact) => Math.max(1, abs(exact), of("digamma", 1 - Math.min(0, x))),
  },
  trigamma: { x: points(-10.3, 60), bound: 16 },
  sqrt: { x: powers(-120, 120), bound: 2.5 },
  square: { x: points(-100, 100), bound: 0.5 },
  neg: { x: points(-100, 100), bound: 0 },
  abs: { x: points(-100, 100), bound: 0 },
};

const A = points(-3, 3);
const B = points(-2, 5).reverse();
const BINARY: Readonly<Partial<Record<Elementwise, number>>> = {
  add: 0.5,
  sub: 0.5,
  mul: 0.5,
  div: 2.5,
  min: 0,
  max: 0,
  less: 0,
  lessEqual: 0,
  greater: 0,
  greaterEqual: 0,
  equal: 0,
  notEqual: 0,
};

type Unary = (x: Value) => Value;
type Binary = (a: Value, b: Value) => Value;
const operation = <F>(name: string): F => (operations as unknown as Record<string, F>)[name];

describeOnGpu("operations on a GPU", (gpu) => {
  test("of one number", async () => {
    const names = Object.keys(UNARY) as Elementwise[];
    const given = Object.fromEntries(names.map((name) => [name, UNARY[name]?.x ?? A]));
    const found = await mapOnGpu(
      gpu(),
      (at: Readonly<Record<string, Value>>) =>
        Object.fromEntries(names.map((name) => [name, operation<Unary>(name)(at[name])])),
      given,
    );
    for (const name of names) {
      const { bound = 0, size = (_: number, exact: number) => exact } = UNARY[name] ?? {};
      const worst = given[name].reduce((most, x, i) => {
        const exact = of(name, x);
        return Math.max(most, abs(found[name][i] - exact) / ulp(size(x, exact)));
      }, 0);
      expect(worst, name).toBeLessThanOrEqual(bound);
    }
  });

  test("of two and three numbers", async () => {
    const names = Object.keys(BINARY) as Elementwise[];
    const found = await mapOnGpu(
      gpu(),
      ({ a, b }) => ({
        ...Object.fromEntries(names.map((name) => [name, operation<Binary>(name)(a, b)])),
        chosen: operations.select(operations.less(a, b), a, b),
        power: operations.pow(operations.exp(a), b),
        whole: operations.pow(a, operations.select(operations.less(b, 1), -3, 4)),
      }),
      { a: A, b: B },
    );
    for (const name of names) {
      const worst = A.reduce((most, a, i) => {
        const exact = of(name, a, B[i]);
        return Math.max(most, abs(found[name][i] - exact) / ulp(exact));
      }, 0);
      expect(worst, name).toBeLessThanOrEqual(BINARY[name] ?? 0);
    }
    A.forEach((a, i) => {
      const b = B[i];
      expect(found.chosen[i]).toBe(a < b ? a : b);
      // The base is itself within 1.5 ulp.
      const power = Math.exp(a * b);
      expect(abs(found.power[i] - power) / ulp(power)).toBeLessThanOrEqual(4 + 4 * abs(a * b) + 2 * abs(b));
      const whole = a ** (b < 1 ? -3 : 4);
      const most = 2 + 4 * abs((b < 1 ? -3 : 4) * Math.log(abs(a)));
      expect(abs(found.whole[i] - whole) / ulp(whole), `${a}`).toBeLessThanOrEqual(most);
    });
  });

  test("the logarithm outside of its domain", async () => {
    const { value } = await mapOnGpu(gpu(), ({ x }) => operations.log(x), {
      x: Float32Array.of(0, -1, Number.POSITIVE_INFINITY, Number.NaN),
    });
    expect([...value]).toEqual([Number.NEGATIVE_INFINITY, Number.NaN, Number.POSITIVE_INFINITY, Number.NaN]);
  });
});
