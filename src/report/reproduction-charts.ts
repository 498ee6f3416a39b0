/** Charts of a reproduction, from plain descriptions. */
import type { TopLevelSpec } from "vega-lite";
import type {
  ChartDescription,
  CurvesDescription,
  DesignsDescription,
  InformationDescription,
  SettingsDescription,
  TradeOffDescription,
} from "../core/chart-description.js";
import { chartLabels, HALO } from "./place-labels.js";
import {
  COLOURS,
  CONTEXT_COLOUR,
  chartTitle,
  legendBelow,
  niceDomain,
  PLOT_WIDTH,
  SENSITIVE_COLOUR,
  STYLE,
  TARGET_COLOUR,
  verticalTitle,
} from "./style.js";
import { textWidth, wrapped } from "./text-width.js";

const UNDECIDED_COLOUR = "#E69F00";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;
const ERRORS = "are one standard error over seeds";

/** In the order in which methods come, so that the same ones have the same colours in every figure. */
const colourOf = (points: readonly { readonly method: string }[], width = PLOT_WIDTH) => {
  const domain = [...new Set(points.map(({ method }) => method))];
  return {
    field: "method",
    type: "nominal" as const,
    title: null,
    scale: { domain, range: COLOURS.slice(0, domain.length) },
    legend: legendBelow(domain, width),
  };
};

const TRADE_OFF = { width: 440, height: 320 };
const LABEL_SIZE = 11;
const CORNER_SIZE = 12;

/** Whether a point is the first or the last of its line, or on none. */
const isEnd = (points: TradeOffDescription["points"], place: number): boolean => {
  const { method, labels, beta } = points[place];
  if (beta === undefined) return true;
  const betas = points
    .filter((other) => other.method === method && other.labels === labels)
    .flatMap((other) => other.beta ?? []);
  return beta === Math.min(...betas) || beta === Math.max(...betas);
};

/** Colours are methods, shapes are numbers of labels; points of one method are joined along beta. */
const tradeOff = ({ points, title, xTitle, yTitle, better }: TradeOffDescription): TopLevelSpec => {
  const sizes = [...new Set(points.map(({ labels }) => labels ?? 0))].sort((a, b) => a - b);
  const last = sizes[sizes.length - 1];
  const values = points.map((point) => ({ ...point, labels: point.labels ?? 0 }));
  const ends = (of: "x" | "y") => points.flatMap((point) => [point[of].low, point[of].high]);
  const [xDomain, yDomain] = [niceDomain(ends("x")), niceDomain(ends("y"))];
  const isLeft = better.includes("left");
  const words = textWidth(cornerText(isLeft), CORNER_SIZE) + 10;
  const written = chartLabels(
    points.map((point, place) => ({
      x: point.x.mean,
      y: point.y.mean,
      method: point.method,
      // Only the last of several sizes is labelled, or the words hide the points.
      text: (point.labels ?? 0) === last ? descriptionOf(point) : "",
      rank: isEnd(points, place) ? 0 : 1,
    })),
    {
      xDomain,
      yDomain,
      ...TRADE_OFF,
      fontSize: LABEL_SIZE,
      taken: [
        {
          left: isLeft ? 0 : TRADE_OFF.width - words,
          right: isLeft ? words : TRADE_OFF.width,
          top: 0,
          bottom: 1.2 * CORNER_SIZE + 8,
        },
      ],
    },
  );
  const x = {
    type: "quantitative" as const,
    title: xTitle,
    scale: { domain: xDomain, nice: false },
    // The first and the last label are moved inwards, and letters may be wider than they are taken to be.
    axis: { tickCount: 6 },
  };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle(yTitle, TRADE_OFF.height),
    scale: { domain: yDomain, nice: false },
  };
  const color = colourOf(points);
  const at = { x: { ...x, field: "x.mean" }, y: { ...y, field: "y.mean" }, color };
  const text = {
    type: "text" as const,
    align: "left" as const,
    baseline: "middle" as const,
    fontSize: LABEL_SIZE,
  };
  const shape = {
    field: "labels",
    type: "nominal" as const,
    title: "labels",
    legend: legendBelow(sizes.map(String)),
  };
  // Where several numbers of labels are shown, the earlier ones stand back.
  const opacity = (value: number, earlier: number) => ({
    condition: { test: `datum.labels === ${last}`, value },
    value: earlier,
  });
  return {
    $schema: SCHEMA,
    title: chartTitle(title, [
      `${better} is better; bars ${ERRORS}`,
      ...(written.missing === 0 ? [] : ["names stand where there is room; the tables have all numbers"]),
    ]),
    ...TRADE_OFF,
    data: { values },
    layer: [
      {
        transform: [{ filter: "isValid(datum.beta)" }],
        mark: { type: "line", strokeWidth: 1.5 },
        encoding: {
          ...at,
          opacity: opacity(0.45, 0.2),
          detail: { field: "labels", type: "nominal" },
          order: { field: "beta", type: "quantitative" },
        },
      },
      {
        mark: "rule",
        encoding: {
          ...at,
          opacity: opacity(0.35, 0.15),
          x: { ...x, field: "x.low" },
          x2: { field: "x.high" },
        },
      },
      {
        mark: "rule",
        encoding: {
          ...at,
          opacity: opacity(0.35, 0.15),
          y: { ...y, field: "y.low" },
          y2: { field: "y.high" },
        },
      },
      {
        mark: "point",
        encoding: { ...at, opacity: opacity(1, 0.4), ...(sizes.length > 1 ? { shape } : {}) },
      },
      ...[{ ...text, ...HALO }, text].map((mark, above) => ({
        data: { values: written.labels },
        mark,
        encoding: {
          x: { ...x, field: "labelX" },
          y: { ...y, field: "labelY" },
          text: { field: "text" },
          ...(above === 1 ? { color } : {}),
        },
      })),
      corner(better),
    ],
    config: STYLE,
  };
};

