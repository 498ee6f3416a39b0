import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import type { DenseMembers, FeatureMatrix, VoteMembers } from "../../src/learners/classifier.js";
import { featureTexts } from "../../src/learners/features.js";
import { GROW, treeLayout } from "../../src/learners/forest/grow-layout.js";
import { floatBelow } from "../../src/learners/forest/trees.js";
import { type FittedForest, forest, forestTexts, loadForest, saveForest } from "../../src/learners/forest.js";
import { classWeightTexts, trainingTexts } from "../../src/learners/training.js";
import { columnOf, matrixOf, moduloTable, THREE, TWO } from "./tables.js";

/** One tree that sees every row and every feature. */
const tree = { trees: 1, bootstrap: false, maxFeatures: 3, threads: 1 };
const stream = () => seededStream(1);

const columnOfClass = (p: Float64Array, classes: number, c: number): number[] =>
  Array.from(p.filter((_, at) => at % classes === c));

/** Noisy two-class data on `columns` features; the last two columns are constant. */
const noisy = (rows: number, columns: number, seed = 3) => {
  const draw = seededStream(seed);
  const values = new Float32Array(rows * columns);
  const labels = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++)
      values[i * columns + j] = j < columns - 2 ? Math.round(8 * draw.normal()) / 8 : 7;
    labels[i] = values[i * columns] + values[i * columns + 1] + draw.normal() > 0 ? 1 : 0;
  }
  return { features: { values, rows, columns } satisfies FeatureMatrix, labels };
};

describe("trees by hand", () => {
  test("one split, halfway between two values, left on equality", () => {
    const features = matrixOf([[1], [2], [4], [8]]);
    const fitted = forest(tree).fit({ features, labels: Int32Array.of(0, 0, 1, 1), classes: 2 }, stream());
    expect(Array.from(fitted.trees.feature)).toEqual([0, -1, -1]);
    expect(fitted.trees.threshold[0]).toBe(3);
    expect(fitted.trees.right[0]).toBe(2);
    expect(columnOfClass(fitted.predict(matrixOf([[3], [3.0000002], [-5], [100]])), 2, 1)).toEqual([
      0, 1, 0, 1,
    ]);
  });

  test("exclusive or needs two levels, and its importances are those of the impurity", () => {
    // One more row of class 0 makes feature 0 the better first split: 5 rows, gini 12/25.
    const features = matrixOf([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [0, 0],
    ]);
    const labels = Int32Array.of(0, 1, 1, 0, 0);
    const fitted = forest({ ...tree, maxFeatures: 2 }).fit({ features, labels, classes: 2 }, stream());
    expect(columnOfClass(fitted.predict(features), 2, 1)).toEqual([0, 1, 1, 0, 0]);
    expect(fitted.trees.feature.length).toBe(7);
    // Both features split {0, 0, 0 | 1, 1} into 3 and 2 rows: 2.4 - 4/3 - 1 = 1/15 falls at the root, the rest below.
    const [first, second] = fitted.importances;
    expect(Math.min(first, second)).toBeCloseTo(1 / 15 / 2.4, 12);
    expect(first + second).toBeCloseTo(1, 12);
  });

  test("a leaf of at least two rows", () => {
    const features = matrixOf([[1], [2], [3], [4]]);
    const fitted = forest({ ...tree, minLeaf: 2 }).fit(
      { features, labels: Int32Array.of(0, 1, 1, 1), classes: 2 },
      stream(),
    );
    expect(fitted.trees.threshold[0]).toBe(2.5);
    expect(columnOfClass(fitted.predict(features), 2, 1)).toEqual([0.5, 0.5, 1, 1]);
    expect(fitted.pure).toBe(false);
  });

  test("values within 1e-7 are one value", () => {
    const close = forest(tree).fit(
      { features: matrixOf([[0], [5e-8], [0]]), labels: Int32Array.of(0, 1, 0), classes: 2 },
      stream(),
    );
    expect(close.trees.feature.length).toBe(1);
    expect(close.predict(matrixOf([[0]]))[1]).toBeCloseTo(1 / 3, 7);
    const apart = forest(tree).fit(
      { features: matrixOf([[0], [5e-7], [0]]), labels: Int32Array.of(0, 1, 0), classes: 2 },
      stream(),
    );
    expect(apart.trees.feature.length).toBe(3);
  });

  test("weights count, and rows without weight are not there", () => {
    const features = matrixOf([[1], [1], [1], [9]]);
    const weights = Float64Array.of(1, 3, 0, 0);
    const fitted = forest(tree).fit(
      { features, labels: Int32Array.of(0, 1, 0, 0), classes: 2, weights },
      stream(),
    );
    expect(Array.from(fitted.predict(matrixOf([[1], [9]])))).toEqual([0.25, 0.75, 0.25, 0.75]);
  });
});

