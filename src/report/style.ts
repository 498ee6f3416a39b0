/** One visual style for every chart: quiet axes, one typeface, colours that survive colour blindness and print. */
import type { Config } from "vega-lite";

/** Okabe and Ito's palette, without black and with its yellow last: it is faint on white. */
export const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442"];
/** For what is good to have (the target) and for what should stay small (the sensitive part). */
export const TARGET_COLOUR = "#0072B2";
export const SENSITIVE_COLOUR = "#D55E00";
export const CONTEXT_COLOUR = "#9AA3AD";

/** Methods that have a colour of their own in every report. */
const METHOD_COLOURS: Readonly<Record<string, string>> = {
  random: "#009E73",
  EPIG: "#0072B2",
  FairBED: "#D55E00",
};

/** The colours of methods, by name: their own, else the next of the palette that none of them has. */
export const methodColours = (methods: readonly string[]): string[] => {
  const taken = new Set(methods.flatMap((method) => METHOD_COLOURS[method] ?? []));
  const free = COLOURS.filter((colour) => !taken.has(colour));
  let next = 0;
  return methods.map((method) => METHOD_COLOURS[method] ?? free[next++ % free.length]);
};

const INK = "#22272E";
const FAINT = "#E3E7EB";
const FONT = "Helvetica, Arial, sans-serif";
const PLOT_HEIGHT = 280;
/** Of axes and legends. */
const TITLE_SIZE = 12;

export const STYLE: Config = {
  background: "white",
  font: FONT,
  padding: 12,
  view: { stroke: null, continuousWidth: 380, continuousHeight: PLOT_HEIGHT },
  axis: {
    domainColor: CONTEXT_COLOUR,
    gridColor: FAINT,
    labelColor: INK,
    labelFontSize: 11,
    tickColor: CONTEXT_COLOUR,
    titleColor: INK,
    titleFontSize: TITLE_SIZE,
    titleFontWeight: "normal",
    titlePadding: 8,
  },
  header: { labelColor: INK, labelFontSize: 12, title: null, titleColor: INK },
  legend: {
    labelColor: INK,
    labelFontSize: 11,
    titleColor: INK,
    titleFontSize: TITLE_SIZE,
    titleFontWeight: "normal",
    labelLimit: 0,
    symbolOpacity: 1,
    symbolSize: 60,
  },
  title: {
    anchor: "start",
    color: INK,
    fontSize: 14,
    fontWeight: "bold",
    offset: 12,
    subtitleColor: "#57606A",
    subtitleFontSize: 12,
    subtitlePadding: 4,
  },
  line: { strokeWidth: 2 },
  point: { filled: true, size: 50, opacity: 1 },
  errorbar: { rule: { strokeWidth: 1.2 } },
  range: { category: COLOURS, ordinal: { scheme: "viridis" } },
};

/**
 * The title of a vertical axis, in two lines where it is long for the height of its plot: one that Vega takes to be
 * longer than the axis moves the title of the chart away, and a longer one runs into the next plot. Without a canvas,
 * Vega takes 0.8 em for each character.
 */
export const verticalTitle = (title: string, height = PLOT_HEIGHT): string | string[] => {
  if (0.8 * TITLE_SIZE * title.length <= height) return title;
  const fromMiddle = (index: number) => Math.abs(index - title.length / 2);
  const spaces = [...title.matchAll(/ /g)].map(({ index }) => index);
  const [at] = spaces.sort((a, b) => fromMiddle(a) - fromMiddle(b));
  return at === undefined ? title : [title.slice(0, at), title.slice(at + 1)];
};
