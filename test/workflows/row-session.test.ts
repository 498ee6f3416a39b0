import { describe, expect, test } from "vitest";
import { selectBatch } from "../../src/active/batch.js";
import { betaControl, controlTexts } from "../../src/active/beta-control.js";
import { createBest, createRanker } from "../../src/active/ranker.js";
import { splitRows, splitTexts } from "../../src/active/split.js";
import { stepTexts } from "../../src/active/step.js";
import { strategyNames } from "../../src/active/strategy-names.js";
import { tieKeys } from "../../src/active/ties.js";
import { seededStream } from "../../src/core/random.js";
import { forest } from "../../src/learners/forest.js";
import { rowSessionTexts } from "../../src/workflows/row-session.js";
import { type AcquireOptions, acquire } from "./acquire-rows.js";

/** Feature 0 decides the target, feature 1 the sensitive label, feature 2 nothing. */
const poolOf = (rows: number) => {
  const stream = seededStream("pool");
  const values = Float32Array.from({ length: rows * 3 }, () => stream.normal());
  const label = (column: number) => ({
    labels: Int32Array.from({ length: rows }, (_, row) => (values[row * 3 + column] > 0 ? 1 : 0)),
    classes: 2,
  });
  return { features: { values, rows, columns: 3 }, target: label(0), sensitive: [label(1)] };
};

const pool = poolOf(400);
const split = splitRows({ ...pool.target, stream: seededStream("rows"), targets: 50 });
const learner = forest({ trees: 20, threads: 1 });
const base: AcquireOptions = {
  ...pool,
  split,
  method: "fairbed",
  goal: { beta: 10 },
  budget: 6,
  learner,
  sensitiveModels: [{ kind: "revealed", learner }],
  targetsPerStep: 20,
  stream: seededStream(1),
};
const rowsOf = async (options: AcquireOptions) => (await acquire(options)).acquired.map(({ row }) => row);

describe("a split", () => {
  test("is of all rows, each once, with two initial labels of every class", () => {
    const all = [split.test, split.targets, split.initial, split.pool].flatMap((rows) => [...rows]);
    expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, row) => row));
    expect(split.test).toHaveLength(120);
    expect([...split.initial].map((row) => pool.target.labels[row]).toSorted()).toEqual([0, 0, 1, 1]);
  });

  test("leaves out rows without a label", () => {
    const labels = pool.target.labels.map((label, row) => (row < 100 ? -1 : label));
    const { test: tested, pool: left } = splitRows({
      labels,
      classes: 2,
      stream: seededStream(2),
      targets: 20,
    });
    expect(Math.min(...tested, ...left)).toBeGreaterThanOrEqual(100);
  });

  test.each([
    [{ testFraction: 1 }, splitTexts.fraction(1)],
    [{ initial: 1 }, splitTexts.initial(1, 2)],
    [{ targets: 0 }, splitTexts.targets(0)],
    [{ targets: 290 }, splitTexts.few(400, 415)],
  ])("%j is refused", (options, text) => {
    expect(() => splitRows({ ...pool.target, stream: seededStream(0), ...options })).toThrow(text);
  });
});

