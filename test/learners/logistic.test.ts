import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { factorise, solveLower } from "../../src/core/math/cholesky.js";
import { seededStream } from "../../src/core/random.js";
import type { FeatureMatrix } from "../../src/learners/classifier.js";
import { featureTexts } from "../../src/learners/features.js";
import { type LogisticRegression, logistic, logisticTexts } from "../../src/learners/logistic.js";
import { trainingTexts } from "../../src/learners/training.js";
import { matrixOf, moduloTable, RARE, THREE, TWO } from "./tables.js";

const features = moduloTable(0, 40);
/** Columns of which three fifths or more are one value, and that not always 0. */
const COMMON = [0, 7, 1000];
const mostlyCommon: FeatureMatrix = {
  ...features,
  values: features.values.map((value, at) => {
    const [row, column] = [Math.floor(at / 3), at % 3];
    return COMMON[column] + ((row * (column + 2)) % 5 < 3 ? 0 : value);
  }),
};
const stream = () => seededStream(1);

const expectClose = (values: ArrayLike<number>, expected: readonly number[], digits: number) => {
  expect(values.length).toBe(expected.length);
  expected.forEach((each, i) => {
    expect(values[i]).toBeCloseTo(each, digits);
  });
};

// LogisticRegression(solver="newton-cg", tol=1e-14) of scikit-learn 1.2.1 behind a StandardScaler.
describe("the weights of scikit-learn", () => {
  test.each([
    [1, [0.99340401, -1.66145559, 0.75030129], 0.01885071],
    [0.1, [1.56275682, -2.56359535, 1.17754948], 0.05478369],
  ])("two classes, l2 = %d", (l2, coefficients, intercept) => {
    const fitted = logistic({ l2 }).fit({ features, labels: TWO, classes: 2 }, stream());
    expectClose(fitted.coefficients, coefficients, 6);
    expectClose(fitted.intercepts, [intercept], 6);
  });

  test("three classes", () => {
    const fitted = logistic().fit({ features, labels: THREE, classes: 3 }, stream());
    expectClose(
      fitted.coefficients,
      [
        -1.36526289, 1.34843254, -0.63535408, 0.13841724, -0.03029378, 0.00617139, 1.22684565, -1.31813876,
        0.62918269,
      ],
      6,
    );
    // The intercepts' sum is free: compared with scikit-learn's after centring.
    expectClose(fitted.intercepts, [-0.49366765, 0.60202628, -0.10835863], 6);
  });

  test("columns in which most rows have the same value", () => {
    const two = logistic().fit({ features: mostlyCommon, labels: TWO, classes: 2 }, stream());
    expectClose(two.coefficients, [0.1212718, -0.37226588, 0.23391714], 6);
    expectClose(two.intercepts, [-0.00293418], 6);
    const three = logistic().fit({ features: mostlyCommon, labels: THREE, classes: 3 }, stream());
    expectClose(
      three.coefficients,
      [
        -0.12100568, 0.25280393, -0.26094704, 0.03058813, -0.04188662, -0.03637401, 0.09041755, -0.21091731,
        0.29732106,
      ],
      6,
    );
    expectClose(three.intercepts, [-0.05698334, 0.0194338, 0.03754954], 6);
  });

  test("balanced class weights", () => {
    const fitted = logistic({ classWeights: "balanced" }).fit(
      { features, labels: RARE, classes: 2 },
      stream(),
    );
    expectClose(fitted.coefficients, [1.56508786, -1.00345979, 0.60577867], 6);
    expectClose(fitted.intercepts, [-0.15495801], 6);
  });
});

/** Probabilities of class 1 at the mode, by its published parts. */
const atMode = (
  { values, rows }: FeatureMatrix,
  { coefficients, intercepts, means, scales }: LogisticRegression,
): number[] =>
  Array.from({ length: rows }, (_, row) => {
    let logit = intercepts[0];
    for (let j = 0; j < 3; j++) logit += (coefficients[j] * (values[3 * row + j] - means[j])) / scales[j];
    return 1 / (1 + Math.exp(-logit));
  });

