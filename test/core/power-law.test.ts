/** Inverse power laws fitted to curves. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { fitPowerLaw, powerLawAt, powerLawTexts, UNIT_RANGE } from "../../src/core/stats.js";

const SIZES = [16, 20, 26, 32, 41, 52, 65, 80];
const range = UNIT_RANGE;

describe("fitPowerLaw", () => {
  test("recovers the law that points lie on", () => {
    const share = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    fc.assert(
      fc.property(share(0.6, 0.95), share(0.2, 1.5), share(0.05, 0.5), (limit, rate, lost) => {
        // So much is missing at the first size.
        const law = { limit, rate, drop: lost * SIZES[0] ** rate };
        const fitted = fitPowerLaw(
          SIZES.map((n) => ({ n, value: limit - law.drop * n ** -rate, weight: n })),
          { range },
        );
        expect(fitted.limit).toBeCloseTo(limit, 4);
        expect(fitted.rate).toBeCloseTo(rate, 3);
        for (const n of [100, 200, 1000])
          expect(powerLawAt(fitted, n)).toBeCloseTo(limit - law.drop * n ** -rate, 5);
      }),
    );
  });

  test("stays within its range, and does not fall unless it may", () => {
    const steep = SIZES.map((n) => ({ n, value: 0.2 + n / 100 }));
    expect(fitPowerLaw(steep, { range }).limit).toBeLessThanOrEqual(1);
    const falling = SIZES.map((n) => ({ n, value: 0.5 + 1 / Math.sqrt(n) }));
    const level = fitPowerLaw(falling, { range });
    expect(level.drop).toBe(0);
    expect(level.limit).toBeCloseTo(falling.reduce((sum, { value }) => sum + value, 0) / SIZES.length, 12);
    const fell = fitPowerLaw(falling, { range, mayFall: true });
    expect(fell.limit).toBeCloseTo(0.5, 4);
    expect(fell.drop).toBeCloseTo(-1, 3);
  });

  test("noise does not make a rate of its own: noisy level points promise little", () => {
    const stream = seededStream("noise");
    const gains = Array.from({ length: 200 }, () => {
      const law = fitPowerLaw(
        SIZES.map((n) => ({ n, value: 0.7 + 0.02 * stream.normal() })),
        { range },
      );
      return powerLawAt(law, 160) - powerLawAt(law, 80);
    });
    expect(Math.max(...gains)).toBeLessThan(0.03);
    expect(gains.reduce((sum, gain) => sum + gain, 0) / gains.length).toBeLessThan(0.005);
  });

  test("needs two points", () => {
    expect(() => fitPowerLaw([{ n: 1, value: 0 }], { range })).toThrow(powerLawTexts.points(1));
    expect(() =>
      fitPowerLaw(
        [
          { n: 0, value: 0 },
          { n: 1, value: 1 },
        ],
        { range },
      ),
    ).toThrow(powerLawTexts.points(2));
  });
});
