/** Charts of simulated acquisitions: what each method reaches, and how it gets there. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "../core/chart-description.js";
import { type NotDrawn, notDrawnInPicture } from "./not-drawn.js";
import { shortName, shortNames } from "./short-names.js";
import {
  CONTEXT_COLOUR,
  chartTitle,
  labelsDomain,
  legendBelow,
  methodLook,
  namesAt,
  niceDomain,
  PLOT_WIDTH,
  STYLE,
  UNIT_RANGE,
  verticalTitle,
} from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** A method looks the same in every chart. */
const byMethod = (points: readonly { readonly method: string }[], width = PLOT_WIDTH) => {
  const domain = [...new Set(points.map(({ method }) => method))];
  const { colours, shapes, dashes } = methodLook(domain);
  const channel = { field: "method", type: "nominal" as const, title: null };
  const legend = legendBelow(domain, width);
  return {
    domain,
    color: { ...channel, scale: { domain, range: colours }, legend },
    shape: { ...channel, scale: { domain, range: shapes }, legend },
    strokeDash: { ...channel, scale: { domain, range: dashes }, legend: null },
  };
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

const ends = (values: readonly ChartValue[]): number[] => values.flatMap(({ low, high }) => [low, high]);

/** Methods as points with both intervals. */
export const tradeOffChart = (points: readonly TradeOffPoint[], options: TradeOffOptions): TopLevelSpec => {
  const x = {
    type: "quantitative" as const,
    title: options.xTitle,
    scale: {
      domain: niceDomain(ends(points.map(({ x: each }) => each)), { within: UNIT_RANGE }),
      nice: false,
    },
  };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle(options.yTitle),
    scale: {
      domain: niceDomain(ends(points.map(({ y: each }) => each)), { within: UNIT_RANGE }),
      nice: false,
    },
  };
  const { color, shape } = byMethod(points);
  const at = { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" }, color };
  return {
    $schema: SCHEMA,
    title: chartTitle(options.title ?? "Accuracy and parity", [
      options.subtitle,
      `${options.better} is better; bars are 95 % intervals over seeds`,
    ]),
    data: { values: [...points] },
    layer: [
      {
        mark: { type: "rule", opacity: 0.5 },
        encoding: { ...at, x: { ...x, field: "x.low" }, x2: { field: "x.high" } },
      },
      {
        mark: { type: "rule", opacity: 0.5 },
        encoding: { ...at, y: { ...y, field: "y.low" }, y2: { field: "y.high" } },
      },
      { mark: "point", encoding: { ...at, shape } },
    ],
    config: STYLE,
  };
};

/** A metric of one method after some labels. */
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
  const { domain, color, strokeDash } = byMethod(points);
  const x = {
    field: "labels",
    type: "quantitative" as const,
    title: "labels acquired",
    scale: { domain: labelsDomain(points.map(({ labels }) => labels)), nice: false },
  };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle(yTitle),
    scale: {
      domain: niceDomain(ends(points.map(({ value }) => value)), { within: UNIT_RANGE }),
      nice: false,
    },
  };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, [subtitle, "bands are 95 % intervals over seeds"]),
    data: { values: [...points] },
    layer: [
      {
        // Many bands on top of each other hide the lines.
        mark: { type: "area", opacity: domain.length > 4 ? 0.06 : 0.15 },
        encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
      },
      // A method that has a value in one place only is a point.
      {
        mark: { type: "line", point: { size: 16 } },
        encoding: { x, y: { ...y, field: "value.mean" }, color, strokeDash },
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

export interface CompositionOptions {
  readonly title: string;
  /** The attribute. */
  readonly subtitle: string;
  /** Groups that have no place in it. */
  readonly notDrawn?: NotDrawn | undefined;
}

/** Pixels for each method of a group, and between two groups. */
const METHOD_STEP = 11;
const GROUP_GAP = 8;

/** Places instead of names: see `namesAt`. */
const placed = <Point extends { readonly group: string }>(points: readonly Point[]) => {
  const groups = [...new Set(points.map(({ group }) => group))];
  const at = new Map(groups.map((group, place) => [group, place]));
  return {
    groups,
    labelExpr: namesAt(shortNames(groups)),
    values: points.map(({ group, ...point }) => ({ ...point, place: at.get(group) ?? 0 })),
  };
};

/** Who was asked: a band for every group, a line for every method, and the group's share of the candidates as a rule. */
export const compositionChart = (
  points: readonly CompositionPoint[],
  { title, subtitle, notDrawn }: CompositionOptions,
): TopLevelSpec => {
  const { groups, labelExpr, values } = placed(points);
  const { domain: methods, color, shape } = byMethod(points);
  const y = {
    field: "place",
    type: "ordinal" as const,
    title: null,
    scale: {
      domain: [...groups.keys()],
      paddingInner: GROUP_GAP / (GROUP_GAP + METHOD_STEP * methods.length),
    },
    axis: { labelExpr, labelLimit: 0, labelPadding: 8, ticks: false, domain: false, grid: false },
  };
  const yOffset = { field: "method", type: "nominal" as const, scale: { domain: methods } };
  const x = {
    type: "quantitative" as const,
    title: "share of the labels acquired",
    scale: {
      domain: niceDomain(
        points.flatMap(({ share, population }) => [share.high, population]),
        { including: [0], within: UNIT_RANGE },
      ),
      nice: false,
    },
    axis: { format: "%", tickCount: 5 },
  };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, [
      shortName(subtitle),
      "grey: the group's share of all candidates; bars are 95 % intervals over seeds",
      ...notDrawnInPicture(notDrawn),
    ]),
    width: PLOT_WIDTH,
    height: groups.length * (METHOD_STEP * methods.length + GROUP_GAP),
    data: { values },
    layer: [
      {
        mark: { type: "tick", color: CONTEXT_COLOUR, thickness: 2, bandSize: METHOD_STEP * methods.length },
        encoding: { y, x: { ...x, field: "population", aggregate: "mean" } },
      },
      {
        mark: { type: "rule", strokeWidth: 1.5 },
        encoding: { y, yOffset, x: { ...x, field: "share.low" }, x2: { field: "share.high" }, color },
      },
      { mark: "point", encoding: { y, yOffset, x: { ...x, field: "share.mean" }, color, shape } },
    ],
    config: STYLE,
  };
};