describe("the loop", () => {
  test.each(strategyNames)(
    "%s: every candidate at most once, none of the test rows, the same again",
    async (method) => {
      const rows = await rowsOf({ ...base, method });
      expect(new Set(rows).size).toBe(6);
      const allowed = new Set(split.pool);
      expect(rows.every((row) => allowed.has(row))).toBe(true);
      expect(await rowsOf({ ...base, method })).toEqual(rows);
    },
  );

  test("does not depend on the number of threads", async () => {
    const two = forest({ trees: 20, threads: 2 });
    const twoThreads = {
      ...base,
      learner: two,
      sensitiveModels: [{ kind: "revealed" as const, learner: two }],
    };
    expect(await rowsOf(twoThreads)).toEqual(await rowsOf(base));
  });

  test("never reads the labels of test rows or of what was not acquired", async () => {
    const rows = await rowsOf(base);
    const seen = new Set([...split.initial, ...rows]);
    const hide = (labels: Int32Array) => labels.map((label, row) => (seen.has(row) ? label : 1 - label));
    const hidden = {
      ...base,
      target: { ...base.target, labels: hide(base.target.labels) },
      sensitive: base.sensitive.map((each) => ({ ...each, labels: hide(each.labels) })),
    };
    expect(await rowsOf(hidden)).toEqual(rows);
  });

  test("a fixed or supplied sensitive model needs no sensitive label of what is acquired", async () => {
    const classifier = learner.fit({ ...base, ...pool.sensitive[0] }, seededStream("before"));
    const unknown = pool.sensitive.map((each) => ({ ...each, labels: each.labels.map(() => -1) }));
    const fixed = { ...base, sensitive: unknown, sensitiveModels: [{ kind: "fixed" as const, classifier }] };
    const members = classifier.predictMembers(pool.features);
    const supplied = {
      ...base,
      sensitive: unknown,
      sensitiveModels: [{ kind: "supplied" as const, members }],
    };
    expect(await rowsOf(fixed)).toEqual(await rowsOf(supplied));
  });

  test.each(["top", "softmax", "rank", "joint"] as const)("batches: %s", async (batchKind) => {
    const steps: number[] = [];
    const { acquired } = await acquire({
      ...base,
      batch: 4,
      batchKind,
      temperature: 0.1,
      onStep: ({ batch }) => {
        steps.push(batch.length);
      },
    });
    expect(steps).toEqual([4, 2]);
    expect(acquired.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("costs and quotas over the whole budget", async () => {
    const costs = new Float64Array(400).map((_, row) => (row % 2 === 0 ? 100 : 0));
    expect((await rowsOf({ ...base, costs, costWeight: 1 })).every((row) => row % 2 === 1)).toBe(true);
    const groups = Int32Array.from({ length: 400 }, (_, row) => row % 2);
    const quotas = [{ group: 0, atMost: 1 }];
    expect(
      (await rowsOf({ ...base, groups, quotas })).filter((row) => row % 2 === 0).length,
    ).toBeLessThanOrEqual(1);
    const least = await rowsOf({ ...base, groups, quotas: [{ group: 0, atLeast: 5 }] });
    expect(least.filter((row) => row % 2 === 0).length).toBeGreaterThanOrEqual(5);
  });

  test("a large beta takes candidates that leak less", async () => {
    const leakage = async (beta: number) => {
      const { acquired } = await acquire({ ...base, goal: { beta }, budget: 15 });
      return acquired.reduce((sum, each) => sum + each.leakage, 0);
    };
    expect(await leakage(20)).toBeLessThan(0.5 * (await leakage(0)));
  });

  test("refuses more than there is", async () => {
    await expect(acquire({ ...base, budget: 1000 })).rejects.toThrow(
      rowSessionTexts.budget(1000, split.pool.length),
    );
    await expect(acquire({ ...base, batch: 0 })).rejects.toThrow(
      stepTexts.whole("the number of candidates", 0),
    );
    await expect(acquire({ ...base, sensitiveModels: [] })).rejects.toThrow(stepTexts.models(0, 1));
  });
});

describe("beta that is found", () => {
  const step = { labels: 1, left: 10, leastLeakage: 0 };

  test("rises while the leakage is above what the budget allows, and falls else", () => {
    const control = betaControl({ leakageBudget: 1 });
    const first = control.beta;
    control.observe({ ...step, leakage: 0.5 });
    expect(control.beta).toBeGreaterThan(first);
    const high = control.beta;
    for (let i = 0; i < 60; i++) control.observe({ ...step, leakage: 0 });
    expect(control.beta).toBeLessThan(high);
  });

  test("says once that the budget cannot be kept", () => {
    const control = betaControl({ leakageBudget: 1 });
    const late = { ...step, left: 3, leastLeakage: 0.2 };
    expect(control.observe({ ...late, leakage: 0.5 })).toBe(controlTexts.budgetOut(1, 0.5, 3));
    expect(control.observe({ ...late, leakage: 0.5 })).toBeUndefined();
    const early = betaControl({ leakageBudget: 1 });
    expect(early.observe({ ...step, leakage: 0.5, leastLeakage: 0.2 })).toBeUndefined();
    expect(control.met).toBe(true);
    control.observe({ ...step, leakage: 0.5 });
    expect(control.met).toBe(false);
  });

  test("keeps within a budget in the loop, where beta 0 does not", async () => {
    const spent = ({ acquired }: Awaited<ReturnType<typeof acquire>>) =>
      acquired.reduce((sum, { leakage }) => sum + Math.max(0, leakage), 0);
    const free = spent(await acquire({ ...base, budget: 25, goal: { beta: 0 } }));
    const kept = await acquire({ ...base, budget: 25, goal: { leakageBudget: 0.6 * free } });
    expect(spent(kept)).toBeLessThan(0.6 * free);
    expect(kept.met).toBe(true);
  });

  test("moves towards parity, and says when it seems out of reach", () => {
    const control = betaControl({ parityAtLeast: 0.8 });
    const first = control.beta;
    control.observe({ ...step, leakage: 0, parity: 0.5 });
    expect(control.beta).toBeGreaterThan(first);
    const said = Array.from({ length: 120 }, () => control.observe({ ...step, leakage: 0, parity: 0.5 }));
    expect(said.filter((text) => text !== undefined)).toEqual([controlTexts.parityOut(0.8, 0.5, 30)]);
    const easy = betaControl({ parityAtLeast: 0.8 });
    easy.observe({ ...step, leakage: 0, parity: 0.95 });
    expect(easy.beta).toBeLessThan(first);
    expect(easy.met).toBe(true);
  });

  test.each([
    [{ leakageBudget: 0 }, controlTexts.budget(0)],
    [{ parityAtLeast: 1.2 }, controlTexts.parity(1.2)],
  ])("%j is refused", (goal, text) => {
    expect(() => betaControl(goal)).toThrow(text);
  });
});

describe("ranking a pool part by part", () => {
  const ties = tieKeys(seededStream("ties"));
  const take = (from: number, to: number) => ({
    values: pool.features.values.slice(3 * from, 3 * to),
    rows: to - from,
    columns: 3,
  });
  const labelled = Int32Array.from({ length: 40 }, (_, row) => row);
  const fitOn = ({ labels }: { labels: Int32Array }, name: string) =>
    learner.fit(
      { features: pool.features, rows: labelled, labels: labels.slice(0, 40), classes: 2 },
      seededStream(name),
    );
  const ranker = createRanker({
    method: "fairbed",
    beta: 3,
    target: fitOn(pool.target, "target"),
    sensitive: [fitOn(pool.sensitive[0], "sensitive")],
    targets: take(40, 90),
    stream: seededStream("rank"),
  });

  test("gives what all at once gives", () => {
    const whole = selectBatch(ranker.score(take(100, 400), 0), { size: 25, ties });
    const best = createBest({ size: 25, ties });
    for (const [part, from] of [100, 137, 300].entries()) {
      const to = [137, 300, 400][part];
      const { score, target, leakage } = ranker.score(take(from, to), part);
      score.forEach((value, at) => {
        const row = from - 100 + at;
        best.offer({ row, score: value, target: target[at], leakage: leakage[at], cost: 0 });
      });
    }
    expect(best.ranked()).toEqual(whole);
  });

  test("a cost moves a candidate down", () => {
    const best = createBest({ size: 2, costWeight: 0.5, ties });
    const one = { target: 1, leakage: 0 };
    best.offer({ ...one, row: 0, score: 1, cost: 1 });
    best.offer({ ...one, row: 1, score: 0.9, cost: 0 });
    best.offer({ ...one, row: 2, score: 0.6, cost: 0 });
    expect(best.ranked().map(({ row }) => row)).toEqual([1, 2]);
  });
});
