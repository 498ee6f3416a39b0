import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { binomialVariate, resampleOf } from "../../src/fairness/group-metrics/resample.js";
import {
  atSelectionRate,
  type GroupedPredictions,
  groupMetrics,
  groupTexts,
  intersectGroups,
  oneAgainstRest,
  parityRatios,
  reasonTexts,
} from "../../src/fairness/group-metrics.js";

const stream = seededStream("group metrics");

/** Rows from counts [group, predicted, actual, how many]. */
const rowsOf = (counts: readonly (readonly [number, number, number, number])[]) => {
  const rows = counts.flatMap(([group, predicted, actual, count]) =>
    Array.from({ length: count }, () => [group, predicted, actual] as const),
  );
  return {
    groups: Int32Array.from(rows, ([group]) => group),
    predicted: Int32Array.from(rows, ([, predicted]) => predicted),
    actual: Int32Array.from(rows, ([, , actual]) => actual),
  };
};

// By hand:          selected  base  TPR   FPR   precision  accuracy
//   a: 4 2 1 3      6 / 10    5/10  4/5   2/5   4/6        7/10       (TP FP FN TN)
//   b: 2 1 2 5      3 / 10    4/10  2/4   1/6   2/3        7/10
const TABLE = rowsOf([
  [0, 1, 1, 4],
  [0, 1, 0, 2],
  [0, 0, 1, 1],
  [0, 0, 0, 3],
  [1, 1, 1, 2],
  [1, 1, 0, 1],
  [1, 0, 1, 2],
  [1, 0, 0, 5],
]);
const NAMES = ["a", "b"];

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
};

/** Every number in a result, with its path. */
const numbersIn = (value: unknown, path = ""): [string, number][] => {
  if (typeof value === "number") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => numbersIn(each, `${path}.${key}`));
};

const expectOnlyNumbers = (result: unknown) => {
  expect(numbersIn(result).filter(([, value]) => !Number.isFinite(value))).toEqual([]);
};

