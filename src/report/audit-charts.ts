/** Charts of an audit: who is in the table, what each adversary finds, which columns give it away, and why predictions differ. */
import type { TopLevelSpec } from "vega-lite";
import { CONTEXT_COLOUR, SENSITIVE_COLOUR, STYLE, TARGET_COLOUR } from "./style.js";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json" as const;

/** A value and the ends of its interval. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Names are cut by letters: without a screen, how wide they come out is only guessed. */
const LONGEST = 40;
const shortened = (name: string): string =>
  name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 12)}…${name.slice(-11)}`;

/** Names on the left in the order given, a point with its interval for each; what stands out in another colour. */
const pointsWithIntervals = (
  given: readonly (Bar & { readonly kind: string })[],
  title: string,
  subtitle: readonly string[],
  xTitle: string,
  kinds: readonly { readonly name: string; readonly colour: string }[],
  zeroLine: boolean,
): TopLevelSpec => {
  const bars = given.map((bar) => ({ ...bar, name: shortened(bar.name) }));
  const y = {
    field: "name",
    type: "nominal" as const,
    title: null,
    sort: [...new Set(bars.map(({ name }) => name))],
    axis: { labelLimit: 0 },
  };
  const yOffset = { field: "kind", sort: kinds.map(({ name }) => name) };
  const color = {
    field: "kind",
    type: "nominal" as const,
    title: null,
    scale: { domain: kinds.map(({ name }) => name), range: kinds.map(({ colour }) => colour) },
    legend: kinds.length > 1 ? { orient: "bottom" as const } : null,
  };
  const shared = { y, color, ...(kinds.length > 1 ? { yOffset } : {}) };
  return {
    $schema: SCHEMA,
    title: { text: title, subtitle: [...subtitle] },
    width: 420,
    height: { step: kinds.length > 1 ? 13 : 24 },
    data: { values: bars },
    layer: [
      ...(zeroLine
        ? [
            {
              data: { values: [{ zero: 0 }] },
              mark: { type: "rule" as const, color: CONTEXT_COLOUR },
              encoding: { x: { field: "zero", type: "quantitative" as const } },
            },
          ]
        : []),
      {
        mark: { type: "rule", strokeWidth: 2 },
        encoding: {
          ...shared,
          x: { field: "low", type: "quantitative", title: xTitle },
          x2: { field: "high" },
        },
      },
      {
        mark: { type: "point", filled: true, size: 60, opacity: 1 },
        encoding: { ...shared, x: { field: "value", type: "quantitative" } },
      },
    ],
    config: STYLE,
  };
};

/** The share of the positive target value in every group. */
export const baseRatesChart = (bars: readonly Bar[], positive: string, level: string): TopLevelSpec =>
  pointsWithIntervals(
    bars.map((bar) => ({ ...bar, kind: "rate" })),
    `How often the target is "${positive}" in each group`,
    [`bars are ${level} intervals`],
    "share of the group",
    [{ name: "rate", colour: TARGET_COLOUR }],
    false,
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
    "What each adversary finds",
    [`bars are ${level} intervals; 0 is nothing`],
    `${unit} per record`,
    [
      { name: UNCONDITIONAL, colour: SENSITIVE_COLOUR },
      ...(conditional.length > 0 ? [{ name: CONDITIONAL, colour: "#CC79A7" }] : []),
    ],
    true,
  );

/** The columns that give most away. */
export const columnsChart = (
  columns: readonly { readonly alone: Bar; readonly without: Bar | undefined }[],
  unit: string,
  level: string,
): TopLevelSpec =>
  pointsWithIntervals(
    columns.flatMap(({ alone, without }) => [
      { ...alone, kind: "by itself" },
      ...(without === undefined ? [] : [{ ...without, kind: "lost without it" }]),
    ]),
    "Which columns give it away",
    [`the most first; bars are ${level} intervals`],
    `${unit} per record`,
    [
      { name: "by itself", colour: SENSITIVE_COLOUR },
      { name: "lost without it", colour: CONTEXT_COLOUR },
    ],
    true,
  );

/** A predictor's gap and its two parts. */
export const decompositionChart = (
  bars: readonly (Bar & { readonly kind: string })[],
  subtitle: string,
  kinds: readonly string[],
): TopLevelSpec =>
  pointsWithIntervals(
    bars,
    "Why predictions differ between groups",
    [subtitle],
    "difference of the mean predicted probability",
    kinds.map((name, at) => ({ name, colour: [TARGET_COLOUR, "#009E73"][at % 2] })),
    true,
  );
