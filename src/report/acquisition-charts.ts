/** Charts of simulated acquisitions: what each method reaches, and how it gets there. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "../core/chart-description.js";
import { CONTEXT_COLOUR, methodColours, STYLE, verticalTitle } from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** A method has one colour in every chart. */
const byMethod = (points: readonly { readonly method: string }[]) => {
  const domain = [...new Set(points.map(({ method }) => method))];
  return { field: "method", type: "nominal" as const, scale: { domain, range: methodColours(domain) } };
};

/** One method after all labels: a point of the trade-off. */
export interface TradeOffPoint {
  readonly method: string;
  readonly x: ChartValue;
  readonly y: ChartValue;
}

export interface TradeOffOptions {
  readonly title?: string | undefined;
  readonly subtitle: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** The corner that is better, as said under the title. */
  readonly better: string;
}

/** Methods as points with both intervals. */
export const tradeOffChart = (points: readonly TradeOffPoint[], options: TradeOffOptions): TopLevelSpec => {
  const x = { type: "quantitative" as const, title: options.xTitle, scale: { zero: false } };
  const y = { type: "quantitative" as const, title: verticalTitle(options.yTitle), scale: { zero: false } };
  const color = { ...byMethod(points), title: null };
  const at = { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" }, color };
  return {
    $schema: SCHEMA,
    title: {
      text: options.title ?? "Accuracy and parity",
      subtitle: [options.subtitle, `${options.better} is better; bars are 95 % intervals over seeds`],
    },
    data: { values: [...points] },
    layer: [
      { mark: "rule", encoding: { ...at, x: { ...x, field: "x.low" }, x2: { field: "x.high" } } },
      { mark: "rule", encoding: { ...at, y: { ...y, field: "y.low" }, y2: { field: "y.high" } } },
      { mark: "point", encoding: at },
    ],
    config: STYLE,
  };
};

/** One method at one number of labels. */
export interface CurvePoint {
  readonly method: string;
  readonly labels: number;
  readonly value: ChartValue;
}

/** A metric against the number of labels, a line for every method with its interval as a band. */
export const curveChart = (
  points: readonly CurvePoint[],
  { title, subtitle, yTitle }: { readonly title: string; readonly subtitle: string; readonly yTitle: string },
): TopLevelSpec => {
  const x = { field: "labels", type: "quantitative" as const, title: "labels acquired" };
  const y = { type: "quantitative" as const, title: verticalTitle(yTitle), scale: { zero: false } };
  const color = { ...byMethod(points), title: null };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: [subtitle, "bands are 95 % intervals over seeds"] },
    data: { values: [...points] },
    layer: [
      {
        mark: { type: "area", opacity: 0.15 },
        encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
      },
      // A method that has a value in one place only is a point.
      {
        mark: { type: "line", point: { size: 16 } },
        encoding: { x, y: { ...y, field: "value.mean" }, color },
      },
    ],
    config: STYLE,
  };
};

/** One group of one attribute, as one method asked for it. */
export interface CompositionPoint {
  readonly method: string;
  readonly group: string;
  /** Its share of what was acquired, and of all candidates. */
  readonly share: ChartValue;
  readonly population: number;
}

/** Who was asked: a panel for every group, a line for every method, and the group's share of the candidates as a rule. */
export const compositionChart = (
  points: readonly CompositionPoint[],
  { title, subtitle }: { readonly title: string; readonly subtitle: string },
): TopLevelSpec => {
  const methods = [...new Set(points.map(({ method }) => method))];
  const groups = [...new Set(points.map(({ group }) => group))];
  const y = {
    field: "method",
    type: "nominal" as const,
    title: null,
    sort: methods,
    axis: { labelLimit: 0 },
  };
  const x = {
    type: "quantitative" as const,
    title: "share of the labels acquired",
    scale: { domain: [0, 1] },
    axis: { format: "%", tickCount: 5 },
  };
  const color = { ...byMethod(points), legend: null };
  return {
    $schema: SCHEMA,
    title: {
      text: title,
      subtitle: [subtitle, "dashed: the group's share of all candidates; bars are 95 % intervals over seeds"],
    },
    data: { values: [...points] },
    facet: {
      row: {
        field: "group",
        type: "nominal",
        title: null,
        sort: groups,
        header: { labelAngle: 0, labelAlign: "left" },
      },
    },
    spec: {
      height: 24 * methods.length,
      width: 380,
      layer: [
        {
          mark: { type: "rule", strokeDash: [4, 3], color: CONTEXT_COLOUR, strokeWidth: 1.5 },
          encoding: { x: { ...x, field: "population", aggregate: "mean" } },
        },
        {
          mark: { type: "rule", strokeWidth: 1.5 },
          encoding: { y, x: { ...x, field: "share.low" }, x2: { field: "share.high" }, color },
        },
        { mark: "point", encoding: { y, x: { ...x, field: "share.mean" }, color } },
      ],
    },
    config: STYLE,
  };
};

/** One group of one attribute, as one method had asked for it by then. */
export interface CompositionCurvePoint extends CurvePoint {
  readonly group: string;
  /** Its share of all candidates. */
  readonly population: number;
}

/** The same as labels come in: a panel for every group, its share of the candidates as a rule. */
export const compositionCurveChart = (
  points: readonly CompositionCurvePoint[],
  { title, subtitle }: { readonly title: string; readonly subtitle: string },
): TopLevelSpec => {
  const groups = [...new Set(points.map(({ group }) => group))];
  const x = { field: "labels", type: "quantitative" as const, title: "labels acquired" };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle("share"),
    scale: { zero: false },
    axis: { format: "%", tickCount: 4 },
  };
  const color = { ...byMethod(points), title: null };
  return {
    $schema: SCHEMA,
    title: {
      text: title,
      subtitle: [
        subtitle,
        "dashed: the group's share of all candidates; bands are 95 % intervals over seeds; scales differ",
      ],
    },
    data: { values: [...points] },
    facet: {
      row: {
        field: "group",
        type: "nominal",
        title: null,
        sort: groups,
        header: { labelAngle: 0, labelAlign: "left" },
      },
    },
    // A rare group would not be seen on the scale of a common one.
    resolve: { scale: { y: "independent" } },
    spec: {
      height: 110,
      width: 380,
      layer: [
        {
          mark: { type: "rule", strokeDash: [4, 3], color: CONTEXT_COLOUR, strokeWidth: 1.5 },
          encoding: { y: { ...y, field: "population", aggregate: "mean" } },
        },
        {
          mark: { type: "area", opacity: 0.15 },
          encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
        },
        { mark: "line", encoding: { x, y: { ...y, field: "value.mean" }, color } },
      ],
    },
    config: STYLE,
  };
};
