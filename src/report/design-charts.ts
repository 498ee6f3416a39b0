/** Charts of what policies reach and where they look, as Vega-Lite specifications over plain rows. */
import type { TopLevelSpec } from "vega-lite";
import { CONTEXT_COLOUR, SENSITIVE_COLOUR, STYLE, TARGET_COLOUR, verticalTitle } from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** A mean over seeds with its standard error, in nats. */
export interface MeanWithError {
  readonly mean: number;
  readonly standardError: number;
}

/** What policies with one beta and horizon reach. */
export interface FrontierRow {
  readonly beta: number;
  readonly horizon: number;
  readonly target: MeanWithError;
  readonly sensitive: MeanWithError;
  readonly sensitiveGivenTarget: MeanWithError;
}

export type Leakage = "sensitive" | "sensitiveGivenTarget";

const LEAKAGE_TITLES: Readonly<Record<Leakage, string>> = {
  sensitive: "leakage about the sensitive part (nats)",
  sensitiveGivenTarget: "leakage about the sensitive part, given the target (nats)",
};
const TARGET_TITLE = "information about the target (nats)";

const ends = ({ mean, standardError }: MeanWithError) => ({
  mean,
  low: mean - 2 * standardError,
  high: mean + 2 * standardError,
});

/** Fairness against utility: one point for each beta, joined along beta, one line for each horizon. */
export const frontierChart = (
  rows: readonly FrontierRow[],
  { leakage, subtitle }: { readonly leakage: Leakage; readonly subtitle: string },
): TopLevelSpec => {
  const values = rows.map(({ beta, horizon, target, [leakage]: leaked }) => ({
    beta,
    horizon,
    target: ends(target),
    leakage: ends(leaked),
  }));
  const many = new Set(rows.map(({ horizon }) => horizon)).size > 1;
  const colour = many
    ? { field: "horizon", type: "nominal" as const, title: "observations" }
    : { value: TARGET_COLOUR };
  const x = { type: "quantitative" as const, title: LEAKAGE_TITLES[leakage], scale: { zero: true } };
  const y = { type: "quantitative" as const, title: verticalTitle(TARGET_TITLE), scale: { zero: true } };
  const at = {
    x: { ...x, field: "leakage.mean" },
    y: { ...y, field: "target.mean" },
    color: colour,
  };
  return {
    $schema: SCHEMA,
    title: {
      text: "What fairness costs",
      subtitle: [subtitle, "up and to the left is better; bars are two standard errors"],
    },
    data: { values },
    layer: [
      {
        mark: { type: "line", opacity: 0.5, strokeWidth: 1.5 },
        encoding: { ...at, order: { field: "beta", type: "quantitative" } },
      },
      {
        mark: { type: "rule" },
        encoding: { ...at, x: { ...x, field: "leakage.low" }, x2: { field: "leakage.high" } },
      },
      {
        mark: { type: "rule" },
        encoding: { ...at, y: { ...y, field: "target.low" }, y2: { field: "target.high" } },
      },
      { mark: { type: "point" }, encoding: at },
      {
        mark: { type: "text", align: "left", dx: 7, dy: 9, fontSize: 11 },
        encoding: { ...at, text: { field: "label" } },
        transform: [{ calculate: "'β = ' + datum.beta", as: "label" }],
      },
    ],
    config: STYLE,
  };
};

/** Information and leakage against beta or against the horizon; one panel for each value of the other. */
export const informationChart = (
  rows: readonly FrontierRow[],
  { against, subtitle }: { readonly against: "beta" | "horizon"; readonly subtitle: string },
): TopLevelSpec => {
  const other = against === "beta" ? "horizon" : "beta";
  const names = {
    target: "about the target",
    sensitive: "about the sensitive part",
    sensitiveGivenTarget: "the same, given the target",
  } as const;
  const values = rows.flatMap((row) =>
    (Object.keys(names) as (keyof typeof names)[]).map((name) => ({
      [against]: row[against],
      panel: other === "beta" ? `β = ${row.beta}` : `${row.horizon} observations`,
      about: names[name],
      ...ends(row[name]),
    })),
  );
  const panels = [...new Set(values.map(({ panel }) => panel))];
  const domain = Object.values(names);
  const x = {
    field: against,
    type: "quantitative" as const,
    title: against === "beta" ? "β, what a nat of leakage costs" : "observations",
    axis: against === "horizon" ? { tickMinStep: 1, format: "d" } : {},
    scale: { zero: against === "beta" },
  };
  const color = {
    field: "about",
    type: "nominal" as const,
    title: null,
    scale: { domain, range: [TARGET_COLOUR, SENSITIVE_COLOUR, "#E69F00"] },
  };
  return {
    $schema: SCHEMA,
    title: {
      text: against === "beta" ? "Information against β" : "Information against the number of observations",
      subtitle: [subtitle, "bands are two standard errors"],
    },
    data: { values },
    columns: 3,
    facet: { field: "panel", type: "nominal", sort: panels },
    spec: {
      width: panels.length > 1 ? 240 : 380,
      height: panels.length > 1 ? 190 : 280,
      layer: [
        {
          mark: { type: "area", opacity: 0.18 },
          encoding: {
            x,
            y: { field: "low", type: "quantitative" },
            y2: { field: "high" },
            color,
          },
        },
        {
          mark: { type: "line", point: { size: 36, filled: true } },
          encoding: {
            x,
            y: { field: "mean", type: "quantitative", title: "nats" },
            color,
          },
        },
      ],
    },
    config: STYLE,
  };
};