// DecisionTreeClassifier of scikit-learn 1.2.1; fifty seeds agree where there are several columns.
describe("the trees of scikit-learn", () => {
  const features = moduloTable(0, 40);
  const asked = moduloTable(40, 60, 1 / 16);

  test("fully grown on one column", () => {
    const fitted = forest({ ...tree, maxFeatures: 1 }).fit(
      { features: columnOf(features, 1), labels: TWO, classes: 2 },
      stream(),
    );
    expect(fitted.trees.feature.length).toBe(31);
    const thresholds = fitted.trees.threshold.filter((_, i) => fitted.trees.feature[i] >= 0);
    expect(Array.from(thresholds.slice(0, 6))).toEqual([2.4375, 1.4375, 0.6875, 0.5625, 1.6875, 1.9375]);
    expect(columnOfClass(fitted.predict(columnOf(asked, 1)), 2, 1)).toEqual([
      1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0,
    ]);
  });

  test.each([
    [
      { minLeaf: 4 },
      13,
      [
        0.857143, 0.5, 0.142857, 0, 1, 0.6, 0.285714, 0.857143, 0.5, 0.142857, 0.857143, 1, 0.142857, 0, 1,
        0.6, 0.285714, 0.857143, 0.5, 0.142857,
      ],
    ],
    [
      { minSplit: 9 },
      17,
      [
        0.857143, 0, 0.333333, 0, 1, 0.714286, 0, 0.857143, 0.714286, 0.333333, 0.857143, 1, 0, 0, 1,
        0.714286, 0, 0.857143, 0.714286, 0.333333,
      ],
    ],
  ])("with %o on one column", (options, nodes, expected) => {
    const fitted = forest({ ...tree, maxFeatures: 1, ...options }).fit(
      { features: columnOf(features, 1), labels: TWO, classes: 2 },
      stream(),
    );
    expect(fitted.trees.feature.length).toBe(nodes);
    columnOfClass(fitted.predict(columnOf(asked, 1)), 2, 1).forEach((p, i) => {
      expect(p).toBeCloseTo(expected[i], 6);
    });
  });

  test("of three classes, with leaves of four on one column", () => {
    const fitted = forest({ ...tree, maxFeatures: 1, minLeaf: 4 }).fit(
      { features: columnOf(features, 1), labels: THREE, classes: 3 },
      stream(),
    );
    expect(fitted.trees.feature.length).toBe(15);
    const expected = [0, 0.75, 0.571429, 0.2, 0.166667, 0.25, 0, 0, 0.6, 0.571429];
    columnOfClass(fitted.predict(columnOf(asked, 1)), 3, 1)
      .slice(0, 10)
      .forEach((p, i) => {
        expect(p).toBeCloseTo(expected[i], 6);
      });
  });

  test("three levels on three columns", () => {
    const fitted = forest({ ...tree, maxDepth: 3 }).fit({ features, labels: TWO, classes: 2 }, stream());
    expect(fitted.trees.feature.length).toBe(13);
    expect(columnOfClass(fitted.predict(asked), 2, 1)).toEqual([
      1, 1, 0, 0, 0, 0.75, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0.75, 0, 1, 1, 0,
    ]);
    [0.3983740425, 0.5002746062, 0.1013513514].forEach((importance, f) => {
      expect(fitted.importances[f]).toBeCloseTo(importance, 9);
    });
  });

  test("three levels on three columns, of three classes", () => {
    const fitted = forest({ ...tree, maxDepth: 3 }).fit({ features, labels: THREE, classes: 3 }, stream());
    expect(fitted.trees.feature.length).toBe(11);
    const mixed = [0.058824, 0.588235, 0.352941];
    const expected = [mixed, [1, 0, 0], mixed, [0, 0, 1], mixed, mixed, [0.9, 0.1, 0], [1, 0, 0]];
    fitted
      .predict(asked)
      .slice(0, 24)
      .forEach((p, i) => {
        expect(p).toBeCloseTo(expected.flat()[i], 6);
      });
    [0.4150535707, 0.2557831007, 0.3291633286].forEach((importance, f) => {
      expect(fitted.importances[f]).toBeCloseTo(importance, 9);
    });
  });
});

