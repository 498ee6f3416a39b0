/** What a plan tells while recipes are tried out: means of inner rows, and nothing that changes the plan. */
import { expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { defineTask, type Task } from "../../src/tables/task.js";
import { plan } from "../../src/workflows/plan.js";
import { PLAN_ROUNDS } from "../../src/workflows/plan-defaults.js";
import { type PlanTrial, trialBoard } from "../../src/workflows/plan-progress.js";
import type { PlannedParts } from "../../src/workflows/plan-recipes.js";
import { splitPlanRows } from "../../src/workflows/plan-rows.js";

const { table, settings } = syntheticPool({ rows: 320, seed: 1 });
const task = defineTask(table, settings);
const quick = { parity: 0.8, labels: 16, methods: ["epig"], learners: ["forest"], trees: 4 } as const;

const watched = async (of: Task) => {
  const told: (readonly PlanTrial[])[] = [];
  const found = await plan(of, { ...quick, onTrial: (trials) => told.push(structuredClone(trials)) });
  return { told, found };
};

test("a plan tells what was tried so far, in rounds, and comes out the same", async () => {
  const { told, found } = await watched(task);
  expect(found).toEqual(await plan(task, quick));

  // Random, EPIG at two shares, both also reweighed: five ways of asking, on two seeds each in the first round.
  const firstRound = told.filter((trials) => trials.every(({ round }) => round === 1));
  expect(firstRound).toHaveLength(5 * PLAN_ROUNDS[0].seeds);
  expect(told[0].map(({ asking }) => asking)).toEqual(["random", "random", "random", "random"]);
  expect(told[0].every(({ seeds, dropped }) => seeds === 1 && !dropped)).toBe(true);
  for (let i = 1; i < told.length; i++) expect(told[i].length).toBeGreaterThanOrEqual(told[i - 1].length);

  // In the end: those of the last round with all their seeds, the others where they were dropped.
  const last = told[told.length - 1];
  expect(last.map(({ id }) => id).sort()).toEqual(found.recipes.map(({ id }) => id).sort());
  for (const { id, name, round, seeds, labels, inner, finalist, fit } of found.recipes) {
    const own = last.find((each) => each.id === id);
    expect(own).toMatchObject({ name, round, seeds, labels, dropped: !finalist });
    const point = own?.points.find(({ aim }) => aim === (fit.rule?.level ?? null));
    expect(point?.accuracy).toBeCloseTo(inner.accuracy, 12);
    expect(point?.parity).toBeCloseTo(inner.parity, 12);
  }
}, 60_000);

test("the rows that a plan reports on do not show in what it tells", async () => {
  const { outer } = splitPlanRows(task, "dp", seededStream(0).split("plan").split("outer"));
  const labels = task.target.labels.slice();
  for (const row of outer) labels[row] = 1 - labels[row];
  const turned: Task = { ...task, target: { ...task.target, labels } };
  expect((await watched(turned)).told).toEqual((await watched(task)).told);
}, 60_000);

test("means are over the seeds of one round", () => {
  const parts: PlannedParts = {
    acquisition: { method: "random", shares: "none", randomPart: 0, reweigh: false, batch: 1 },
    learner: "forest",
    reweigh: false,
    rule: true,
  };
  const other: PlannedParts = { ...parts, rule: false };
  const seed = (accuracy: number, parity: number) => [
    { aim: 0.9, inner: { accuracy, parity, selectionRate: 0.5 } },
  ];
  const board = trialBoard();
  board.begin(1, 10, [parts, other]);
  expect(board.trials()).toEqual([]);
  board.add(parts, seed(0.5, 0.25));
  board.add(parts, seed(0.75, 0.75));
  board.add(other, [{ aim: undefined, inner: { accuracy: 1, parity: 0.5, selectionRate: 0.5 } }]);
  expect(board.trials().map(({ points, seeds }) => ({ points, seeds }))).toEqual([
    { points: [{ aim: 0.9, accuracy: 0.625, parity: 0.5 }], seeds: 2 },
    { points: [{ aim: null, accuracy: 1, parity: 0.5 }], seeds: 1 },
  ]);
  board.begin(2, 20, [parts]);
  board.add(parts, seed(0.25, 1));
  expect(board.trials().map(({ round, seeds, labels, dropped }) => [round, seeds, labels, dropped])).toEqual([
    [2, 1, 20, false],
    [1, 1, 10, true],
  ]);
});