describe("group metrics of a table computed by hand", () => {
  const metrics = groupMetrics({ ...TABLE, groupNames: NAMES }, { stream, leastRows: 1 });

  it("has every rate with its counts", () => {
    const fractions = metrics.groups.map(({ name, size, rates }) => ({
      name,
      size,
      ...Object.fromEntries(
        Object.entries(rates).map(([rate, { numerator, denominator }]) => [
          rate,
          `${numerator}/${denominator}`,
        ]),
      ),
    }));
    expect(fractions).toEqual([
      {
        name: "a",
        size: 10,
        baseRate: "5/10",
        selectionRate: "6/10",
        truePositiveRate: "4/5",
        falsePositiveRate: "2/5",
        precision: "4/6",
        accuracy: "7/10",
      },
      {
        name: "b",
        size: 10,
        baseRate: "4/10",
        selectionRate: "3/10",
        truePositiveRate: "2/4",
        falsePositiveRate: "1/6",
        precision: "2/3",
        accuracy: "7/10",
      },
    ]);
    expect(metrics.overall.selectionRate).toMatchObject({ value: 0.45, numerator: 9, denominator: 20 });
    expect(metrics.overall.precision.value).toBe(6 / 9);
  });

  it("has Wilson's intervals (SciPy, binomtest)", () => {
    const [a, b] = metrics.groups;
    for (const [rate, low, high] of [
      [a.rates.selectionRate, 0.3126737697336583, 0.8318196702937639],
      [b.rates.selectionRate, 0.10779126740630102, 0.6032218525388546],
      [a.rates.truePositiveRate, 0.3755346297625253, 0.9637758913675698],
      [b.rates.truePositiveRate, 0.15003898915214953, 0.8499610108478505],
    ] as const) {
      expect(rate.interval?.[0]).toBeCloseTo(low, 12);
      expect(rate.interval?.[1]).toBeCloseTo(high, 12);
    }
  });

  it("has differences and ratios, unsigned and signed", () => {
    const gapsOf = (name: keyof typeof metrics.comparisons) => {
      const { difference, ratio, against, lowest, highest } = metrics.comparisons[name];
      return [
        lowest,
        highest,
        ...[difference, ratio, against[0].difference, against[0].ratio].map(({ value }) =>
          value?.toFixed(10),
        ),
      ];
    };
    expect(gapsOf("selectionRate")).toEqual(["b", "a", ...["0.3", "0.5", "-0.3", "0.5"].map(tenDigits)]);
    expect(gapsOf("truePositiveRate")).toEqual([
      "b",
      "a",
      ...["0.3", "0.625", "-0.3", "0.625"].map(tenDigits),
    ]);
    expect(gapsOf("falsePositiveRate")).toEqual([
      "b",
      "a",
      "0.2333333333",
      "0.4166666667",
      "-0.2333333333",
      "0.4166666667",
    ]);
    expect(metrics.comparisons.precision.difference.value).toBeCloseTo(0, 15);
    expect(metrics.comparisons.accuracy.ratio.value).toBe(1);
  });

  it("names the usual criteria", () => {
    expect(metrics.demographicParity).toBe(metrics.comparisons.selectionRate);
    expect(metrics.equalOpportunity).toBe(metrics.comparisons.truePositiveRate);
    expect(metrics.predictiveParity).toBe(metrics.comparisons.precision);
    // The worse of the two rates: the difference is that of TPR, the ratio that of FPR.
    expect(metrics.equalisedOdds.difference.value).toBeCloseTo(0.3, 12);
    expect(metrics.equalisedOdds.ratio.value).toBeCloseTo(5 / 12, 12);
  });

  it("holds the groups against another reference", () => {
    const { demographicParity } = groupMetrics(
      { ...TABLE, groupNames: NAMES },
      { stream, leastRows: 1, reference: 1 },
    );
    expect(demographicParity.reference).toBe("b");
    expect(demographicParity.against.map(({ group }) => group)).toEqual(["a"]);
    expect(demographicParity.against[0].difference.value).toBeCloseTo(0.3, 12);
    expect(demographicParity.against[0].ratio.value).toBeCloseTo(2, 12);
  });

  it("is the same again from the same stream, which does not move", () => {
    const again = groupMetrics({ ...TABLE, groupNames: NAMES }, { stream, leastRows: 1 });
    expect(again).toEqual(metrics);
    expect(stream.position).toBe(0);
  });

  it("agrees with the cheap ratios", () => {
    const { predicted, actual, groups } = TABLE;
    const cheap = parityRatios(predicted, actual, groups);
    expect(cheap).toEqual({
      selectionRate: 9 / 20,
      accuracy: 14 / 20,
      dpDifference: expect.closeTo(0.3, 12),
      dpRatio: 0.5,
      tprRatio: 0.625,
      fprRatio: expect.closeTo(5 / 12, 12),
      dpSigned: 0.5,
      tprSigned: 0.625,
      fprSigned: expect.closeTo(5 / 12, 12),
    });
  });

  it("counts weights as rows: twice a row is a row of weight 2", () => {
    const weights = Float64Array.from(TABLE.predicted, (_, row) => (row % 3 === 0 ? 2 : 1));
    const twice = (values: Int32Array) =>
      Int32Array.from(
        Array.from(values).flatMap((value, row) => (weights[row] === 2 ? [value, value] : [value])),
      );
    const options = { stream, leastRows: 1, replicates: 0 };
    const weighted = groupMetrics({ ...TABLE, groupNames: NAMES, weights }, options);
    const repeated = groupMetrics(
      {
        predicted: twice(TABLE.predicted),
        actual: twice(TABLE.actual),
        groups: twice(TABLE.groups),
        groupNames: NAMES,
      },
      options,
    );
    const valuesOf = ({ groups }: typeof weighted) =>
      groups.map(({ rates }) => Object.values(rates).map(({ value }) => value));
    expect(valuesOf(weighted)).toEqual(valuesOf(repeated));
    expect(weighted.groups[0].size).toBe(10);
    // Weights that are all the same say nothing: the interval is that of the plain rows.
    const constant = groupMetrics(
      { ...TABLE, groupNames: NAMES, weights: new Float64Array(20).fill(7) },
      { stream, leastRows: 1, replicates: 200 },
    );
    const { interval } = constant.groups[0].rates.selectionRate;
    expect(interval?.[0]).toBeCloseTo(0.3126737697336583, 10);
    expect(interval?.[1]).toBeCloseTo(0.8318196702937639, 10);
    expect(constant.demographicParity.difference.value).toBeCloseTo(0.3, 12);
    expect(constant.demographicParity.difference.interval).toBeDefined();
  });
});

