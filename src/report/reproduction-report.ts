/** The paper's numbers beside ours, with intervals and verdicts, as one HTML page. */
import type { Filled } from "../core/options.js";
import type { Drawing, Protocol, Reproduction } from "../reproduce/reproduction.js";
import type { Comparison, Verdict } from "../reproduce/verdict.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";

/** A table or figure as it was drawn. */
export interface ReportedReproduction
  extends Filled<Pick<Reproduction, "name" | "title" | "source" | "beyond" | "remarks">>,
    Filled<Pick<Drawing, "comparisons" | "measured" | "findings">> {
  readonly protocol: Protocol;
  readonly figures: readonly { readonly svg: string; readonly caption: string }[];
  /** How many of its cells have a result. */
  readonly done: number;
  readonly cells: number;
}

export interface ReproductionReport {
  readonly title: string;
  readonly quick: boolean;
  readonly notes: readonly string[];
  readonly reproductions: readonly ReportedReproduction[];
  readonly footer: string;
}

export const plusMinus = (mean: number, error: number | null): string =>
  error === null ? mean.toFixed(3) : `${mean.toFixed(3)} ± ${error.toFixed(3)}`;

/**
 * Of the paper's tables, each number once where it stands in two; what goes beyond the paper is compared too, and does
 * not count.
 */
export const paperComparisons = <Compared extends Pick<ReportedReproduction, "beyond" | "comparisons">>(
  reproductions: readonly Compared[],
): readonly (Comparison & { readonly of: Compared })[] => {
  const seen = new Set<string>();
  return reproductions
    .filter(({ beyond }) => !beyond)
    .flatMap((of) => of.comparisons.map((each) => ({ ...each, of })))
    .filter(({ row, paper, paperError, ours, standardError }) => {
      if (ours === null) return true;
      const number = JSON.stringify([row, paper, paperError, ours, standardError]);
      if (seen.has(number)) return false;
      seen.add(number);
      return true;
    });
};

/** "9 of 10 reproduced, 1 differs". */
export const verdictsInWords = (comparisons: readonly Pick<Comparison, "verdict">[]): string => {
  const count = (verdict: Verdict) => comparisons.filter((each) => each.verdict === verdict).length;
  const [differ, none] = [count("differs"), count("not run")];
  return [
    `${count("reproduced")} of ${comparisons.length} reproduced`,
    ...(differ > 0 ? [`${differ} ${differ === 1 ? "differs" : "differ"}`] : []),
    ...(none > 0 ? [`${none} not run`] : []),
  ].join(", ");
};

const comparisonTable = (comparisons: readonly Comparison[]): Html =>
  htmlTable(
    ["", "", "paper", "here", "95 % interval", "seeds", "apart", "verdict"],
    comparisons.map((each) => [
      each.row,
      each.column,
      plusMinus(each.paper, each.paperError),
      each.ours === null ? "–" : plusMinus(each.ours, each.standardError),
      each.interval === null ? "–" : `${each.interval[0].toFixed(3)} to ${each.interval[1].toFixed(3)}`,
      String(each.seeds),
      each.apart === null ? "–" : `${each.apart.toFixed(1)} se`,
      each.verdict,
    ]),
  );

/** Rows and columns in the order in which they come, and a text for each; a dash where there is none. */
export const pivot = <Cell extends { readonly row: string; readonly column: string }>(
  cells: readonly Cell[],
  textOf: (cell: Cell) => string,
): { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } => {
  const columns = [...new Set(cells.map(({ column }) => column))];
  const found = new Map(cells.map((cell) => [JSON.stringify([cell.row, cell.column]), textOf(cell)]));
  return {
    head: ["", ...columns],
    rows: [...new Set(cells.map(({ row }) => row))].map((row) => [
      row,
      ...columns.map((column) => found.get(JSON.stringify([row, column])) ?? "–"),
    ]),
  };
};

const measuredTable = (measured: ReportedReproduction["measured"]): Html => {
  const { head, rows } = pivot(measured, ({ ours }) => plusMinus(ours.mean, ours.standardError));
  return htmlTable(head, rows);
};

const list = (sentences: readonly string[]): Html =>
  html`<ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>`;

/** The quick protocol is nobody's: there is nothing to tell apart. */
const settings = ({ protocol: { stated, chosen } }: ReportedReproduction, quick: boolean): Html[] =>
  quick
    ? [html`<p>What was run:</p>`, list([...stated, ...chosen])]
    : [
        html`<p>As the paper says:</p>`,
        list(stated),
        html`<p>Chosen here, where it does not say, or different:</p>`,
        list(chosen),
      ];

const section = (each: ReportedReproduction, quick: boolean): Html[] => [
  html`<h2 id="${each.name}">${each.title}</h2>`,
  html`<p><code>${each.name}</code>: ${each.source}. ${each.done} of ${each.cells} cells have a result.</p>`,
  ...settings(each, quick),
  ...each.figures.map(({ svg, caption }) => figure(svg, caption)),
  ...(each.findings.length > 0 ? [list(each.findings)] : []),
  ...(each.comparisons.length > 0
    ? [html`<p><strong>${verdictsInWords(each.comparisons)}.</strong></p>`, comparisonTable(each.comparisons)]
    : []),
  ...(each.measured.length > 0 ? [measuredTable(each.measured)] : []),
  ...(each.remarks.length > 0 ? [list(each.remarks)] : []),
];

export const reproductionReport = ({
  title,
  quick,
  notes,
  reproductions,
  footer,
}: ReproductionReport): string => {
  const comparisons = paperComparisons(reproductions);
  return page(title, [
    html`<h1>${title}</h1>`,
    html`<p class="lead">${comparisons.length > 0 ? `${verdictsInWords(comparisons)}. One that stands in two tables counts once.` : "No numbers of the paper to compare with."}</p>`,
    ...(quick
      ? [
          html`<p class="warning">This is the quick protocol, far smaller than the paper's: it shows that everything runs, and there are no verdicts on its numbers.</p>`,
        ]
      : []),
    ...notes.map((note) => html`<p class="warning">${note}</p>`),
    html`<p>Means over seeds with their standard errors. A number is <em>reproduced</em> when it is within three
combined standard errors, sqrt(ours² + paper's²), of the paper's; it <em>differs</em> when it is farther away; it is
<em>not run</em> when fewer than two seeds of the paper's protocol have a value. The verdicts are computed from the stored results.</p>`,
    ...reproductions.flatMap((each) => section(each, quick)),
    html`<footer>${footer}</footer>`,
  ]);
};
