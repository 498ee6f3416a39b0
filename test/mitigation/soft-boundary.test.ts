import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { softBoundaryTexts, softFairRule } from "../../src/mitigation/fair-rule/soft-boundary.js";
import { fairMargins } from "../../src/mitigation/fair-rule.js";

const rowsOf = (seed: number, count: number, groups: number) => {
  const stream = seededStream(seed);
  const scores: number[] = [];
  const groupProbabilities: number[] = [];
  for (let i = 0; i < count; i++) {
    const raw = Array.from({ length: groups }, () => 0.05 + stream.uniform());
    const whole = raw.reduce((sum, each) => sum + each, 0);
    const own = raw.map((each) => each / whole);
    // The last group scores higher.
    scores.push(Math.min(0.99, Math.max(0.01, 0.2 + 0.5 * own[groups - 1] + 0.3 * (stream.uniform() - 0.5))));
    groupProbabilities.push(...own);
  }
  return { scores, groupProbabilities };
};

/** Soft rates of the selected, counted by hand. */
const softRatio = (
  { scores, groupProbabilities }: ReturnType<typeof rowsOf>,
  margins: Float64Array,
): number => {
  const groups = groupProbabilities.length / scores.length;
  const rates = Array.from({ length: groups }, (_, g) => {
    let [selected, all] = [0, 0];
    scores.forEach((_, row) => {
      const p = groupProbabilities[row * groups + g];
      all += p;
      if (margins[row] > 0) selected += p;
    });
    return selected / all;
  });
  return Math.min(...rates) / Math.max(...rates);
};

describe("the soft fair rule", () => {
  test.each([2, 3])(
    "reaches its level where %i groups can be told apart, and selects what is expected",
    (groups) => {
      for (let seed = 0; seed < 5; seed++) {
        const rows = rowsOf(seed, 400, groups);
        const margins = fairMargins(softFairRule(rows, { level: 0.9 }), rows);
        expect(softRatio(rows, margins)).toBeGreaterThanOrEqual(0.9);
        const expected = rows.scores.reduce((sum, each) => sum + each, 0);
        expect(Math.abs(margins.filter((z) => z > 0).length - expected)).toBeLessThanOrEqual(1);
      }
    },
  );

  test("takes the smallest multiplier of two groups: a tenth less misses the level", () => {
    const rows = rowsOf(1, 400, 2);
    const rule = softFairRule(rows, { level: 0.9 });
    expect(rule.multipliers[1]).toBeGreaterThan(0);
    expect(rule.multipliers[0]).toBe(-rule.multipliers[1]);
    const less = rule.multipliers.map((each) => 0.9 * each);
    const shorter = { ...rule, multipliers: less, threshold: 0 };
    const scores = fairMargins(shorter, rows);
    const selected = fairMargins(rule, rows).filter((z) => z > 0).length;
    const threshold = [...scores].sort((a, b) => b - a)[selected];
    expect(
      softRatio(
        rows,
        scores.map((score) => score - threshold),
      ),
    ).toBeLessThan(0.9);
  });

  test("is the plain rule where the level is met without, or there is one group", () => {
    expect(softFairRule(rowsOf(2, 50, 2), { level: 0.01 }).multipliers).toEqual([0, 0]);
    const one = { scores: [0.2, 0.9], groupProbabilities: [1, 1] };
    expect(softFairRule(one, { level: 1 }).multipliers).toEqual([0]);
  });

  test("always gives finite margins", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 1, max: 30 }), (seed, count) => {
        const rows = rowsOf(seed, count, 2);
        expect(fairMargins(softFairRule(rows, { level: 0.85 }), rows).every(Number.isFinite)).toBe(true);
      }),
    );
  });

  test("refuses a level that is none", () => {
    for (const level of [0, 1.1, Number.NaN]) {
      expect(() => softFairRule(rowsOf(0, 5, 2), { level })).toThrow(softBoundaryTexts.level(level));
    }
  });
});