const tenDigits = (text: string): string => Number(text).toFixed(10);

describe("gaps between score distributions", () => {
  const a = [0.1, 0.2, 0.2, 0.5, 0.9];
  const b = [0.3, 0.2, 0.6, 0.7, 0.8, 0.95, 1];
  const input = {
    predicted: new Int32Array(12),
    scores: Float64Array.from([...a, ...b]),
    groups: Int32Array.from([...a.map(() => 0), ...b.map(() => 1)]),
    groupNames: NAMES,
  };

  it("are Wasserstein's and Kolmogorov's of two groups (SciPy)", () => {
    const { scores } = groupMetrics(input, { stream, leastRows: 1 });
    expect(scores?.area.value).toBeCloseTo(0.27, 12);
    expect(scores?.largest.value).toBeCloseTo(0.5142857142857142, 12);
    expect(scores?.against).toHaveLength(1);
    expect(scores?.against[0].area.value).toBeCloseTo(0.27, 12);
  });

  it("take weights (SciPy)", () => {
    const weights = Float64Array.from([1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 1, 4]);
    const { scores } = groupMetrics({ ...input, weights }, { stream, leastRows: 1 });
    expect(scores?.area.value).toBeCloseTo(0.2534090909090909, 12);
  });

  it("are the mean and the largest difference in selection over thresholds, for any number of groups", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 20 })), {
          minLength: 2,
          maxLength: 40,
        }),
        (rows) => {
          const groups = Int32Array.from(rows, ([group]) => group);
          const { scores } = groupMetrics(
            {
              predicted: new Int32Array(rows.length),
              scores: Float64Array.from(rows, ([, score]) => score / 20),
              groups,
              groupNames: ["a", "b", "c", "d"],
            },
            { stream, leastRows: 1, replicates: 0 },
          );
          const present = [...new Set(groups)];
          const gaps = Array.from({ length: 20 }, (_, t) => {
            // Constant for thresholds strictly between t / 20 and (t + 1) / 20.
            const rates = present.map((group) => {
              const own = rows.filter(([each]) => each === group);
              return own.filter(([, score]) => score > t).length / own.length;
            });
            return Math.max(...rates) - Math.min(...rates);
          });
          if (present.length < 2) {
            expect(scores?.area.reason).toBe(reasonTexts.fewGroups);
            return;
          }
          expect(scores?.area.value).toBeCloseTo(gaps.reduce((sum, gap) => sum + gap, 0) / 20, 10);
          expect(scores?.largest.value).toBeCloseTo(Math.max(...gaps), 10);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("resampling", () => {
  it("draws binomials (chi-square against the exact probabilities)", () => {
    for (const [n, p] of [
      [10, 0.3],
      [400, 0.02],
      [60, 0.45],
      [300, 0.8],
    ]) {
      const draws = stream.split(`binomial ${n}`);
      const counts = new Float64Array(n + 1);
      for (let i = 0; i < 20_000; i++) counts[binomialVariate(draws, n, p)]++;
      let probability = (1 - p) ** n;
      let chiSquare = 0;
      let cells = 0;
      let [expectedRest, countedRest] = [0, 0];
      for (let k = 0; k <= n; k++) {
        const expected = 20_000 * probability;
        if (expected >= 10) {
          chiSquare += (counts[k] - expected) ** 2 / expected;
          cells++;
        } else {
          expectedRest += expected;
          countedRest += counts[k];
        }
        probability *= ((n - k) / (k + 1)) * (p / (1 - p));
      }
      chiSquare += (countedRest - expectedRest) ** 2 / expectedRest;
      // `cells` degrees of freedom, since the rest is one more cell: that mean, and twice that variance.
      expect(chiSquare).toBeLessThan(cells + 4 * Math.sqrt(2 * cells));
    }
    expect(binomialVariate(stream.split("sure"), 1000, 1)).toBe(1000);
    expect(binomialVariate(stream.split("never"), 1000, 0)).toBe(0);
  });

  it("draws counts of few cells as it draws rows: the same means and covariance, always all rows", () => {
    // 3 cells of 50, 300 and 250 rows: counts are drawn; with a weight of 1 per row the rows are.
    const cells = Int32Array.from({ length: 600 }, (_, i) => (i < 50 ? 0 : i < 350 ? 1 : 2));
    for (const weights of [undefined, new Float64Array(600).fill(1)]) {
      const resample = resampleOf(cells, 3, weights);
      const draws = stream.split(weights === undefined ? "counts" : "rows");
      const out = new Float64Array(3);
      let sum = 0;
      let product = 0;
      for (let r = 0; r < 4000; r++) {
        resample(draws, out);
        expect(out[0] + out[1] + out[2]).toBe(600);
        sum += out[0];
        product += (out[0] - 50) * (out[1] - 300);
      }
      expect(Math.abs(sum / 4000 - 50)).toBeLessThan(4 * Math.sqrt((50 * 550) / 600 / 4000));
      // Cov = -n p q = -600 * (50 / 600) * (300 / 600) = -25; its error is about sqrt(45.8 * 150 + 625) / sqrt(4000).
      expect(Math.abs(product / 4000 + 25)).toBeLessThan(4 * 1.38);
    }
  });

  it("covers the truth as often as it says, also where all groups are alike", () => {
    // Selection rates by group; 150 rows each.
    for (const rates of [
      [0.4, 0.4],
      [0.3, 0.5],
      [0.4, 0.4, 0.4, 0.4],
      [0.3, 0.4, 0.4, 0.5],
    ]) {
      const repetitions = 200;
      const draws = stream.split(`coverage ${rates.join(" ")}`);
      const truth = Math.max(...rates) - Math.min(...rates);
      const ratio = Math.min(...rates) / Math.max(...rates);
      let differences = 0;
      let ratios = 0;
      let signed = 0;
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const groups = Int32Array.from({ length: 150 * rates.length }, (_, row) => row % rates.length);
        const { demographicParity } = groupMetrics(
          {
            predicted: groups.map((group) => Number(draws.uniform() < rates[group])),
            groups,
            groupNames: rates.map(String),
          },
          { stream: stream.split(repetition), replicates: 200 },
        );
        const covers = (interval: readonly [number, number] | undefined, value: number) =>
          Number(interval !== undefined && interval[0] <= value + 1e-12 && value <= interval[1] + 1e-12);
        differences += covers(demographicParity.difference.interval, truth);
        ratios += covers(demographicParity.ratio.interval, ratio);
        signed += covers(demographicParity.against[0].difference.interval, rates[1] - rates[0]);
      }
      // Nominal 0.95; 3 standard errors at 200 repetitions are 0.05.
      expect(differences / repetitions).toBeGreaterThan(0.9);
      expect(ratios / repetitions).toBeGreaterThan(0.9);
      expect(signed / repetitions).toBeGreaterThan(0.9);
    }
  });
});