describe("Laplace members", () => {
  test.each([
    ["any columns", features],
    ["columns in which most rows have the same value", mostlyCommon],
  ])("have the mode as mean and the inverse Hessian as covariance: %s", (_name, table) => {
    const members = 20_000;
    const fitted = logistic({ members }).fit({ features: table, labels: TWO, classes: 2 }, stream());
    const p = atMode(table, fitted);
    // The variance of a row's logit is x' H^-1 x with H = sum p (1 - p) x x' + diag(1, 1, 1, 0).
    const x = (row: number) => [
      ...Array.from(
        { length: 3 },
        (_, j) => (table.values[3 * row + j] - fitted.means[j]) / fitted.scales[j],
      ),
      1,
    ];
    const hessian = new Float64Array(16);
    for (let i = 0; i < 3; i++) hessian[5 * i] = 1;
    for (let row = 0; row < 40; row++)
      for (let i = 0; i < 4; i++)
        for (let j = 0; j < 4; j++) hessian[4 * i + j] += p[row] * (1 - p[row]) * x(row)[i] * x(row)[j];
    expect(factorise(hessian, 4)).toBe(true);
    const asked = Int32Array.of(0, 7, 23);
    const { values } = fitted.predictMembers(table, asked);
    asked.forEach((row, k) => {
      const solved = Float64Array.from(x(row));
      solveLower(hessian, 4, solved);
      const variance = solved.reduce((sum, each) => sum + each * each, 0);
      const logits = Array.from({ length: members }, (_, m) => {
        const [p0, p1] = values.subarray(2 * (k * members + m), 2 * (k * members + m) + 2);
        return Math.log(p1 / p0);
      });
      const mean = logits.reduce((sum, each) => sum + each, 0) / members;
      const spread = logits.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (members - 1);
      expect(Math.abs(mean - Math.log(p[row] / (1 - p[row])))).toBeLessThan(
        4.5 * Math.sqrt(variance / members),
      );
      expect(Math.abs(spread / variance - 1)).toBeLessThan(4.5 * Math.sqrt(2 / members));
    });
  });

  test("of three classes are probabilities around the mode's", () => {
    const fitted = logistic({ members: 500 }).fit({ features, labels: THREE, classes: 3 }, stream());
    const { values } = fitted.predictMembers(features);
    for (let at = 0; at < values.length; at += 3)
      expect(values[at] + values[at + 1] + values[at + 2]).toBeCloseTo(1, 5);
    const means = fitted.predict(features);
    let right = 0;
    for (let row = 0; row < 40; row++) {
      const own = Array.from(means.slice(3 * row, 3 * row + 3));
      right += own.indexOf(Math.max(...own)) === THREE[row] ? 1 : 0;
    }
    expect(right).toBeGreaterThan(25);
  });

  test("the prediction is the mean of the members, in the rows asked for", () => {
    const fitted = logistic({ members: 7 }).fit({ features, labels: TWO, classes: 2 }, stream());
    const asked = Int32Array.of(5, 5, 39);
    const { values } = fitted.predictMembers(features, asked);
    const means = fitted.predict(features, asked);
    for (let k = 0; k < 3; k++) {
      let sum = 0;
      for (let m = 0; m < 7; m++) sum += values[2 * (7 * k + m) + 1];
      expect(means[2 * k + 1]).toBeCloseTo(sum / 7, 6);
    }
    expect(means[0]).toBe(means[2]);
  });
});

