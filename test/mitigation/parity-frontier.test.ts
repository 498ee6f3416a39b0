import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { fairRuleTexts, fitFairRule } from "../../src/mitigation/fair-rule.js";
import { cutAtWeight } from "../../src/mitigation/parity-frontier/rate-cut.js";
import {
  accuracyAtParity,
  estimateAtParity,
  type FrontierRows,
  parityFrontier,
  parityFrontierTexts,
} from "../../src/mitigation/parity-frontier.js";

/** People whose group shows in what a model says of it, and who are favoured by it. */
const people = (rows: number, groupCount: number, seed: number) => {
  const stream = seededStream(seed);
  const groups = Int32Array.from({ length: rows }, () => stream.integer(groupCount));
  const scores = Float64Array.from(groups, (g) =>
    Math.min(1, Math.max(0, 0.25 + (0.3 * g) / (groupCount - 1) + stream.normal(0, 0.2))),
  );
  const labels = Int32Array.from(scores, (p) => Number(stream.uniform() < p));
  const groupProbabilities = Array.from(groups).flatMap((g) => {
    const votes = Array.from({ length: groupCount }, (_, h) => stream.uniform(0.05, 1) + (g === h ? 0.6 : 0));
    const sum = votes.reduce((whole, each) => whole + each, 0);
    return votes.map((each) => each / sum);
  });
  return { scores, labels, groups, groupProbabilities };
};

/** Accuracy and DP ratio at the rate of the labels, for one lambda: rows sorted, those at the threshold in part. */
const byDefinition = (
  { scores, labels, groups, groupProbabilities }: ReturnType<typeof people>,
  lambda: number,
) => {
  const rows = scores.length;
  const share = groups.reduce((sum, g) => sum + g, 0) / rows;
  const values = scores.map(
    (eta, row) =>
      eta - lambda * (groupProbabilities[2 * row + 1] / share - groupProbabilities[2 * row] / (1 - share)),
  );
  const wanted = labels.reduce((sum, label) => sum + label, 0);
  const order = [...values.keys()].sort((a, b) => values[b] - values[a]);
  const chosen = new Set(order.slice(0, wanted));
  const rate = (g: number) => {
    const own = [...groups.keys()].filter((row) => groups[row] === g);
    return own.filter((row) => chosen.has(row)).length / own.length;
  };
  const right = [...labels.keys()].filter((row) => chosen.has(row) === (labels[row] === 1)).length;
  return { accuracy: right / rows, ratio: Math.min(rate(0), rate(1)) / Math.max(rate(0), rate(1)) };
};

describe("the cut at a weight", () => {
  it("selects exactly that weight of the highest scores", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 1, max: 4 })), { minLength: 1 }),
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        (rows, share) => {
          const wanted = share * rows.reduce((sum, [, weight]) => sum + weight, 0);
          const { threshold, part } = cutAtWeight(
            Float64Array.from(rows, ([value]) => value),
            Float64Array.from(rows, ([, weight]) => weight),
            wanted,
          );
          const weigh = (holds: (value: number) => boolean) =>
            rows.reduce((sum, [value, weight]) => (holds(value) ? sum + weight : sum), 0);
          expect(part).toBeGreaterThanOrEqual(0);
          expect(part).toBeLessThanOrEqual(1);
          expect(
            weigh((value) => value > threshold) + part * weigh((value) => value === threshold),
          ).toBeCloseTo(wanted, 9);
        },
      ),
    );
  });
});

