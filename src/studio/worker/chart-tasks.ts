/** Charts to SVG text, away from the page's own thread. */
import type { TopLevelSpec } from "vega-lite";
import { renderSvg } from "../../report/render.js";

/** Colours of the reports, which are on paper, as those of the page, which may be dark. */
const THEMED: readonly (readonly [RegExp, string])[] = [
  [/"#22272E"/gi, '"var(--ink)"'],
  [/"#57606A"/gi, '"var(--muted)"'],
  [/"#E3E7EB"/gi, '"var(--line)"'],
  [/"white"/gi, '"var(--ground)"'],
  [/"#0072B2"/gi, '"var(--epig)"'],
  [/"#D55E00"/gi, '"var(--fairbed)"'],
];

export const chartTasks = {
  async render({ spec }: { readonly spec: TopLevelSpec }): Promise<string> {
    const svg = await renderSvg(spec);
    return THEMED.reduce((text, [colour, own]) => text.replace(colour, own), svg);
  },
};