const cornerText = (left: boolean): string => (left ? "↖ better" : "better ↗");

/** An arrow into the corner that is better. */
const corner = (better: string) => {
  const left = better.includes("left");
  return {
    data: { values: [{}] },
    mark: {
      type: "text" as const,
      text: cornerText(left),
      align: left ? ("left" as const) : ("right" as const),
      baseline: "top" as const,
      dx: left ? 5 : -5,
      dy: 5,
      color: CONTEXT_COLOUR,
      fontSize: CORNER_SIZE,
    },
    encoding: { x: { value: left ? 0 : ("width" as const) }, y: { value: 0 } },
  };
};

const descriptionOf = ({ beta, label = "" }: TradeOffDescription["points"][number]): string =>
  beta === undefined ? label : `β ${beta}`;

/** There are many of them, one above the other. */
const CURVE_HEIGHT = 120;

/** A grid of panels: a row for each beta, a column for each metric, each metric on one scale. */
const curves = ({ points, title }: CurvesDescription): TopLevelSpec => {
  const order = (of: "row" | "column") => [...new Set(points.map((point) => point[of]))];
  const columns = order("column");
  const x = { field: "labels", type: "quantitative" as const, title: "labels acquired" };
  const color = colourOf(points, columns.length * 300);
  const columnOf = (column: string) => {
    const title = verticalTitle(column, CURVE_HEIGHT);
    const y = { type: "quantitative" as const, title, scale: { zero: false } };
    return {
      transform: [{ filter: { field: "column", equal: column } }],
      facet: { row: { field: "row", type: "nominal" as const, sort: order("row"), title: null } },
      spec: {
        width: 260,
        height: CURVE_HEIGHT,
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
    title: chartTitle(title, [`bands ${ERRORS}`], columns.length * 300),
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
    legend: legendBelow(["about the target", "about the sensitive part"]),
  };
  const y = { type: "quantitative" as const, title: "nats (lower bound)" };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, [`bands ${ERRORS}`]),
    data: { values: [...rows] },
    columns: Math.min(2, panels.length),
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

/** Both axes have one scale: it is a plane. */
const designs = ({ points, prior: [priorX, priorY], title }: DesignsDescription): TopLevelSpec => {
  const all = [priorX, priorY, ...points.flatMap(({ x, y }) => [x, y])];
  const scale = { domain: [Math.min(...all), Math.max(...all)], nice: true };
  const x = { field: "x", type: "quantitative" as const, title: "first coordinate (target)", scale };
  const y = { field: "y", type: "quantitative" as const, title: "second coordinate (sensitive)", scale };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, ["the cross is the prior mean of the source"], 380),
    width: 320,
    height: 320,
    layer: [
      {
        data: { values: [...points] },
        mark: { type: "point", opacity: 0.8 },
        encoding: { x, y, color: { field: "seed", type: "ordinal", title: "seed" } },
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

/** What a line of a chart of settings may be said to be. */
const DESCRIPTION_COLOURS: readonly (readonly [string, string])[] = [
  ["reproduced", TARGET_COLOUR],
  ["more than random", TARGET_COLOUR],
  ["undecided", UNDECIDED_COLOUR],
  ["differs", SENSITIVE_COLOUR],
  ["less than random", SENSITIVE_COLOUR],
  ["not run", CONTEXT_COLOUR],
];

/** A line for each setting under the name of its group, and the paper's value as a band through all of them. */
const settings = ({ rows, paper, xTitle, title, subtitle }: SettingsDescription): TopLevelSpec => {
  const groups = [...new Set(rows.map(({ group }) => group))];
  const lines = groups.flatMap((group) => [
    group,
    ...rows.filter((row) => row.group === group).map(({ setting }) => setting),
  ]);
  const isGroup = `indexof(${JSON.stringify(groups)}, datum.label) >= 0`;
  const x = { type: "quantitative" as const, title: xTitle, scale: { zero: false } };
  const y = {
    field: "setting",
    type: "nominal" as const,
    title: null,
    scale: { domain: lines },
    axis: {
      domain: false,
      ticks: false,
      grid: false,
      labelLimit: 0,
      labelFontWeight: { condition: { test: isGroup, value: "bold" as const }, value: "normal" as const },
    },
  };
  const shown = DESCRIPTION_COLOURS.filter(([name]) => rows.some((row) => row.description === name));
  const color = {
    field: "description",
    type: "nominal" as const,
    title: null,
    scale: {
      domain: shown.map(([name]) => name),
      range: shown.map(([, colour]) => colour),
    },
    legend: { orient: "top" as const },
  };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, [subtitle ?? `bars ${ERRORS}; the line and its band are the paper's`]),
    width: 420,
    height: { step: 15 },
    layer: [
      {
        data: { values: [paper] },
        mark: { type: "rect", color: CONTEXT_COLOUR, opacity: 0.25 },
        encoding: { x: { ...x, field: "low" }, x2: { field: "high" } },
      },
      {
        data: { values: [paper] },
        mark: { type: "rule", color: CONTEXT_COLOUR },
        encoding: { x: { ...x, field: "mean" } },
      },
      {
        data: { values: [...rows] },
        mark: { type: "rule", strokeWidth: 1.2 },
        encoding: { x: { ...x, field: "value.low" }, x2: { field: "value.high" }, y, color },
      },
      {
        data: { values: [...rows] },
        mark: "point",
        encoding: { x: { ...x, field: "value.mean" }, y, color },
      },
    ],
    config: STYLE,
  };
};

export const reproductionChart = (chart: ChartDescription): TopLevelSpec => {
  const spec = specOf(chart);
  const { title } = spec;
  if (chart.note === undefined || typeof title !== "object" || !("text" in title)) return spec;
  return {
    ...spec,
    title: { ...title, subtitle: [title.subtitle ?? [], wrapped(chart.note, PLOT_WIDTH, LABEL_SIZE)].flat() },
  } as TopLevelSpec;
};

const specOf = (chart: ChartDescription): TopLevelSpec => {
  switch (chart.kind) {
    case "trade-off":
      return tradeOff(chart);
    case "curves":
      return curves(chart);
    case "information":
      return information(chart);
    case "designs":
      return designs(chart);
    case "settings":
      return settings(chart);
  }
};

/** Whether there is anything to draw. */
export const hasPoints = (chart: ChartDescription): boolean =>
  ("rows" in chart ? chart.rows : chart.points).length > 0;
