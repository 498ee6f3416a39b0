/** Charts of what policies reach and where they look, as Vega-Lite specifications over plain rows. */
import type { TopLevelSpec } from "vega-lite";
import { type InformationUnit, NATS } from "../core/information-unit.js";
import { shortest } from "../core/number-text.js";
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

const leakageTitle = (leakage: Leakage, unit: InformationUnit): string =>
  leakage === "sensitive"
    ? `leakage about the sensitive part (${unit.name})`
    : `leakage about the sensitive part, given the target (${unit.name})`;
const targetTitle = (unit: InformationUnit): string => `information about the target (${unit.name})`;

/** Two standard errors to both sides; information is never below 0, and what was estimated below is no sign of it. */
const endsIn =
  (unit: InformationUnit) =>
  ({ mean, standardError }: MeanWithError) => ({
    mean: unit.of(mean),
    low: unit.of(Math.max(mean - 2 * standardError, Math.min(0, mean))),
    high: unit.of(mean + 2 * standardError),
  });

const LABEL_SIZE = 11;
const PLOT = { width: PLOT_WIDTH, height: 300 };

/** The ends of a line first, then the others from its middle on: where there is no room for all, these tell most. */
const labelRank = (place: number, count: number): number =>
  place === 0 || place === count - 1 ? 0 : 1 + Math.abs(place - (count - 1) / 2) / count;

/** Fairness against utility: one point for each beta, joined along beta, one line for each horizon. */
export const frontierChart = (
  rows: readonly FrontierRow[],
  {
    leakage,
    subtitle,
    unit = NATS,
  }: {
    readonly leakage: Leakage;
    readonly subtitle: string;
    readonly unit?: InformationUnit | undefined;
  },
): TopLevelSpec => {
  const ends = endsIn(unit);
  const values = rows.map(({ beta, horizon, target, [leakage]: leaked }) => ({
    beta,
    horizon,
    target: ends(target),
    leakage: ends(leaked),
  }));
  const horizons = [...new Set(rows.map(({ horizon }) => horizon))];
  const betasOf = new Map(
    horizons.map((horizon) => [
      horizon,
      rows
        .filter((row) => row.horizon === horizon)
        .map(({ beta }) => beta)
        .sort((a, b) => a - b),
    ]),
  );
  const colour =
    horizons.length > 1
      ? {
          field: "horizon",
          type: "nominal" as const,
          title: "observations",
          scale: { domain: horizons, range: horizons.map((_, at) => COLOURS[at % COLOURS.length]) },
          legend: legendBelow(horizons.map(String)),
        }
      : { value: TARGET_COLOUR };
  const domainOf = (of: "leakage" | "target") =>
    niceDomain(
      values.flatMap((each) => [each[of].low, each[of].high]),
      { including: [0] },
    );
  const [xDomain, yDomain] = [domainOf("leakage"), domainOf("target")];
  const { labels, missing } = chartLabels(
    values.map(({ beta, horizon, target, leakage: leaked }) => {
      const betas = betasOf.get(horizon) ?? [];
      return {
        x: leaked.mean,
        y: target.mean,
        text: `β = ${shortest(beta, 4)}`,
        rank: labelRank(betas.indexOf(beta), betas.length),
        horizon,
      };
    }),
    { xDomain, yDomain, ...PLOT, fontSize: LABEL_SIZE },
  );
  const x = {
    type: "quantitative" as const,
    title: leakageTitle(leakage, unit),
    scale: { domain: xDomain, nice: false },
  };
  const y = {
    type: "quantitative" as const,
    title: verticalTitle(targetTitle(unit), PLOT.height),
    scale: { domain: yDomain, nice: false },
  };
  const text = {
    type: "text" as const,
    align: "left" as const,
    baseline: "middle" as const,
    fontSize: LABEL_SIZE,
  };
  const at = {
    x: { ...x, field: "leakage.mean" },
    y: { ...y, field: "target.mean" },
    color: colour,
  };
  return {
    $schema: SCHEMA,
    title: chartTitle("What fairness costs", [
      subtitle,
      "up and to the left is better; bars are two standard errors",
      ...(missing === 0 ? [] : ["β is written where there is room; along a line it grows from end to end"]),
    ]),
    ...PLOT,
    data: { values },
    layer: [
      {
        mark: { type: "line", opacity: 0.5, strokeWidth: 1.5 },
        encoding: { ...at, order: { field: "beta", type: "quantitative" } },
      },
      {
        mark: { type: "rule", opacity: 0.4 },
        encoding: { ...at, x: { ...x, field: "leakage.low" }, x2: { field: "leakage.high" } },
      },
      {
        mark: { type: "rule", opacity: 0.4 },
        encoding: { ...at, y: { ...y, field: "target.low" }, y2: { field: "target.high" } },
      },
      { mark: { type: "point" }, encoding: at },
      ...[{ ...text, ...HALO }, text].map((mark, above) => ({
        data: { values: labels },
        mark,
        encoding: {
          x: { ...x, field: "labelX" },
          y: { ...y, field: "labelY" },
          text: { field: "text" },
          ...(above === 1 ? { color: colour } : {}),
        },
      })),
    ],
    config: STYLE,
  };
};

