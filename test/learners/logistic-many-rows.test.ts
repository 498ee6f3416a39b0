/** The mode by conjugate gradients on sparse rows is the one of Newton's method, and that scikit-learn finds. */
import { describe, expect, test } from "vitest";
import { unpaced } from "../../src/core/options.js";
import { type RandomStream, seededStream } from "../../src/core/random.js";
import type { FeatureMatrix } from "../../src/learners/classifier.js";
import { byVector, sparseFitSteps } from "../../src/learners/logistic/sparse-fit.js";
import { logistic } from "../../src/learners/logistic.js";
import { sparseSteps } from "../../src/learners/sparse-rows.js";
import { fitStandardisation } from "../../src/learners/standardise.js";
import { matrixOf, moduloTable, THREE, TWO } from "./tables.js";

/** Categories as columns of 0 and 1, some of them rare, two numbers, and a column that does not vary. */
const categories = (rows: number, stream: RandomStream): FeatureMatrix =>
  matrixOf(
    Array.from({ length: rows }, () => {
      const kind = Math.floor(8 * stream.uniform() ** 3);
      const place = Math.floor(5 * stream.uniform());
      const hot = (value: number, count: number) =>
        Array.from({ length: count }, (_, c) => Number(c === value));
      return [...hot(kind, 8), ...hot(place, 5), stream.normal(), 1000 + 10 * stream.normal(), 7];
    }),
  );

/** Classes that depend on the first columns, each of them present. */
const classesOf = (
  { values, columns, rows }: FeatureMatrix,
  classes: number,
  stream: RandomStream,
): Int32Array =>
  Int32Array.from({ length: rows }, (_, i) => {
    if (i < classes) return i;
    const score =
      2 * values[i * columns] - values[i * columns + 9] + values[i * columns + 13] + stream.normal();
    return Math.min(classes - 1, Math.max(0, Math.floor(score + classes / 2)));
  });

const largest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

/** The gradient of sum w loss + l2 / 2 |W|^2 by plain loops over standardised rows, [vectors, columns + 1]. */
const gradientAt = (
  x: FeatureMatrix,
  labels: Int32Array,
  weights: Float64Array,
  classes: number,
  l2: number,
  mode: Float64Array,
): Float64Array => {
  const rows = Int32Array.from({ length: x.rows }, (_, i) => i);
  const { means, scales } = fitStandardisation(x, rows, weights);
  const vectors = classes === 2 ? 1 : classes;
  const width = x.columns + 1;
  const gradient = mode.map((value, at) => (at % width === width - 1 ? 0 : l2 * value));
  for (let i = 0; i < x.rows; i++) {
    const row = Array.from({ length: width }, (_, j) =>
      j === width - 1 ? 1 : (x.values[i * x.columns + j] - means[j]) / scales[j],
    );
    const logits = Array.from({ length: vectors }, (_, k) =>
      row.reduce((sum, value, j) => sum + value * mode[k * width + j], 0),
    );
    const all = vectors === 1 ? [0, logits[0]] : logits;
    const total = all.reduce((sum, each) => sum + Math.exp(each), 0);
    for (let k = 0; k < vectors; k++) {
      const c = k + (classes - vectors);
      const residual = weights[i] * (Math.exp(all[c]) / total - Number(labels[i] === c));
      for (let j = 0; j < width; j++) gradient[k * width + j] += residual * row[j];
    }
  }
  return gradient;
};

/** Both ways of finding the mode, [vectors, columns + 1]. */
const bothModes = (
  x: FeatureMatrix,
  labels: Int32Array,
  weights: Float64Array,
  classes: number,
  l2: number,
) => {
  const rows = Int32Array.from({ length: x.rows }, (_, i) => i);
  const { mode, problem, means, scales } = unpaced(
    sparseFitSteps({ features: x, rows, labels, weights, classes, l2 }),
  );
  const whole = logistic({ l2, ensemble: "mode" }).fit(
    { features: x, labels, weights, classes },
    seededStream(0),
  );
  return { sparse: byVector(mode.parameters, problem.vectors), means, scales, whole };
};

