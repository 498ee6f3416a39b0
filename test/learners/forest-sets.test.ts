import { describe, expect, test } from "vitest";
import { unpaced } from "../../src/core/options.js";
import { type RandomStream, seededStream } from "../../src/core/random.js";
import type { FeatureMatrix } from "../../src/learners/classifier.js";
import { ConditionSets } from "../../src/learners/forest/condition-sets.js";
import {
  type Asked,
  answerWords,
  type PackedTrees,
  packTrees,
} from "../../src/learners/forest/packed-trees.js";
import { predictByRows } from "../../src/learners/forest/predict-rows.js";
import {
  areAscending,
  predictByBriefSets,
  predictByKeptSets,
} from "../../src/learners/forest/predict-sets.js";
import { isPure, type Trees } from "../../src/learners/forest/trees.js";
import { forestWorkspace } from "../../src/learners/forest/workspace.js";
import { forest } from "../../src/learners/forest.js";

/** Columns of one value, of two, of few with ties, and of as many as rows, in turn. */
const randomMatrix = (rows: number, columns: number, stream: RandomStream): FeatureMatrix => {
  const values = new Float32Array(rows * columns);
  for (let i = 0; i < values.length; i++) {
    const kind = (i % columns) % 4;
    const x = stream.normal();
    values[i] = kind === 0 ? 3 : kind === 1 ? (x > 0.5 ? 1 : -0) : kind === 2 ? Math.round(2 * x) : x;
  }
  return { values, rows, columns };
};

interface Shape {
  readonly trees: number;
  readonly levels: number;
  readonly classes: number;
  /** How often a leaf is not sure. */
  readonly unsure: number;
}

/** Trees of any form, whose thresholds are often values of the matrix, and often beyond all of them. */
const randomTrees = (
  { trees, levels, classes, unsure }: Shape,
  x: FeatureMatrix,
  stream: RandomStream,
): PackedTrees => {
  const [starts, feature, threshold, right]: number[][] = [[0], [], [], []];
  const probabilities: number[] = [];
  const whole = (below: number) => Math.floor(stream.uniform() * below);
  const grow = (level: number): void => {
    const node = feature.length;
    if (level === levels || stream.uniform() < 0.15) {
      feature.push(-1);
      threshold.push(0);
      right.push(probabilities.length / classes);
      const sure = whole(classes);
      const parts = Array.from({ length: classes }, (_, c) => Number(c === sure));
      if (stream.uniform() < unsure) for (let c = 0; c < classes; c++) parts[c] = 1 + whole(9);
      const sum = parts.reduce((total, part) => total + part, 0);
      probabilities.push(...parts.map((part) => Math.fround(part / sum)));
      return;
    }
    const column = whole(x.columns);
    const value = x.rows === 0 ? 0 : x.values[whole(x.rows) * x.columns + column];
    feature.push(column);
    threshold.push([value, value + 0.25, 100, -100, value - 1e-9][whole(5)]);
    right.push(0);
    grow(level + 1);
    right[node] = feature.length;
    grow(level + 1);
  };
  for (let t = 0; t < trees; t++) {
    grow(0);
    starts.push(feature.length);
  }
  const all: Trees = {
    features: x.columns,
    classes,
    starts: Int32Array.from(starts),
    feature: Int32Array.from(feature),
    threshold: Float64Array.from(threshold),
    right: Int32Array.from(right),
    probabilities: Float32Array.from(probabilities),
  };
  return packTrees(all, classes === 2 && isPure(all));
};

/** All answers, by one way or the other. */
const answersBy = (
  predict: (packed: PackedTrees, asked: Asked) => boolean | Generator<unknown, unknown>,
  packed: PackedTrees,
  features: FeatureMatrix,
  rows?: Int32Array,
  threads?: number,
): Int32Array => {
  const wide = answerWords(packed);
  const all = new Int32Array((rows?.length ?? features.rows) * wide).fill(-1);
  const steps = predict(packed, {
    features,
    rows,
    threads,
    take: (part, first) => all.set(part, first * wide),
  });
  expect(typeof steps === "boolean" ? steps : unpaced(steps)).not.toBe(false);
  return all;
};

