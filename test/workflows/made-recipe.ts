/** A recipe, for tests that need one. */
import { RECIPE_FORMAT, type Recipe } from "../../src/workflows/recipe.js";

export const recipe: Recipe = {
  format: RECIPE_FORMAT,
  version: "0.0.0",
  description: "Ask.",
  requirement: { metric: "dp", level: 0.8, labels: 100, target: "hired=yes", sensitive: "sex" },
  acquisition: {
    method: "fairbed",
    beta: 3,
    shares: "population",
    randomPart: 0.25,
    reweigh: true,
    batch: 4,
  },
  fit: { learner: "logistic", reweigh: true, rule: { metric: "dp", level: 0.85 } },
  chosenOn: {
    table: "00",
    rows: 300,
    seeds: [0, 1],
    labels: 100,
    accuracy: { mean: 0.7, interval: [0.6, 0.8] },
    parity: { mean: 0.8, interval: null },
    verdict: "open",
  },
};
