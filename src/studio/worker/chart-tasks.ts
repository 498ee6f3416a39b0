/** Charts to SVG text, away from the page's own thread. */
import type { TopLevelSpec } from "vega-lite";
import { fitChart } from "../../report/fit-chart.js";
import { renderSvg } from "../../report/render.js";

/** Colours of the reports, which are on paper, as those of the page, which may be dark. */
const THEMED: readonly (readonly [RegExp, string])[] = [
  [/"#22272E"/gi, '"var(--ink)"'],
  [/"#57606A"/gi, '"var(--muted)"'],
  [/"#E3E7EB"/gi, '"var(--line)"'],
  [/"white"/gi, '"var(--ground)"'],
  [/"black"/gi, '"var(--ink)"'],
  [/"#0072B2"/gi, '"var(--epig)"'],
  [/"#D55E00"/gi, '"var(--fairbed)"'],
];

export const chartTasks = {
  /** `width` is what the page has room for, in pixels. */
  async render({ spec, width }: { readonly spec: TopLevelSpec; readonly width: number }): Promise<string> {
    const svg = await renderSvg(fitChart(spec, width));
    return THEMED.reduce((text, [colour, own]) => text.replace(colour, own), svg);
  },
};