describe("accuracy at parity", () => {
  it("is the best of all orders on few rows", () => {
    for (let seed = 0; seed < 12; seed++) {
      const rows = people(24, 2, seed);
      if (new Set(rows.groups).size < 2 || new Set(rows.labels).size < 2) continue;
      let best = Number.NEGATIVE_INFINITY;
      // Every lambda that matters lies between crossings of two rows; this grid is far finer.
      for (let k = -4000; k <= 4000; k++) {
        const { accuracy, ratio } = byDefinition(rows, k / 4000);
        if (ratio >= 0.8) best = Math.max(best, accuracy);
      }
      const { accuracy = Number.NEGATIVE_INFINITY } = accuracyAtParity(rows, { level: 0.8 });
      // All orders: also those that only a lambda above 1 gives.
      expect(accuracy).toBeGreaterThanOrEqual(best - 1e-12);
      const [rule] = [accuracyAtParity(rows).best];
      const judged = byDefinition(rows, rule.lambda);
      expect(judged.accuracy).toBeCloseTo(rule.accuracy, 9);
      expect(judged.ratio).toBeCloseTo(rule.ratio, 9);
    }
  });

  it("is near the best of a fine grid on many rows, and no better than the rule says it is", () => {
    for (const seed of [1, 2, 3]) {
      const rows = people(1500, 2, seed);
      let best = 0;
      for (let k = 0; k <= 500; k++) {
        const { accuracy, ratio } = byDefinition(rows, k / 2500);
        if (ratio >= 0.8) best = Math.max(best, accuracy);
      }
      const { accuracy = 0, best: rule, plain } = accuracyAtParity(rows);
      expect(accuracy).toBeGreaterThan(best - 0.004);
      const judged = byDefinition(rows, rule.lambda);
      expect(judged.accuracy).toBeCloseTo(accuracy, 9);
      expect(judged.ratio).toBeGreaterThanOrEqual(0.8 - 1e-9);
      const none = byDefinition(rows, 0);
      expect(plain.accuracy).toBeCloseTo(none.accuracy, 9);
      expect(plain.ratio).toBeCloseTo(none.ratio, 9);
    }
  });

  it.each(["dp", "eopp"] as const)("is no less than what fitFairRule finds: %s", async (metric) => {
    const rows = people(1200, 2, 5);
    const selectionRate = rows.labels.reduce((sum, label) => sum + label, 0) / 1200;
    const fitted = await fitFairRule(rows, { metric, level: 0.8, selectionRate, replicates: 20 });
    const { accuracy, best } = accuracyAtParity(rows, { metric, level: 0.8 });
    expect(fitted.reached).toBe(true);
    expect(best.ratio).toBeGreaterThanOrEqual(0.8);
    expect(accuracy).toBeGreaterThanOrEqual(fitted.accuracy - 0.003);
    const free = await fitFairRule(rows, { metric, level: 0.8, replicates: 20 });
    const anyRate = accuracyAtParity(rows, { metric, level: 0.8, selectionRate: "free" });
    expect(anyRate.accuracy).toBeGreaterThanOrEqual(free.accuracy - 0.003);
    expect(anyRate.accuracy).toBeLessThanOrEqual(free.accuracy + 0.006);
  });

  it("takes more than two groups, and comes close to the longer search there", async () => {
    for (const seed of [1, 2]) {
      const rows = people(600, 3, seed);
      const selectionRate = rows.labels.reduce((sum, label) => sum + label, 0) / 600;
      const fitted = await fitFairRule(rows, { level: 0.8, selectionRate, replicates: 20 });
      const { accuracy, best, plain } = accuracyAtParity(rows);
      expect(plain.ratio).toBeLessThan(0.7);
      expect(best.ratio).toBeGreaterThanOrEqual(0.8 - 1e-9);
      expect(accuracy).toBeGreaterThanOrEqual(fitted.accuracy - 0.005);
    }
  });

  it("tosses a coin for rows at the threshold: what one score for all comes to", () => {
    // A share r of each group is selected, whoever they are: right for r of the r positives and 1 - r of the others.
    const labels = Array.from({ length: 100 }, (_, row) => Number(row % 10 < 3));
    const groups = labels.map((_, row) => Number(row < 50));
    const groupProbabilities = groups.flatMap(() => [0.5, 0.5]);
    const { accuracy, best } = accuracyAtParity({
      scores: labels.map(() => 0.4),
      groupProbabilities,
      groups,
      labels,
    });
    expect(accuracy).toBeCloseTo(0.3 * 0.3 + 0.7 * 0.7, 12);
    expect(best.ratio).toBeCloseTo(1, 12);
    expect(best.selectionRate).toBeCloseTo(0.3, 12);
  });

  it("rises as the level falls, and is undefined where no rule reaches it", () => {
    const rows = people(2000, 2, 9);
    const at = (level: number) => accuracyAtParity(rows, { level }).accuracy ?? 0;
    expect(at(0.95)).toBeLessThanOrEqual(at(0.8));
    expect(at(0.8)).toBeLessThanOrEqual(at(0.5));
    // A model of the group that knows nothing bends nothing.
    const blind = { ...rows, groupProbabilities: Array.from(rows.labels).flatMap(() => [0.5, 0.5]) };
    const { accuracy, best, plain } = accuracyAtParity(blind);
    expect(accuracy).toBeUndefined();
    expect(best.ratio).toBe(plain.ratio);
  });

  it("counts a row of weight 2 as two rows", () => {
    const rows = people(400, 2, 4);
    const twice = [...rows.labels.keys(), ...[...rows.labels.keys()].filter((row) => row % 3 === 0)];
    const repeated: FrontierRows = {
      scores: twice.map((row) => rows.scores[row]),
      labels: twice.map((row) => rows.labels[row]),
      groups: twice.map((row) => rows.groups[row]),
      groupProbabilities: twice.flatMap((row) => rows.groupProbabilities.slice(2 * row, 2 * row + 2)),
    };
    const weighted = accuracyAtParity({
      ...rows,
      weights: rows.labels.map((_, row) => (row % 3 === 0 ? 2 : 1)),
    });
    expect(weighted.accuracy).toBeCloseTo(accuracyAtParity(repeated).accuracy ?? 0, 9);
  });

  it("has an interval that covers the population's about as often as it says", async () => {
    // The truth: the same measure of very many rows.
    const truth = accuracyAtParity(people(200_000, 2, 77)).accuracy ?? 0;
    let covered = 0;
    const repeats = 30;
    for (let repeat = 0; repeat < repeats; repeat++) {
      const { interval } = await estimateAtParity(people(400, 2, 1000 + repeat), {
        replicates: 60,
        stream: seededStream(repeat),
      });
      if (interval !== undefined && interval[0] <= truth && truth <= interval[1]) covered++;
    }
    // Reading the best multiplier off the rows makes it a little too high: 95 % less three errors of 30 draws.
    expect(covered / repeats).toBeGreaterThan(0.8);
  }, 60_000);
});