/** A place where a policy looked. */
export interface DesignRow {
  readonly beta: number;
  /** 1 for the first observation. */
  readonly observation: number;
  /** One number for each design variable. */
  readonly design: readonly number[];
}

/** Where policies look: in the plane of the first two design variables, or along the only one; a panel for each beta. */
export const designsChart = (
  rows: readonly DesignRow[],
  {
    variables,
    prior,
    subtitle,
    adaptive,
  }: {
    readonly variables: readonly string[];
    /** Draws of the prior in the same plane, where that makes sense. */
    readonly prior: readonly (readonly number[])[];
    readonly subtitle: string;
    /** Many simulated experiments and not one list of designs: coloured by the observation. */
    readonly adaptive: boolean;
  },
): TopLevelSpec => {
  const plane = variables.length > 1;
  const panel = (beta: number) => `β = ${beta}`;
  const betas = [...new Set(rows.map(({ beta }) => beta))].sort((a, b) => a - b);
  const values = [
    ...betas.flatMap((beta) =>
      plane ? prior.map(([x, y]) => ({ kind: "prior", panel: panel(beta), x, y, observation: 0 })) : [],
    ),
    ...rows.map(({ beta, observation, design: [x, y] }) => ({
      kind: "design",
      panel: panel(beta),
      x,
      y: plane ? y : observation,
      observation,
    })),
  ];
  const extent = (axis: "x" | "y"): [number, number] => {
    const all = values.map((value) => value[axis]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const margin = 0.04 * (high - low || 1);
    return [low - margin, high + margin];
  };
  const [left, right] = extent("x");
  const [bottom, top] = extent("y");
  const widest = betas.length > 1 ? 220 : 340;
  // The same scale on both axes of a plane, so that a circle is a circle.
  const ratio = plane ? Math.min(2, Math.max(0.4, (top - bottom) / (right - left))) : 0.5;
  const x = {
    field: "x",
    type: "quantitative" as const,
    title: variables[0],
    scale: { domain: [left, right], nice: false, zero: false },
  };
  const y = {
    field: "y",
    type: "quantitative" as const,
    title: plane ? variables[1] : "observation",
    axis: plane ? {} : { tickMinStep: 1, format: "d" },
    scale: { domain: [bottom, top], nice: false, zero: false, reverse: !plane },
  };
  const colour = adaptive
    ? { field: "observation", type: "ordinal" as const, title: "observation" }
    : { value: TARGET_COLOUR };
  return {
    $schema: SCHEMA,
    title: {
      text: "Where to look",
      subtitle: plane && prior.length > 0 ? [subtitle, "grey: draws from the prior"] : [subtitle],
    },
    data: { values },
    columns: 3,
    facet: { field: "panel", type: "nominal", sort: betas.map(panel) },
    spec: {
      width: widest,
      height: Math.round(widest * ratio),
      layer: [
        {
          transform: [{ filter: "datum.kind === 'prior'" }],
          mark: { type: "point", size: 8, opacity: 0.35, color: CONTEXT_COLOUR },
          encoding: { x, y },
        },
        {
          transform: [{ filter: "datum.kind === 'design'" }],
          mark: {
            type: "point",
            size: adaptive ? 22 : 60,
            opacity: adaptive ? 0.7 : 0.9,
            stroke: "white",
            strokeWidth: adaptive ? 0 : 1,
          },
          encoding: { x, y, color: colour },
        },
      ],
    },
    config: STYLE,
  };
};
