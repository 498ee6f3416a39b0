/** The page of a plan: its charts (the snapshots are the gallery) and the lines that it tells to type. */
import { describe, expect, test } from "vitest";
import { frontierChart, labelsChart } from "../../src/report/plan-charts.js";
import { commandLines } from "../../src/report/plan-commands.js";
import { planReport } from "../../src/report/plan-report.js";
import { renderSvg } from "../../src/report/render.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { plan } from "../../src/workflows/plan.js";

const RECIPES = ["random + forest + fair rule", "EPIG + logistic + reweighed + fair rule"];
const value = (mean: number, error: number) => ({ mean, low: mean - error, high: mean + error });

const charts = {
  "plan-frontier": frontierChart({
    lines: RECIPES.flatMap((recipe, r) =>
      [0, 1, 2, 3].map((order) => ({
        recipe,
        x: 0.5 + 0.12 * order,
        y: 0.8 - 0.01 * order * order + 0.01 * r,
        order,
      })),
    ),
    chosen: RECIPES.map((recipe, r) => ({
      recipe,
      x: value(0.82 + 0.02 * r, 0.06),
      y: value(0.74 + 0.01 * r, 0.02),
      recommended: r === 1,
    })),
    dropped: [0, 1, 2, 3, 4].map((i) => ({ x: 0.45 + 0.1 * i, y: 0.7 + 0.015 * (i % 3) })),
    level: 0.8,
    xTitle: "demographic parity (ratio)",
    recipes: RECIPES,
  }),
  "plan-labels": labelsChart(
    RECIPES.flatMap((recipe, r) =>
      [50, 100, 200, 400].map((labels) => ({
        recipe,
        labels,
        value: value(0.85 - (8 + 2 * r) / labels, 5 / labels),
      })),
    ),
    { title: "Parity", yTitle: "demographic parity (ratio)", level: 0.8, recipes: RECIPES },
  ),
};

test.each(Object.entries(charts))("%s looks as in the gallery", async (name, chart) => {
  await expect(await renderSvg(chart)).toMatchFileSnapshot(`gallery/${name}.svg`);
});

describe("the page", () => {
  const { table, settings } = syntheticPool({ rows: 300, seed: 3 });
  const small = {
    parity: 0.8,
    labels: 12,
    methods: ["epig"],
    learners: ["forest"],
    trees: 3,
    minutes: 1e-9,
  } as const;

  test("has the answer first, every recipe, and no name as markup", async () => {
    const found = await plan(table, { ...settings, ...small });
    const sources = {
      table: "<pilot>.csv",
      target: "hired=yes & no",
      sensitive: ["a,b"],
      recipe: "my recipe.json",
    };
    const page = await planReport({ plan: found, name: "<b>pilot</b>", sources, seconds: 3 });
    expect(page.indexOf("Do this.")).toBeLessThan(page.indexOf("<figure>"));
    const unmet = { ...found, answer: { ...found.answer, unmet: "NOT MET: a parity." } };
    const said = await planReport({ plan: unmet, name: "pilot", sources, seconds: 3 });
    expect(said.indexOf("NOT MET: a parity.")).toBeLessThan(said.indexOf('class="lead"'));
    expect(said).toContain("NOT MET: a parity.");
    for (const { name } of found.recipes) expect(page).toContain(name);
    for (const text of found.answer.warnings) expect(page).toContain(text.replaceAll("'", "&#39;"));
    expect(page).toContain("&lt;b&gt;pilot&lt;/b&gt;");
    expect(page).not.toContain("<b>");
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("tells lines that a shell takes as they are meant", async () => {
    const found = await plan(table, { ...settings, ...small });
    const sources = { table: "it's.csv", target: "hired=yes & no", sensitive: ["a,b"], recipe: undefined };
    const [rank, fit, acquire] = commandLines(found, sources).map(({ line }) => line);
    expect(rank).toBe(
      "fairbed rank pool.csv --labelled labelled.csv --target 'hired=yes & no' --sensitive a,,b --recipe recipe.json",
    );
    expect(fit).toContain("--out model.json");
    expect(acquire).toContain("'it'\\''s.csv'");
  });
});