describe("the frontier", () => {
  it.each(["matched", "free", 0.3] as const)("falls in accuracy as parity rises: %s", (selectionRate) => {
    const { points, plain } = parityFrontier(people(800, 2, 6), { selectionRate });
    expect(points.length).toBeGreaterThan(5);
    for (let i = 1; i < points.length; i++) {
      expect(points[i].ratio).toBeGreaterThan(points[i - 1].ratio);
      expect(points[i].accuracy).toBeLessThan(points[i - 1].accuracy);
    }
    expect(points[0].accuracy).toBeGreaterThanOrEqual(plain.accuracy - 1e-12);
    if (selectionRate === 0.3) for (const point of points) expect(point.selectionRate).toBe(0.3);
  });

  it("is one point where there is one group only", () => {
    const rows = people(50, 2, 6);
    const { points } = parityFrontier({ ...rows, groups: rows.groups.map(() => 1) });
    expect(points).toHaveLength(1);
    expect(points[0].ratio).toBe(1);
  });

  it("refuses options that cannot be", async () => {
    const rows = people(50, 2, 6);
    expect(() => accuracyAtParity(rows, { level: 0 })).toThrow(fairRuleTexts.level(0));
    expect(() => parityFrontier(rows, { selectionRate: 2 })).toThrow(parityFrontierTexts.selectionRate(2));
    await expect(estimateAtParity(rows, { replicates: 3 })).rejects.toThrow(
      parityFrontierTexts.replicates(3),
    );
  });
});