describe("what cannot be said is said to be so", () => {
  it("a group absent from the data", () => {
    const metrics = groupMetrics({ ...TABLE, groupNames: ["a", "b", "c"] }, { stream, leastRows: 1 });
    expect(metrics.groups[2]).toMatchObject({
      name: "c",
      size: 0,
      tooSmall: true,
      reason: reasonTexts.nobody("rows"),
    });
    expect(metrics.demographicParity.leftOut).toEqual([{ group: "c", reason: reasonTexts.nobody("rows") }]);
    // It does not change how the others compare.
    expect(metrics.demographicParity.ratio.value).toBe(0.5);
    expect(metrics.demographicParity.against[1].difference.reason).toBe(reasonTexts.nobody("rows"));
    expectOnlyNumbers(metrics);
  });

  it("a target that is constant in a group", () => {
    const metrics = groupMetrics(
      {
        ...rowsOf([
          [0, 1, 1, 20],
          [0, 0, 1, 10],
          [1, 1, 1, 15],
          [1, 0, 0, 15],
        ]),
        groupNames: NAMES,
      },
      { stream },
    );
    expect(metrics.groups[0].rates.falsePositiveRate).toMatchObject({
      value: undefined,
      interval: undefined,
      denominator: 0,
      reason: reasonTexts.nobody("rows without the positive outcome"),
    });
    expect(metrics.equalisedOdds.difference.reason).toBe(reasonTexts.fewGroups);
    expect(metrics.equalisedOdds.truePositiveRate.ratio.value).toBeCloseTo(2 / 3, 12);
    expectOnlyNumbers(metrics);
  });

  it("a group that is too small, and its rates of too few rows", () => {
    const metrics = groupMetrics(
      {
        ...rowsOf([
          [0, 1, 1, 20],
          [0, 0, 0, 20],
          [1, 1, 1, 20],
          [1, 0, 0, 3],
          [2, 1, 1, 9],
        ]),
        groupNames: ["a", "b", "c"],
      },
      { stream },
    );
    expect(metrics.groups.map(({ tooSmall }) => tooSmall)).toEqual([false, false, true]);
    expect(metrics.groups[2].reason).toBe(reasonTexts.few(9, "rows", 10));
    // It is shown all the same.
    expect(metrics.groups[2].rates.selectionRate.value).toBe(1);
    expect(metrics.demographicParity.highest).toBe("b");
    expect(metrics.groups[1].rates.falsePositiveRate).toMatchObject({ value: 0, tooSmall: true });
    expect(metrics.comparisons.falsePositiveRate.difference.reason).toBe(reasonTexts.fewGroups);
    expectOnlyNumbers(metrics);
  });

  it("nobody selected, and nobody of one group selected", () => {
    const none = groupMetrics(
      {
        predicted: new Int32Array(40),
        groups: Int32Array.from({ length: 40 }, (_, i) => i % 2),
        groupNames: NAMES,
      },
      { stream },
    );
    expect(none.demographicParity.difference).toMatchObject({ value: 0, reason: reasonTexts.unmoved });
    expect(none.demographicParity.ratio).toMatchObject({
      value: undefined,
      reason: reasonTexts.zeroOverZero,
    });
    expect(none.demographicParity.against[0].ratio.reason).toBe(reasonTexts.zeroReference);
    expect(none.comparisons.accuracy.leftOut[0].reason).toBe(reasonTexts.noActual);
    expectOnlyNumbers(none);

    const one = groupMetrics(
      {
        ...rowsOf([
          [0, 0, 0, 50],
          [1, 1, 1, 25],
          [1, 0, 0, 25],
        ]),
        groupNames: NAMES,
      },
      { stream },
    );
    // Resampling never draws a selected row of the first group, so it must not pretend to know the ratio.
    expect(one.demographicParity.ratio).toMatchObject({
      value: 0,
      interval: undefined,
      reason: reasonTexts.unmoved,
    });
    expect(one.demographicParity.difference.interval?.[0]).toBeGreaterThan(0.2);
    expectOnlyNumbers(one);
  });

  it("no NaN, whatever the data", () => {
    const row = fc.record({
      group: fc.integer({ min: -1, max: 3 }),
      predicted: fc.integer({ min: 0, max: 2 }),
      actual: fc.integer({ min: 0, max: 2 }),
      score: fc.constantFrom(0, 0.25, 0.5, 1),
      weight: fc.constantFrom(0, 0.5, 2),
    });
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 12 }),
        (rows, weighted, leastRows) => {
          const known = rows.filter(({ group }) => group >= 0);
          fc.pre(known.length > 0 && (!weighted || known.some(({ weight }) => weight > 0)));
          const metrics = groupMetrics(
            {
              predicted: Int32Array.from(rows, ({ predicted }) => predicted),
              actual: Int32Array.from(rows, ({ actual }) => actual),
              scores: Float64Array.from(rows, ({ score }) => score),
              groups: Int32Array.from(rows, ({ group }) => group),
              groupNames: ["a", "b", "c", "d"],
              ...(weighted ? { weights: Float64Array.from(rows, ({ weight }) => weight) } : {}),
            },
            { stream, replicates: 100, leastRows },
          );
          expectOnlyNumbers(metrics);
          expect(metrics.rows + metrics.unknown).toBe(rows.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("in the cheap ratios too", () => {
    const nobody = parityRatios(new Int32Array(4), new Int32Array(4), Int32Array.of(0, 0, 1, -1));
    expect(nobody).toEqual({
      selectionRate: 0,
      accuracy: 1,
      dpDifference: 0,
      dpRatio: undefined,
      tprRatio: undefined,
      fprRatio: undefined,
      dpSigned: undefined,
      tprSigned: undefined,
      fprSigned: undefined,
    });
    expect(
      parityRatios(new Int32Array(0), new Int32Array(0), new Int32Array(0)).selectionRate,
    ).toBeUndefined();
  });
});

describe("several classes and several attributes", () => {
  it("takes one class against the rest", () => {
    const predicted = Int32Array.of(0, 1, 2, 2, 0, 1, 1, 2);
    const actual = Int32Array.of(0, 1, 1, 2, 0, 2, 1, 0);
    const groups = Int32Array.of(0, 0, 0, 0, 1, 1, 1, 1);
    const byClass = oneAgainstRest({ predicted, actual, groups, groupNames: NAMES }, 3, {
      stream,
      leastRows: 1,
    });
    expect(
      byClass.map(({ groups: [a, b] }) => [a.rates.selectionRate.value, b.rates.selectionRate.value]),
    ).toEqual([
      [0.25, 0.25],
      [0.25, 0.5],
      [0.5, 0.25],
    ]);
    // Of all classes: 3 of 4 right in one group, 2 of 4 in the other.
    for (const { groups } of byClass) {
      expect(groups.map(({ rates }) => rates.accuracy.value)).toEqual([0.75, 0.5]);
    }
    expect(byClass[1].groups[0].rates.truePositiveRate).toMatchObject({ numerator: 1, denominator: 2 });
  });

  it("crosses attributes, and knows only what both know", () => {
    const crossed = intersectGroups([
      { labels: Int32Array.of(0, 1, 1, -1, 0), names: ["f", "m"] },
      { labels: Int32Array.of(2, 0, 2, 0, -1), names: ["x", "y", "z"] },
    ]);
    expect(crossed).toEqual({
      labels: Int32Array.of(0, 1, 2, -1, -1),
      names: ["f & z", "m & x", "m & z"],
      absent: 3,
    });
  });
});

describe("predictions at a selection rate", () => {
  it("selects exactly the share asked for, highest first", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (tens, rate) => {
          const scores = Float64Array.from(tens, (x) => x / 5);
          const { predicted, selected, threshold } = atSelectionRate(scores, rate);
          expect(selected).toBe(Math.round(rate * scores.length));
          expect(predicted.reduce((sum, x) => sum + x, 0)).toBe(selected);
          predicted.forEach((x, row) => {
            if (threshold === undefined || scores[row] < threshold) expect(x).toBe(0);
            else if (scores[row] > threshold) expect(x).toBe(1);
          });
          expect(atSelectionRate(scores, rate).predicted).toEqual(predicted);
        },
      ),
    );
  });

  it("does not break ties by the order of the table", () => {
    const { predicted, tied } = atSelectionRate(new Float64Array(1000).fill(0.5), 0.5);
    expect(tied).toEqual({ rows: 1000, selected: 500 });
    const firstHalf = predicted.subarray(0, 500).reduce((sum, x) => sum + x, 0);
    // Hypergeometric: mean 250, standard deviation 7.9.
    expect(Math.abs(firstHalf - 250)).toBeLessThan(32);
  });
});

