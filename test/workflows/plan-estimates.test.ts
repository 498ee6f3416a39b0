/** What is reported of decisions, against closed forms and counts by hand. */
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { labelsNeeded } from "../../src/workflows/labels-needed.js";
import { combine, outerJudge, withErrors } from "../../src/workflows/plan-estimates.js";
import { type JudgedRows, measure } from "../../src/workflows/plan-measures.js";

const rowsOf = (
  labels: readonly number[],
  groups: readonly number[],
  metric: "dp" | "eopp" = "dp",
): JudgedRows => ({
  rows: Int32Array.from(labels.keys()),
  labels: Int32Array.from(labels),
  groups: Int32Array.from(groups),
  groupCount: 2,
  weights: undefined,
  metric,
});

describe("decisions on rows", () => {
  const labels = [1, 1, 0, 0, 1, 0, 0, 0];
  const groups = [0, 0, 0, 0, 1, 1, 1, 1];
  const decided = Uint8Array.from([1, 0, 1, 0, 1, 0, 0, 0]);

  test("accuracy, ratio of selection rates and of true positive rates", () => {
    // Six of eight are right; 2 of 4 are selected and 1 of 4.
    expect(measure(decided, rowsOf(labels, groups))).toEqual({
      accuracy: 0.75,
      parity: 0.5,
      selectionRate: 3 / 8,
    });
    // 1 of 2 positives and 1 of 1.
    expect(measure(decided, rowsOf(labels, groups, "eopp")).parity).toBe(0.5);
  });

  test("weights and repeated rows count alike, and nobody selected is no parity", () => {
    const weights = Float64Array.from([2, 1, 1, 3, 1, 1, 2, 1]);
    const times = Uint8Array.from(weights);
    expect(measure(decided, { ...rowsOf(labels, groups), weights })).toEqual(
      measure(decided, rowsOf(labels, groups), times),
    );
    expect(measure(new Uint8Array(8), rowsOf(labels, groups)).parity).toBe(0);
  });
});

describe("errors", () => {
  test("over seeds they are Student's", () => {
    // Of 1, 2, 3, 4: mean 2.5, variance 5 / 3, and t(0.975; 3) = 3.1824 (tables).
    const { mean, standardError, interval } = withErrors([1, 2, 3, 4], 0);
    expect(mean).toBe(2.5);
    expect(standardError).toBeCloseTo(Math.sqrt(5 / 3 / 4), 12);
    expect(interval[1] - 2.5).toBeCloseTo(3.1824 * Math.sqrt(5 / 12), 3);
  });

  test("over rows they are added as independent", () => {
    const { standardError, interval } = withErrors([0.5, 0.5], 0.1);
    expect(standardError).toBeCloseTo(0.1, 12);
    expect(interval[1]).toBeCloseTo(0.5 + 1.959964 * 0.1, 6);
    expect(withErrors([0.7], 0.1).n).toBe(1);
    // The spread of 1, 2, 3 is 1.
    expect(combine([5, 5], [1, 2, 3]).standardError).toBeCloseTo(1, 12);
  });

  test("the error of an accuracy is that of a share, and a recipe does not differ from itself", () => {
    const n = 2000;
    const stream = seededStream(5);
    const labels = Array.from({ length: n }, () => 1);
    const groups = labels.map((_, i) => i % 2);
    const decided = Uint8Array.from(labels, () => Number(stream.uniform() < 0.8));
    const judge = outerJudge(rowsOf(labels, groups), seededStream(6));
    const share = decided.reduce((sum, each) => sum + each, 0) / n;
    const { accuracy, parity } = judge.estimate([decided, decided]);
    expect(accuracy.mean).toBeCloseTo(share, 12);
    // A bootstrap with 200 resamples knows a standard deviation to about 5 %.
    const binomial = Math.sqrt((share * (1 - share)) / n);
    expect(accuracy.standardError / binomial).toBeGreaterThan(0.8);
    expect(accuracy.standardError / binomial).toBeLessThan(1.2);
    expect(parity.interval[0]).toBeGreaterThan(0);
    expect(parity.interval[1]).toBeLessThanOrEqual(1);
    const none = judge.difference([decided, decided], [decided, decided], 0.5);
    expect(none.accuracy.interval).toEqual([0, 0]);
    expect(none.accuracyAtParity.interval).toEqual([0, 0]);
    const some = Uint8Array.from(decided, (each, i) => (i % 5 === 0 ? 1 - each : each));
    const {
      accuracy: a,
      parity: p,
      accuracyAtParity,
    } = judge.difference([some, decided], [decided, some], 0.5);
    expect(accuracyAtParity.mean).toBeCloseTo(a.mean + 0.5 * p.mean, 12);
  });
});

describe("labels needed", () => {
  const at = (labels: number, accuracy: readonly number[], parity: readonly number[]) => ({
    labels,
    accuracy,
    parity,
  });
  const steady = (labels: number, accuracy: number, parity: number) =>
    at(labels, [accuracy, accuracy, accuracy], [parity, parity, parity]);

  test("the first number from which on both hold", () => {
    const curve = [
      steady(100, 0.6, 0.9),
      steady(200, 0.7, 0.7),
      steady(300, 0.7, 0.8),
      steady(400, 0.7, 0.85),
    ];
    expect(labelsNeeded(curve, 0.8, seededStream(1))).toEqual({ labels: 300, interval: [300, 300] });
    // A later dip takes an earlier success back.
    const dips = [steady(100, 0.7, 0.9), steady(200, 0.7, 0.5), steady(300, 0.7, 0.9)];
    expect(labelsNeeded(dips, 0.8, seededStream(1)).labels).toBe(300);
  });

  test("null where the last number is not enough", () => {
    const curve = [steady(100, 0.7, 0.9), steady(200, 0.7, 0.7)];
    expect(labelsNeeded(curve, 0.8, seededStream(1))).toEqual({ labels: null, interval: [null, null] });
  });

  test("within a standard error is enough, and the interval shows how far seeds disagree", () => {
    // Parity 0.79 on average with a standard error above 0.01.
    const curve = [at(100, [0.7, 0.7, 0.7], [0.76, 0.79, 0.82]), steady(200, 0.7, 0.9)];
    const { labels, interval } = labelsNeeded(curve, 0.8, seededStream(1));
    expect(labels).toBe(100);
    expect(interval).toEqual([100, 200]);
  });
});