/** Sets that are kept, and sets of two or three blocks at a time. */
const WAYS = [
  predictByKeptSets,
  (packed: PackedTrees, asked: Asked) => predictByBriefSets(packed, asked, undefined, 2 ** 17),
];

/** Not `toEqual`, which takes long for large arrays. */
const same = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((word, i) => word === b[i]);

const subset = (rows: number, part: number, stream: RandomStream): Int32Array =>
  Int32Array.from({ length: rows }, (_, row) => row).filter(() => stream.uniform() < part);

describe("blocks of rows at a time, and row by row, give the same bits", () => {
  test.each([1, 2, 31, 127, 128, 129, 1000, 1024, 1025, 3300])("%d rows", (rows) => {
    const stream = seededStream(rows);
    const x = randomMatrix(rows, 7, stream);
    for (const shape of [
      { trees: 1, levels: 0, classes: 2, unsure: 0 },
      { trees: 33, levels: 0, classes: 3, unsure: 1 },
      { trees: 5, levels: 3, classes: 2, unsure: 0 },
      { trees: 32, levels: 9, classes: 2, unsure: 0 },
      { trees: 100, levels: 7, classes: 2, unsure: 0 },
      { trees: 32, levels: 6, classes: 2, unsure: 0.1 },
      { trees: 71, levels: 6, classes: 2, unsure: 0.5 },
      { trees: 9, levels: 5, classes: 2, unsure: 1 },
      { trees: 40, levels: 6, classes: 3, unsure: 0.5 },
      { trees: 3, levels: 6, classes: 5, unsure: 0 },
    ]) {
      // Both that are sure and not, and the sets of earlier trees are there for later ones.
      const packed = randomTrees(shape, x, stream);
      expect(packed.votes).toBe(shape.classes === 2 && shape.unsure === 0);
      for (const asked of [undefined, subset(rows, 0.7, stream), subset(rows, 0.02, stream)]) {
        const expected = answersBy(predictByRows, packed, x, asked, 1);
        for (const way of WAYS) expect(same(answersBy(way, packed, x, asked, 1), expected)).toBe(true);
      }
    }
  });

  test("a row at the edge, and none", () => {
    const stream = seededStream(4);
    const x = randomMatrix(2048, 5, stream);
    const packed = randomTrees({ trees: 40, levels: 6, classes: 2, unsure: 0.2 }, x, stream);
    for (const rows of [[], [0], [1023], [1024], [2047], [0, 2047]].map((each) => Int32Array.from(each))) {
      const expected = answersBy(predictByRows, packed, x, rows, 1);
      for (const way of WAYS) expect(same(answersBy(way, packed, x, rows, 1), expected)).toBe(true);
    }
  });

  test("more blocks than are done at a time, on any number of threads", async () => {
    const stream = seededStream(5);
    const x = randomMatrix(9000, 6, stream);
    const rows = subset(9000, 0.8, stream);
    for (const unsure of [0, 0.3]) {
      const packed = randomTrees({ trees: 120, levels: 6, classes: 2, unsure }, x, stream);
      const expected = answersBy(predictByRows, packed, x, rows, 1);
      for (const threads of [1, 2, 3]) {
        // Helpers take part once they have started.
        for (let k = 0; k < (threads > 1 ? 5 : 1); k++) {
          for (const way of WAYS) expect(same(answersBy(way, packed, x, rows, threads), expected)).toBe(true);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
    }
  });
});

describe("the sets that are kept", () => {
  test("are let go of when there are too many", () => {
    const { workspace, predictingSets } = forestWorkspace(1);
    const most = 3 * 2 ** 18;
    const kept = new ConditionSets(workspace, predictingSets, most);
    const stream = seededStream(6);
    const tables = [randomMatrix(3000, 8, stream), randomMatrix(5000, 8, stream)];
    const check = (x: FeatureMatrix, unsure: number) => {
      const packed = randomTrees({ trees: 34, levels: 5, classes: 2, unsure }, x, stream);
      const expected = answersBy(predictByRows, packed, x, undefined, 1);
      const found = new Int32Array(expected.length);
      const take = (part: Int32Array, first: number) => found.set(part, first * answerWords(packed));
      expect(predictByKeptSets(packed, { features: x, threads: 1, take }, undefined, kept)).toBe(true);
      expect(same(found, expected)).toBe(true);
      expect(kept.bytes).toBeLessThanOrEqual(most);
    };
    // One table that has too many: sometimes, not each time.
    let drops = 0;
    for (let k = 0; k < 40; k++) {
      const before = kept.bytes;
      check(tables[0], k % 2);
      if (kept.bytes < before) drops++;
    }
    expect(drops).toBeGreaterThan(0);
    expect(drops).toBeLessThan(20);
    // The sets of one have to go for those of the other.
    for (let k = 0; k < 4; k++) {
      while (kept.bytes < 0.8 * most) check(tables[k % 2], 0);
      check(tables[(k + 1) % 2], 1);
      expect(kept.bytes).toBeLessThan(0.8 * most);
    }
  });

  test("are not made where they have no room, or are not worth it", () => {
    const { workspace, predictingSets } = forestWorkspace(1);
    const stream = seededStream(7);
    const x = randomMatrix(3000, 8, stream);
    const packed = randomTrees({ trees: 34, levels: 8, classes: 2, unsure: 0 }, x, stream);
    const asked = {
      features: x,
      threads: 1,
      take: () => {
        throw new Error("no answers were expected");
      },
    };
    const small = new ConditionSets(workspace, predictingSets, 2 ** 19);
    expect(predictByKeptSets(packed, asked, undefined, small)).toBe(false);
    expect(small.bytes).toBe(0);
    const unworthy = new ConditionSets(workspace, predictingSets);
    expect(predictByKeptSets(packed, asked, () => false, unworthy)).toBe(false);
    expect(unworthy.bytes).toBe(0);
  });
});

test("forests that change from step to step say what their trees say", () => {
  // Enough forests on one table for sets to recur.
  const stream = seededStream(8);
  const rows = 2500;
  const x = randomMatrix(rows, 12, stream);
  const labels = Int32Array.from({ length: rows }, (_, row) =>
    x.values[12 * row + 2] + x.values[12 * row + 3] + x.values[12 * row + 1] > 0.5 ? 1 : 0,
  );
  let pool = subset(rows, 0.9, stream);
  for (let step = 0; step < 40; step++) {
    const known = Int32Array.from({ length: 10 + 4 * step }, (_, k) => (37 * k) % rows);
    const learner = forest({ trees: 33, threads: 1, minLeaf: 1 + (step % 3) });
    const training = { features: x, rows: known, labels: known.map((row) => labels[row]), classes: 2 };
    const fitted = learner.fit(training, stream.split(step));
    const packed = packTrees(fitted.trees, fitted.pure);
    const says = fitted.predictMembers(x, pool);
    const { buffer, byteOffset } = says.kind === "votes" ? says.words : says.values;
    const words = new Int32Array(buffer, byteOffset, pool.length * answerWords(packed));
    expect(same(words, answersBy(predictByRows, packed, x, pool, 1))).toBe(true);
    pool = pool.filter((_, at) => at !== step);
  }
});

test("ascending rows", () => {
  expect([[], [3], [1, 2, 9]].map((rows) => areAscending(Int32Array.from(rows)))).toEqual([true, true, true]);
  expect(
    [
      [2, 2],
      [3, 1],
      [1, 4, 3],
    ].map((rows) => areAscending(Int32Array.from(rows))),
  ).toEqual([false, false, false]);
});
