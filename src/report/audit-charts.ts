/** Charts of an audit: who is in the table, what each adversary finds, which columns give it away, and why predictions differ. */
import type { TopLevelSpec } from "vega-lite";
import { type NotDrawn, notDrawnInPicture } from "./not-drawn.js";
import { shortName, shortNames } from "./short-names.js";
import {
  CONTEXT_COLOUR,
  chartTitle,
  legendBelow,
  namesAt,
  niceDomain,
  PLOT_WIDTH,
  SENSITIVE_COLOUR,
  STYLE,
  TARGET_COLOUR,
  UNIT_RANGE,
} from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** A value and the ends of its interval. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Names on the left in the order given, a point with its interval for each; what stands out in another colour. */
const pointsWithIntervals = (
  bars: readonly (Bar & { readonly kind: string })[],
  {
    title,
    subtitle,
    xTitle,
    kinds,
    zeroLine,
  }: {
    readonly title: string;
    readonly subtitle: readonly string[];
    readonly xTitle: string;
    readonly kinds: readonly { readonly name: string; readonly colour: string }[];
    readonly zeroLine: boolean;
  },
): TopLevelSpec => {
  const names = [...new Set(bars.map(({ name }) => name))];
  const places = new Map(names.map((name, place) => [name, place]));
  const values = bars.map(({ name, ...bar }) => ({ ...bar, place: places.get(name) ?? 0 }));
  const y = {
    field: "place",
    type: "ordinal" as const,
    title: null,
    scale: { domain: [...names.keys()] },
    axis: { labelExpr: namesAt(shortNames(names)), labelLimit: 0, labelPadding: 6 },
  };
  const kindNames = kinds.map(({ name }) => name);
  const yOffset = { field: "kind", type: "nominal" as const, scale: { domain: kindNames } };
  const color = {
    field: "kind",
    type: "nominal" as const,
    title: null,
    scale: { domain: kindNames, range: kinds.map(({ colour }) => colour) },
    legend: kinds.length > 1 ? legendBelow(kindNames) : null,
  };
  const x = {
    type: "quantitative" as const,
    title: xTitle,
    scale: {
      domain: niceDomain(
        bars.flatMap(({ low, high }) => [low, high]),
        zeroLine ? { including: [0] } : { within: UNIT_RANGE },
      ),
      nice: false,
    },
  };
  const shared = { y, color, ...(kinds.length > 1 ? { yOffset } : {}) };
  return {
    $schema: SCHEMA,
    title: chartTitle(title, subtitle),
    width: PLOT_WIDTH,
    height: names.length * (kinds.length > 1 ? 13 * kinds.length : 22),
    data: { values },
    layer: [
      ...(zeroLine
        ? [
            {
              data: { values: [{ zero: 0 }] },
              mark: { type: "rule" as const, color: CONTEXT_COLOUR },
              encoding: { x: { ...x, field: "zero" } },
            },
          ]
        : []),
      {
        mark: { type: "rule", strokeWidth: 2 },
        encoding: { ...shared, x: { ...x, field: "low" }, x2: { field: "high" } },
      },
      {
        mark: { type: "point", filled: true, size: 60, opacity: 1 },
        encoding: { ...shared, x: { ...x, field: "value" } },
      },
    ],
    config: STYLE,
  };
};

/** The share of the positive target value in every group. */
export const baseRatesChart = (
  bars: readonly Bar[],
  positive: string,
  level: string,
  notDrawn?: NotDrawn | undefined,
): TopLevelSpec =>
  pointsWithIntervals(
    bars.map((bar) => ({ ...bar, kind: "rate" })),
    {
      title: `How often the target is "${shortName(positive)}" in each group`,
      subtitle: [`bars are ${level} intervals`, ...notDrawnInPicture(notDrawn)],
      xTitle: "share of the group",
      kinds: [{ name: "rate", colour: TARGET_COLOUR }],
      zeroLine: false,
    },
  );

export const UNCONDITIONAL = "from the features";
export const CONDITIONAL = "when the target is known too";

/** Every adversary's finding, with and without the target. */
export const adversariesChart = (
  unconditional: readonly Bar[],
  conditional: readonly Bar[],
  unit: string,
  level: string,
): TopLevelSpec =>
  pointsWithIntervals(
    [
      ...unconditional.map((bar) => ({ ...bar, kind: UNCONDITIONAL })),
      ...conditional.map((bar) => ({ ...bar, kind: CONDITIONAL })),
    ],
    {
      title: "What each adversary finds",
      subtitle: [`bars are ${level} intervals; 0 is nothing`],
      xTitle: `${unit} per record`,
      kinds: [
        { name: UNCONDITIONAL, colour: SENSITIVE_COLOUR },
        ...(conditional.length > 0 ? [{ name: CONDITIONAL, colour: "#CC79A7" }] : []),
      ],
      zeroLine: true,
    },
  );

/** The columns that give most away. */
export const columnsChart = (
  columns: readonly { readonly alone: Bar; readonly without: Bar | undefined }[],
  unit: string,
  level: string,
  more = 0,
): TopLevelSpec =>
  pointsWithIntervals(
    columns.flatMap(({ alone, without }) => [
      { ...alone, kind: "by itself" },
      ...(without === undefined ? [] : [{ ...without, kind: "lost without it" }]),
    ]),
    {
      title: "Which columns give it away",
      subtitle: [
        `strongest first; bars are ${level} intervals`,
        ...(more === 0 ? [] : [`${more} more ${more === 1 ? "column gives" : "columns give"} away less`]),
      ],
      xTitle: `${unit} per record`,
      kinds: [
        { name: "by itself", colour: SENSITIVE_COLOUR },
        { name: "lost without it", colour: CONTEXT_COLOUR },
      ],
      zeroLine: true,
    },
  );

/** A predictor's gap and its two parts. */
export const decompositionChart = (
  bars: readonly (Bar & { readonly kind: string })[],
  subtitle: string,
  kinds: readonly string[],
  notDrawn?: NotDrawn | undefined,
): TopLevelSpec =>
  pointsWithIntervals(bars, {
    title: "Why predictions differ between groups",
    subtitle: [subtitle, ...notDrawnInPicture(notDrawn)],
    xTitle: "difference of the mean predicted probability",
    kinds: kinds.map((name, at) => ({ name, colour: [TARGET_COLOUR, "#009E73"][at % 2] })),
    zeroLine: true,
  });