describe("conjugate gradients on sparse rows", () => {
  test.each([
    [2, 1],
    [2, 0.01],
    [3, 1],
    [5, 1],
    [5, 0.01],
    [6, 10],
  ])("%d classes, l2 = %d: the mode of Newton's method, where the gradient is 0", (classes, l2) => {
    const stream = seededStream(classes);
    const x = categories(400, stream);
    const labels = classesOf(x, classes, stream);
    const weights = Float64Array.from({ length: 400 }, () => 0.5 + stream.uniform());
    const { sparse, whole, means, scales } = bothModes(x, labels, weights, classes, l2);
    expect(largest(means, whole.means)).toBeLessThan(1e-4); // 1000 has seven digits
    expect(largest(scales, whole.scales)).toBeLessThan(1e-5);
    expect(largest(sparse, whole.parameters.mode)).toBeLessThan(1e-4);
    expect(
      largest(gradientAt(x, labels, weights, classes, l2, sparse), new Float64Array(sparse.length)),
    ).toBeLessThan(1e-3);
  });

  // LogisticRegression(solver="newton-cg", tol=1e-14) of scikit-learn 1.2.1 behind a StandardScaler.
  test.each([
    [1, [0.99340401, -1.66145559, 0.75030129], 0.01885071],
    [0.1, [1.56275682, -2.56359535, 1.17754948], 0.05478369],
  ])("the weights of scikit-learn, l2 = %d", (l2, coefficients, intercept) => {
    const x = moduloTable(0, 40);
    const { sparse } = bothModes(x, TWO, new Float64Array(40).fill(1), 2, l2);
    expect(largest(sparse, [...coefficients, intercept])).toBeLessThan(1e-6);
  });

  test("classes that two columns tell apart, each of one row, and of three classes", () => {
    const one = new Float64Array(2).fill(1);
    const apart = bothModes(
      matrixOf([
        [0, 3],
        [1, 3],
      ]),
      Int32Array.of(0, 1),
      one,
      2,
      1,
    );
    expect(largest(apart.sparse, apart.whole.parameters.mode)).toBeLessThan(1e-6);
    const x = moduloTable(0, 40);
    const three = bothModes(x, THREE, new Float64Array(40).fill(1), 3, 1e-4);
    expect(largest(three.sparse, three.whole.parameters.mode)).toBeLessThan(1e-3);
  });

  test("rows in an order of their own, some twice, as a table of just these", () => {
    const stream = seededStream(4);
    const x = categories(300, stream);
    const rows = Int32Array.from({ length: 250 }, (_, i) => (i * 7) % 290);
    const labels = classesOf(x, 3, stream);
    const own = rows.map((row) => labels[row]);
    const weights = new Float64Array(250).fill(1);
    const some = unpaced(sparseFitSteps({ features: x, rows, labels: own, weights, classes: 3, l2: 1 }));
    const alone = matrixOf(Array.from(rows, (row) => Array.from(x.values.subarray(16 * row, 16 * row + 16))));
    const { sparse } = bothModes(alone, own, weights, 3, 1);
    expect(largest(byVector(some.mode.parameters, 3), sparse)).toBeLessThan(1e-5);
  });
});

