/** The paper's numbers beside ours, with intervals and verdicts, as one HTML page. */
import { figure, type Html, html, htmlTable, page } from "./page.js";

export interface ReportedComparison {
  readonly row: string;
  readonly column: string;
  readonly paper: number;
  readonly paperError: number;
  readonly ours: number | null;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
  readonly seeds: number;
  /** In combined standard errors. */
  readonly apart: number | null;
  readonly verdict: string;
}

export interface ReportedMean {
  readonly mean: number;
  readonly standardError: number | null;
}

export interface ReportedReproduction {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly protocol: readonly string[];
  readonly comparisons: readonly ReportedComparison[];
  readonly measured: readonly {
    readonly row: string;
    readonly column: string;
    readonly ours: ReportedMean;
  }[];
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

const plusMinus = (mean: number, error: number | null): string =>
  error === null ? mean.toFixed(3) : `${mean.toFixed(3)} ± ${error.toFixed(3)}`;

/** "9 of 10 reproduced, 1 differs". */
export const verdictsInWords = (comparisons: readonly { readonly verdict: string }[]): string => {
  const count = (verdict: string) => comparisons.filter((each) => each.verdict === verdict).length;
  const [differ, none] = [count("differs"), count("not run")];
  return [
    `${count("reproduced")} of ${comparisons.length} reproduced`,
    ...(differ > 0 ? [`${differ} ${differ === 1 ? "differs" : "differ"}`] : []),
    ...(none > 0 ? [`${none} not run`] : []),
  ].join(", ");
};

const comparisonTable = (comparisons: readonly ReportedComparison[]): Html =>
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

const measuredTable = (measured: ReportedReproduction["measured"]): Html => {
  const columns = [...new Set(measured.map(({ column }) => column))];
  const rows = [...new Set(measured.map(({ row }) => row))];
  const found = new Map(measured.map(({ row, column, ours }) => [JSON.stringify([row, column]), ours]));
  return htmlTable(
    ["", ...columns],
    rows.map((row) => [
      row,
      ...columns.map((column) => {
        const ours = found.get(JSON.stringify([row, column]));
        return ours === undefined ? "–" : plusMinus(ours.mean, ours.standardError);
      }),
    ]),
  );
};

const section = (each: ReportedReproduction): Html[] => [
  html`<h2 id="${each.name}">${each.title}</h2>`,
  html`<p><code>${each.name}</code>: ${each.source}. ${each.done} of ${each.cells} cells have a result.</p>`,
  html`<ul>${each.protocol.map((sentence) => html`<li>${sentence}</li>`)}</ul>`,
  ...each.figures.map(({ svg, caption }) => figure(svg, caption)),
  ...(each.comparisons.length > 0
    ? [html`<p><strong>${verdictsInWords(each.comparisons)}.</strong></p>`, comparisonTable(each.comparisons)]
    : []),
  ...(each.measured.length > 0 ? [measuredTable(each.measured)] : []),
];

export const reproductionReport = ({
  title,
  quick,
  notes,
  reproductions,
  footer,
}: ReproductionReport): string => {
  const comparisons = reproductions.flatMap((each) => each.comparisons);
  return page(title, [
    html`<h1>${title}</h1>`,
    html`<p class="lead">${comparisons.length > 0 ? `${verdictsInWords(comparisons)}.` : "No numbers of the paper to compare with."}</p>`,
    ...(quick
      ? [
          html`<p class="warning">This is the quick protocol, far smaller than the paper's: it shows that everything runs, and there are no verdicts on its numbers.</p>`,
        ]
      : []),
    ...notes.map((note) => html`<p class="warning">${note}</p>`),
    html`<p>Means over seeds with their standard errors. A number is <em>reproduced</em> when it is within three
combined standard errors, sqrt(ours² + paper's²), of the paper's; it <em>differs</em> when it is farther away; it is
<em>not run</em> when fewer than two seeds of the paper's protocol have a value. The verdicts are computed from the stored results.</p>`,
    ...reproductions.flatMap(section),
    html`<footer>${footer}</footer>`,
  ]);
};