export const observations = (count: number): string =>
  count === 1 ? "1 observation" : `${count} observations`;

/** Information and leakage against beta or against the horizon; one panel for each value of the other. */
export const informationChart = (
  rows: readonly FrontierRow[],
  {
    against,
    subtitle,
    unit = NATS,
  }: {
    readonly against: "beta" | "horizon";
    readonly subtitle: string;
    readonly unit?: InformationUnit | undefined;
  },
): TopLevelSpec => {
  const ends = endsIn(unit);
  const other = against === "beta" ? "horizon" : "beta";
  const names = {
    target: "about the target",
    sensitive: "about the sensitive part",
    sensitiveGivenTarget: "the same, given the target",
  } as const;
  const values = rows.flatMap((row) =>
    (Object.keys(names) as (keyof typeof names)[]).map((name) => ({
      [against]: row[against],
      panel: other === "beta" ? `β = ${row.beta}` : observations(row.horizon),
      about: names[name],
      ...ends(row[name]),
    })),
  );
  const panels = [...new Set(values.map(({ panel }) => panel))];
  const domain = Object.values(names);
  const columns = Math.min(3, panels.length);
  const width = panels.length > 1 ? 200 : PLOT_WIDTH;
  const whole = columns * (width + 20);
  const x = {
    field: against,
    type: "quantitative" as const,
    title: against === "beta" ? `β, what a ${unit.one} of leakage costs` : "observations",
    axis: against === "horizon" ? { tickMinStep: 1, format: "d" } : {},
    scale: { zero: against === "beta" },
  };
  const color = {
    field: "about",
    type: "nominal" as const,
    title: null,
    scale: { domain, range: [TARGET_COLOUR, SENSITIVE_COLOUR, "#E69F00"] },
    legend: legendBelow(domain, whole),
  };
  return {
    $schema: SCHEMA,
    title: chartTitle(
      against === "beta" ? "Information against β" : "Information against the number of observations",
      [subtitle, "bands are two standard errors"],
      whole,
    ),
    data: { values },
    columns,
    facet: { field: "panel", type: "nominal", sort: panels },
    spec: {
      width,
      height: panels.length > 1 ? 160 : 280,
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
            y: { field: "mean", type: "quantitative", title: unit.name },
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
  const columns = Math.min(3, betas.length);
  const widest = betas.length > 1 ? 200 : 340;
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
    title: chartTitle(
      "Where to look",
      plane && prior.length > 0 ? [subtitle, "grey: draws from the prior"] : [subtitle],
      Math.max(PLOT_WIDTH, columns * (widest + 20)),
    ),
    data: { values },
    columns,
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
