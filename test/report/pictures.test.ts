/** Charts and pages as a browser shows them, with one group and with many: nothing piles up, nothing is cut off. */
import type { TopLevelSpec } from "vega-lite";
import { expect, test } from "vitest";
import {
  compositionChart,
  compositionCurveChart,
  curveChart,
  tradeOffChart,
} from "../../src/report/acquisition-charts.js";
import {
  adversariesChart,
  baseRatesChart,
  columnsChart,
  decompositionChart,
} from "../../src/report/audit-charts.js";
import {
  frontierChart as designFrontier,
  designsChart,
  type FrontierRow,
  informationChart,
} from "../../src/report/design-charts.js";
import { labelsChart, frontierChart as planFrontier } from "../../src/report/plan-charts.js";
import { renderSvg } from "../../src/report/render.js";
import { reproductionChart } from "../../src/report/reproduction-charts.js";
import { shortNames } from "../../src/report/short-names.js";
import { methodLook } from "../../src/report/style.js";
import { describeInChromium } from "../setup/chromium.js";
import { seeChart } from "./seen.js";

const value = (mean: number, error: number) => ({
  mean,
  low: Math.max(0, mean - error),
  high: Math.min(1, mean + error),
});
const counted = (count: number, name = "group number") =>
  Array.from({ length: count }, (_, at) => `${name} ${at}`);

/** Names that some file will have. */
const HOSTILE = [
  "<script>alert(1)</script>",
  "</text></svg><img src=x onerror=alert(1)>",
  "**bold** [link](http://example.org)",
  "constructor",
  "__proto__",
  "toString",
  "عربي نص طويل جدا",
  "日本語のグループ名",
  "\u202egpj.exe",
  "A".repeat(100),
  `${"A".repeat(60)}B${"A".repeat(39)}`,
  "1",
  "-0.0",
  'a"b',
  "two\nlines",
  "\u2028",
];

const sizes = {
  one: counted(1),
  two: counted(2),
  fifteen: counted(15),
  forty: counted(40),
  hostile: HOSTILE,
};

const composition = (groups: readonly string[], methods: readonly string[]) =>
  groups.flatMap((group, g) =>
    methods.map((method, m) => ({
      method,
      group,
      share: value(0.9 / (g + 1) / (m + 1), 0.03),
      population: 1 / groups.length,
    })),
  );
const bars = (names: readonly string[]) =>
  names.map((name, at) => ({ name, value: 0.1 + 0.8 / (at + 1), low: 0, high: 0.2 + 0.8 / (at + 1) }));

/** Every chart that has a line or a panel for each group. */
const byGroup: Readonly<Record<string, (groups: readonly string[]) => TopLevelSpec>> = {
  composition: (groups) =>
    compositionChart(composition(groups, ["random", "EPIG", "FairBED"]), {
      title: "Who was asked",
      subtitle: "race",
    }),
  "composition of many methods": (groups) =>
    compositionChart(composition(groups, counted(9, "method")), { title: "Who was asked", subtitle: "race" }),
  "composition curves": (groups) =>
    compositionCurveChart(
      composition(groups, ["random", "EPIG", "FairBED"]).flatMap(({ share, ...point }) =>
        [20, 40, 60].map((labels) => ({ ...point, labels, value: share })),
      ),
      { title: "Who was asked, as labels came in", subtitle: "race" },
    ),
  "base rates": (groups) =>
    baseRatesChart(bars(groups), "more than 50,000 dollars in a year and a half", "95 %", {
      names: ["small"],
      why: "too few rows",
    }),
  columns: (groups) =>
    columnsChart(
      bars(groups).map((bar) => ({ alone: bar, without: bar })),
      "nats",
      "95 %",
      3,
    ),
  adversaries: (groups) => adversariesChart(bars(groups), bars(groups), "bits", "95 %"),
  decomposition: (groups) =>
    decompositionChart(
      bars(groups).flatMap((bar) => ["reads it", "does not"].map((kind) => ({ ...bar, kind }))),
      "bars are 95 % intervals",
      ["reads it", "does not"],
    ),
};

const frontierRows = (betas: readonly number[], horizons: readonly number[], spread: number): FrontierRow[] =>
  horizons.flatMap((horizon) =>
    betas.map((beta) => ({
      beta,
      horizon,
      target: { mean: 0.3 * horizon - 0.02 * spread * beta, standardError: 0.05 },
      sensitive: { mean: 0.1 * horizon - spread * 0.05 * beta, standardError: 0.1 },
      sensitiveGivenTarget: { mean: 0.1 * horizon - spread * 0.05 * beta, standardError: 0.1 },
    })),
  );
const BETAS = [0, 0.1, 0.2, 0.4, 0.6, 0.8, 1];
const HORIZONS = [1, 2, 3, 4, 5, 6, 7, 8];
const subtitle = "location finding, static policy, conditional objective, 8 seeds";
const METHODS = counted(22, "a way of asking");

