/** The snapshots are the gallery: look at them when they change. */
import { compile } from "vega-lite";
import { describe, expect, test } from "vitest";
import {
  compositionChart,
  compositionCurveChart,
  curveChart,
  tradeOffChart,
} from "../../src/report/acquisition-charts.js";
import { renderSvg } from "../../src/report/render.js";

const METHODS = ["random", "EPIG", "FairBED"];
const value = (mean: number, error: number) => ({ mean, low: mean - error, high: mean + error });

const charts = {
  "acquisition-trade-off": tradeOffChart(
    METHODS.map((method, m) => ({
      method,
      x: value(0.55 + 0.07 * m, 0.05),
      y: value(0.74 - 0.01 * m, 0.015),
    })),
    {
      subtitle: "an example",
      xTitle: "demographic parity (ratio)",
      yTitle: "accuracy",
      better: "up and to the right",
    },
  ),
  "acquisition-curves": curveChart(
    METHODS.flatMap((method, m) =>
      [12, 30, 60, 120].map((labels) => ({
        method,
        labels,
        value: value(0.8 - 2 / labels - 0.01 * m, 0.5 / labels),
      })),
    ),
    { title: "Accuracy", subtitle: "an example", yTitle: "accuracy" },
  ),
  "acquisition-composition": compositionChart(
    METHODS.flatMap((method, m) => [
      { method, group: "A", share: value(0.48 - 0.2 * m, 0.05), population: 0.48 },
      { method, group: "B", share: value(0.52 + 0.2 * m, 0.05), population: 0.52 },
    ]),
    { title: "Who was asked", subtitle: "an example" },
  ),
  "acquisition-composition-curves": compositionCurveChart(
    METHODS.flatMap((method, m) =>
      [12, 30, 60, 120].flatMap((labels) => {
        const drift = 0.2 * m * (1 - 12 / labels);
        return [
          { method, group: "A", labels, value: value(0.9 - drift, 1 / labels), population: 0.9 },
          { method, group: "B", labels, value: value(0.1 + drift, 1 / labels), population: 0.1 },
        ];
      }),
    ),
    { title: "Who was asked, as labels came in", subtitle: "an example" },
  ),
};

describe.each(Object.entries(charts))("%s", (name, chart) => {
  test("looks as in the gallery", async () => {
    await expect(await renderSvg(chart)).toMatchFileSnapshot(`gallery/${name}.svg`);
  });

  test("every method has its colour by its place", () => {
    const colours = compile(chart).spec.scales?.find(({ name: scale }) => scale === "color");
    expect(colours).toMatchObject({ domain: METHODS });
  });
});
