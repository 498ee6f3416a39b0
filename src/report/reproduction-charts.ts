/** Charts of a reproduction, from plain descriptions. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "./acquisition-charts.js";
import { CONTEXT_COLOUR, SENSITIVE_COLOUR, STYLE, TARGET_COLOUR } from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;
const ERRORS = "are one standard error over seeds";

export interface TradeOffDescription {
  readonly kind: "trade-off";
  readonly points: readonly {
    readonly method: string;
    readonly beta?: number;
    /** Written beside a point without a beta. */
    readonly label?: string;
    readonly labels?: number;
    readonly x: ChartValue;
    readonly y: ChartValue;
  }[];
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** The corner that is better, in words. */
  readonly better: string;
}

export interface CurvesDescription {
  readonly kind: "curves";
  readonly points: readonly {
    readonly row: string;
    readonly column: string;
    readonly method: string;
    readonly labels: number;
    readonly value: ChartValue;
  }[];
  readonly title: string;
}

export interface InformationDescription {
  readonly kind: "information";
  readonly rows: readonly {
    readonly panel: string;
    readonly x: number;
    readonly about: string;
    readonly value: ChartValue;
  }[];
  readonly xTitle: string;
  readonly title: string;
}

export interface DesignsDescription {
  readonly kind: "designs";
  readonly points: readonly { readonly seed: number; readonly x: number; readonly y: number }[];
  readonly prior: readonly [number, number];
  readonly title: string;
}

export type ReproductionChart =
  | TradeOffDescription
  | CurvesDescription
  | InformationDescription
  | DesignsDescription;

/** In the order in which methods come, so that the same ones have the same colours in every figure. */
const colourOf = (points: readonly { readonly method: string }[]) => ({
  field: "method",
  type: "nominal" as const,
  title: null,
  scale: { domain: [...new Set(points.map(({ method }) => method))] },
});

/** Colours are methods, shapes are numbers of labels; points of one method are joined along beta. */
const tradeOff = ({ points, title, xTitle, yTitle, better }: TradeOffDescription): TopLevelSpec => {
  const sizes = [...new Set(points.map(({ labels }) => labels ?? 0))].sort((a, b) => a - b);
  const last = sizes[sizes.length - 1];
  const values = points.map((point) => ({
    ...point,
    labels: point.labels ?? 0,
    // Only the last of several sizes is labelled, or the words hide the points.
    says: (point.labels ?? 0) === last ? saysOf(point) : "",
  }));
  const x = { type: "quantitative" as const, title: xTitle, scale: { zero: false } };
  const y = { type: "quantitative" as const, title: yTitle, scale: { zero: false } };
  const color = colourOf(points);
  const at = { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" }, color };
  const shape = { field: "labels", type: "nominal" as const, title: "labels" };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: [`${better} is better; bars ${ERRORS}`] },
    data: { values },
    layer: [
      {
        transform: [{ filter: "isValid(datum.beta)" }],
        mark: { type: "line", opacity: 0.45, strokeWidth: 1.5 },
        encoding: {
          ...at,
          detail: { field: "labels", type: "nominal" },
          order: { field: "beta", type: "quantitative" },
        },
      },
      {
        mark: { type: "rule", opacity: 0.35 },
        encoding: { ...at, x: { ...x, field: "x.low" }, x2: { field: "x.high" } },
      },
      {
        mark: { type: "rule", opacity: 0.35 },
        encoding: { ...at, y: { ...y, field: "y.low" }, y2: { field: "y.high" } },
      },
      { mark: "point", encoding: { ...at, ...(sizes.length > 1 ? { shape } : {}) } },
      {
        mark: { type: "text", align: "left", dx: 6, dy: -7, fontSize: 10 },
        encoding: { ...at, text: { field: "says" } },
      },
    ],
    config: STYLE,
  };
};

const saysOf = ({ beta, label = "" }: TradeOffDescription["points"][number]): string =>
  beta === undefined ? label : `β ${beta}`;

/** A grid of panels: a row for each beta, a column for each metric, each metric on one scale. */
const curves = ({ points, title }: CurvesDescription): TopLevelSpec => {
  const order = (of: "row" | "column") => [...new Set(points.map((point) => point[of]))];
  const columns = order("column");
  const x = { field: "labels", type: "quantitative" as const, title: "labels acquired" };
  const color = colourOf(points);
  const columnOf = (column: string) => {
    const y = { type: "quantitative" as const, title: column, scale: { zero: false } };
    return {
      transform: [{ filter: { field: "column", equal: column } }],
      facet: { row: { field: "row", type: "nominal" as const, sort: order("row"), title: null } },
      spec: {
        width: 260,
        height: 120,
        layer: [
          {
            mark: { type: "area" as const, opacity: 0.15 },
            encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
          },
          {
            mark: { type: "line" as const, strokeWidth: 1.5 },
            encoding: { x, y: { ...y, field: "value.mean" }, color },
          },
        ],
      },
    };
  };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: [`bands ${ERRORS}`] },
    data: { values: [...points] },
    hconcat: columns.map(columnOf),
    config: STYLE,
  };
};

const information = ({ rows, xTitle, title }: InformationDescription): TopLevelSpec => {
  const panels = [...new Set(rows.map(({ panel }) => panel))];
  const x = { field: "x", type: "quantitative" as const, title: xTitle };
  const color = {
    field: "about",
    type: "nominal" as const,
    title: null,
    scale: {
      domain: ["about the target", "about the sensitive part"],
      range: [TARGET_COLOUR, SENSITIVE_COLOUR],
    },
  };
  const y = { type: "quantitative" as const, title: "nats (lower bound)" };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: [`bands ${ERRORS}`] },
    data: { values: [...rows] },
    columns: 2,
    facet: { field: "panel", type: "nominal", sort: panels, title: null },
    spec: {
      width: panels.length > 1 ? 260 : 380,
      height: panels.length > 1 ? 200 : 280,
      layer: [
        {
          mark: { type: "area", opacity: 0.18 },
          encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
        },
        {
          mark: { type: "line", point: { size: 36, filled: true } },
          encoding: { x, y: { ...y, field: "value.mean" }, color },
        },
      ],
    },
    config: STYLE,
  };
};

const designs = ({ points, prior: [priorX, priorY], title }: DesignsDescription): TopLevelSpec => {
  const x = { field: "x", type: "quantitative" as const, title: "first coordinate (target)" };
  const y = { field: "y", type: "quantitative" as const, title: "second coordinate (sensitive)" };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: ["the cross is the prior mean of the source"] },
    width: 320,
    height: 320,
    layer: [
      {
        data: { values: [...points] },
        mark: { type: "point", opacity: 0.8 },
        encoding: { x, y, color: { field: "seed", type: "nominal", title: "seed" } },
      },
      {
        data: { values: [{ x: priorX, y: priorY }] },
        mark: { type: "point", shape: "cross", size: 120, color: CONTEXT_COLOUR },
        encoding: { x, y },
      },
    ],
    config: STYLE,
  };
};

export const reproductionChart = (chart: ReproductionChart): TopLevelSpec => {
  if (chart.kind === "trade-off") return tradeOff(chart);
  if (chart.kind === "curves") return curves(chart);
  return chart.kind === "information" ? information(chart) : designs(chart);
};

/** Whether there is anything to draw. */
export const hasPoints = (chart: ReproductionChart): boolean =>
  (chart.kind === "information" ? chart.rows : chart.points).length > 0;
