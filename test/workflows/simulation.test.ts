import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import type { Classifier, Learner } from "../../src/learners/classifier.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { dropColumns, selectRows, type Table } from "../../src/tables/table.js";
import { defineTask } from "../../src/tables/task.js";
import { evaluate, mostProbable } from "../../src/workflows/evaluation.js";
import { rankTexts } from "../../src/workflows/rank-plan.js";
import { rankPool } from "../../src/workflows/rank-pool.js";
import { PAPER, RECOMMENDED, simulateSeed, summarise } from "../../src/workflows/simulation.js";

const { table, settings } = syntheticPool({ rows: 600, seed: 1, bias: 1 });
const task = defineTask(table, settings);
const quick = {
  ...RECOMMENDED,
  budget: 20,
  batch: 10,
  forest: { trees: 20 },
  sensitiveForest: { trees: 20 },
};

describe("a simulation", () => {
  test("methods share the split and the initial labels of a seed", async () => {
    const [a, b] = [
      await simulateSeed(task, { ...quick, method: "random" }, 5),
      await simulateSeed(task, { ...quick, method: "epig" }, 5),
    ];
    expect(b.split).toEqual(a.split);
    expect(b.acquisition.acquired).not.toEqual(a.acquisition.acquired);
  });

  test("the test rows' labels and features do not decide what is acquired", async () => {
    const first = await simulateSeed(task, quick, 2);
    const tested = new Set(first.split.test);
    const flipped = {
      ...task,
      target: { ...task.target, labels: task.target.labels.map((l, row) => (tested.has(row) ? 1 - l : l)) },
    };
    const second = await simulateSeed(flipped, quick, 2);
    const rows = ({ acquisition }: typeof first) => acquisition.acquired.map(({ row }) => row);
    expect(rows(second)).toEqual(rows(first));
    // What they are predicted to be is the same, so what was right is now wrong.
    const accuracy = (of: typeof first) => of.checkpoints.at(-1)?.metrics.accuracy ?? Number.NaN;
    expect(accuracy(second)).toBeCloseTo(1 - accuracy(first), 12);
  });

  test("checkpoints are where they were asked for, and a beta that is found is reported", async () => {
    const { checkpoints, acquisition } = await simulateSeed(
      task,
      { ...quick, batch: 4, checkpoints: [0, 7], goal: { leakageBudget: 0.5 } },
      0,
    );
    expect(checkpoints.map(({ labels }) => labels)).toEqual([0, 8, 20]);
    expect(acquisition.beta).not.toBe(1);
  });

  test("the paper's setting is fully grown on both sides", () => {
    expect(PAPER.sensitiveForest).toEqual({});
    expect(PAPER.forest).toEqual({});
  });
});

describe("an evaluation", () => {
  /** Says class 1 where the first feature is above 0. */
  const byFirst: Learner = {
    name: "first",
    fit: (): Classifier => {
      const predict: Classifier["predict"] = ({ values, columns }, rows = new Int32Array()) =>
        Float64Array.from({ length: 2 * rows.length }, (_, i) =>
          values[rows[i >> 1] * columns] > 0 === (i % 2 === 1) ? 1 : 0,
        );
      return {
        classes: 2,
        members: 1,
        predict,
        predictMembers: (features, rows) => ({
          kind: "dense",
          rows: rows?.length ?? 0,
          members: 1,
          classes: 2,
          values: Float32Array.from(predict(features, rows)),
        }),
      };
    },
  };

  test("by hand", () => {
    // Predicted 1 1 0 0 | 1 0 0 0, actual 1 0 1 0 | 1 1 0 0, groups of four.
    const values = Float32Array.of(1, 1, -1, -1, 1, -1, -1, -1);
    const metrics = evaluate({
      features: { values, rows: 8, columns: 1 },
      target: { labels: Int32Array.of(1, 0, 1, 0, 1, 1, 0, 0), classes: 2 },
      sensitive: { labels: Int32Array.of(0, 0, 0, 0, 1, 1, 1, 1), classes: 2 },
      labelled: Int32Array.from({ length: 8 }, (_, i) => i),
      test: Int32Array.from({ length: 8 }, (_, i) => i),
      learner: byFirst,
      sensitiveLearner: byFirst,
      stream: seededStream(0),
    });
    expect(metrics.accuracy).toBe(5 / 8);
    expect(metrics.dpRatio).toBeCloseTo(0.25 / 0.5, 12);
    expect(metrics.dpSigned).toBeCloseTo(0.5, 12);
    expect(metrics.tprRatio).toBe(1);
    expect(metrics.fprRatio).toBe(0);
    expect(metrics.selectionRate).toBe(3 / 8);
    expect(metrics.dpDifference).toBeCloseTo(0.25, 12);
    expect(metrics.sensitiveAccuracy).toBe(3 / 8);
    expect(metrics.gapLargest).toBeCloseTo(0.25, 12);
  });

  test("the first of equal probabilities", () => {
    expect([...mostProbable(Float64Array.of(0.5, 0.5, 0.2, 0.8), 2)]).toEqual([0, 1]);
  });
});

