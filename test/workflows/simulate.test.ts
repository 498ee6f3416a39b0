import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { acquiredLeakage } from "../../src/fairness/acquired-leakage.js";
import { forest } from "../../src/learners/forest.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { defineTask } from "../../src/tables/task.js";
import { RECOMMENDED, settingsTexts } from "../../src/workflows/acquisition-settings.js";
import { evaluate } from "../../src/workflows/evaluation.js";
import { simulate, simulateTexts } from "../../src/workflows/simulate.js";
import { simulatedCompositionTexts } from "../../src/workflows/simulated-composition.js";
import { simulateSeed } from "../../src/workflows/simulation.js";

const { table, settings } = syntheticPool({ rows: 500, seed: 2, bias: 1 });
const task = defineTask(table, settings);
const quick = { budget: 12, batch: 4, trees: 15, seeds: 2 };

describe("a comparison of methods", () => {
  test("is each seed's simulation, of a table or of its task", async () => {
    const answer = await simulate(table, { ...settings, ...quick, methods: ["random", "fairbed"] });
    expect(await simulate(task, { ...quick, methods: ["random", "fairbed"] })).toEqual(answer);
    const [random, fair] = answer.methods;
    const one = await simulateSeed(task, fair.settings, 1);
    expect(fair.acquired[1]).toEqual(one.acquisition.acquired.map(({ row }) => row));
    expect(fair.checkpoints.map(({ labels }) => labels)).toEqual([4, 8, 12]);
    expect(fair.beta).toEqual([10, 10]);
    // A share is a count of what was acquired.
    const codes = task.sensitive[0].labels;
    const shares = random.acquired.map((rows) => rows.filter((row) => codes[row] === 1).length / rows.length);
    const [{ groups }] = random.composition;
    expect(groups[1].acquired.mean).toBeCloseTo((shares[0] + shares[1]) / 2, 12);
    expect(groups[0].population + groups[1].population).toBeCloseTo(1, 12);
    // Groups with outcomes: counted from the table, and shares that add up to those of the groups.
    const [{ cells, checkpoints }] = random.composition;
    expect(cells.map(({ group, outcome }) => [group, outcome])).toEqual(
      task.sensitive[0].classes.flatMap((group) => task.target.classes.map((outcome) => [group, outcome])),
    );
    const second = random.acquired.map(
      (rows) => rows.filter((row) => codes[row] === 0 && task.target.labels[row] === 1).length / rows.length,
    );
    expect(cells[1].acquired.mean).toBeCloseTo((second[0] + second[1]) / 2, 12);
    expect(cells[0].population + cells[1].population).toBeCloseTo(groups[0].population, 12);
    expect(checkpoints.map(({ labels }) => labels)).toEqual([4, 8, 12]);
    expect(checkpoints[2].groups[1].mean).toBeCloseTo((shares[0] + shares[1]) / 2, 12);
    expect(random.parts[0].every(({ target, leakage }) => target === null && leakage === null)).toBe(true);
  });

  test("has the defaults of each method, and goals for those that can have one", async () => {
    const { methods } = await simulate(task, {
      ...quick,
      seeds: 1,
      methods: ["epig", "fairbed-set", "fairbed"],
      leakageBudget: 1,
    });
    expect(methods.map(({ settings: { goal } }) => goal)).toEqual([
      RECOMMENDED.goal,
      { leakageBudget: 1 },
      { leakageBudget: 1 },
    ]);
    expect(methods.map(({ goalMet }) => goalMet?.length ?? null)).toEqual([null, 1, 1]);
    expect(methods[1].settings.sensitiveForest.minLeaf).toBe(5);
  });

  test("says when almost only one group was asked", async () => {
    const quotas = { column: "group", quotas: [{ value: "B", atLeast: 12 }] };
    const { warnings } = await simulate(task, { ...quick, seeds: 1, quotas });
    const { population } = (await simulate(task, { ...quick, seeds: 1 })).methods[0].composition[0].groups[0];
    expect(warnings).toContain(
      `A (group=B) makes up 0 % of what fairbed asked for and ${(100 * population).toFixed(0)} % of the candidates: less than half its share; ${simulatedCompositionTexts.gain}`,
    );
  });

  test("can be watched and stopped, and is the same then", async () => {
    const seen: number[] = [];
    const watched = await simulate(task, { ...quick, onProgress: ({ done }) => seen.push(done) });
    expect(watched).toEqual(await simulate(task, quick));
    // Twelve labels of two seeds, and as many drawn at random to compare with.
    expect(seen.every((done) => done <= 48)).toBe(true);
    const stop = new AbortController();
    stop.abort(new Error("enough"));
    await expect(simulate(task, { ...quick, signal: stop.signal })).rejects.toThrow("enough");
  });

  test.each([
    [{ methods: ["epgi" as "epig"] }, simulateTexts.method("epgi", "epig")],
    [{ methods: ["epig" as const, "epig" as const] }, simulateTexts.twice("epig")],
    [{ methods: ["epig" as const], parityAtLeast: 0.8 }, settingsTexts.goalMethod(["epig"])],
    [{ leakageBudget: 1, parityAtLeast: 0.8 }, settingsTexts.twoGoals],
    [{ checkpoints: [13] }, simulateTexts.checkpoint(13, 12)],
    [{ costs: "group" }, simulateTexts.costs("group")],
    [{ paper: true, sensitiveLeaf: 3 }, settingsTexts.paperLeaf],
  ])("%j is refused", async (more, text) => {
    await expect(simulate(task, { ...quick, ...more })).rejects.toThrow(text);
  });
});

