/** Plans: what is chosen does not depend on what is reported on, and what cannot be done is said. */

import { beforeAll, describe, expect, test } from "vitest";
import { planInWords } from "../../src/cli/commands/active/plan-words.js";
import { NATS } from "../../src/core/information-unit.js";
import { seededStream } from "../../src/core/random.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { tableHash } from "../../src/tables/table-hash.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask, type Task } from "../../src/tables/task.js";
import { type ParityPlan, plan } from "../../src/workflows/plan.js";
import { planAnswer } from "../../src/workflows/plan-answer.js";
import { PLAN_ROUNDS } from "../../src/workflows/plan-defaults.js";
import { splitPlanRows } from "../../src/workflows/plan-rows.js";
import { LEAST_ROWS, type PlanOptions, planningTexts } from "../../src/workflows/plan-settings.js";
import { readRecipe } from "../../src/workflows/recipe.js";

const { table, settings } = syntheticPool({ rows: 320, seed: 1 });
const task = defineTask(table, settings);
const quick = { parity: 0.8, labels: 16, methods: ["epig"], learners: ["forest"], trees: 4 } as const;
/** Always over: the least that a plan does. */
const least = { minutes: 1e-9 } as const;

/** Recipes and what decided about them: all that comes from inner rows. */
const choiceOf = ({ recommended, recipes, rounds }: ParityPlan) => ({
  recommended: [recommended.id, recommended.fit],
  recipes: recipes.map(({ id, round, inner, fit }) => ({ id, round, inner, fit })),
  rounds,
});

