/** A chart of the reports as wide as the place that a page has for it, with its letters as large as anywhere. */
import type { TopLevelSpec } from "vega-lite";
import { titleLines } from "./style.js";

/** What is around every chart. */
const PADDING = 12;
/** Narrower than this a plot shows nothing. */
const LEAST = 260;

interface SingleView {
  readonly width: number;
  readonly title?: { readonly text: string | string[]; readonly subtitle?: string | string[] } | undefined;
}

/** Charts with one plot have a width of their own; those of several panels are laid out by what is in them. */
const isSingle = (specification: object): specification is SingleView =>
  typeof (specification as { readonly width?: unknown }).width === "number";

/** Legends in fewer columns, as there is less room. */
const withLegends = (part: unknown, share: number): unknown => {
  if (Array.isArray(part)) return part.map((each) => withLegends(each, share));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      // Rows of a table may have any name, and are many.
      if (name === "data") return [name, value];
      if (name === "columns" && typeof value === "number")
        return [name, Math.max(1, Math.floor(value * share))];
      return [name, withLegends(value, share)];
    }),
  );
};

/** The same chart in so many pixels from edge to edge; as it is where its panels decide. */
export const fitChart = (specification: TopLevelSpec, width: number): TopLevelSpec => {
  if (!isSingle(specification)) return specification;
  const whole = Math.max(LEAST, Math.floor(width));
  const { title } = specification;
  return {
    ...(withLegends(specification, Math.min(1, whole / specification.width)) as TopLevelSpec),
    ...(title === undefined ? {} : { title: titleLines(title, whole - 2 * PADDING) }),
    width: whole,
    autosize: { type: "fit-x", contains: "padding" },
  } as TopLevelSpec;
};