describe("weights in an evaluation", () => {
  test("of whole numbers count a test row so often", () => {
    const stream = seededStream("weights");
    const rows = 240;
    const values = Float32Array.from({ length: 2 * rows }, () => stream.normal());
    const labels = Int32Array.from({ length: rows }, (_, row) =>
      values[2 * row] + 0.5 * values[2 * row + 1] + 0.5 * stream.normal() > 0 ? 1 : 0,
    );
    const groups = Int32Array.from({ length: rows }, (_, row) => (values[2 * row + 1] > 0 ? 1 : 0));
    const weights = Float64Array.from({ length: rows }, (_, row) => (row < 120 ? 1 : 1 + (row % 3)));
    const labelled = Int32Array.from({ length: 120 }, (_, row) => row);
    const test = Int32Array.from({ length: 120 }, (_, i) => 120 + i);
    const learner = forest({ trees: 30, threads: 1 });
    const options = {
      features: { values, rows, columns: 2 },
      target: { labels, classes: 2 },
      sensitive: { labels: groups, classes: 2 },
      labelled,
      learner,
      sensitiveLearner: learner,
      stream: seededStream(1),
    };
    const repeated = Int32Array.from(
      [...test].flatMap((row) => Array.from({ length: weights[row] }, () => row)),
    );
    const weighted = evaluate({ ...options, test, weights });
    // The labelled rows weigh 1 each, so the fits are the same.
    const counted = evaluate({ ...options, test: repeated, weights: new Float64Array(rows).fill(1) });
    for (const name of [
      "accuracy",
      "sensitiveAccuracy",
      "dpRatio",
      "tprRatio",
      "fprRatio",
      "dpSigned",
      "dpDifference",
      "selectionRate",
      "gapArea",
      "gapLargest",
      "leakageAuc",
      "accuracyAtParity",
    ] as const) {
      expect(weighted[name]).toBeCloseTo(counted[name] ?? Number.NaN, 10);
    }
    // Calibrated on other halves of the rows.
    expect(Math.abs((weighted.leakage ?? 0) - (counted.leakage ?? 1))).toBeLessThan(0.05);
    // At a matched rate rows are taken whole: within the weight of one row.
    expect(Math.abs((weighted.matchedAccuracy ?? 0) - (counted.matchedAccuracy ?? 1))).toBeLessThan(0.05);
  });
});

describe("the leakage and the accuracy at parity of an evaluation", () => {
  const stream = seededStream("leakage");
  const rows = 900;
  const groups = Int32Array.from({ length: rows }, () => stream.integer(2));
  const values = Float32Array.from({ length: 2 * rows }, (_, at) =>
    at % 2 === 0 ? stream.normal() : stream.normal(2 * groups[(at - 1) / 2]),
  );
  const labels = Int32Array.from({ length: rows }, (_, row) =>
    Number(values[2 * row] + values[2 * row + 1] + 0.5 * stream.normal() > 1),
  );
  const learner = forest({ trees: 40, threads: 1 });
  const range = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, i) => from + i);
  const options = {
    features: { values, rows, columns: 2 },
    target: { labels, classes: 2 },
    sensitive: { labels: groups, classes: 2 },
    labelled: range(0, 300),
    test: range(300, rows),
    learner,
    sensitiveLearner: learner,
    stream: seededStream(1),
  };

  test("are what the library says of the same models", () => {
    const {
      leakage,
      leakageAuc,
      accuracyAtParity: found,
      matchedAccuracy,
      matchedDpRatio,
    } = evaluate(options);
    const { features, labelled: acquired, test } = options;
    const leaked = acquiredLeakage(
      { features, sensitive: groups, classes: 2, acquired, test },
      { learner, stream: seededStream(1).split("leakage") },
    );
    expect(leakage).toBe(leaked.nats);
    expect(leakageAuc).toBe(leaked.auc);
    // P(Z1 > Z0) of N(2, 1) against N(0, 1) is .921; a forest of 300 rows has a little less.
    expect(leakageAuc).toBeGreaterThan(0.84);
    expect(leakageAuc).toBeLessThan(0.95);
    // The plain rule is not fair, and parity costs accuracy.
    expect(matchedDpRatio).toBeLessThan(0.6);
    expect(found).toBeLessThan(matchedAccuracy ?? 0);
    expect(found).toBeGreaterThan(0.5);
  });

  test("do not move with the groups' shares alone, as the paper's sensitive accuracy does", () => {
    const few = options.labelled.filter((row) => groups[row] === 0 || row % 8 === 0);
    const all = evaluate(options);
    const skewed = evaluate({ ...options, labelled: few });
    expect(Math.abs((all.leakageAuc ?? 0) - (skewed.leakageAuc ?? 1))).toBeLessThan(0.03);
    expect((all.sensitiveAccuracy ?? 0) - (skewed.sensitiveAccuracy ?? 1)).toBeGreaterThan(0.05);
  });

  test("are 0 and 0.5 where one group was asked, and have no value where there is nothing to compare", () => {
    const one = evaluate({ ...options, labelled: options.labelled.filter((row) => groups[row] === 1) });
    expect(one).toMatchObject({ leakage: 0, leakageAuc: 0.5, accuracyAtParity: undefined });
    const positive = options.test.filter((row) => labels[row] === 1);
    expect(evaluate({ ...options, test: positive }).accuracyAtParity).toBeUndefined();
    const unknown = { labels: groups.map(() => -1), classes: 2 };
    expect(evaluate({ ...options, sensitive: unknown }).leakageAuc).toBeUndefined();
  });
});