const others: Readonly<Record<string, TopLevelSpec>> = {
  "frontier of one horizon": designFrontier(frontierRows(BETAS, [3], 1), { leakage: "sensitive", subtitle }),
  "frontier of points that nearly coincide": designFrontier(frontierRows(BETAS, [3], 0.01), {
    leakage: "sensitiveGivenTarget",
    subtitle,
  }),
  "frontier of many horizons": designFrontier(frontierRows(BETAS, HORIZONS, 0.1), {
    leakage: "sensitive",
    subtitle,
  }),
  "information by beta": informationChart(frontierRows(BETAS, HORIZONS, 1), { against: "beta", subtitle }),
  "information by horizon": informationChart(frontierRows([0.5], HORIZONS, 1), {
    against: "horizon",
    subtitle,
  }),
  designs: designsChart(
    BETAS.map((beta) => ({ beta, observation: 1, design: [beta, 3 - beta] })),
    { variables: ["x", "y"], prior: [[3, 3]], subtitle, adaptive: false },
  ),
  "trade-off of many methods": tradeOffChart(
    METHODS.map((method, m) => ({ method, x: value(0.02 * m, 0.5), y: value(0.7, 0.4) })),
    { subtitle, xTitle: "demographic parity (ratio)", yTitle: "accuracy", better: "up and to the right" },
  ),
  "trade-off of equal points": tradeOffChart(
    ["random", "EPIG"].map((method) => ({ method, x: value(0, 0), y: value(0, 0) })),
    { subtitle, xTitle: "demographic parity (ratio)", yTitle: "accuracy", better: "up and to the right" },
  ),
  "curves of many methods": curveChart(
    METHODS.flatMap((method) => [20, 40].map((labels) => ({ method, labels, value: value(0.5, 0.5) }))),
    { title: "How well a model of these labels tells the groups apart", subtitle, yTitle: "AUC" },
  ),
  "a curve of one point": curveChart([{ method: "random", labels: 20, value: value(0, 0) }], {
    title: "Parity",
    subtitle,
    yTitle: "ratio of selection rates",
  }),
  "a plan's frontier": planFrontier({
    lines: counted(4, "EPIG at the fair boundary + logistic + reweighed + fair rule").flatMap((recipe, r) =>
      [0, 1, 2].map((order) => ({ recipe, x: 0.8 + 0.01 * order, y: 0.7 + 0.01 * r, order })),
    ),
    chosen: counted(4, "EPIG at the fair boundary + logistic + reweighed + fair rule").map((recipe, r) => ({
      recipe,
      x: value(0.8, 0.3),
      y: value(0.7, 0.1),
      recommended: r === 1,
    })),
    dropped: counted(30).map((_, at) => ({ x: 0.7 + 0.005 * at, y: 0.7 })),
    level: 0.8,
    xTitle: "demographic parity (ratio)",
    recipes: counted(4, "EPIG at the fair boundary + logistic + reweighed + fair rule"),
  }),
  "a plan's labels": labelsChart(
    ["one", "another"].flatMap((recipe) =>
      [10, 20].map((labels) => ({ recipe, labels, value: value(0.5, 0.5) })),
    ),
    { title: "Parity", yTitle: "demographic parity (ratio)", level: 0.8, recipes: ["one", "another"] },
  ),
  "a reproduction's trade-off": reproductionChart({
    kind: "trade-off",
    points: ["Random", "FairBED-EPIG", "FairBED, whole set"].flatMap((method) =>
      BETAS.flatMap((beta) =>
        [100, 400].map((labels) => ({
          method,
          beta,
          labels,
          x: value(0.8 + 0.003 * beta, 0.02),
          y: value(0.82 - 0.002 * beta, 0.02),
        })),
      ),
    ),
    title: "Census: target against sensitive accuracy",
    xTitle: "sensitive accuracy",
    yTitle: "target accuracy",
    better: "up and to the left",
  }),
};

test("no two methods look the same", () => {
  const { colours, shapes, dashes } = methodLook(METHODS);
  expect(new Set(METHODS.map((_, m) => `${colours[m]} ${shapes[m]}`)).size).toBe(METHODS.length);
  expect(new Set(METHODS.map((_, m) => `${colours[m]} ${dashes[m].join()}`)).size).toBe(METHODS.length);
  expect(new Set(colours.slice(0, 12)).size).toBe(12);
});

describeInChromium("charts in Chromium", (browser) => {
  test.each(
    Object.entries(byGroup).flatMap(([name, chart]) =>
      Object.entries(sizes).map(([size, groups]) => [name, size, chart, groups] as const),
    ),
  )("%s: %s", async (_, __, chart, groups) => {
    const svg = await renderSvg(chart(groups));
    expect(svg).not.toMatch(/<script|<img|<a |onerror=(?!alert)|javascript:/);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    const { texts, overlaps, outside, smallest } = await seeChart(browser(), svg);
    expect(overlaps).toEqual([]);
    expect(outside).toEqual([]);
    expect(smallest).toBeGreaterThanOrEqual(11);
    const shown = texts.map(({ text }) => text.trim());
    if (groups !== HOSTILE) expect(shown.filter((text) => /^[-−]0(\.0+)?%?$/.test(text))).toEqual([]);
    const names = shortNames(groups);
    expect(new Set(names).size).toBe(groups.length);
    for (const name of names) expect(shown.map((text) => text.replaceAll("\u00a0", " "))).toContain(name);
  });

  test.each(Object.entries(others))("%s", async (name, chart) => {
    const svg = await renderSvg(chart);
    expect(svg).not.toMatch(/NaN|undefined|Infinity|[>"]-0(\.0+)?</);
    const { overlaps, outside, smallest, texts } = await seeChart(browser(), svg);
    expect(overlaps).toEqual([]);
    expect(outside).toEqual([]);
    expect(smallest).toBeGreaterThanOrEqual(11);
    if (name === "a plan's frontier") expect(texts.map(({ text }) => text)).toContain("recommended");
    if (name === "trade-off of equal points") {
      // Ratios are not drawn below 0.
      expect(texts.map(({ text }) => text).filter((text) => /^[-−]\d/.test(text))).toEqual([]);
    }
  });
});
