import { describe, expect, test } from "vitest";
import { LN2_HI, LN2_LO, LOG_COEFFICIENTS } from "../../src/core/math/log.js";
import {
  QUANTILE_CENTRAL_DENOMINATOR,
  QUANTILE_CENTRAL_NUMERATOR,
  QUANTILE_FAR_DENOMINATOR,
  QUANTILE_FAR_NUMERATOR,
  QUANTILE_TAIL_DENOMINATOR,
  QUANTILE_TAIL_NUMERATOR,
} from "../../src/core/math/normal-quantile.js";
import {
  digamma,
  erf,
  erfc,
  exp,
  expm1,
  lgamma,
  log,
  log1p,
  normalCdf,
  normalQuantile,
  tanh,
  trigamma,
  wholePower,
} from "../../src/core/math.js";
import * as values from "./math-values.js";
import { spread, ulpsBetween } from "./ulps.js";

const INF = Number.POSITIVE_INFINITY;

/** Function, its values, and the error allowed: float64 steps, or an absolute distance near zeros. */
const cases = [
  { name: "log", f: log, values: values.logValues, ulps: 1 },
  { name: "log1p", f: log1p, values: values.log1pValues, ulps: 2 },
  { name: "exp", f: exp, values: values.expValues, ulps: 1 },
  { name: "expm1", f: expm1, values: values.expm1Values, ulps: 2 },
  { name: "tanh", f: tanh, values: values.tanhValues, ulps: 2 },
  { name: "lgamma", f: lgamma, values: values.lgammaValues, ulps: 16 },
  { name: "digamma", f: digamma, values: values.digammaValues, ulps: 32 },
  { name: "trigamma", f: trigamma, values: values.trigammaValues, ulps: 16 },
  { name: "erf", f: erf, values: values.erfValues, ulps: 2 },
  { name: "erfc", f: erfc, values: values.erfcValues, ulps: 6 },
  { name: "normalCdf", f: normalCdf, values: values.normalCdfValues, ulps: 8 },
  { name: "normalQuantile", f: normalQuantile, values: values.normalQuantileValues, ulps: 6 },
] as const;

describe.each(cases)("$name against 60-digit arithmetic", ({ f, values, ulps }) => {
  test.each(values)("at %d", (x, expected) => {
    expect(ulpsBetween(f(x), expected)).toBeLessThanOrEqual(ulps);
  });
});

test("tanh at its ends, and whole powers", () => {
  expect([INF, -INF, 23, -0, 0, Number.NaN].map(tanh)).toEqual([1, -1, 1, -0, 0, Number.NaN]);
  for (const x of spread(-20, 20, 3000)) expect(ulpsBetween(tanh(x), Math.tanh(x))).toBeLessThanOrEqual(3);
  expect([0, 1, 2, 5, 30].map((n) => wholePower(3, n))).toEqual([1, 3, 9, 243, 205891132094649]);
  expect([wholePower(0.5, 10), wholePower(-2, 3), wholePower(0, 0)]).toEqual([1 / 1024, -8, 1]);
  for (const n of [3, 7, 50]) expect(wholePower(0.9, n) / Math.exp(n * Math.log(0.9))).toBeCloseTo(1, 13);
});

describe("agreement with the engine's own functions, which are within 1 ulp", () => {
  test("log", () => {
    for (const e of spread(-308, 308, 3000)) {
      const x = 10 ** e;
      expect(ulpsBetween(log(x), Math.log(x))).toBeLessThanOrEqual(1);
    }
    for (const x of spread(0.4, 2.5, 3000)) {
      expect(ulpsBetween(log(x), Math.log(x))).toBeLessThanOrEqual(1);
    }
  });
  test("exp", () => {
    for (const x of [...spread(-744, 709, 3000), ...spread(-2, 2, 3000)]) {
      expect(ulpsBetween(exp(x), Math.exp(x))).toBeLessThanOrEqual(1);
    }
  });
});

