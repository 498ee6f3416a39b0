/** Charts of a plan: the frontier of accuracy against parity, and both as labels come in. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "../core/chart-description.js";
import { chartLabels, HALO } from "./place-labels.js";
import {
  CONTEXT_COLOUR,
  chartTitle,
  labelsDomain,
  legendBelow,
  methodLook,
  niceDomain,
  STYLE,
  UNIT_RANGE,
  verticalTitle,
} from "./style.js";
import { textWidth } from "./text-width.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** A recipe with one setting of its rule. */
export interface FrontierPoint {
  readonly recipe: string;
  readonly x: number;
  readonly y: number;
  /** From no rule on, the order in which points are joined. */
  readonly order: number;
}

/** What was taken of a recipe, with its intervals. */
export interface ChosenPoint {
  readonly recipe: string;
  readonly x: ChartValue;
  readonly y: ChartValue;
  readonly recommended: boolean;
}

export interface FrontierChart {
  /** A line for each recipe that was compared to the end. */
  readonly lines: readonly FrontierPoint[];
  readonly chosen: readonly ChosenPoint[];
  /** Recipes that were dropped before. */
  readonly dropped: readonly { readonly x: number; readonly y: number }[];
  readonly level: number;
  readonly xTitle: string;
  /** All that have a colour, the same in every chart. */
  readonly recipes: readonly string[];
}

/** A dashed line where the level is, named. */
const levelRule = (level: number, channel: "x" | "y") => ({
  data: { values: [{ level }] },
  mark: { type: "rule" as const, strokeDash: [5, 4], color: CONTEXT_COLOUR, strokeWidth: 1.5 },
  encoding: { [channel]: { field: "level", type: "quantitative" as const } },
});

const FRONTIER = { width: 440, height: 320 };
const LABEL_SIZE = 12;
/** How much wider bold type is. */
const BOLD = 1.07;

const RECOMMENDED = "recommended";
const NAME_WIDTH = Math.ceil(textWidth(RECOMMENDED, LABEL_SIZE * BOLD));
/** What is free to the right of a plot. */
const EDGE = 12;

/** Accuracy against parity: lines of the recipes that were left, points of all. */
export const frontierChart = ({
  lines,
  chosen,
  dropped,
  level,
  xTitle,
  recipes: domain,
}: FrontierChart): TopLevelSpec => {
  const color = {
    field: "recipe",
    type: "nominal" as const,
    title: null,
    scale: { domain: [...domain], range: methodLook(domain).colours },
    legend: { ...legendBelow(domain, FRONTIER.width), symbolType: "circle" },
  };
  const all = (of: "x" | "y") => [
    ...[...dropped, ...lines].map((each) => each[of]),
    ...chosen.flatMap((each) => [each[of].low, each[of].high]),
  ];
  const xDomain = niceDomain(all("x"), { including: [level], within: UNIT_RANGE });
  const yDomain = niceDomain(all("y"), { within: UNIT_RANGE });
  const x = { type: "quantitative" as const, title: xTitle, scale: { domain: xDomain, nice: false } };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle("accuracy", FRONTIER.height),
    scale: { domain: yDomain, nice: false },
  };
  const recommended = chosen
    .filter((each) => each.recommended)
    .map((each) => ({ x: each.x.mean, y: each.y.mean }));
  const { labels } = chartLabels(
    [
      ...recommended.map((point) => ({ ...point, text: RECOMMENDED, rank: 0 })),
      ...[...dropped, ...lines, ...chosen.map((each) => ({ x: each.x.mean, y: each.y.mean }))].map(
        (point) => ({
          x: point.x,
          y: point.y,
          text: "",
          rank: 1,
        }),
      ),
    ],
    { xDomain, yDomain, ...FRONTIER, fontSize: LABEL_SIZE * BOLD },
  );
  const text = {
    type: "text" as const,
    // Where a page has less room than the places were looked for in, it would be cut off at the edge.
    align: { expr: `scale('x', datum.labelX) + ${NAME_WIDTH} > width + ${EDGE} ? 'right' : 'left'` },
    baseline: "middle" as const,
    fontSize: LABEL_SIZE,
    fontWeight: "bold" as const,
    text: RECOMMENDED,
  };
  // Where every place is taken it is written on top of what is there: this one has to be seen.
  const named =
    labels.length > 0 ? labels : recommended.map((point) => ({ ...point, labelX: point.x, labelY: point.y }));
  return {
    $schema: SCHEMA,
    title: chartTitle("What parity costs in accuracy", [
      "on rows that no choice saw; up and to the right is better, dashed: the level wanted",
      "lines: a recipe from no rule to a stricter and stricter one; grey: recipes dropped early, on fewer labels",
    ]),
    ...FRONTIER,
    layer: [
      levelRule(level, "x"),
      {
        data: { values: [...dropped] },
        mark: { type: "point", color: CONTEXT_COLOUR, size: 22, opacity: 0.55 },
        encoding: { x: { ...x, field: "x" }, y: { ...y, field: "y" } },
      },
      {
        data: { values: [...lines] },
        mark: { type: "line", strokeWidth: 1.5, point: { size: 18 } },
        encoding: {
          x: { ...x, field: "x" },
          y: { ...y, field: "y" },
          color,
          order: { field: "order", type: "quantitative" },
        },
      },
      {
        data: { values: [...chosen] },
        mark: { type: "rule", strokeWidth: 1 },
        encoding: {
          x: { ...x, field: "x.low" },
          x2: { field: "x.high" },
          y: { ...y, field: "y.mean" },
          color,
        },
      },
      {
        data: { values: [...chosen] },
        mark: { type: "rule", strokeWidth: 1 },
        encoding: {
          y: { ...y, field: "y.low" },
          y2: { field: "y.high" },
          x: { ...x, field: "x.mean" },
          color,
        },
      },
      {
        data: { values: [...chosen] },
        mark: { type: "point", size: 90 },
        encoding: { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" }, color },
      },
      ...[{ ...text, ...HALO }, text].map((mark) => ({
        data: { values: named.map(({ labelX, labelY }) => ({ labelX, labelY })) },
        mark,
        encoding: { x: { ...x, field: "labelX" }, y: { ...y, field: "labelY" } },
      })),
    ],
    config: STYLE,
  };
};

