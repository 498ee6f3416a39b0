import { expect, test } from "vitest";
import { BITS, NATS, summaryIn, unitOf } from "../../src/core/information-unit.js";

test("a fair coin has one bit, and log 2 nats", () => {
  expect(BITS.of(Math.log(2))).toBe(1);
  expect(BITS.of(Math.log(8))).toBeCloseTo(3, 12);
  expect(NATS.of(Math.log(2))).toBe(Math.log(2));
  expect([unitOf(true).name, unitOf(false).name]).toEqual(["bits", "nats"]);
});

test("a mean, its error and its interval have one unit", () => {
  const summary = { mean: Math.LN2, standardError: 2 * Math.LN2, interval: [0, 3 * Math.LN2], n: 4 } as const;
  expect(summaryIn(summary, BITS)).toEqual({ mean: 1, standardError: 2, interval: [0, 3], n: 4 });
  const none = { mean: null, standardError: null, interval: null, n: 0 };
  expect(summaryIn(none, BITS)).toEqual(none);
});
