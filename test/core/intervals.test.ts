import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import {
  ANYWHERE,
  DIFFERENCE_RANGE,
  FROM_ZERO,
  intervalWithin,
  meanEstimate,
  UNIT_RANGE,
} from "../../src/core/stats.js";
import { judgeGuesses } from "../../src/fairness/acquired-leakage.js";
import { summariseNamed, summaryOf } from "../../src/workflows/simulation.js";

describe("an interval within a range", () => {
  test("is the delta method's on the logit or the logarithm", () => {
    // Computed by Python's math module.
    const [low, high] = intervalWithin(0.9, 1.959963984540054 * 0.03, UNIT_RANGE);
    expect(low).toBeCloseTo(0.8240314265656978, 12);
    expect(high).toBeCloseTo(0.9453468944748933, 12);
    const signed = intervalWithin(-0.5, 0.3, DIFFERENCE_RANGE);
    expect(signed[0]).toBeCloseTo(-0.7394687669448095, 12);
    expect(signed[1]).toBeCloseTo(-0.14820648849667684, 12);
    const nats = intervalWithin(0.02, 0.04, FROM_ZERO);
    expect(nats[0]).toBeCloseTo(0.0027067056647322543, 12);
    expect(nats[1]).toBeCloseTo(0.147781121978613, 12);
    expect(intervalWithin(0.3, 0.5, ANYWHERE)).toEqual([0.3 - 0.5, 0.3 + 0.5]);
  });

  test("never leaves it, has the estimate inside, and is the plain one where that is narrow", () => {
    const ranges = [UNIT_RANGE, DIFFERENCE_RANGE, FROM_ZERO];
    fc.assert(
      fc.property(
        fc.constantFrom(...ranges),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        (range, share, half) => {
          const estimate = range[0] + share * (Math.min(1, range[1]) - range[0]);
          const [low, high] = intervalWithin(estimate, half, range);
          expect(low).toBeGreaterThanOrEqual(range[0]);
          expect(high).toBeLessThanOrEqual(range[1]);
          expect(low).toBeLessThanOrEqual(estimate + 1e-12);
          expect(high).toBeGreaterThanOrEqual(estimate - 1e-12);
        },
      ),
    );
    const [low, high] = intervalWithin(0.7, 1e-4, UNIT_RANGE);
    expect(low).toBeCloseTo(0.7 - 1e-4, 7);
    expect(high).toBeCloseTo(0.7 + 1e-4, 7);
  });

  test("covers as often as it says", () => {
    // Means of eight values near the end of the range, where Student's own interval leaves it.
    const stream = seededStream("coverage");
    const mean = 5 / 6;
    let covered = 0;
    let left = 0;
    const times = 2000;
    for (let t = 0; t < times; t++) {
      // The largest of five uniforms has this mean.
      const values = Array.from({ length: 8 }, () =>
        Math.max(...Array.from({ length: 5 }, () => stream.uniform())),
      );
      const { mean: found, interval: student } = meanEstimate(values);
      const [low, high] = intervalWithin(found, student[1] - found, UNIT_RANGE);
      covered += Number(low <= mean && mean <= high);
      left += Number(student[1] > 1);
    }
    expect(covered / times).toBeGreaterThan(0.92);
    expect(covered / times).toBeLessThan(0.98);
    expect(left).toBeGreaterThan(0);
  });
});

test("a summary over two seeds stays within what a share can be", () => {
  // Student's interval of these is -0.37 to 2.17.
  const { interval } = summaryOf([0.8, 1], UNIT_RANGE);
  expect(interval?.[0]).toBeGreaterThan(0);
  expect(interval?.[1]).toBeLessThan(1);
  const named = summariseNamed(["leakage"], [{ leakage: 0.001 }, { leakage: 0.02 }], { leakage: FROM_ZERO });
  expect(named.leakage.interval?.[0]).toBeGreaterThan(0);
});

test("guesses give away no more than there is to know", () => {
  const groups = Int32Array.from({ length: 12 }, (_, row) => row % 2);
  const { nats, natsInterval, entropy } = judgeGuesses({
    probabilities: Array.from(groups).flatMap((group) => [1 - group, group]),
    groups,
    classes: 2,
  });
  expect(entropy).toBeCloseTo(Math.LN2, 12);
  expect(nats).toBeLessThanOrEqual(entropy);
  expect(natsInterval?.[1]).toBeLessThanOrEqual(entropy);
});
