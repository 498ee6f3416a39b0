import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { aucTexts, groupAuc } from "../../src/fairness/auc.js";

/** By comparing every member of a group with every member of another. */
const byPairs = (
  probabilities: readonly number[],
  groups: readonly number[],
  classes: number,
  weights: readonly number[],
): number => {
  const pairs: number[] = [];
  for (let i = 0; i < classes; i++)
    for (let j = 0; j < classes; j++) {
      if (i === j) continue;
      let [won, all] = [0, 0];
      groups.forEach((g, a) => {
        groups.forEach((h, b) => {
          if (g !== i || h !== j) return;
          const difference = probabilities[a * classes + i] - probabilities[b * classes + i];
          all += weights[a] * weights[b];
          won += weights[a] * weights[b] * (difference > 0 ? 1 : difference === 0 ? 0.5 : 0);
        });
      });
      if (all > 0) pairs.push(won / all);
    }
  return pairs.reduce((sum, each) => sum + each, 0) / pairs.length;
};

describe("the area under the ROC curve of group probabilities", () => {
  it("is the mean over pairs of groups of all comparisons, ties half, by weights", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 4 }).chain((classes) =>
          fc.tuple(
            fc.constant(classes),
            fc.array(
              fc.record({
                group: fc.integer({ min: 0, max: classes - 1 }),
                weight: fc.integer({ min: 1, max: 3 }),
                votes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: classes, maxLength: classes }),
              }),
              { minLength: 4, maxLength: 20 },
            ),
          ),
        ),
        ([classes, rows]) => {
          const groups = rows.map(({ group }) => group);
          if (new Set(groups).size < 2) return;
          const probabilities = rows.flatMap(({ votes }) => {
            const sum = votes.reduce((whole, each) => whole + each, 0);
            // Two groups: a score and what is left of 1, so that both columns order the rows alike.
            return classes === 2 ? [1 - votes[1] / 8, votes[1] / 8] : votes.map((each) => each / sum);
          });
          const weights = rows.map(({ weight }) => weight);
          const expected = byPairs(probabilities, groups, classes, weights);
          expect(groupAuc(probabilities, groups, classes, { weights }).auc).toBeCloseTo(expected, 10);
        },
      ),
    );
  });

  it("has DeLong's error: two groups of three and two, by hand", () => {
    // Scores 0.9 0.7 0.4 of group 1 and 0.4 0.2 of group 0. Placements of group 1: 1, 1, 3/4; of group 0: 5/6, 1.
    const second = [0.9, 0.7, 0.4, 0.4, 0.2];
    const { auc, standardError } = groupAuc(
      second.flatMap((p) => [1 - p, p]),
      [1, 1, 1, 0, 0],
      2,
    );
    expect(auc).toBeCloseTo(11 / 12, 12);
    const first = ((1 / 12) ** 2 * 2 + (1 / 6) ** 2) / 2 / 3;
    const other = ((1 / 12) ** 2 * 2) / 1 / 2;
    expect(standardError).toBeCloseTo(Math.sqrt(first + other), 12);
  });

  it("covers the true value of normal scores about as often as it says", () => {
    // P(Z1 > Z0) of N(1, 1) against N(0, 1) is Phi(1 / sqrt 2).
    const truth = 0.7602499389065233;
    const stream = seededStream(7);
    let covered = 0;
    for (let repeat = 0; repeat < 400; repeat++) {
      const groups = Array.from({ length: 120 }, (_, row) => Number(row % 3 === 0));
      const scores = groups.map((g) => 1 / (1 + 2 ** -stream.normal(g)));
      const { interval } = groupAuc(
        scores.flatMap((p) => [1 - p, p]),
        groups,
        2,
      );
      if (interval[0] <= truth && truth <= interval[1]) covered++;
    }
    // 95 % of 400 within three standard errors.
    expect(covered / 400).toBeGreaterThan(0.917);
    expect(covered / 400).toBeLessThan(0.983);
  });

  it("is 0.5 with nothing to compare, and its interval is open where all are told apart", () => {
    expect(groupAuc([0.4, 0.6, 0.2, 0.8], [1, 1], 2).auc).toBe(0.5);
    const { auc, interval } = groupAuc([1, 0, 1, 0, 0, 1, 0, 1], [0, 0, 1, 1], 2);
    expect(auc).toBe(1);
    // Two of two on the right side: down to .025^(1/2).
    expect(interval[0]).toBeCloseTo(Math.sqrt(0.025), 12);
    expect(interval[1]).toBe(1);
    expect(() => groupAuc([0.5], [0, 1], 2)).toThrow(aucTexts.shape(1, 2, 2));
  });
});
