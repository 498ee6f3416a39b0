/** One visual style for every chart: quiet axes, one typeface, colours that survive colour blindness and print. */
import type { Config } from "vega-lite";
import { shortest } from "../core/number-text.js";
import { textWidth, unwrapped, wrapped } from "./text-width.js";

/**
 * Okabe and Ito's palette without black and yellow, which is faint on white, and then darker colours of Tol's: twelve
 * that can be told apart.
 */
export const COLOURS = [
  "#0072B2",
  "#D55E00",
  "#009E73",
  "#CC79A7",
  "#56B4E9",
  "#E69F00",
  "#332288",
  "#882255",
  "#999933",
  "#6B7280",
  "#8C510A",
  "#117733",
];
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

/** Told apart where the colours come around again. */
const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"];
const DASHES = [
  [1, 0],
  [6, 3],
  [2, 2],
  [8, 3, 2, 3],
  [12, 4],
];

/** What a method looks like: no two are the same. */
export interface MethodLook {
  readonly colours: string[];
  readonly shapes: string[];
  readonly dashes: number[][];
}

/** The looks of methods, by name: a colour of its own, else the next of the palette that none of them has. */
export const methodLook = (methods: readonly string[]): MethodLook => {
  const taken = new Set(methods.flatMap((method) => METHOD_COLOURS[method] ?? []));
  const free = COLOURS.filter((colour) => !taken.has(colour));
  let next = 0;
  const places = methods.map((method) => {
    const own = METHOD_COLOURS[method];
    if (own !== undefined) return { colour: own, round: 0 };
    const at = next++;
    return { colour: free[at % free.length], round: Math.floor(at / free.length) };
  });
  return {
    colours: places.map(({ colour }) => colour),
    shapes: places.map(({ round }) => SHAPES[round % SHAPES.length]),
    dashes: places.map(({ round }) => DASHES[round % DASHES.length]),
  };
};

const INK = "#22272E";
const FAINT = "#E3E7EB";
const FONT = "Helvetica, Arial, sans-serif";
export const PLOT_WIDTH = 400;
export const PLOT_HEIGHT = 280;
/** Of axes and legends. */
const TITLE_SIZE = 12;
const LABEL_SIZE = 12;
const CHART_TITLE_SIZE = 14;

export const STYLE: Config = {
  background: "white",
  font: FONT,
  padding: 12,
  view: { stroke: null, continuousWidth: PLOT_WIDTH, continuousHeight: PLOT_HEIGHT },
  axis: {
    domainColor: CONTEXT_COLOUR,
    gridColor: FAINT,
    labelColor: INK,
    labelFontSize: LABEL_SIZE,
    tickColor: CONTEXT_COLOUR,
    titleColor: INK,
    titleFontSize: TITLE_SIZE,
    titleFontWeight: "normal",
    titlePadding: 8,
  },
  header: { labelColor: INK, labelFontSize: LABEL_SIZE, title: null, titleColor: INK },
  legend: {
    labelColor: INK,
    labelFontSize: LABEL_SIZE,
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
    fontSize: CHART_TITLE_SIZE,
    fontWeight: "bold",
    offset: 12,
    subtitleColor: "#57606A",
    subtitleFontSize: LABEL_SIZE,
    subtitlePadding: 4,
  },
  line: { strokeWidth: 2 },
  point: { filled: true, size: 50, opacity: 1 },
  errorbar: { rule: { strokeWidth: 1.2 } },
  range: { category: COLOURS, ordinal: { scheme: "viridis" } },
};

/** The title of a vertical axis, in two lines where it is long for the height of its plot. */
export const verticalTitle = (title: string, height = PLOT_HEIGHT): string | string[] => {
  if (textWidth(title, TITLE_SIZE) <= height) return title;
  const fromMiddle = (index: number) => Math.abs(index - title.length / 2);
  const spaces = [...title.matchAll(/ /g)].map(({ index }) => index);
  const [at] = spaces.sort((a, b) => fromMiddle(a) - fromMiddle(b));
  return at === undefined ? title : [title.slice(0, at), title.slice(at + 1)];
};

/** Title and subtitle of a chart, in lines that are no wider than it. */
export const chartTitle = (title: string, subtitle: readonly string[], width = PLOT_WIDTH + AXIS_WIDTH) => ({
  text: wrapped(title, width, CHART_TITLE_SIZE * BOLD),
  subtitle: subtitle.filter((line) => line !== "").flatMap((line) => wrapped(line, width, LABEL_SIZE)),
});

/** The same title and subtitle in lines of another width. */
export const titleLines = (
  {
    text,
    subtitle = [],
  }: {
    readonly text: string | readonly string[];
    readonly subtitle?: string | readonly string[] | undefined;
  },
  width: number,
) =>
  chartTitle(
    [text].flat().join(" "),
    unwrapped([subtitle].flat(), PLOT_WIDTH + AXIS_WIDTH, LABEL_SIZE),
    width,
  );
/** What an axis takes beside a plot. */
const AXIS_WIDTH = 60;
/** How much wider bold type is. */
const BOLD = 1.07;

/** A legend under a plot, in as many columns as its width has room for. */
export const legendBelow = (names: readonly string[], width = PLOT_WIDTH) => {
  const widest = Math.max(1, ...names.map((name) => textWidth(name, LABEL_SIZE)));
  return {
    orient: "bottom" as const,
    columns: Math.max(1, Math.min(names.length, Math.floor(width / (widest + SYMBOL_WIDTH)))),
  };
};
const SYMBOL_WIDTH = 30;

/** From and to round numbers around all values, with room where they are all the same, and not beyond what they can be. */
export const niceDomain = (
  values: readonly number[],
  {
    including = [],
    within: [least, most] = [-Infinity, Infinity],
  }: {
    readonly including?: readonly number[] | undefined;
    readonly within?: readonly [number, number] | undefined;
  } = {},
): [number, number] => {
  const all = [...values, ...including].filter(Number.isFinite);
  if (all.length === 0) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const range = high - low || Math.abs(low) / 5 || 1;
  const unit = 10 ** Math.floor(Math.log10(range / 5));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((each) => range / each <= 8) ?? range;
  const steps = [Math.floor(low / step + ROUNDING), Math.ceil(high / step - ROUNDING)];
  const [from, to] = steps[0] === steps[1] ? [steps[0] - 1, steps[1] + 1] : steps;
  // Through few digits: 0.3 and not 0.30000000000000004.
  const tidy = (value: number) => Math.min(most, Math.max(least, Number(shortest(value, 12))));
  return [tidy(from * step), tidy(to * step)];
};
const ROUNDING = 1e-9;

/** Shares, ratios, accuracies and AUCs. */
export const UNIT_RANGE = [0, 1] as const;

/** Of a number of labels: from nothing on where there is only one. */
export const labelsDomain = (labels: readonly number[]): [number, number] =>
  niceDomain(labels, { including: new Set(labels).size > 1 ? [] : [0] });

/**
 * Names along an axis or above panels, for a scale whose values are their places: Vega looks up texts in plain objects,
 * where `constructor` is found before anything was put in, and so it is with every text in an expression. One that
 * begins with what separates the names is in none of them.
 */
export const namesAt = (names: readonly string[]): string => {
  const escaped = JSON.stringify(names.map((name) => SEPARATOR + name).join("")).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `split(${escaped}, ${JSON.stringify(SEPARATOR)})[datum.value + 1]`;
};
/** In no name: those of a chart have no control characters. */
const SEPARATOR = "\u0001";