/** One group of one attribute, as one method had asked for it by then. */
export interface CompositionCurvePoint extends CurvePoint {
  readonly group: string;
  /** Its share of all candidates. */
  readonly population: number;
}

const PANEL = { width: 190, height: 90, columns: 2, between: 60 };

/** The same as labels come in: a panel for every group, its share of the candidates as a rule. */
export const compositionCurveChart = (
  points: readonly CompositionCurvePoint[],
  { title, subtitle, notDrawn }: CompositionOptions,
): TopLevelSpec => {
  const { groups, labelExpr, values } = placed(points);
  const columns = Math.min(PANEL.columns, groups.length);
  const width = columns === 1 ? PLOT_WIDTH : PANEL.width;
  const whole = columns * width + PANEL.between;
  const { domain: methods, color, strokeDash } = byMethod(points, whole);
  const x = {
    field: "labels",
    type: "quantitative" as const,
    title: "labels acquired",
    axis: { tickCount: 4 },
    scale: { domain: labelsDomain(points.map(({ labels }) => labels)), nice: false },
  };
  const y = {
    type: "quantitative" as const,
    title: "share",
    scale: { zero: false },
    axis: { format: "%", tickCount: 4 },
  };
  return {
    $schema: SCHEMA,
    title: chartTitle(
      title,
      [
        shortName(subtitle),
        "dashed: the group's share of all candidates; bands are 95 % intervals over seeds; scales differ",
        ...notDrawnInPicture(notDrawn),
      ],
      whole,
    ),
    data: { values },
    columns,
    facet: {
      field: "place",
      type: "ordinal",
      title: null,
      sort: [...groups.keys()],
      header: { labelExpr, labelLimit: 0 },
    },
    // A rare group would not be seen on the scale of a common one.
    resolve: { scale: { y: "independent" } },
    spec: {
      width,
      height: PANEL.height,
      layer: [
        {
          mark: { type: "rule", strokeDash: [4, 3], color: CONTEXT_COLOUR, strokeWidth: 1.5 },
          encoding: { y: { ...y, field: "population", aggregate: "mean" } },
        },
        {
          mark: { type: "area", opacity: methods.length > 4 ? 0.06 : 0.15 },
          encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
        },
        { mark: "line", encoding: { x, y: { ...y, field: "value.mean" }, color, strokeDash } },
      ],
    },
    config: STYLE,
  };
};
