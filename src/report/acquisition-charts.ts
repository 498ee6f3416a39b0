/** Charts of simulated acquisitions: what each method reaches, and how it gets there. */
import type { TopLevelSpec } from "vega-lite";
import type { ChartValue } from "../core/chart-description.js";
import { CONTEXT_COLOUR, STYLE, verticalTitle } from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** One method after all labels: a point of the trade-off. */
export interface TradeOffPoint {
  readonly method: string;
  readonly beta?: number | undefined;
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

/** Methods as points with both intervals; points of one method with several betas are joined along beta. */
export const tradeOffChart = (points: readonly TradeOffPoint[], options: TradeOffOptions): TopLevelSpec => {
  const values = points.map((point) => ({ ...point, label: labelOf(point) }));
  const x = { type: "quantitative" as const, title: options.xTitle, scale: { zero: false } };
  const y = { type: "quantitative" as const, title: verticalTitle(options.yTitle), scale: { zero: false } };
  const color = { field: "method", type: "nominal" as const, legend: null };
  const at = { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" }, color };
  return {
    $schema: SCHEMA,
    title: {
      text: options.title ?? "Accuracy and parity",
      subtitle: [options.subtitle, `${options.better} is better; bars are 95 % intervals over seeds`],
    },
    data: { values },
    layer: [
      {
        mark: { type: "line", opacity: 0.5, strokeWidth: 1.5 },
        encoding: { ...at, order: { field: "beta", type: "quantitative" } },
      },
      { mark: "rule", encoding: { ...at, x: { ...x, field: "x.low" }, x2: { field: "x.high" } } },
      { mark: "rule", encoding: { ...at, y: { ...y, field: "y.low" }, y2: { field: "y.high" } } },
      { mark: "point", encoding: at },
      {
        mark: { type: "text", align: "left", dx: 7, dy: -9, fontSize: 11 },
        encoding: { ...at, text: { field: "label" } },
      },
    ],
    config: STYLE,
  };
};

const labelOf = ({ method, beta }: TradeOffPoint): string =>
  beta === undefined ? method : `${method}, beta ${beta}`;

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
  const color = { field: "method", type: "nominal" as const, title: null };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: [subtitle, "bands are 95 % intervals over seeds"] },
    data: { values: [...points] },
    layer: [
      {
        mark: { type: "area", opacity: 0.15 },
        encoding: { x, y: { ...y, field: "value.low" }, y2: { field: "value.high" }, color },
      },
      { mark: "line", encoding: { x, y: { ...y, field: "value.mean" }, color } },
    ],
    config: STYLE,
  };
};

export interface CandidateBar {
  readonly candidate: string;
  readonly target: number;
  readonly cost: number;
}

/** Why each was chosen: what its label tells about the target, and beside it what its leakage costs. */
export const candidatesChart = (bars: readonly CandidateBar[], subtitle: string): TopLevelSpec => ({
  $schema: SCHEMA,
  title: { text: "Why these candidates", subtitle: [subtitle] },
  data: {
    values: bars.flatMap(({ candidate, target, cost }, rank) => [
      { candidate, rank, part: "information about the target", nats: target },
      { candidate, rank, part: "beta x leakage", nats: -cost },
    ]),
  },
  mark: "bar",
  encoding: {
    y: { field: "candidate", type: "nominal", title: null, sort: { field: "rank" } },
    x: { field: "nats", type: "quantitative", title: "nats", stack: "zero" },
    color: {
      field: "part",
      type: "nominal",
      title: null,
      scale: {
        domain: ["information about the target", "beta x leakage"],
        range: ["#0072B2", CONTEXT_COLOUR],
      },
    },
  },
  config: STYLE,
});
