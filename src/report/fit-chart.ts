/** A chart of the reports as wide as the place that a page has for it, with its letters as large as anywhere. */
import type { TopLevelSpec } from "vega-lite";
import { titleLines } from "./style.js";
import { textWidth, wrapped } from "./text-width.js";

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

/** What names along the vertical axis may take beside a plot. */
const NAMES = 120;
const AXIS_TITLE_SIZE = 12;

/** A title below a plot, in lines where it is wider than that. */
const withTitle = (channel: object, width: number): object => {
  const { title } = channel as { readonly title?: unknown };
  if (typeof title !== "string" || textWidth(title, AXIS_TITLE_SIZE) <= width) return channel;
  return { ...channel, title: wrapped(title, width, AXIS_TITLE_SIZE) };
};

/** Legends in fewer columns and axis titles in more lines, as there is less room. */
const narrowed = (part: unknown, share: number, width: number): unknown => {
  if (Array.isArray(part)) return part.map((each) => narrowed(each, share, width));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      // Rows of a table may have any name, and are many.
      if (name === "data") return [name, value];
      if (name === "columns" && typeof value === "number")
        return [name, Math.max(1, Math.floor(value * share))];
      if (name === "x" && value !== null && typeof value === "object") return [name, withTitle(value, width)];
      return [name, narrowed(value, share, width)];
    }),
  );
};

/** The same chart in so many pixels from edge to edge; as it is where its panels decide. */
export const fitChart = (specification: TopLevelSpec, width: number): TopLevelSpec => {
  if (!isSingle(specification)) return specification;
  const whole = Math.max(LEAST, Math.floor(width));
  const { title } = specification;
  return {
    ...(narrowed(specification, Math.min(1, whole / specification.width), whole - NAMES) as TopLevelSpec),
    ...(title === undefined ? {} : { title: titleLines(title, whole - 2 * PADDING) }),
    width: whole,
    autosize: { type: "fit-x", contains: "padding" },
  } as TopLevelSpec;
};
