/** Decision values are those of scikit-learn 1.2.1's SVC (libsvm), solved to 1e-6. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unpaced } from "../../src/core/options.js";
import { seededStream } from "../../src/core/random.js";
import { kernelCache, kernelRows } from "../../src/learners/svm/kernel.js";
import { couplePairs, fitSigmoid } from "../../src/learners/svm/platt.js";
import { type SvmProblem, solveSvm } from "../../src/learners/svm/smo.js";
import { type SvmOptions, svm, svmTexts } from "../../src/learners/svm.js";
import { column, formulaLabels, formulaTable, largestDifference } from "./formula-table.js";
import { describeOneMember } from "./one-member-contract.js";

describeOneMember((options) => svm(options));

const solve = (problem: SvmProblem) => unpaced(solveSvm(problem));

const features = formulaTable(60, 97);
const questions = formulaTable(6, 97, 1 / 32);
const labels = formulaLabels(features, 9);
const training = { features, labels, classes: 2 };
const threeLabels = formulaLabels(features, 6, 13);

describe("the support vector machine, against libsvm's", () => {
  it("has its decisions on features as they are", () => {
    const fitted = svm({ standardise: false }).fit(training, seededStream(0));
    expect(fitted.gamma).toBeCloseTo(0.020380218901, 10);
    const theirs = [-1.010118, 1.009477, -0.9445038, -0.9852, 0.9865069, 1.168017];
    expect(largestDifference(fitted.decide(questions), theirs)).toBeLessThan(1e-3);
    expect(fitted.supportVectors).toBe(36);
  });

  it("has its decisions on standardised features", () => {
    const fitted = svm().fit(training, seededStream(0));
    expect(fitted.gamma).toBeCloseTo(0.25, 10);
    const theirs = [-1.0096, 1.009493, -0.9821192, -0.9859749, 0.9882182, 1.14365];
    expect(largestDifference(fitted.decide(questions), theirs)).toBeLessThan(1e-3);
  });

  it("has its decisions with another C, another gamma and weights", () => {
    const weights = Float64Array.from({ length: 60 }, (_, i) => 1 + (i % 3));
    const fitted = svm({ standardise: false, c: 0.3, gamma: 0.2 }).fit(
      { ...training, weights },
      seededStream(0),
    );
    const theirs = [-0.251469, 0.8376661, -0.9818925, -0.7823813, 1.006547, 0.9995049];
    expect(largestDifference(fitted.decide(questions), theirs)).toBeLessThan(1e-3);
  });

  it("has its decisions of every pair of three classes", () => {
    const fitted = svm({ standardise: false }).fit(
      { features, labels: threeLabels, classes: 3 },
      seededStream(0),
    );
    // Positive for the lower class there, for the upper one here.
    const theirs = [
      1.060942, 1.00979, 0.2677149, -0.2420932, -1.011845, -1.017046, -0.2739465, 0.5683173, 0.8719787,
      1.024335, 0.9855279, 0.6551974, -0.7038884, -0.5828047, -0.4570942, -0.3775456, -1.128443, -1.11638,
    ];
    expect(fitted.pairs.map(({ lower, upper }) => [lower, upper])).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
    expect(
      largestDifference(
        fitted.decide(questions).map((f) => -f),
        theirs,
      ),
    ).toBeLessThan(1e-3);
  });

  /** The mean over folds drawn 40 times, on both sides; folds are stratified here and not there. */
  const meanOver40 = (labelsOf: Int32Array, classes: number): number[] => {
    const runs = Array.from({ length: 40 }, (_, seed) =>
      svm({ standardise: false })
        .fit({ features, labels: labelsOf, classes }, seededStream(seed))
        .predict(questions),
    );
    return Array.from(runs[0], (_, at) => runs.reduce((sum, p) => sum + p[at], 0) / 40);
  };

  it("has about its probabilities of two classes", () => {
    const theirs = [0.05288225, 0.970424, 0.063032, 0.05628906, 0.9682654, 0.9818178];
    const ours = column(Float64Array.from(meanOver40(labels, 2)), 2, 1);
    expect(largestDifference(ours, theirs)).toBeLessThan(0.02);
  });

  it("has about its probabilities of three classes", () => {
    const theirs = [
      0.806496, 0.1636303, 0.02987365, 0.02988862, 0.07036656, 0.8997448, 0.3587755, 0.6039889, 0.03723565,
      0.8038672, 0.1774324, 0.01870041, 0.08412332, 0.2638558, 0.6520209, 0.01984873, 0.05565947, 0.9244918,
    ];
    expect(largestDifference(meanOver40(threeLabels, 3), theirs)).toBeLessThan(0.05);
  });
});

