/** Charts of a plan: the frontier of accuracy against parity, and both as labels come in. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "../core/chart-description.js";
import { CONTEXT_COLOUR, methodColours, STYLE, verticalTitle } from "./style.js";

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
    scale: { domain: [...domain], range: methodColours(domain) },
    legend: { orient: "bottom" as const, columns: 1, symbolType: "circle" },
  };
  const x = { type: "quantitative" as const, title: xTitle, scale: { zero: false } };
  const y = { type: "quantitative" as const, title: verticalTitle("accuracy"), scale: { zero: false } };
  return {
    $schema: SCHEMA,
    title: {
      text: "What parity costs in accuracy",
      subtitle: [
        "on rows that no choice saw; up and to the right is better, dashed: the level wanted",
        "lines: a recipe from no rule to a stricter and stricter one; grey: recipes dropped early, on fewer labels",
      ],
    },
    width: 560,
    height: 320,
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
      {
        data: { values: chosen.filter(({ recommended }) => recommended) },
        mark: { type: "text", dx: 9, dy: -10, align: "left", fontWeight: "bold", text: "recommended" },
        encoding: { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" } },
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

/** A measure against the number of labels, a line for every recipe with its interval as a band. */
export const labelsChart = (
  points: readonly LabelPoint[],
  {
    title,
    yTitle,
    level,
    recipes,
  }: {
    readonly title: string;
    readonly yTitle: string;
    readonly level?: number | undefined;
    /** All that have a colour, the same in every chart. */
    readonly recipes: readonly string[];
  },
): TopLevelSpec => {
  const color = {
    field: "recipe",
    type: "nominal" as const,
    title: null,
    scale: { domain: [...recipes], range: methodColours(recipes) },
    legend: {
      orient: "bottom" as const,
      columns: 1,
      values: [...new Set(points.map(({ recipe }) => recipe))],
    },
  };
  const x = { field: "labels", type: "quantitative" as const, title: "labels acquired" };
  const y = { type: "quantitative" as const, title: verticalTitle(yTitle), scale: { zero: false } };
  return {
    $schema: SCHEMA,
    title: {
      text: title,
      subtitle: `bands are 95 % intervals, on rows that no choice saw${level === undefined ? "" : "; dashed: the level wanted"}`,
    },
    width: 560,
    height: 220,
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
