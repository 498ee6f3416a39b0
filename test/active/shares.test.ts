import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  apportion,
  batchShares,
  groupFactors,
  groupsBy,
  normalisedShares,
  shareTexts,
} from "../../src/active/shares.js";
import { drawWeighted } from "../../src/active/weighted-draw.js";
import { seededStream } from "../../src/core/random.js";

const sum = (values: Iterable<number>): number => [...values].reduce((total, each) => total + each, 0);

describe("apportion", () => {
  test("places go to the group that is furthest behind", () => {
    const plenty = [99, 99, 99];
    expect(apportion({ shares: [1, 1], have: [0, 0], available: [99, 99], size: 4 })).toEqual([2, 2]);
    expect(apportion({ shares: [2, 1, 1], have: [0, 0, 0], available: plenty, size: 4 })).toEqual([2, 1, 1]);
    expect(apportion({ shares: [0.5, 0.5, 0], have: [0, 3, 0], available: plenty, size: 3 })).toEqual([
      3, 0, 0,
    ]);
    expect(apportion({ shares: [0.9, 0.1], have: [0, 0], available: [1, 99], size: 3 })).toEqual([1, 2]);
  });

  test("over many batches the acquired counts stay within one of the shares, whatever the batches' size", () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 5 })
          .filter((all) => sum(all) > 0),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 30 }),
        (given, sizes) => {
          const shares = normalisedShares(given);
          const have = given.map(() => 0);
          for (const size of sizes) {
            const next = apportion({ shares, have, available: given.map(() => 1e6), size });
            expect(sum(next)).toBe(size);
            next.forEach((count, g) => {
              have[g] += count;
            });
            const all = sum(have);
            have.forEach((count, g) => {
              // With so many groups the greedy way is off by less than their number.
              expect(Math.abs(count - shares[g] * all)).toBeLessThan(given.length === 2 ? 1 : given.length);
            });
          }
        },
      ),
    );
  });

  test("shares that are none are refused", () => {
    for (const shares of [
      [0, 0],
      [-1, 2],
      [Number.NaN, 1],
      [Number.POSITIVE_INFINITY, 1],
    ]) {
      expect(() => normalisedShares(shares)).toThrow(shareTexts.shares);
    }
  });
});

describe("who is taken for which group", () => {
  test.each([[[0.5, 0.5]], [[0.2, 0.8]], [[0.1, 0.3, 0.6]], [[0.25, 0.25, 0.4, 0.1]]])(
    "as many as the shares %j say, however wrong the level of the probabilities",
    (shares) => {
      const stream = seededStream(`groups ${shares.length}`);
      const rows = 800;
      const probabilities = Float64Array.from({ length: rows }, () => 0).reduce<number[]>((all) => {
        // All lean to the first group.
        const raw = shares.map((_, g) => (g === 0 ? 5 : 1) * (0.2 + stream.uniform()));
        const whole = sum(raw);
        all.push(...raw.map((each) => each / whole));
        return all;
      }, []);
      const taken = groupsBy(probabilities, groupFactors(probabilities, shares));
      shares.forEach((share, g) => {
        const own = taken.filter((group) => group === g).length / rows;
        expect(Math.abs(own - share)).toBeLessThan(shares.length === 2 ? 0.005 : 0.03);
      });
    },
  );

  test("known groups are kept to exactly, and only the others are predicted", () => {
    const known = Int32Array.of(0, 0, 0, 1, -1, -1);
    const asked: number[] = [];
    const { groups, quotas } = batchShares(
      { shares: [0.5, 0.5], population: [0.5, 0.5], have: [0, 0], known },
      Int32Array.of(0, 1, 2, 3, 4, 5),
      4,
      (rows) => {
        asked.push(...rows);
        return [0.9, 0.1, 0.1, 0.9];
      },
    );
    expect(asked).toEqual([4, 5]);
    expect([...groups]).toEqual([0, 0, 0, 1, 0, 1]);
    expect(quotas).toEqual([
      { group: 0, atLeast: 2, atMost: 2 },
      { group: 1, atLeast: 2, atMost: 2 },
    ]);
  });
});

test("a weighted draw without replacement takes the first by its weight", () => {
  const weights = [1, 2, 5];
  const first = [0, 0, 0];
  for (let seed = 0; seed < 4000; seed++) {
    const drawn = drawWeighted(weights, 2, seededStream(seed));
    expect(new Set(drawn).size).toBe(2);
    first[drawn[0]] += 1;
  }
  // Four standard errors of a share of 4000.
  weights.forEach((weight, i) => {
    expect(Math.abs(first[i] / 4000 - weight / 8)).toBeLessThan(4 * Math.sqrt(0.25 / 4000));
  });
});