describe("a summary", () => {
  const one = { accuracy: 0.5, dpRatio: undefined } as unknown as Parameters<typeof summarise>[0][number];

  test("has no error from one seed, and no value where there is none", () => {
    const summary = summarise([one]);
    expect(summary.accuracy).toEqual({ mean: 0.5, standardError: null, interval: null, n: 1 });
    expect(summary.dpRatio).toEqual({ mean: null, standardError: null, interval: null, n: 0 });
  });

  test("over seeds", () => {
    const { accuracy } = summarise([one, { ...one, accuracy: 0.7 }]);
    expect(accuracy.mean).toBeCloseTo(0.6, 12);
    expect(accuracy.standardError).toBeCloseTo(0.1, 12);
  });
});

describe("ranking a pool", () => {
  const rowsOf = (from: number, to: number): Table =>
    selectRows(
      table,
      Array.from({ length: to - from }, (_, i) => from + i),
    );
  const labelled = rowsOf(0, 80);
  async function* parts(...cuts: readonly number[]) {
    // Nobody in a pool has a label yet.
    for (let i = 1; i < cuts.length; i++) yield dropColumns(rowsOf(cuts[i - 1], cuts[i]), ["outcome"]);
  }
  const ranked = (...cuts: readonly number[]) =>
    rankPool(() => parts(...cuts), {
      ...settings,
      labelled,
      predictFor: rowsOf(80, 140),
      method: "fairbed",
      beta: 3,
      combine: "sum",
      top: 15,
      categories: "one-hot",
      forest: { trees: 30 },
      sensitiveForest: { trees: 30, minLeaf: 5 },
      correction: "none",
      seed: 0,
    });

  test("is the same in any parts", async () => {
    const whole = await ranked(140, 600);
    expect((await ranked(140, 150, 333, 600)).candidates).toEqual(whole.candidates);
    expect(whole.rows).toBe(460);
  });

  test("without targets of its own it draws them from the pool, again the same in any parts", async () => {
    const draw = (...cuts: readonly number[]) =>
      rankPool(() => parts(...cuts), {
        ...settings,
        labelled,
        method: "epig",
        beta: 0,
        combine: "sum",
        top: 5,
        predictSample: 40,
        categories: "one-hot",
        forest: { trees: 10 },
        sensitiveForest: { trees: 10 },
        correction: "none",
        seed: 1,
      });
    expect((await draw(140, 200, 600)).candidates).toEqual((await draw(140, 600)).candidates);
  });

  test("tables without a common feature are refused", async () => {
    const other: Table = {
      ...rowsOf(0, 5),
      columns: rowsOf(0, 5).columns.map((c) => ({ ...c, name: `${c.name}!` })),
    };
    await expect(rankPool(other, { ...settings, labelled, method: "epig", top: 5, seed: 1 })).rejects.toThrow(
      rankTexts.noCommon,
    );
  });
});
