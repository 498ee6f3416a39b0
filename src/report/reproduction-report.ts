/** The paper's numbers beside ours, with intervals and verdicts, as one HTML page. */
import { between, fixed, percent, withError } from "../core/number-text.js";
import type { Filled } from "../core/options.js";
import type { Asked, AskedShare } from "../reproduce/asked.js";
import type { ClaimCheck, ClaimVerdict } from "../reproduce/claim-verdict.js";
import type { Drawing, Protocol, Reproduction } from "../reproduce/reproduction.js";
import { type Comparison, MARGINS, ROUNDED_ERROR, type Verdict } from "../reproduce/verdict.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";

/** A table or figure as it was drawn. */
export interface ReportedReproduction
  extends Filled<Pick<Reproduction, "name" | "title" | "source" | "beyond" | "remarks">>,
    Filled<Pick<Drawing, "comparisons" | "measured" | "claims" | "findings" | "asked">> {
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

/** "3 of 5 hold, 1 undecided"; what has none of a verdict is left out, except the first. */
const counted = <Word extends string>(
  words: readonly Word[],
  names: readonly (readonly [Word, string, string])[],
): string => {
  const count = (word: Word) => words.filter((each) => each === word).length;
  const [[first, one, many], ...others] = names;
  const all = words.length;
  return [
    `${count(first)} of ${all} ${count(first) === 1 ? one : many}`,
    ...others.flatMap(([word, single, several]) => {
      const own = count(word);
      return own === 0 ? [] : [`${own} ${own === 1 ? single : several}`];
    }),
  ].join(", ");
};

/** What is counted apart comes last. */
const inTwoParts = <Each extends { readonly otherFeatures: boolean }>(
  all: readonly Each[],
  inWords: (each: readonly Each[]) => string,
): string => {
  const [own, others] = [false, true].map((other) => all.filter((each) => each.otherFeatures === other));
  return [
    ...(own.length > 0 || others.length === 0 ? [inWords(own)] : []),
    ...(others.length > 0 ? [`${own.length > 0 ? "apart, " : ""}${OTHER_FEATURES}: ${inWords(others)}`] : []),
  ].join("; ");
};

const OTHER_FEATURES = "CelebA, whose features are not the paper's";

/** "9 of 12 reproduced, 2 undecided, 1 differs", and what has other features than in the paper apart. */
export const verdictsInWords = (
  comparisons: readonly Pick<Comparison, "verdict" | "otherFeatures">[],
): string =>
  inTwoParts(comparisons, (each) =>
    counted<Verdict>(
      each.map(({ verdict }) => verdict),
      [
        ["reproduced", "reproduced", "reproduced"],
        ["undecided", "undecided", "undecided"],
        ["differs", "differs", "differ"],
        ["not run", "not run", "not run"],
      ],
    ),
  );

/** "9 of 12 hold, 2 undecided, 1 does not", and what has other features than in the paper apart. */
export const claimsInWords = (
  claims: readonly Pick<ClaimCheck, "verdict" | "otherFeatures" | "besides">[],
): string =>
  inTwoParts(
    claims.filter(({ besides }) => !besides),
    (each) =>
      counted<ClaimVerdict>(
        each.map(({ verdict }) => verdict),
        [
          ["holds", "holds", "hold"],
          ["undecided", "undecided", "undecided"],
          ["does not hold", "does not", "do not"],
          ["not run", "not run", "not run"],
        ],
      ),
  );

/** "reproduced (circular)" where that shows nothing. */
export const verdictOf = ({ verdict, circular }: Pick<Comparison, "verdict" | "circular">): string =>
  circular && verdict === "reproduced" ? `${verdict} (circular)` : verdict;

/** A sentence on the numbers that settings were picked by; nothing where there are none. */
export const circularInWords = (
  comparisons: readonly Pick<Comparison, "verdict" | "circular">[],
): readonly string[] => {
  const count = comparisons.filter(({ verdict, circular }) => circular && verdict === "reproduced").length;
  return count === 0
    ? []
    : [
        `Of those reproduced, ${count} ${count === 1 ? "is" : "are"} circular: settings that the paper leaves open were picked because they give ${count === 1 ? "it" : "them"}.`,
      ];
};

/** What the words of the verdicts mean, one paragraph each. */
export const VERDICTS_MEAN = {
  numbers: `Means over seeds with their standard errors. A number is reproduced when it is within three combined standard errors, sqrt(ours² + paper's²), of the paper's and within a margin of ${MARGINS.ratio} (ratios and accuracies; ${MARGINS.nats} nats, of which the paper prints none), with a combined error no larger than that margin. It is undecided when it is within three errors otherwise: compatible, and too uncertain to say more. It differs when it is farther away than three errors, and it is not run when fewer than two seeds of the paper's protocol have a value. An error that the paper prints as 0.00 is taken as rounding, ± ${ROUNDED_ERROR}. CelebA is counted apart, since its features here are not the paper's.`,
  claims: `A claim of more or less holds when the 95 % interval of the difference over seeds is on its side of zero, does not hold when it is on the other side, and is undecided else. A claim of as much holds when the whole interval is within ${MARGINS.ratio} (or ${MARGINS.nats} nats) of zero, and does not hold when all of it is outside.`,
} as const;

/** Each claim once, with what stands for it. */
export const byClaim = (
  claims: readonly ClaimCheck[],
): readonly { readonly claim: string; readonly source: string; readonly own: readonly ClaimCheck[] }[] =>
  [...new Set(claims.map(({ claim }) => claim))].map((claim) => {
    const own = claims.filter((each) => each.claim === claim);
    return { claim, source: own[0].source, own };
  });

/** A row for every comparison of one claim. */
export const claimTable = (
  claims: readonly ClaimCheck[],
): { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } => ({
  head: ["compared", "measure", "said", "difference", "95 % interval", "seeds", "verdict"],
  rows: claims.map(({ compared, measure, expected, difference, verdict, besides }) => [
    compared,
    besides ? `${measure}; not the paper's measure, not counted` : measure,
    expected,
    difference === null ? "–" : withError(difference.mean, difference.standardError),
    difference?.interval == null ? "–" : between(difference.interval),
    String(difference?.n ?? 0),
    verdict,
  ]),
});

const comparisonTable = (comparisons: readonly Comparison[]): Html =>
  htmlTable(
    ["", "", "paper", "here", "95 % interval", "seeds", "apart", "verdict"],
    comparisons.map((each) => [
      each.row,
      each.column,
      withError(each.paper, each.paperError),
      each.ours === null ? "–" : withError(each.ours, each.standardError),
      each.interval === null ? "–" : between(each.interval),
      String(each.seeds),
      each.apart === null ? "–" : `${fixed(each.apart, 1)} se`,
      verdictOf(each),
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
  const { head, rows } = pivot(measured, ({ ours }) => withError(ours.mean, ours.standardError));
  return htmlTable(head, rows);
};

/** `9.0 ± 1.2 % (33 %), below half`: over seeds, and the share of the candidates. */
const askedShare = ({ share, population, belowHalf }: AskedShare): string => {
  const error = share.standardError === null ? "" : ` ± ${fixed(100 * share.standardError, 1)}`;
  return `${fixed(100 * share.mean, 1)}${error} % (${percent(population)})${belowHalf ? ", below half" : ""}`;
};

/** What the tables of who was asked show, in words. */
export const ASKED_MEANS =
  "Who was asked: shares of the labels acquired, means over seeds with their standard errors, and in brackets the share of the candidates. Below half: less than half that share, and chance does not explain it (exact binomial test of all seeds together, p < 0.01).";

/** A table for each set of groups: a row for every way of asking, and a column for every group or group with an outcome. */
export const askedTables = (
  asked: readonly Asked[],
): readonly { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }[] => {
  const columnsOf = ({ groups, cells }: Asked): readonly string[] => [
    ...groups.map(({ group }) => group),
    ...cells.map(({ group, outcome }) => `${group}, ${outcome}`),
  ];
  const kinds = new Map<string, Asked[]>();
  for (const each of asked) {
    const key = JSON.stringify([each.attribute, columnsOf(each)]);
    kinds.set(key, [...(kinds.get(key) ?? []), each]);
  }
  return [...kinds.values()].map((own) => ({
    head: [own[0].attribute, ...columnsOf(own[0])],
    rows: own.map(({ acquisition, groups, cells }) => [
      acquisition,
      ...[...groups, ...cells].map(askedShare),
    ]),
  }));
};

const askedSection = (asked: readonly Asked[]): Html[] => [
  html`<p>${ASKED_MEANS}</p>`,
  ...askedTables(asked).map(({ head, rows }) => htmlTable(head, rows)),
];

const list = (sentences: readonly string[]): Html =>
  html`<ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>`;

/** The quick protocol is nobody's: there is nothing to tell apart. */
const settings = (
  { protocol: { stated, chosen, matched = [] } }: ReportedReproduction,
  quick: boolean,
): Html[] =>
  quick
    ? [html`<p>What was run:</p>`, list([...stated, ...chosen])]
    : [
        html`<p>As the paper says:</p>`,
        list(stated),
        html`<p>Chosen here, where it does not say, or different:</p>`,
        list(chosen),
        ...(matched.length > 0
          ? [html`<p>Of that, picked because it gives the paper's numbers:</p>`, list(matched)]
          : []),
      ];

const claimsSection = (claims: readonly ClaimCheck[]): Html[] => [
  html`<p><strong>${claimsInWords(claims)}.</strong> ${VERDICTS_MEAN.claims}</p>`,
  ...byClaim(claims).flatMap(({ claim, source, own }) => {
    const { head, rows } = claimTable(own);
    return [html`<h3>${claim}</h3>`, html`<p>${source}: ${claimsInWords(own)}.</p>`, htmlTable(head, rows)];
  }),
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
  ...(each.claims.length > 0 ? claimsSection(each.claims) : []),
  ...(each.measured.length > 0 ? [measuredTable(each.measured)] : []),
  ...(each.asked.length > 0 ? askedSection(each.asked) : []),
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
    html`<p class="lead">${comparisons.length > 0 ? [`${verdictsInWords(comparisons)}. One that stands in two tables counts once.`, ...circularInWords(comparisons)].join(" ") : "No numbers of the paper to compare with."}</p>`,
    ...(quick
      ? [
          html`<p class="warning">This is the quick protocol, far smaller than the paper's: it shows that everything runs, and there are no verdicts on its numbers.</p>`,
        ]
      : []),
    ...notes.map((note) => html`<p class="warning">${note}</p>`),
    html`<p>${VERDICTS_MEAN.numbers} The verdicts are computed from the stored results.</p>`,
    ...reproductions.flatMap((each) => section(each, quick)),
    html`<footer>${footer}</footer>`,
  ]);
};
