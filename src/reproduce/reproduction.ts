/** A table or figure of the paper: what is run for it, written down before it is run, and how it is drawn. */
import type { ChartDescription, ChartValue } from "../core/chart-description.js";
import { type Asked, askedIn } from "./asked.js";
import type { Cell, DesignCell } from "./cell.js";
import type { ClaimCheck } from "./claim-verdict.js";
import type { Results } from "./store.js";
import type { Comparison, SeedMean } from "./verdict.js";

export interface Scale {
  /** A smaller protocol of the same shape, to see that everything works. */
  readonly quick: boolean;
  /** How many seeds, from 0; the protocol's own number unless given. */
  readonly seeds?: number | undefined;
  /** Where the policies of location finding are trained and judged; the processor unless given. */
  readonly device?: DesignCell["device"];
}

export interface FigureDescription {
  /** Part of the file's name. */
  readonly id: string;
  readonly caption: string;
  readonly chart: ChartDescription;
}

export interface Drawing {
  readonly comparisons: readonly Comparison[];
  /** What was measured, where the paper has no numbers to compare with. */
  readonly measured: readonly { readonly row: string; readonly column: string; readonly ours: SeedMean }[];
  readonly figures: readonly FigureDescription[];
  /** What the paper says in words, and whether it holds. */
  readonly claims?: readonly ClaimCheck[] | undefined;
  /** What follows from the numbers, computed, one sentence each. */
  readonly findings?: readonly string[] | undefined;
  /** Who was asked, where the results say so. */
  readonly asked?: readonly Asked[] | undefined;
}

/** What is done, one sentence each. */
export interface Protocol {
  /** As the paper says. */
  readonly stated: readonly string[];
  /** Where the paper does not say, or where it is done differently here. */
  readonly chosen: readonly string[];
  /** Of what was chosen here, what was picked because it gives numbers of the paper, and which those are. */
  readonly matched?: readonly string[] | undefined;
}

/** All of them, each sentence once. */
export const mergedProtocol = (protocols: readonly Partial<Protocol>[]): Protocol => ({
  stated: [...new Set(protocols.flatMap(({ stated = [] }) => stated))],
  chosen: [...new Set(protocols.flatMap(({ chosen = [] }) => chosen))],
  matched: [...new Set(protocols.flatMap(({ matched = [] }) => matched))],
});

/** How large a protocol is: the paper says so of its own, and not of a quick one or of other seeds. */
export const sizeProtocol = (size: readonly string[], { quick, seeds }: Scale): Partial<Protocol> =>
  quick || seeds !== undefined ? { chosen: size } : { stated: size };

export interface Reproduction {
  readonly name: string;
  readonly title: string;
  /** Where it is in the paper. */
  readonly source: string;
  /** Not in the paper; verdicts on it do not count among those on the paper's numbers. */
  readonly beyond?: boolean | undefined;
  /** What was found out about its numbers in the full protocol, one sentence each: not computed, and with its source. */
  readonly remarks?: readonly string[] | undefined;
  protocol(scale: Scale): Protocol;
  cells(scale: Scale): readonly Cell[];
  draw(results: Results, scale: Scale): Drawing;
}

export const reproductionTexts = {
  incomplete: (done: number, cells: number) => `not complete: ${done} of ${cells} cells have a result`,
  warned: (warning: string, cells: number) => `${warning} (${cells} ${cells === 1 ? "result" : "results"})`,
};

/** How many of these cells have a result. */
export const countDone = (cells: readonly Cell[], results: Results): number =>
  cells.filter((cell) => results.get(cell) !== undefined).length;

/** What a reader should know of some results, each warning once. */
const warningsOf = (cells: readonly Cell[], results: Results): readonly string[] => {
  const counts = new Map<string, number>();
  for (const cell of cells) {
    const result = results.get(cell);
    const warning = result !== undefined && "warning" in result ? result.warning : undefined;
    if (warning !== undefined) counts.set(warning, (counts.get(warning) ?? 0) + 1);
  }
  return [...counts].map(([warning, count]) => reproductionTexts.warned(warning, count));
};

/**
 * Figures say where cells are missing, since a mean over few seeds looks like any other. The quick protocol is not the
 * paper's: its numbers are shown beside the paper's and there is no verdict on them.
 */
export const drawingOf = (reproduction: Reproduction, results: Results, scale: Scale): Drawing => {
  const cells = reproduction.cells(scale);
  const done = countDone(cells, results);
  const drawn = { asked: askedIn(cells, results), ...reproduction.draw(results, scale) };
  const warnings = warningsOf(cells, results);
  const whole =
    warnings.length === 0 ? drawn : { ...drawn, findings: [...(drawn.findings ?? []), ...warnings] };
  const drawing =
    done === cells.length ? whole : { ...whole, figures: whole.figures.map(withNote(done, cells.length)) };
  if (!scale.quick) return drawing;
  const comparisons = drawing.comparisons.map(
    (each): Comparison => ({ ...each, apart: null, verdict: "not run" }),
  );
  const claims = drawing.claims?.map((each): ClaimCheck => ({ ...each, verdict: "not run" }));
  return { ...drawing, comparisons, claims };
};

const withNote =
  (done: number, cells: number) =>
  (figure: FigureDescription): FigureDescription => ({
    ...figure,
    chart: { ...figure.chart, note: reproductionTexts.incomplete(done, cells) },
  });

/** One standard error to each side, as in the paper's figures; the mean alone where there is one seed. */
export const chartValue = ({ mean, standardError }: SeedMean): ChartValue => ({
  mean,
  low: mean - (standardError ?? 0),
  high: mean + (standardError ?? 0),
});

export const seedsOf = (count: number): readonly number[] => Array.from({ length: count }, (_, seed) => seed);