describe("logistic regression of many rows", () => {
  const stream = seededStream("many");
  const rows = 30_000;
  const x = categories(rows, stream);
  const labels = classesOf(x, 3, stream);
  const training = { features: x, labels, classes: 4 };
  const fitted = logistic({ members: 3 }).fit(training, seededStream(5));

  test("is at the mode; a class that does not occur has no chance", () => {
    expect(fitted.present).toEqual([0, 1, 2]);
    const gradient = gradientAt(x, labels, new Float64Array(rows).fill(1), 3, 1, fitted.parameters.mode);
    expect(largest(gradient, new Float64Array(gradient.length))).toBeLessThan(0.01);
    const said = fitted.predict(x, Int32Array.of(0, 1, 2));
    for (let i = 0; i < 3; i++) {
      expect(said[4 * i + 3]).toBe(0);
      expect(said.subarray(4 * i, 4 * i + 4).reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
    }
  });

  test("a weight of 2 is the row twice", () => {
    const twice = Int32Array.from({ length: rows + 100 }, (_, i) => (i < rows ? i : i - rows));
    const weights = Float64Array.from({ length: rows }, (_, i) => (i < 100 ? 2 : 1));
    const mode = logistic({ ensemble: "mode" });
    const weighted = mode.fit({ ...training, weights }, seededStream(0));
    const repeated = mode.fit(
      { ...training, rows: twice, labels: twice.map((row) => labels[row]) },
      seededStream(0),
    );
    expect(largest(weighted.parameters.mode, repeated.parameters.mode)).toBeLessThan(1e-6);
  });

  test("members are spread as the inverse of the Hessian says", () => {
    const { parameters, scales } = logistic({ members: 200 }).fit(training, seededStream(6));
    const { mode, members } = parameters;
    // The slope of the number of variance 1, of class 1 against class 0: its curvature is about the other slopes' too.
    const width = x.columns + 1;
    const draws = members.map((member) => (member[width + 13] - member[13]) / scales[13]);
    const centre = (mode[width + 13] - mode[13]) / scales[13];
    const sd = Math.sqrt(draws.reduce((sum, each) => sum + (each - centre) ** 2, 0) / draws.length);
    // The same of fits to resamples of the rows: a dozen of them tell it within a factor of two.
    const boot = logistic({ members: 12, ensemble: "bootstrap" }).fit(training, seededStream(7));
    const others = boot.parameters.members.map((member) => (member[width + 13] - member[13]) / scales[13]);
    const bootSd = Math.sqrt(others.reduce((sum, each) => sum + (each - centre) ** 2, 0) / others.length);
    expect(sd / bootSd).toBeGreaterThan(0.5);
    expect(sd / bootSd).toBeLessThan(2);
  });

  test("from a similar classifier it comes to the same, sooner", () => {
    const some = Int32Array.from({ length: 28_000 }, (_, i) => i);
    const mode = logistic({ ensemble: "mode" });
    const own = { ...training, rows: some, labels: labels.slice(0, 28_000) };
    const count = (steps: Generator<unknown, unknown>): number => {
      for (let pieces = 0; ; pieces++) if (steps.next().done === true) return pieces;
    };
    const cold = mode.fit(own, seededStream(0));
    const warm = mode.fit({ ...own, similar: fitted }, seededStream(0));
    expect(largest(cold.parameters.mode, warm.parameters.mode)).toBeLessThan(1e-5);
    expect(count(mode.fitSteps({ ...own, similar: fitted }, seededStream(0)))).toBeLessThan(
      count(mode.fitSteps(own, seededStream(0))),
    );
    // One that has nothing to do with it is left alone.
    const other = logistic({ members: 1 }).fit(
      { features: x, labels: labels.map((c) => Number(c > 0)), classes: 2 },
      seededStream(0),
    );
    expect(mode.fit({ ...own, similar: other }, seededStream(0)).parameters.mode).toEqual(
      cold.parameters.mode,
    );
  });

  test("thousands of columns are fitted too, with members of each class's own spread", () => {
    const wide = { values: new Float32Array(60 * 3000), rows: 60, columns: 3000 };
    for (let row = 0; row < 60; row++) wide.values[row * 3000 + 50 * row] = 1 + (row % 3);
    const three = Int32Array.from({ length: 60 }, (_, row) => row % 3);
    const model = logistic({ members: 4 }).fit(
      { features: wide, labels: three, classes: 3 },
      seededStream(1),
    );
    expect(model.parameters.members.every((member) => member.every(Number.isFinite))).toBe(true);
    expect(model.parameters.mode.length).toBe(3 * 3001);
    const atMode = logistic({ ensemble: "mode" }).fit(
      { features: wide, labels: three, classes: 3 },
      seededStream(1),
    );
    expect(atMode.parameters.mode).toEqual(model.parameters.mode);
    const said = atMode.predict(wide);
    three.forEach((label, row) => {
      expect(Math.max(...said.subarray(3 * row, 3 * row + 3))).toBe(said[3 * row + label]);
    });
  });
});

test("sparse rows say what the matrix says", () => {
  const x = categories(500, seededStream(9));
  const { common, starts, at, deltas } = unpaced(sparseSteps(x));
  for (let row = 0; row < x.rows; row++) {
    const values = Float64Array.from(common);
    for (let e = starts[row]; e < starts[row + 1]; e++) values[at[e]] += deltas[e];
    expect(largest(values, x.values.subarray(row * x.columns, (row + 1) * x.columns))).toBeLessThan(1e-4);
  }
  // The two numbers, and half of the places and kinds at most.
  expect(starts[x.rows]).toBeLessThan(6 * x.rows);
  expect(unpaced(sparseSteps(x)).starts).toBe(starts);
});