describe("bootstrap members", () => {
  test("are fits to resampled rows: about the mode, and spread", () => {
    const members = 300;
    const fitted = logistic({ ensemble: "bootstrap", members, l2: 5 }).fit(
      { features, labels: TWO, classes: 2 },
      stream(),
    );
    const p = atMode(features, fitted);
    const { values } = fitted.predictMembers(features);
    for (let row = 0; row < 40; row++) {
      const own = Array.from({ length: members }, (_, m) => values[2 * (row * members + m) + 1]);
      const mean = own.reduce((sum, each) => sum + each, 0) / members;
      expect(Math.abs(mean - p[row])).toBeLessThan(0.06);
      expect(Math.max(...own) - Math.min(...own)).toBeGreaterThan(0.05);
    }
  });

  test("see every class, also one of a single row", () => {
    const labels = Int32Array.from({ length: 40 }, (_, i) => (i === 11 ? 1 : 0));
    const fitted = logistic({ ensemble: "bootstrap", members: 30 }).fit(
      { features, labels, classes: 2 },
      stream(),
    );
    const { values } = fitted.predictMembers(features, Int32Array.of(11));
    for (let m = 0; m < 30; m++) expect(values[2 * m + 1]).toBeGreaterThan(0.02);
  });
});

describe("corners", () => {
  test("the same stream gives the same members", () => {
    for (const ensemble of ["laplace", "bootstrap"] as const) {
      const at = (seed: number) =>
        logistic({ ensemble, members: 3 })
          .fit({ features, labels: TWO, classes: 2 }, seededStream(seed))
          .predictMembers(features).values;
      expect(at(4)).toEqual(at(4));
      expect(at(4)).not.toEqual(at(5));
    }
  });

  test("a constant column has no weight, and a class that nobody has no probability", () => {
    const x = matrixOf([
      [1, 9],
      [2, 9],
      [3, 9],
      [4, 9],
    ]);
    const fitted = logistic().fit({ features: x, labels: Int32Array.of(0, 2, 0, 2), classes: 3 }, stream());
    expect(fitted.coefficients[1]).toBeCloseTo(0, 12);
    expect(fitted.present).toEqual([0, 2]);
    const means = fitted.predict(x);
    for (let row = 0; row < 4; row++) {
      expect(means[3 * row + 1]).toBe(0);
      expect(means[3 * row] + means[3 * row + 2]).toBeCloseTo(1, 12);
    }
  });

  test("classes that are far apart, and columns of very different size", () => {
    const x = matrixOf(Array.from({ length: 20 }, (_, i) => [i < 10 ? i * 1e-6 : 1, 1e6 * i]));
    const labels = Int32Array.from({ length: 20 }, (_, i) => (i < 10 ? 0 : 1));
    const means = logistic({ l2: 0.1 }).fit({ features: x, labels, classes: 2 }, stream()).predict(x);
    expect(Array.from(means).every(Number.isFinite)).toBe(true);
    for (let row = 0; row < 20; row++) expect(means[2 * row + 1] > 0.5).toBe(labels[row] === 1);
  });

  test("weights are rows given so often", () => {
    const rows = Int32Array.from(Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? [i, i] : [i])).flat());
    const repeated = logistic().fit(
      { features, rows, labels: rows.map((row) => TWO[row]), classes: 2 },
      stream(),
    );
    const weights = Float64Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 2 : 1));
    const weighted = logistic().fit({ features, labels: TWO, classes: 2, weights }, stream());
    expectClose(weighted.coefficients, Array.from(repeated.coefficients), 9);
    expectClose(weighted.intercepts, Array.from(repeated.intercepts), 9);
  });

  test("what is refused", () => {
    const fitting = (training: object) => () =>
      logistic().fit({ features, labels: TWO, classes: 2, ...training }, stream());
    expect(fitting({ labels: new Int32Array(40) })).toThrow(trainingTexts.oneClass(40));
    expect(fitting({ features: matrixOf(Array.from({ length: 40 }, () => [Number.NaN])) })).toThrow(
      InputError,
    );
    expect(() => logistic({ l2: 0 })).toThrow(logisticTexts.option("l2", 0, "a positive, finite number"));
    expect(() => logistic({ members: 0 })).toThrow(InputError);
    expect(() => logistic({ ensemble: "dropout" as "laplace" })).toThrow(InputError);
    expect(() => fitting({})().predict(matrixOf([[1]]))).toThrow(featureTexts.columns(1, 3));
    expect(() => logistic({ ensemble: "mode", members: 2 })).toThrow(
      logisticTexts.option("members", 2, "1 where the ensemble is the mode"),
    );
  });
});