describe("sequential minimal optimisation", () => {
  it("ends where no pair of rows can improve, within the bounds (Karush, Kuhn and Tucker)", () => {
    const problems = fc.integer({ min: 2, max: 25 }).chain((n) =>
      fc.record({
        x: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2 * n, maxLength: 2 * n }),
        y: fc.array(fc.constantFrom(-1, 1), { minLength: n, maxLength: n }),
        c: fc.array(fc.double({ min: 0.1, max: 10, noNaN: true }), { minLength: n, maxLength: n }),
      }),
    );
    fc.assert(
      fc.property(problems, ({ x, y, c }) => {
        fc.pre(new Set(y).size === 2);
        const cached = kernelCache(kernelRows(Float64Array.from(x), 2), 0.3);
        const rows = Int32Array.from(y.keys());
        const { coefficients, bias } = solve({
          rows,
          y: Int8Array.from(y),
          c: Float64Array.from(c),
          column: cached,
        });
        expect(coefficients.reduce((sum, each) => sum + each, 0)).toBeCloseTo(0, 9);
        y.forEach((sign, t) => {
          let f = bias;
          y.forEach((_, s) => {
            const square = (x[2 * s] - x[2 * t]) ** 2 + (x[2 * s + 1] - x[2 * t + 1]) ** 2;
            f += coefficients[s] * Math.exp(-0.3 * square);
          });
          const a = sign * coefficients[t];
          expect(a).toBeGreaterThanOrEqual(0);
          expect(a).toBeLessThanOrEqual(c[t]);
          if (a > 0) expect(sign * f).toBeLessThan(1 + 2e-3);
          if (a < c[t]) expect(sign * f).toBeGreaterThan(1 - 2e-3);
        });
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  it("answers on two rows as can be worked out: a = 1 / (1 - k)", () => {
    const cached = kernelCache(kernelRows(Float64Array.of(0, 1), 1), 1);
    const problem = {
      rows: Int32Array.of(0, 1),
      y: Int8Array.of(-1, 1),
      c: Float64Array.of(9, 9),
      column: cached,
    };
    const { coefficients, bias } = solve(problem);
    const a = 1 / (1 - Math.exp(-1));
    expect(largestDifference(coefficients, [-a, a])).toBeLessThan(1e-6);
    expect(bias).toBeCloseTo(0, 6);
    // Where both are at their bound, the decisions are a (1 - k) either side of the bias, which is in the middle.
    const bounded = solve({ ...problem, c: Float64Array.of(0.1, 0.1) });
    expect(Array.from(bounded.coefficients)).toEqual([-0.1, 0.1]);
    expect(bounded.bias).toBeCloseTo(0, 6);
  });
});

describe("probabilities from decisions", () => {
  const decisions = Float64Array.from({ length: 20 }, (_, i) => (((7 * i) % 20) - 8) / 4);
  const y = Int8Array.from(decisions, (f, i) => (f + (((3 * i) % 5) - 2) / 2 > 0 ? 1 : -1));

  it("are Platt's sigmoid, as scikit-learn's calibration finds it by BFGS", () => {
    const { slope, offset } = fitSigmoid(decisions, y, new Float64Array(20).fill(1));
    expect(slope).toBeCloseTo(-1.23771011, 5);
    expect(offset).toBeCloseTo(0.13443215, 5);
  });

  it("treat a row of weight 2 as two rows", () => {
    const weights = Float64Array.from(y, (_, i) => 1 + (i % 2));
    const twice = [...y.keys(), ...[...y.keys()].filter((i) => i % 2 === 1)];
    const repeated = fitSigmoid(
      Float64Array.from(twice, (i) => decisions[i]),
      Int8Array.from(twice, (i) => y[i]),
      new Float64Array(30).fill(1),
    );
    const weighted = fitSigmoid(decisions, y, weights);
    expect(weighted.slope).toBeCloseTo(repeated.slope, 9);
    expect(weighted.offset).toBeCloseTo(repeated.offset, 9);
  });

  it("of pairs that agree couple to the classes' own", () => {
    const p = [0.1, 0.2, 0.3, 0.4];
    const r = Float64Array.from({ length: 16 }, (_, at) => {
      const [a, b] = [Math.floor(at / 4), at % 4];
      return a === b ? 0 : p[a] / (p[a] + p[b]);
    });
    // The iteration ends within 0.005 / 4 of stationary.
    expect(largestDifference(couplePairs(r, 4), p)).toBeLessThan(0.01);
  });
});

describe("the support vector machine", () => {
  it("learns from a class of a single row, and from rows that contradict each other", () => {
    const alone = Int32Array.from({ length: 60 }, (_, i) => Number(i === 0));
    const p = svm()
      .fit({ ...training, labels: alone }, seededStream(0))
      .predict(features);
    expect(p.every((each) => each > 0 && each < 1)).toBe(true);
    const same = { values: new Float32Array(20).fill(2), rows: 10, columns: 2 };
    const half = Int32Array.from({ length: 10 }, (_, i) => i % 2);
    const q = svm().fit({ features: same, labels: half, classes: 2 }, seededStream(0)).predict(same);
    for (const each of q) expect(each).toBeCloseTo(0.5, 2);
  });

  it("refuses options that cannot be", () => {
    const positive = "a positive, finite number";
    const wrong: [SvmOptions, string][] = [
      [{ c: 0 }, svmTexts.option("c", 0, positive)],
      [{ gamma: Number.POSITIVE_INFINITY }, svmTexts.option("gamma", Number.POSITIVE_INFINITY, positive)],
    ];
    for (const [options, text] of wrong) expect(() => svm(options)).toThrow(text);
  });
});