describe("edges", () => {
  test.each([
    [
      "log",
      log,
      [
        [0, -INF],
        [-0, -INF],
        [-1, Number.NaN],
        [-INF, Number.NaN],
        [INF, INF],
        [1, 0],
      ],
    ],
    [
      "log1p",
      log1p,
      [
        [0, 0],
        [-0, -0],
        [-1, -INF],
        [-1.5, Number.NaN],
        [-INF, Number.NaN],
        [INF, INF],
        [5e-324, 5e-324],
      ],
    ],
    [
      "exp",
      exp,
      [
        [0, 1],
        [-0, 1],
        [INF, INF],
        [-INF, 0],
        [710, INF],
        [-746, 0],
        [-745.13, 5e-324],
      ],
    ],
    [
      "expm1",
      expm1,
      [
        [0, 0],
        [-0, -0],
        [INF, INF],
        [-INF, -1],
        [710, INF],
        [-5e-324, -5e-324],
      ],
    ],
    [
      "lgamma",
      lgamma,
      [
        [0, INF],
        [-0, INF],
        [-1, INF],
        [-7, INF],
        [INF, INF],
        [-INF, INF],
        [1, 0],
        [2, 0],
        [1e306, INF],
      ],
    ],
    [
      "digamma",
      digamma,
      [
        [0, -INF],
        [-0, INF],
        [-1, Number.NaN],
        [-INF, Number.NaN],
        [INF, INF],
      ],
    ],
    [
      "trigamma",
      trigamma,
      [
        [0, INF],
        [-0, INF],
        [-1, INF],
        [-INF, Number.NaN],
        [INF, 0],
      ],
    ],
    [
      "erf",
      erf,
      [
        [0, 0],
        [-0, -0],
        [INF, 1],
        [-INF, -1],
        [30, 1],
        [-30, -1],
      ],
    ],
    [
      "erfc",
      erfc,
      [
        [0, 1],
        [INF, 0],
        [-INF, 2],
        [30, 0],
        [-30, 2],
      ],
    ],
    [
      "normalCdf",
      normalCdf,
      [
        [0, 0.5],
        [INF, 1],
        [-INF, 0],
        [-50, 0],
        [50, 1],
      ],
    ],
    [
      "normalQuantile",
      normalQuantile,
      [
        [0, -INF],
        [1, INF],
        [0.5, 0],
        [-0.1, Number.NaN],
        [1.1, Number.NaN],
        [INF, Number.NaN],
        [-INF, Number.NaN],
      ],
    ],
  ] as const)("%s", (_, f, pairs) => {
    expect(f(Number.NaN)).toBeNaN();
    for (const [x, expected] of pairs) expect(f(x), `at ${x}`).toBe(expected);
  });
});

describe("identities", () => {
  test("lgamma(x + 1) = lgamma(x) + log x", () => {
    for (const x of spread(0.01, 40, 500)) {
      expect(Math.abs(lgamma(x + 1) - lgamma(x) - log(x))).toBeLessThan(
        2e-14 * (1 + Math.abs(lgamma(x + 1))),
      );
    }
  });
  test("digamma(x + 1) = digamma(x) + 1 / x", () => {
    for (const x of spread(0.05, 40, 500)) {
      expect(Math.abs(digamma(x + 1) - digamma(x) - 1 / x)).toBeLessThan(1e-14 * (1 + 1 / x));
    }
  });
  test("digamma is the derivative of lgamma, trigamma that of digamma", () => {
    const h = 1e-5;
    for (const x of spread(0.5, 30, 100)) {
      expect((lgamma(x + h) - lgamma(x - h)) / (2 * h)).toBeCloseTo(digamma(x), 7);
      expect((digamma(x + h) - digamma(x - h)) / (2 * h)).toBeCloseTo(trigamma(x), 7);
    }
  });
  test("normalCdf inverts normalQuantile", () => {
    for (const e of spread(-300, -0.31, 500)) {
      const p = 10 ** e;
      const z = normalQuantile(p);
      // An error of one ulp in z is one of z^2 ulps in p.
      expect(Math.abs(normalCdf(z) / p - 1)).toBeLessThan(1e-15 * (5 + 3 * z * z));
    }
  });
  test("normalQuantile is odd about 1/2, to the bit", () => {
    for (const p of spread(0, 1, 500)) expect(normalQuantile(1 - p)).toBe(-normalQuantile(1 - (1 - p)));
  });
});

/** The documented order of operations, written from the doc comments alone, as another implementation would. */
describe("the documented operations give the same bits", () => {
  const horner = (c: readonly number[], x: number) => c.reduceRight((sum, a) => sum * x + a);
  const view = new DataView(new ArrayBuffer(8));
  const otherLog = (x: number): number => {
    view.setFloat64(0, x);
    const h = view.getInt32(0) + 0x3ff00000 - 0x3fe6a09e;
    const k = (h >> 20) - 1023;
    view.setInt32(0, (h & 0xfffff) + 0x3fe6a09e);
    const f = view.getFloat64(0) - 1;
    const s = f / (2 + f);
    const z = s * s;
    const r = z * horner(LOG_COEFFICIENTS, z);
    const half = 0.5 * f * f;
    return s * (half + r) + k * LN2_LO - half + f + k * LN2_HI;
  };
  const otherQuantile = (p: number): number => {
    const q = p - 0.5;
    if (Math.abs(q) <= 0.425) {
      const r = 0.180625 - q * q;
      return (q * horner(QUANTILE_CENTRAL_NUMERATOR, r)) / horner(QUANTILE_CENTRAL_DENOMINATOR, r);
    }
    const r = Math.sqrt(-otherLog(q < 0 ? p : 1 - p));
    const z =
      r <= 5
        ? horner(QUANTILE_TAIL_NUMERATOR, r - 1.6) / horner(QUANTILE_TAIL_DENOMINATOR, r - 1.6)
        : horner(QUANTILE_FAR_NUMERATOR, r - 5) / horner(QUANTILE_FAR_DENOMINATOR, r - 5);
    return q < 0 ? -z : z;
  };
  test("log", () => {
    for (const e of spread(-307, 308, 2000)) expect(log(10 ** e)).toBe(otherLog(10 ** e));
  });
  test("normalQuantile", () => {
    for (const p of spread(0, 1, 2000)) expect(normalQuantile(p)).toBe(otherQuantile(p));
    for (const e of spread(-300, -1, 500)) expect(normalQuantile(10 ** e)).toBe(otherQuantile(10 ** e));
  });
});