/** A recipe with one setting of its rule while recipes are tried out. */
export interface TrialPoint {
  /** How it asks: recipes that ask alike look alike. */
  readonly asking: string;
  readonly x: number;
  readonly y: number;
  /** No longer tried. */
  readonly dropped: boolean;
}

const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"];

/** Accuracy against parity while recipes are tried out: a point for each, faint where it was dropped. */
export const trialsChart = (
  points: readonly TrialPoint[],
  { level, xTitle }: { readonly level: number; readonly xTitle: string },
): TopLevelSpec => {
  const askings = [...new Set(points.map(({ asking }) => asking))];
  const channel = { field: "asking", type: "nominal" as const, title: null };
  const legend = legendBelow(askings, FRONTIER.width);
  const of = (channel: "x" | "y") => points.map((each) => each[channel]);
  return {
    $schema: SCHEMA,
    title: chartTitle("What parity costs in accuracy, so far", [
      "on the rows that the choice is made on; up and to the right is better, dashed: the level wanted",
      "a point is a recipe with one setting of its rule; faint ones were dropped",
    ]),
    ...FRONTIER,
    layer: [
      levelRule(level, "x"),
      {
        data: { values: [...points] },
        mark: { type: "point", size: 34, filled: true },
        encoding: {
          x: {
            field: "x",
            type: "quantitative",
            title: xTitle,
            scale: { domain: niceDomain(of("x"), { including: [level], within: UNIT_RANGE }), nice: false },
          },
          y: {
            field: "y",
            type: "quantitative",
            title: verticalTitle("accuracy", FRONTIER.height),
            scale: { domain: niceDomain(of("y"), { within: UNIT_RANGE }), nice: false },
          },
          color: { ...channel, scale: { domain: askings, range: methodLook(askings).colours }, legend },
          // By shape too: not everybody tells the colours apart.
          shape: {
            ...channel,
            scale: { domain: askings, range: askings.map((_, i) => SHAPES[i % SHAPES.length]) },
            legend,
          },
          opacity: {
            field: "dropped",
            type: "nominal",
            scale: { domain: [false, true], range: [1, 0.18] },
            legend: null,
          },
        },
      },
    ],
    config: STYLE,
  };
};

export interface LabelPoint {
  readonly recipe: string;
  readonly labels: number;
  readonly value: ChartValue;
}

const LABELS = { width: 440, height: 220 };

/** A measure against the number of labels, a line for every recipe with its interval as a band. */
export const labelsChart = (
  points: readonly LabelPoint[],
  {
    title,
    yTitle,
    level,
    recipes,
    bands = "bands are 95 % intervals",
  }: {
    readonly title: string;
    readonly yTitle: string;
    readonly level?: number | undefined;
    /** What the bands are, where they are not for other rows and other seeds. */
    readonly bands?: string | undefined;
    /** All that have a colour, the same in every chart. */
    readonly recipes: readonly string[];
  },
): TopLevelSpec => {
  const shown = [...new Set(points.map(({ recipe }) => recipe))];
  const color = {
    field: "recipe",
    type: "nominal" as const,
    title: null,
    scale: { domain: [...recipes], range: methodLook(recipes).colours },
    legend: { ...legendBelow(shown, LABELS.width), values: shown },
  };
  const x = {
    field: "labels",
    type: "quantitative" as const,
    title: "labels acquired",
    // Nobody gives half a label.
    axis: { tickMinStep: 1 },
    scale: { domain: labelsDomain(points.map(({ labels }) => labels)), nice: false },
  };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle(yTitle, LABELS.height),
    scale: {
      domain: niceDomain(
        points.flatMap(({ value }) => [value.low, value.high]),
        { including: level === undefined ? [] : [level], within: UNIT_RANGE },
      ),
      nice: false,
    },
  };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, [
      `${bands}, on rows that no choice saw${level === undefined ? "" : "; dashed: the level wanted"}`,
    ]),
    ...LABELS,
    layer: [
      ...(level === undefined ? [] : [levelRule(level, "y")]),
      {
        data: { values: [...points] },
        mark: { type: "area", opacity: 0.13 },
        encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
      },
      {
        data: { values: [...points] },
        mark: { type: "line", point: { size: 30 } },
        encoding: { x, y: { ...y, field: "value.mean" }, color },
      },
    ],
    config: STYLE,
  };
};