describe("what is drawn", () => {
  test("constant features count among the sqrt(F), but one that varies is always found", () => {
    // Three of nine vary, three are drawn, one of the three tells the class. It is seen unless it is not among the
    // three first and they are not all constant: 1/3 + (6 5 4)/(9 8 7) / 3 = 26/63 (scikit-learn: 0.412 of 2000).
    const rows = 60;
    const draw = seededStream(5);
    const labels = Int32Array.from({ length: rows }, (_, i) => i % 2);
    const features = matrixOf(
      Array.from(labels, (label) => [0, 0, label, 0, draw.normal(), 0, 0, draw.normal(), 0]),
    );
    const trees = 20_000;
    const fitted = forest({ trees, maxDepth: 1, bootstrap: false }).fit(
      { features, labels, classes: 2 },
      stream(),
    );
    let hits = 0;
    for (let t = 0; t < trees; t++) hits += fitted.trees.feature[fitted.trees.starts[t]] === 2 ? 1 : 0;
    const p = 26 / 63;
    expect(Math.abs(hits / trees - p)).toBeLessThan(4.5 * Math.sqrt((p * (1 - p)) / trees));
  });

  test("a bootstrap sample leaves out a row with probability (1 - 1/n)^n", () => {
    // Without row 0 a tree has one class, and one node.
    const rows = 5;
    const features = matrixOf(Array.from({ length: rows }, (_, i) => [i]));
    const trees = 20_000;
    const labels = Int32Array.of(1, 0, 0, 0, 0);
    const fitted = forest({ trees }).fit({ features, labels, classes: 2 }, stream());
    let without = 0;
    let only = 0;
    for (let t = 0; t < trees; t++) {
      const start = fitted.trees.starts[t];
      if (fitted.trees.feature[start] >= 0) continue;
      if (fitted.trees.probabilities[2 * fitted.trees.right[start]] === 1) without++;
      else only++;
    }
    const p = 0.8 ** 5;
    expect(Math.abs(without / trees - p)).toBeLessThan(4.5 * Math.sqrt((p * (1 - p)) / trees));
    expect(only / trees).toBeLessThan(0.002); // 0.2^5
  });

  test("of fewer draws it leaves out a row with probability (1 - 1/n)^draws", () => {
    const features = matrixOf(Array.from({ length: 5 }, (_, i) => [i]));
    const labels = Int32Array.of(1, 0, 0, 0, 0);
    const trees = 20_000;
    const fitted = forest({ trees, maxSamples: 2 }).fit({ features, labels, classes: 2 }, stream());
    const split = Array.from({ length: trees }, (_, t) => fitted.trees.starts[t]).filter(
      (start) => fitted.trees.feature[start] >= 0,
    ).length;
    // Two draws, of which one is row 0 and the other is not.
    const p = 2 * 0.2 * 0.8;
    expect(Math.abs(split / trees - p)).toBeLessThan(4.5 * Math.sqrt((p * (1 - p)) / trees));
    const all = forest({ trees: 30, maxSamples: 9 }).fit({ features, labels, classes: 2 }, stream());
    expect(all.trees).toEqual(forest({ trees: 30 }).fit({ features, labels, classes: 2 }, stream()).trees);
    expect(() => forest({ maxSamples: 2, bootstrap: false })).toThrow(
      forestTexts.option("maxSamples", 2, "none where every tree sees all rows"),
    );
  });

  test("the same stream gives the same forest, another stream another", () => {
    const { features, labels } = noisy(80, 6);
    const learner = forest({ trees: 10 });
    const at = (seed: number) => learner.fit({ features, labels, classes: 2 }, seededStream(seed)).trees;
    expect(at(1)).toEqual(at(1));
    expect(at(1)).not.toEqual(at(2));
  });
});