describe("a plan", () => {
  let first: ParityPlan;
  const progress: { done: number; total: number }[] = [];
  beforeAll(async () => {
    first = await plan(task, { ...quick, onProgress: ({ done, total }) => progress.push({ done, total }) });
  }, 60_000);

  test("is the same again, with or without progress, and JSON can carry it", async () => {
    const again = await plan(table, { ...settings, ...quick });
    expect(again).toEqual(first);
    expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  });

  test("tells how far it is", () => {
    for (const [i, { done, total }] of progress.entries()) {
      expect(done).toBeLessThanOrEqual(total);
      if (i > 0) expect(done).toBeGreaterThanOrEqual(progress[i - 1].done);
    }
  });

  test("does not choose by the rows that it reports on", async () => {
    const { outer } = splitPlanRows(task, "dp", seededStream(0).split("plan").split("outer"));
    expect(outer.length).toBe(first.rows.outer);
    const labels = task.target.labels.slice();
    for (const row of outer) labels[row] = 1 - labels[row];
    const turned: Task = { ...task, target: { ...task.target, labels } };
    const other = await plan(turned, quick);
    expect(choiceOf(other)).toEqual(choiceOf(first));
    // What was right is wrong there, and the selection is the same.
    expect(other.recommended.outer.accuracy.mean).toBeCloseTo(1 - first.recommended.outer.accuracy.mean, 12);
    expect(other.recommended.outer.parity).toEqual(first.recommended.outer.parity);
  });

  test("goes through the rounds, and keeps random acquisition to the end", () => {
    expect(first.cut).toBeNull();
    expect(first.rounds.map(({ seeds }) => seeds)).toEqual(PLAN_ROUNDS.map(({ seeds }) => seeds));
    // Random, EPIG at two shares: each with and without reweighing and a rule.
    expect(first.recipes).toHaveLength(12);
    const finalists = first.recipes.filter(({ finalist }) => finalist);
    expect(finalists.some(({ acquisition }) => acquisition.method === "random")).toBe(true);
    expect(first.reference.acquisition.method).toBe("random");
    expect(first.frontiers.map(({ id }) => id).sort()).toEqual(finalists.map(({ id }) => id).sort());
    expect(first.sets).toHaveLength(finalists.length);
  });

  test("counts labels up to those that it was given", () => {
    for (const { points } of first.curves) {
      expect(points[points.length - 1].labels).toBe(quick.labels);
      // With all labels it is what is reported of the recipe.
      expect(points.map(({ labels }) => labels)).toEqual(
        [...points.map(({ labels }) => labels)].sort((a, b) => a - b),
      );
    }
    const [curve] = first.curves;
    expect(curve.id).toBe(first.recommended.id);
    expect(curve.points[curve.points.length - 1].accuracy).toEqual(first.recommended.outer.accuracy);
  });

  test("composition is of what was asked: shares that add up to one", () => {
    for (const { composition } of first.sets) {
      const whole = (of: readonly { readonly acquired: { readonly mean: number | null } }[]) =>
        of.reduce((sum, { acquired }) => sum + (acquired.mean ?? 0), 0);
      expect(whole(composition.groups)).toBeCloseTo(1, 12);
      expect(whole(composition.cells)).toBeCloseTo(1, 12);
    }
    expect(first.composition).toEqual(first.sets.find(({ id }) => id === first.recommended.id)?.composition);
  });

  test("gives a recipe that can be read, with what it rests on", () => {
    const recipe = readRecipe(JSON.parse(JSON.stringify(first.recipe)));
    expect(recipe.acquisition).toEqual(first.recommended.acquisition);
    expect(recipe.fit).toEqual(first.recommended.fit);
    expect(recipe.chosenOn.table).toBe(tableHash(table));
    expect(recipe.requirement).toEqual({
      metric: "dp",
      level: 0.8,
      labels: 16,
      target: "outcome=yes",
      sensitive: "group=B",
    });
    expect(recipe.description).toBe(first.answer.recommendation);
  });

  test("stops where it is told to", async () => {
    const controller = new AbortController();
    const stopped = plan(task, { ...quick, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
  });
});

describe("what is said", () => {
  test("that the time limit cut it short, with an answer all the same", async () => {
    const short = await plan(task, { ...quick, ...least });
    expect(short.cut).toEqual({ round: 1, seeds: 1, planned: PLAN_ROUNDS[0].seeds });
    expect(short.notes).toContain(planningTexts.cut(1, 1, PLAN_ROUNDS[0].seeds));
    expect(short.recommended.labels).toBe(10);
    expect(short.answer.warnings.join()).toContain("rests on 10 of the 16 labels");
  });

  test("that a level is met by hardly deciding at all, or not at all", async () => {
    // A ratio of exactly 1 is seldom had but by treating all alike, which is right as often as the larger class.
    const { answer, sameForAll, recommended } = await plan(task, { ...quick, ...least, parity: 1 });
    const { outer } = splitPlanRows(task, "dp", seededStream(0).split("plan").split("outer"));
    const favourable = outer.filter((row) => task.target.labels[row] === 1).length / outer.length;
    expect(sameForAll).toBeCloseTo(Math.max(favourable, 1 - favourable), 12);
    const expected = recommended.inner.reaches ? "the same decision for everybody" : "No recipe reaches";
    expect(answer.warnings.join()).toContain(expected);
  });

  test("that no recipe reaches a level, that it is missed on other rows, and how many labels it needs", async () => {
    const found = await plan(task, { ...quick, ...least });
    expect(found.answer.labels).toBe("One seed does not tell how many labels the level needs.");
    const recommended = { ...found.recommended, seeds: 8 };
    const short = { ...recommended, inner: { ...recommended.inner, reaches: false } };
    const said = planAnswer({
      ...found,
      recommended: short,
      recipes: [{ ...short, inner: { ...short.inner, parity: 0.4 } }],
    });
    expect(said.warnings[0]).toContain(
      "No recipe reaches a demographic parity of 0.8 with 10 labels (the highest",
    );
    expect(said.warnings[0]).toContain("0.400");
    const reaches = { ...recommended, inner: { ...recommended.inner, reaches: true } };
    expect(planAnswer({ ...found, recommended: reaches, verdict: "missed" }).warnings[0]).toContain(
      "is missed on others",
    );
    const more = planAnswer({
      ...found,
      recommended,
      labelsNeeded: { labels: null, interval: [null, null] },
    });
    expect(more.labels).toContain("needs more than 10 labels");
    const about = planAnswer({ ...found, recommended, labelsNeeded: { labels: 250, interval: [200, null] } });
    expect(about.labels).toContain("about 250 labels (90 % interval 200 to more than 10)");
    const reached = { ...recommended.outer.parity, mean: 0.71, interval: [0.66, 0.76] as const };
    const missed = planAnswer({
      ...found,
      recommended: { ...recommended, outer: { ...recommended.outer, parity: reached } },
    });
    expect(missed.level).toEqual({ wanted: 0.8, reached, met: false });
    expect(missed.unmet).toBe(
      "NOT MET: a demographic parity of at least 0.8 was wanted; on rows that no choice saw the recommended recipe reaches 0.710 (0.660 to 0.760).",
    );
    // Said first, here and on the page.
    expect(planInWords({ ...found, answer: missed }, "pilot", NATS)[0]).toBe(missed.unmet);
    const above = planAnswer({
      ...found,
      recommended: { ...recommended, outer: { ...recommended.outer, parity: { ...reached, mean: 0.8 } } },
    });
    expect([above.unmet, above.level.met]).toEqual([null, true]);
  });

  test("that random acquisition is as good, is not enough, or is beaten", async () => {
    const found = await plan(task, { ...quick, ...least });
    const { overReference, reference } = found;
    const recommended = {
      ...found.recommended,
      id: "another",
      acquisition: { ...found.recommended.acquisition, method: "epig" },
      inner: { ...found.recommended.inner, reaches: true },
    } as const;
    const better = {
      ...overReference,
      accuracyAtParity: { mean: 0.02, standardError: 0.01, interval: [0.01, 0.03], n: 8 },
    } as const;
    const reached = { ...reference, inner: { ...reference.inner, reaches: true } };
    const say = (change: Partial<ParityPlan>) =>
      planAnswer({ ...found, recommended, reference: reached, ...change }).random;
    expect(say({ randomIsAsGood: true, overReference: better })).toMatch(
      /^Random acquisition with the fair rule is as good/,
    );
    expect(say({ randomIsAsGood: false, overReference: better })).toContain(
      "At the same parity it gains +0.020 (0.010 to 0.030) of accuracy",
    );
    const fails = { ...reference, inner: { ...reference.inner, reaches: false } };
    expect(say({ randomIsAsGood: false, reference: fails })).toContain("does not reach the level");
    expect(found.randomIsAsGood).toBeNull();
    expect(say({})).toMatch(/^One seed does not tell whether random acquisition/);
    const drawn = { ...recommended, acquisition: { ...recommended.acquisition, method: "random" } } as const;
    expect(say({ recommended: drawn })).toContain("is recommended");
  });

  test("that random acquisition is recommended where nothing else was tried", async () => {
    const { answer, randomIsAsGood, overReference, recipes } = await plan(task, {
      ...quick,
      ...least,
      parity: 0.05,
      methods: ["random"],
    });
    expect(recipes.every(({ acquisition }) => acquisition.method === "random")).toBe(true);
    expect(answer.recommendation).toMatch(/^Draw people at random/);
    if (randomIsAsGood) expect(overReference.accuracyAtParity.interval[0]).toBeLessThanOrEqual(0);
  });

  test("how many labels, where the table decides", async () => {
    const { requirement, rows, notes } = await plan(task, { ...quick, ...least, labels: undefined });
    expect(requirement.labels).toBe(Math.floor(rows.pool / 2));
    expect(notes).toContain(planningTexts.fewerLabels(requirement.labels, rows.pool));
    const many = rows.pool - 1;
    expect((await plan(task, { ...quick, ...least, labels: many })).notes).toContain(
      planningTexts.manyLabels(many, rows.pool),
    );
  });

  test("that of very many rows some were drawn", async () => {
    const many = syntheticPool({ rows: 20_100, seed: 2, noise: 0 });
    const large = await plan(many.table, { ...many.settings, ...quick, ...least, pool: 100 });
    expect(large.notes).toContain(planningTexts.thinned(20_000, 20_100));
    expect(large.rows).toMatchObject({ table: 20_100, outer: 6000, inner: 3000, pool: 100 });
    expect(large.recipe.chosenOn).toMatchObject({ table: tableHash(many.table), rows: 20_100 });
  });

  test("equal opportunity is about true positive rates", async () => {
    const { answer, recipe } = await plan(task, { ...quick, ...least, metric: "eopp" });
    expect(answer.reached).toContain("equal opportunity");
    expect(recipe.requirement.metric).toBe("eopp");
  });
});

describe("what is refused", () => {
  const people = (count: number, change: (i: number) => object = () => ({})) =>
    tableOf(
      Array.from({ length: count }, (_, i) => ({
        skill: (i * 7) % 13,
        age: (i * 5) % 11,
        sex: i % 2 === 0 ? "f" : "m",
        hired: i % 3 === 0 ? "yes" : "no",
        ...change(i),
      })),
    );
  const roles = { target: "hired=yes", sensitive: ["sex"] } as const;
  const rejects = (given: ReturnType<typeof people>, options: object, text: string) =>
    expect(plan(given, { ...roles, parity: 0.8, ...options } as never)).rejects.toThrow(text);

  test("settings that cannot be meant", async () => {
    const some = people(200);
    await rejects(some, { parity: undefined }, planningTexts.noLevel);
    await rejects(some, { parity: 80 }, planningTexts.level(80));
    await rejects(some, { parity: 0 }, planningTexts.level(0));
    await rejects(some, { metric: "tpr" }, planningTexts.metric("tpr"));
    await rejects(some, { labels: 1.5 }, planningTexts.whole("labels", 1.5));
    await rejects(some, { labels: 3 }, planningTexts.labelsFew(3));
    await rejects(some, { minutes: 0 }, planningTexts.minutes(0));
    await rejects(some, { learners: ["oracle"] }, 'there is no learner "oracle"');
    await rejects(some, { learners: [] }, planningTexts.noLearner);
    await rejects(some, { methods: [] }, planningTexts.noMethod);
    await rejects(some, { methods: ["epigg"] }, 'did you mean "epig"?');
  });

  test("tables that no plan can be made for", async () => {
    await rejects(people(60), {}, planningTexts.fewRows(60));
    const unknown = (of: string) =>
      people(400, (i) => (of === (i % 2 === 0 ? "f" : "m") ? { hired: null } : {}));
    await rejects(unknown("m"), {}, planningTexts.oneGroup("sex"));
    await rejects(
      people(400, (i) => (i % 3 === 0 ? { sex: null } : {})),
      {},
      planningTexts.oneClass("hired=yes"),
    );
    expect(LEAST_ROWS).toBeGreaterThan(60);
    await rejects(
      people(200, (i) => ({ hired: ["yes", "no", "later"][i % 3] })),
      { target: "hired" },
      planningTexts.classes("hired", 3),
    );
    await rejects(
      people(200, (i) => ({ race: i % 4 === 0 ? "a" : "b" })),
      { sensitive: ["sex", "race"] },
      planningTexts.attributes(["sex", "race"]),
    );
    await rejects(
      people(200, (i) => ({ sex: i < 3 ? "x" : i % 2 === 0 ? "f" : "m" })),
      {},
      "of the group x of sex",
    );
    await rejects(people(200), { labels: 150 }, "150 labels are wanted");
  });

  test("equal opportunity with too few favourable outcomes of a group", async () => {
    const rare = people(200, (i) => ({ hired: i % 2 === 1 && i % 5 > 0 ? "yes" : i === 2 ? "yes" : "no" }));
    await rejects(rare, { metric: "eopp" }, "and have the favourable outcome");
    const options: PlanOptions = { ...quick, ...least, labels: 12 };
    await expect(plan(rare, { ...roles, ...options })).resolves.toBeDefined();
  });
});
