/** A chart of a reproduction as SVG, without digits that nobody sees. */
import type { ChartDescription } from "../core/chart-description.js";
import { renderSvg } from "./render.js";
import { reproductionChart } from "./reproduction-charts.js";

/** Hundredths of a pixel are enough for paths and places; what is written in the chart stays as it is. */
const rounded = (svg: string): string =>
  svg.replace(/ (?:d|transform|x1|x2|y1|y2|x|y|width|height)="[^"]*"/g, (attribute) =>
    attribute.replace(/-?\d+\.\d{3,}(?:e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(2)))),
  );

export const reproductionSvg = async (chart: ChartDescription): Promise<string> =>
  rounded(await renderSvg(reproductionChart(chart)));