describe("members", () => {
  const { features, labels } = noisy(150, 9);
  const rows = Int32Array.from({ length: 90 }, (_, i) => (i * 7) % 150);
  const training = { features, rows, labels: rows.map((row) => labels[row]), classes: 2 };

  /** P(class 1) of every member by walking down the trees. */
  const walk = ({ trees, members }: FittedForest, x: FeatureMatrix): number[][] =>
    Array.from({ length: x.rows }, (_, row) =>
      Array.from({ length: members }, (_, t) => {
        let node = trees.starts[t];
        while (trees.feature[node] >= 0) {
          const value = x.values[row * x.columns + trees.feature[node]];
          node = value <= trees.threshold[node] ? node + 1 : trees.right[node];
        }
        return trees.probabilities[trees.classes * trees.right[node] + 1];
      }),
    );

  test.each([1, 31, 32, 33, 100])("%d trees vote as they say one by one", (trees) => {
    const fitted = forest({ trees }).fit(training, stream());
    expect(fitted.pure).toBe(true);
    const votes = fitted.predictMembers(features) as VoteMembers;
    expect(votes).toMatchObject({ kind: "votes", rows: 150, members: trees, classes: 2 });
    const perRow = Math.ceil(trees / 32);
    expect(votes.words.length).toBe(150 * perRow);
    const expected = walk(fitted, features);
    const means = fitted.predict(features);
    for (let row = 0; row < 150; row++) {
      const bits = Array.from(
        { length: 32 * perRow },
        (_, k) => (votes.words[row * perRow + (k >>> 5)] >>> (k & 31)) & 1,
      );
      expect(bits.slice(0, trees)).toEqual(expected[row]);
      expect(bits.slice(trees).every((bit) => bit === 0)).toBe(true);
      expect(means[2 * row + 1]).toBe(expected[row].reduce((sum, p) => sum + p, 0) / trees);
    }
  });

  test("soft leaves are dense, and their mean is the prediction", () => {
    const fitted = forest({ trees: 20, minLeaf: 5 }).fit(training, stream());
    const dense = fitted.predictMembers(features) as DenseMembers;
    expect(dense).toMatchObject({ kind: "dense", rows: 150, members: 20, classes: 2 });
    const expected = walk(fitted, features);
    const means = fitted.predict(features);
    for (let row = 0; row < 150; row++) {
      let sum = 0;
      for (let k = 0; k < 20; k++) {
        const [p0, p1] = dense.values.subarray((row * 20 + k) * 2, (row * 20 + k) * 2 + 2);
        expect(p1).toBe(expected[row][k]);
        expect(p0 + p1).toBeCloseTo(1, 6);
        sum += p1;
      }
      expect(means[2 * row + 1]).toBe(sum / 20);
    }
  });

  test("chosen rows, in the order of asking, also several times and none", () => {
    for (const options of [{ trees: 40 }, { trees: 40, minLeaf: 4 }]) {
      const fitted = forest(options).fit(training, stream());
      const asked = Int32Array.of(149, 3, 3, 0, 77, 12, 13, 14, 15);
      const all = fitted.predict(features);
      expect(Array.from(fitted.predict(features, asked))).toEqual(
        Array.from(asked).flatMap((row) => Array.from(all.slice(2 * row, 2 * row + 2))),
      );
      expect(fitted.predict(features, new Int32Array(0)).length).toBe(0);
      expect(fitted.predictMembers(features, new Int32Array(0)).rows).toBe(0);
    }
  });

  test("more rows than are handed to the kernels at a time", () => {
    const fitted = forest({ trees: 5 }).fit(training, stream());
    const times = 4000; // 600,000 rows of 9 values and a word
    const values = new Float32Array(times * features.values.length);
    for (let k = 0; k < times; k++) values.set(features.values, k * features.values.length);
    const votes = fitted.predictMembers({ values, rows: 150 * times, columns: 9 }) as VoteMembers;
    const once = (fitted.predictMembers(features) as VoteMembers).words;
    expect(votes.words.every((word, i) => word === once[i % 150])).toBe(true);
  });

  test("the number of threads changes nothing", async () => {
    const fits = [];
    for (const threads of [1, 2, 3]) {
      for (const options of [{}, { minLeaf: 3, classWeights: "balanced" as const }]) {
        const learner = forest({ ...options, threads });
        // Helpers take part once they have started.
        for (let k = 0; threads > 1 && k < 20; k++) {
          learner.fit(training, stream());
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        const fitted = learner.fit(training, stream());
        fits.push({
          trees: fitted.trees,
          importances: fitted.importances,
          says: fitted.predictMembers(features),
        });
      }
    }
    expect(fits[2]).toEqual(fits[0]);
    expect(fits[4]).toEqual(fits[0]);
    expect(fits[3]).toEqual(fits[1]);
    expect(fits[5]).toEqual(fits[1]);
  });
});

describe("settings", () => {
  const features = matrixOf([[1], [2], [3], [4]]);
  const labels = Int32Array.of(0, 1, 1, 1);
  const training = { features, labels, classes: 2 };

  test("leaf smoothing is Laplace's", () => {
    const fitted = forest({ ...tree, leafSmoothing: 0.5 }).fit(training, stream());
    expect(fitted.pure).toBe(false);
    // Leaves of 1 and of 3 rows: (0 + .5) / (1 + 1) and (3 + .5) / (3 + 1).
    expect(columnOfClass(fitted.predict(features), 2, 1)).toEqual([0.25, 0.875, 0.875, 0.875]);
  });

  test("class weights, given and balanced", () => {
    const given = forest({ ...tree, minLeaf: 3, classWeights: [3, 1] }).fit(training, stream());
    expect(columnOfClass(given.predict(features), 2, 1)).toEqual([0.5, 0.5, 0.5, 0.5]);
    const balanced = forest({ ...tree, minLeaf: 3, classWeights: "balanced" }).fit(training, stream());
    expect(columnOfClass(balanced.predict(features), 2, 1)).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  test("whole class weights give the same trees as rows given so often", () => {
    const { features: x, labels: y } = noisy(60, 6);
    const learner = forest({ ...tree, maxFeatures: 6, minLeaf: 1 });
    const weighted = learner.fit(
      { features: x, labels: y, classes: 2, weights: Float64Array.from(y, (c) => 1 + c) },
      stream(),
    );
    const rows = Int32Array.from(Array.from(y).flatMap((c, i) => (c === 1 ? [i, i] : [i])));
    const repeated = learner.fit(
      { features: x, rows, labels: rows.map((row) => y[row]), classes: 2 },
      stream(),
    );
    expect(weighted.trees).toEqual(repeated.trees);
  });

  test("a class that nobody has, or that a bootstrap sample misses, has probability 0", () => {
    const fitted = forest({ trees: 50 }).fit({ features, labels, classes: 3 }, stream());
    const says = fitted.predictMembers(features);
    expect(says.kind).toBe("dense");
    expect(says.classes).toBe(3);
    expect(fitted.pure).toBe(true);
    const means = fitted.predict(features);
    for (let row = 0; row < 4; row++) {
      expect(means[3 * row + 2]).toBe(0);
      expect(means[3 * row] + means[3 * row + 1]).toBeCloseTo(1, 12);
    }
    // Row 0 is alone in class 0: without it, (3/4)^4 of the trees say class 1 everywhere.
    expect(means[0]).toBeLessThan(1);
    expect(means[0]).toBeGreaterThan(0.4);
  });

  test("only constant features give one leaf", () => {
    const flat = matrixOf([[5], [5], [5], [5]]);
    const fitted = forest({ ...tree, trees: 3 }).fit({ features: flat, labels, classes: 2 }, stream());
    expect(Array.from(fitted.trees.feature)).toEqual([-1, -1, -1]);
    expect(fitted.predict(flat)[1]).toBe(0.75);
    expect(Array.from(fitted.importances)).toEqual([0]);
  });

  test("many values, few rows in a node: every way of sorting gives the same tree", () => {
    // 3000 distinct values: small nodes sort their codes one by one, large ones read them off bits.
    const draw = seededStream(8);
    const x = matrixOf(Array.from({ length: 3000 }, () => [draw.normal()]));
    const y = Int32Array.from(x.values, (value) => (Math.sin(9 * value) > 0 ? 1 : 0));
    const fitted = forest({ ...tree, maxFeatures: 1 }).fit({ features: x, labels: y, classes: 2 }, stream());
    expect(columnOfClass(fitted.predict(x), 2, 1)).toEqual(Array.from(y));
    // In order of the values, each change of class is one threshold.
    const order = Array.from(y.keys()).sort((a, b) => x.values[a] - x.values[b]);
    const changes = order.filter((row, k) => k > 0 && y[row] !== y[order[k - 1]]).length;
    expect(fitted.trees.feature.length).toBe(2 * changes + 1);
  });
});

describe("large training sets", () => {
  test("are grown some trees at a time, and with pairs or sums the same", () => {
    // 20,000 rows: a tree's result has room for 40,000 nodes, so that 64 MiB hold some 45 trees; and n rows of
    // weight 1 fit in half a word, of weight 2 they do not.
    const draw = seededStream(12);
    const rows = 20_000;
    const x: FeatureMatrix = {
      values: Float32Array.from({ length: 3 * rows }, () => draw.normal()),
      rows,
      columns: 3,
    };
    const y = Int32Array.from({ length: rows }, (_, i) =>
      x.values[3 * i] + x.values[3 * i + 1] > 0 ? 1 : 0,
    );
    const learner = forest({ trees: 60, maxDepth: 4 });
    const once = learner.fit({ features: x, labels: y, classes: 2 }, stream());
    const twice = learner.fit(
      { features: x, labels: y, classes: 2, weights: new Float64Array(rows).fill(2) },
      stream(),
    );
    expect(once.members).toBe(60);
    expect(twice.trees).toEqual(once.trees);
    const right = columnOfClass(once.predict(x), 2, 1).filter((p, i) => p > 0.5 === (y[i] === 1)).length;
    expect(right / rows).toBeGreaterThan(0.9);
  });

  test("of three classes are the trees of two where the third has no row", () => {
    // Pairs for two classes, sums for three: the same splits.
    const { features, labels } = noisy(200, 7);
    for (const minLeaf of [1, 5]) {
      const learner = forest({ trees: 20, minLeaf });
      const two = learner.fit({ features, labels, classes: 2 }, stream()).trees;
      const three = learner.fit({ features, labels, classes: 3 }, stream()).trees;
      expect(three.feature).toEqual(two.feature);
      expect(three.threshold).toEqual(two.threshold);
      expect(three.probabilities.filter((_, i) => i % 3 < 2)).toEqual(two.probabilities);
    }
  });
});

describe("saving", () => {
  const { features, labels } = noisy(60, 5);

  test("as JSON and back", () => {
    for (const options of [{ trees: 7 }, { trees: 7, minLeaf: 4 }]) {
      const fitted = forest(options).fit({ features, labels, classes: 2 }, stream());
      const loaded = loadForest(JSON.parse(JSON.stringify(saveForest(fitted))));
      expect(loaded.trees).toEqual(fitted.trees);
      expect(loaded.predictMembers(features)).toEqual(fitted.predictMembers(features));
      expect(loaded.importances).toEqual(fitted.importances);
    }
  });

  test("what is damaged is refused", () => {
    const saved = saveForest(forest({ trees: 3 }).fit({ features, labels, classes: 2 }, stream()));
    const split = saved.feature.findIndex((f) => f >= 0);
    const put = (list: readonly number[], at: number, value: number) => list.with(at, value);
    for (const damaged of [
      null,
      {},
      { ...saved, format: "other" },
      { ...saved, right: put(saved.right, split, split) },
      { ...saved, right: put(saved.right, split, 1e6) },
      { ...saved, feature: put(saved.feature, split, 99) },
      { ...saved, feature: saved.feature.slice(1) },
      { ...saved, probabilities: saved.probabilities.slice(2) },
      { ...saved, starts: put(saved.starts, 1, 0) },
      { ...saved, threshold: put(saved.threshold, split, Number.NaN) },
    ]) {
      expect(() => loadForest(damaged as typeof saved)).toThrow(forestTexts.saved);
    }
  });
});

describe("what is refused", () => {
  const features = matrixOf([[1], [2], [3]]);
  const labels = Int32Array.of(0, 1, 0);
  const fitting =
    (training: object, options = {}) =>
    () =>
      forest(options).fit({ features, labels, classes: 2, ...training }, stream());

  test.each([
    ["one class", { labels: Int32Array.of(1, 1, 1) }, trainingTexts.oneClass(3)],
    ["one class with weight", { weights: Float64Array.of(1, 0, 1) }, trainingTexts.oneClass(2)],
    ["NaN", { features: matrixOf([[1], [Number.NaN], [3]]) }, featureTexts.notFinite(1, 0, Number.NaN)],
    ["infinity", { features: matrixOf([[1], [2], [1 / 0]]) }, featureTexts.notFinite(2, 0, 1 / 0)],
    ["too few labels", { labels: Int32Array.of(1, 0) }, trainingTexts.lengths("labels", 2, 3)],
    ["a label beyond the classes", { labels: Int32Array.of(0, 2, 1) }, trainingTexts.label(2, 1, 2)],
    ["a row beyond the last", { rows: Int32Array.of(0, 1, 3) }, featureTexts.row(3, 3)],
    ["a negative weight", { weights: Float64Array.of(1, -1, 1) }, trainingTexts.weight(-1, 1)],
    ["one class in all", { classes: 1 }, trainingTexts.classes(1)],
    [
      "a matrix of another shape",
      { features: { values: new Float32Array(4), rows: 3, columns: 1 } },
      featureTexts.shape(4, 3, 1),
    ],
  ])("%s", (_, training, text) => {
    expect(fitting(training)).toThrow(InputError);
    expect(fitting(training)).toThrow(text);
  });

  test("class weights of another number", () => {
    expect(fitting({}, { classWeights: [1] })).toThrow(classWeightTexts.given([1], 2));
  });

  test.each([
    ["trees", 0],
    ["minLeaf", 1.5],
    ["minSplit", 1],
    ["maxDepth", 0],
    ["maxFeatures", -1],
    ["threads", 0],
    ["leafSmoothing", -1],
  ])("%s = %d", (name, value) => {
    expect(() => forest({ [name]: value })).toThrow(new RegExp(`the forest's ${name} was ${value}: give a`));
  });

  test("a prediction on other columns, other rows or NaN", () => {
    const fitted = fitting({})();
    expect(() => fitted.predict(matrixOf([[1, 2]]))).toThrow(featureTexts.columns(2, 1));
    expect(() => fitted.predictMembers(features, Int32Array.of(-1))).toThrow(featureTexts.row(-1, 3));
    expect(() => fitted.predict(matrixOf([[Number.NaN]]))).toThrow(featureTexts.notFinite(0, 0, Number.NaN));
  });
});

describe("what the kernels read", () => {
  test("every field of the description has a word of its own", () => {
    const { bytes, ...fields } = GROW;
    expect(Object.values(fields)).toEqual(Object.keys(fields).map((_, i) => 4 * i));
    expect(bytes).toBe(4 * Object.keys(fields).length);
  });

  test("a tree's parts lie one after the other", () => {
    const { threshold, value, importance, feature, right, bytes } = treeLayout(10, 3, 2);
    expect([threshold, value, importance, feature, right]).toEqual([16, 168, 472, 496, 572]);
    expect(bytes).toBe(704);
  });

  test("a threshold as float32 decides every float32 the same way", () => {
    for (const x of [0, 0.1, -0.1, 1 / 3, -1 / 3, 1e-46, -1e-46, 16777217, -16777217, 1e38]) {
      const below = floatBelow(x);
      expect(Math.fround(below)).toBe(below);
      expect(below).toBeLessThanOrEqual(x);
      for (const v of [Math.fround(x), Math.fround(x * (1 + 1e-7)), Math.fround(x * (1 - 1e-7))])
        expect(v <= below).toBe(v <= x);
    }
  });
});