describe("wrong input", () => {
  const good: GroupedPredictions = { ...TABLE, groupNames: NAMES };
  const run = (
    change: Partial<GroupedPredictions>,
    options: Partial<Parameters<typeof groupMetrics>[1]> = {},
  ): string => messageOf(() => groupMetrics({ ...good, ...change }, { stream, ...options }));

  it("is refused in one sentence", () => {
    expect(run({ actual: new Int32Array(3) })).toBe(groupTexts.lengths("actual", 3, 20));
    expect(run({ scores: new Float64Array(3) })).toBe(groupTexts.lengths("scores", 3, 20));
    expect(run({ weights: new Float64Array(3) })).toBe(groupTexts.lengths("weights", 3, 20));
    expect(run({ groups: new Int32Array(3) })).toBe(groupTexts.lengths("groups", 3, 20));
    expect(run({ groups: new Int32Array(20).fill(2) })).toBe(groupTexts.label(0, 2, 2));
    expect(run({ groups: new Int32Array(20).fill(-2) })).toBe(groupTexts.label(0, -2, 2));
    expect(run({ groups: new Int32Array(20).fill(-1) })).toBe(groupTexts.noRows);
    expect(run({ groupNames: [] })).toBe(groupTexts.fewGroups(0));
    expect(run({ scores: new Float64Array(20).fill(1.5) })).toBe(groupTexts.score(0, 1.5));
    expect(run({ scores: new Float64Array(20).fill(Number.NaN) })).toBe(groupTexts.score(0, Number.NaN));
    expect(run({ weights: new Float64Array(20).fill(-1) })).toBe(groupTexts.weight(0, -1));
    expect(run({ weights: new Float64Array(20) })).toBe(groupTexts.noWeight);
    expect(run({}, { reference: 2 })).toBe(groupTexts.reference(2, 2));
    expect(run({}, { replicates: 5 })).toBe(groupTexts.replicates(5));
    expect(run({}, { leastRows: 0 })).toBe(groupTexts.leastRows(0));
    expect(run({}, { level: 95 })).toContain("level 95");
    expect(messageOf(() => oneAgainstRest(good, 1, { stream }))).toBe(groupTexts.classes(1));
    expect(messageOf(() => atSelectionRate(new Float64Array(3), 2))).toBe(groupTexts.selectionRate(2));
    expect(messageOf(() => atSelectionRate(new Float64Array(0), 0.5))).toBe(groupTexts.noScores);
    expect(messageOf(() => intersectGroups([]))).toBe(groupTexts.noAttributes);
    expect(messageOf(() => parityRatios(new Int32Array(2), new Int32Array(1), new Int32Array(2)))).toBe(
      groupTexts.lengths("actual", 1, 2),
    );
  });
});
