/** The snapshots are the gallery: look at them when they change. */
import { compile } from "vega-lite";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import {
  designsChart,
  type FrontierRow,
  frontierChart,
  informationChart,
} from "../../src/report/design-charts.js";
import { renderSvg, requireCharts } from "../../src/report/render.js";

const row = (beta: number, horizon: number): FrontierRow => {
  const scale = Math.log1p(horizon) / (1 + beta);
  return {
    beta,
    horizon,
    target: { mean: 0.6 * scale + 0.2, standardError: 0.02 },
    sensitive: { mean: 0.4 * scale, standardError: 0.015 },
    sensitiveGivenTarget: { mean: 0.5 * scale, standardError: 0.025 },
  };
};
const rows = [5, 10].flatMap((horizon) => [0, 0.5, 1].map((beta) => row(beta, horizon)));
const stream = seededStream("charts");
const prior = Array.from({ length: 60 }, () => [stream.normal(3, 1), stream.normal(3, 1)]);
const places = [0, 0.8].flatMap((beta) =>
  Array.from({ length: 6 }, (_, i) => ({
    beta,
    observation: i + 1,
    design: [stream.normal(3 - 2 * beta, 1), stream.normal(3, 1)],
  })),
);
const times = [0.5, 1, 2, 8].map((time, i) => ({ beta: 0.8, observation: i + 1, design: [time] }));

const charts = {
  frontier: frontierChart(rows, { leakage: "sensitiveGivenTarget", subtitle: "an example" }),
  "frontier-one-horizon": frontierChart(rows.slice(0, 3), { leakage: "sensitive", subtitle: "an example" }),
  "information-by-beta": informationChart(rows, { against: "beta", subtitle: "an example" }),
  "information-by-horizon": informationChart(rows, { against: "horizon", subtitle: "an example" }),
  designs: designsChart(places, { variables: ["x", "y"], prior, subtitle: "an example", adaptive: false }),
  "designs-adaptive": designsChart(places, {
    variables: ["x", "y"],
    prior,
    subtitle: "an example",
    adaptive: true,
  }),
  "designs-one-variable": designsChart(times, {
    variables: ["time"],
    prior: [],
    subtitle: "an example",
    adaptive: false,
  }),
};

describe.each(Object.entries(charts))("%s", (name, chart) => {
  test("is a specification that Vega-Lite has nothing to say against", () => {
    const said: unknown[] = [];
    const hear = (...words: readonly unknown[]) => {
      said.push(...words);
      return logger;
    };
    const logger = { level: () => logger, error: hear, warn: hear, info: () => logger, debug: () => logger };
    compile(chart, { logger: logger as never });
    expect(said).toEqual([]);
  });

  test("is drawn without a browser, the same every time", async () => {
    const svg = await renderSvg(chart);
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>$/);
    expect(svg).not.toContain("NaN");
    expect(await renderSvg(chart)).toBe(svg);
    await expect(svg).toMatchFileSnapshot(`gallery/${name}.svg`);
  });
});

test("charts are there when Vega is", async () => {
  await expect(requireCharts()).resolves.toBeUndefined();
});
