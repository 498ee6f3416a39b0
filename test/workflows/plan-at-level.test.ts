/** A plan at other levels: by the choice that it made for its own, and no more than it knows. */
import { beforeAll, describe, expect, test } from "vitest";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { type ParityPlan, plan } from "../../src/workflows/plan.js";
import { planAnswerTexts } from "../../src/workflows/plan-answer.js";
import { planAtLevel, planAtLevelTexts, recipeAtLevel } from "../../src/workflows/plan-at-level.js";
import { planningTexts } from "../../src/workflows/plan-settings.js";
import { readRecipe } from "../../src/workflows/recipe.js";

const { table, settings } = syntheticPool({ rows: 320, seed: 1 });
const quick = { labels: 16, methods: ["epig"], learners: ["forest"], trees: 4 } as const;
const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;

describe("at the level that a plan was made for", () => {
  test.each([
    { parity: 0.8 },
    { parity: 0.6, seed: 3 },
    { parity: 1, seed: 5 },
    { parity: 0.8, metric: "eopp", seed: 2 },
    { parity: 0.8, minutes: 1e-9 },
    { parity: 0.05, minutes: 1e-9, methods: ["random"] },
  ] as const)(
    "it is the plan: %j",
    async (options) => {
      const made = await plan(table, { ...settings, ...quick, ...options });
      const kept: ParityPlan = JSON.parse(JSON.stringify(made));
      const {
        recommended,
        outer,
        reaches,
        verdict,
        labels,
        labelsNeeded,
        answer,
        finalists,
        tried,
        sentences,
      } = planAtLevel(kept, options.parity);
      const { id, name, description, acquisition, fit } = made.recommended;
      expect(recommended).toEqual({ id, name, description, acquisition, fit, aim: fit.rule?.level ?? null });
      expect(outer).toEqual(made.recommended.outer);
      expect(reaches).toBe(made.recommended.inner.reaches);
      expect([verdict, labels]).toEqual([made.verdict, made.recommended.labels]);
      expect(labelsNeeded).toEqual(made.labelsNeeded);
      expect(answer).toEqual(made.answer);
      expect(finalists).toEqual(made.recipes.filter(({ finalist }) => finalist));
      expect(tried).toBe("planned");
      expect(sentences.slice(-2)).toEqual([made.answer.recommendation, made.answer.reached]);
      expect(recipeAtLevel(kept, options.parity)).toEqual(made.recipe);
    },
    60_000,
  );
});

describe("at other levels", () => {
  let made: ParityPlan;
  const levels = Array.from({ length: 100 }, (_, i) => (i + 1) / 100);
  beforeAll(async () => {
    made = await plan(table, { ...settings, ...quick, parity: 0.8 });
  }, 60_000);

  test("the setting reaches the level on inner rows if any of them does, and is the most accurate of its recipe", () => {
    for (const level of levels) {
      const { recommended, reaches } = planAtLevel(made, level);
      const own = made.frontiers.flatMap(({ id, points }) => {
        const rule = made.recipes.find((each) => each.id === id)?.fit.rule !== undefined;
        return points
          .filter(({ aim }) => (aim !== null) === rule)
          .map(({ aim, inner }) => ({
            id,
            aim,
            accuracy: mean(inner.accuracy),
            parity: mean(inner.parity),
          }));
      });
      expect(reaches).toBe(own.some(({ parity }) => parity >= level));
      const chosen = own.find(({ id, aim }) => id === recommended.id && aim === recommended.aim);
      if (!reaches) expect(chosen?.parity).toBe(Math.max(...own.map(({ parity }) => parity)));
      else expect(chosen?.parity).toBeGreaterThanOrEqual(level);
    }
  });

  test("what is reported is that setting's, and the recipe can be read", () => {
    for (const level of levels) {
      const { recommended, outer, verdict } = planAtLevel(made, level);
      const point = made.frontiers
        .find(({ id }) => id === recommended.id)
        ?.points.find(({ aim }) => aim === recommended.aim);
      expect(outer).toEqual({
        accuracy: point?.accuracy,
        parity: point?.parity,
        selectionRate: point?.selectionRate,
      });
      const [low, high] = outer.parity.interval;
      expect(verdict).toBe(low >= level ? "met" : high < level ? "missed" : "open");
      const recipe = readRecipe(JSON.parse(JSON.stringify(recipeAtLevel(made, level))));
      expect(recipe.requirement.level).toBe(level);
      expect(recipe.fit.rule?.level ?? null).toBe(recommended.aim);
      expect(recipe.chosenOn.parity.mean).toBe(outer.parity.mean);
      expect(recipe.chosenOn.table).toBe(made.recipe.chosenOn.table);
    }
  });

  test("it says where no rule was set for a level", () => {
    // Settings of the last round: half of what is missing to 1 below the level, five sixths of it above.
    const [low, high] = [0.7, 0.967];
    const { tried, sentences } = planAtLevel(made, 0.5);
    expect([tried, sentences[sentences.length - 1]]).toEqual([
      "beyond",
      planAtLevelTexts.beyond(0.5, low, high),
    ]);
    expect(planAtLevel(made, 0.99).tried).toBe("beyond");
    const near = planAtLevel(made, 0.85);
    expect([near.tried, near.sentences[near.sentences.length - 1]]).toEqual([
      "within",
      planAtLevelTexts.within(0.85, 0.8),
    ]);
    const without: ParityPlan = {
      ...made,
      frontiers: made.frontiers.map((each) => ({ ...each, points: each.points.slice(0, 1) })),
      recipes: made.recipes.map((each) => ({ ...each, fit: { ...each.fit, rule: undefined } })),
    };
    expect(planAtLevel(without, 0.9).sentences).toContain(planAtLevelTexts.noRule(0.9));
  });

  test("labels are counted by the curve of the setting, or not at all", () => {
    const curves = made.curves.map(({ id }) => id);
    for (const level of levels) {
      const { recommended, labelsNeeded, answer } = planAtLevel(made, level);
      expect(labelsNeeded === null).toBe(!curves.includes(recommended.id));
      if (labelsNeeded === null) expect(answer.labels).toBe(planAnswerTexts.labelsNotKnown(level));
    }
    const none: ParityPlan = { ...made, curves: [] };
    expect(planAtLevel(none, 0.9).answer.labels).toBe(planAnswerTexts.labelsNotKnown(0.9));
    // Of each curve, the setting that was taken is the one whose estimates are shown.
    for (const { id, points, settings: own } of made.curves) {
      const aim = made.recipes.find((each) => each.id === id)?.fit.rule?.level ?? null;
      const values = own.find((each) => each.aim === aim)?.values;
      expect(values?.map(({ labels }) => labels)).toEqual(points.map(({ labels }) => labels));
      for (const [i, { accuracy }] of points.entries())
        expect(mean(values?.[i].accuracy ?? [])).toBeCloseTo(accuracy.mean, 12);
    }
  });

  test("a level that none reaches is said to be open to a plan of its own", () => {
    const { reaches, answer } = planAtLevel(made, 1);
    if (!reaches) expect(answer.warnings[0]).toContain("make a plan for 1, which sets them for it");
    expect(() => planAtLevel(made, 80)).toThrow(planningTexts.level(80));
    expect(() => planAtLevel(made, Number.NaN)).toThrow(planningTexts.level(Number.NaN));
  });
});
