/** Recipes as files: what is written is read, and what is damaged is refused with a sentence. */
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { readRecipe, recipeTexts } from "../../src/workflows/recipe.js";
import { recipe } from "./made-recipe.js";

test("what was written is read", () => {
  expect(readRecipe(JSON.parse(JSON.stringify(recipe)))).toEqual(recipe);
  const { rule: _, ...fit } = recipe.fit;
  expect(readRecipe({ ...recipe, fit }).fit.rule).toBeUndefined();
  const shares = { f: 0.5, m: 0.5 };
  expect(
    readRecipe({ ...recipe, acquisition: { ...recipe.acquisition, shares } }).acquisition.shares,
  ).toEqual(shares);
});

describe("what is refused", () => {
  const refused = (given: unknown): string => {
    try {
      readRecipe(given);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      return (error as Error).message;
    }
    return "nothing";
  };

  test.each([[null], ["recipe"], [[]], [{}], [{ format: "fairbed-acquisition-1" }]])(
    "what is no recipe: %j",
    (given) => {
      expect(refused(given)).toBe(recipeTexts.format);
    },
  );

  test("one of another version", () => {
    expect(refused({ ...recipe, format: "fairbed-recipe-9" })).toBe(recipeTexts.newer("fairbed-recipe-9"));
  });

  test.each([
    ["acquisition.method", { acquisition: { ...recipe.acquisition, method: "telepathy" } }],
    ["acquisition.beta", { acquisition: { ...recipe.acquisition, beta: -1 } }],
    ["acquisition.shares", { acquisition: { ...recipe.acquisition, shares: "most" } }],
    ["acquisition.shares", { acquisition: { ...recipe.acquisition, shares: {} } }],
    ["acquisition.randomPart", { acquisition: { ...recipe.acquisition, randomPart: 2 } }],
    ["acquisition.reweigh", { acquisition: { ...recipe.acquisition, reweigh: "yes" } }],
    ["acquisition.batch", { acquisition: { ...recipe.acquisition, batch: 0 } }],
    ["acquisition", { acquisition: undefined }],
    ["fit.learner", { fit: { ...recipe.fit, learner: "oracle" } }],
    ["fit.reweigh", { fit: { learner: "forest" } }],
    ["fit.rule", { fit: { ...recipe.fit, rule: true } }],
    ["fit.rule.metric", { fit: { ...recipe.fit, rule: { metric: "x", level: 0.8 } } }],
    ["fit.rule.level", { fit: { ...recipe.fit, rule: { metric: "dp", level: 80 } } }],
    ["requirement.metric", { requirement: { ...recipe.requirement, metric: "x" } }],
    ["requirement.level", { requirement: { ...recipe.requirement, level: 0 } }],
    ["requirement.labels", { requirement: { ...recipe.requirement, labels: 1.5 } }],
    ["chosenOn.seeds", { chosenOn: { ...recipe.chosenOn, seeds: 3 } }],
    ["chosenOn.parity", { chosenOn: { ...recipe.chosenOn, parity: 0.8 } }],
  ])("a wrong %s", (path, change) => {
    const said = refused({ ...recipe, ...change });
    expect(said).toContain(`the recipe's ${path} is missing or wrong`);
  });
});
