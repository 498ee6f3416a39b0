/** Charts to SVG without a browser. Vega is heavy and few need it: it is loaded when a chart is asked for. */
import type { TopLevelSpec } from "vega-lite";
import { EnvironmentError } from "../core/errors.js";
import { textWidth } from "./text-width.js";

const NO_VEGA =
  "charts need the packages vega and vega-lite: install them with npm install vega@6 vega-lite@6.4";

export const renderTexts = {
  noVega: NO_VEGA,
  /** `instead` is how to do without charts. */
  noVegaOr: (instead: string) => `${NO_VEGA}, or ${instead}`,
};

const loadVega = async (instead?: string) => {
  try {
    const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
    return { vega, vegaLite };
  } catch (cause) {
    throw new EnvironmentError("no-vega", instead === undefined ? NO_VEGA : renderTexts.noVegaOr(instead), {
      cause,
    });
  }
};

export const canDrawCharts = async (): Promise<boolean> =>
  loadVega().then(
    () => true,
    () => false,
  );

/** Fails now, and not after the work that a chart is to show, where charts cannot be drawn. */
export const requireCharts = async (instead?: string): Promise<void> => {
  await loadVega(instead);
};

/** Vega lets others measure text, and its types do not say so. */
const measure = (vega: unknown): void => {
  (vega as { readonly textMetrics: { width: typeof widthOf } }).textMetrics.width = widthOf;
};

const widthOf = (
  item: { readonly fontSize?: number; readonly fontWeight?: unknown },
  text: unknown,
): number =>
  text === undefined || text === null
    ? 0
    : textWidth(String(text).trim(), item.fontSize ?? DEFAULT_SIZE) * (item.fontWeight === "bold" ? BOLD : 1);
/** Vega's own. */
const DEFAULT_SIZE = 11;
const BOLD = 1.07;

/** The chart as SVG text: the same text for the same specification. */
export const renderSvg = async (specification: TopLevelSpec): Promise<string> => {
  const { vega, vegaLite } = await loadVega();
  measure(vega);
  const { spec } = vegaLite.compile(specification, { logger: vega.logger(vega.Error) });
  const view = new vega.View(vega.parse(spec), { renderer: "none", logLevel: vega.Error });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
};
