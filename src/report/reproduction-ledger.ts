/** The same numbers as a page of Markdown that can be committed: what was reproduced, what was not, and how. */
import { between as ends, fixed, withError } from "../core/number-text.js";
import type { Comparison, Verdict } from "../reproduce/verdict.js";
import {
  ASKED_MEANS,
  askedTables,
  byClaim,
  circularInWords,
  claimsInWords,
  claimTable,
  paperComparisons,
  pivot,
  type ReportedReproduction,
  VERDICTS_MEAN,
  verdictOf,
  verdictsInWords,
} from "./reproduction-report.js";

export interface LedgerReproduction extends Omit<ReportedReproduction, "figures"> {
  /** Addresses of the drawings, as seen from the page. */
  readonly figures: readonly { readonly address: string; readonly caption: string }[];
}

export interface ReproductionLedger {
  readonly title: string;
  readonly quick: boolean;
  readonly reproductions: readonly LedgerReproduction[];
  /** How many cells of each part have a result, and how long they took. */
  readonly parts: readonly { readonly name: string; readonly cells: number; readonly seconds: number }[];
  /** What makes it again. */
  readonly commands: readonly string[];
}

type Alignment = "left" | "right";

/** An underscore inside a word is no markup. */
const escaped = (text: string): string => text.replace(/[|\\`*<>[\]]/g, "\\$&");

/** Aligned, as a formatter would have it: the first columns to the left and the others to the right. */
const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  leftColumns = 1,
): readonly string[] => {
  const all = [head, ...rows].map((row) => row.map(escaped));
  const widths = head.map((_, i) => Math.max(3, ...all.map((row) => [...row[i]].length)));
  const alignment = (i: number): Alignment => (i < leftColumns ? "left" : "right");
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const padded = (row: readonly string[]): string =>
    line(
      row.map((cell, i) => {
        const space = " ".repeat(widths[i] - [...cell].length);
        return alignment(i) === "left" ? cell + space : space + cell;
      }),
    );
  const rule = line(
    widths.map((width, i) => (alignment(i) === "left" ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)),
  );
  return [padded(all[0]), rule, ...all.slice(1).map(padded), ""];
};

const list = (sentences: readonly string[]): readonly string[] =>
  sentences.length === 0 ? [] : [...sentences.map((sentence) => `- ${escaped(sentence)}`), ""];

const code = (name: string): string => `\`${name}\``;

const duration = (seconds: number): string =>
  seconds < 60
    ? `${fixed(seconds, 0)} s`
    : seconds < 3600
      ? `${fixed(seconds / 60, 0)} min`
      : `${fixed(seconds / 3600, 1)} h`;

const apart = ({ apart: distance }: Comparison): string =>
  distance === null ? "–" : `${fixed(distance, 1)} se`;
const here = ({ ours, standardError }: Comparison): string =>
  ours === null ? "–" : withError(ours, standardError);
const between = ({ interval }: Comparison): string => (interval === null ? "–" : ends(interval));

const made = ({ parts, commands }: ReproductionLedger): readonly string[] => {
  const total = {
    name: "in all",
    cells: parts.reduce((sum, { cells }) => sum + cells, 0),
    seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0),
  };
  return [
    "## How it was made",
    "",
    "```sh",
    ...commands,
    "```",
    "",
    "A cell is one acquisition, one policy or one model with one seed. What the cells took, each by itself:",
    "",
    ...table(
      ["part", "cells", "time"],
      [...parts, total].map(({ name, cells, seconds }) => [name, String(cells), duration(seconds)]),
    ),
  ];
};

const overview = ({ reproductions }: ReproductionLedger): readonly string[] => {
  const compared = reproductions.filter(({ beyond, comparisons }) => !beyond && comparisons.length > 0);
  /** What is counted apart comes last. */
  const farthestFirst = (verdict: Verdict) =>
    paperComparisons(reproductions)
      .filter((each) => each.verdict === verdict)
      .sort(
        (a, b) =>
          Number(a.otherFeatures) - Number(b.otherFeatures) ||
          (b.apart ?? Number.POSITIVE_INFINITY) - (a.apart ?? Number.POSITIVE_INFINITY),
      );
  const listed = (verdict: Verdict): readonly string[] => {
    const found = farthestFirst(verdict);
    if (found.length === 0) return ["Nothing.", ""];
    return table(
      ["table", "row", "column", "paper", "here", "apart"],
      found.map((each) => [
        each.of.name,
        each.row,
        each.column,
        withError(each.paper, each.paperError),
        here(each),
        apart(each),
      ]),
      3,
    );
  };
  /** A table with numbers of both kinds has two rows. */
  const rows = compared.flatMap(({ name, comparisons }) =>
    [false, true].flatMap((other) => {
      const own = comparisons.filter(({ otherFeatures }) => otherFeatures === other);
      return own.length === 0 ? [] : [{ name: `${name}${other ? " (other features)" : ""}`, own }];
    }),
  );
  const partly = reproductions.filter(({ done, cells }) => done < cells);
  const count = (comparisons: readonly Comparison[], verdict: Verdict) =>
    String(comparisons.filter((each) => each.verdict === verdict).length);
  return [
    "## What was reproduced",
    "",
    ...table(
      ["table", "reproduced", "undecided", "differ", "not run"],
      rows.map(({ name, own }) => [
        name,
        count(own, "reproduced"),
        count(own, "undecided"),
        count(own, "differs"),
        count(own, "not run"),
      ]),
    ),
    "## What differs",
    "",
    ...listed("differs"),
    "## What is undecided",
    "",
    ...listed("undecided"),
    "## What was not run in full",
    "",
    ...(partly.length === 0
      ? ["Nothing: every table and figure has all its cells.", ""]
      : list(partly.map(({ name, done, cells }) => `${name}: ${done} of ${cells} cells have a result`))),
  ];
};

/** Sentences that several share are said once, under the names of all that share them. */
const settings = ({ reproductions }: ReproductionLedger): readonly string[] => {
  const grouped = (which: "stated" | "chosen" | "matched"): readonly string[] => {
    const namesOf = new Map<string, string[]>();
    for (const { name, protocol } of reproductions) {
      for (const sentence of protocol[which] ?? []) {
        namesOf.set(sentence, [...(namesOf.get(sentence) ?? []), name]);
      }
    }
    const sentencesOf = new Map<string, string[]>();
    for (const [sentence, names] of namesOf) {
      const key = names.map(code).join(", ");
      sentencesOf.set(key, [...(sentencesOf.get(key) ?? []), sentence]);
    }
    return [...sentencesOf].flatMap(([names, sentences]) => [`${names}:`, "", ...list(sentences)]);
  };
  const matched = grouped("matched");
  return [
    "## Settings that the paper states",
    "",
    ...grouped("stated"),
    "## Settings that were chosen here",
    "",
    "The paper does not say, or it is done differently here.",
    "",
    ...grouped("chosen"),
    ...(matched.length === 0
      ? []
      : [
          "## Settings that were picked because they match",
          "",
          "Of what was chosen here, these were picked by looking at numbers of the paper. That the same numbers come out is then",
          "no evidence for them.",
          "",
          ...matched,
        ]),
  ];
};

const comparisonTable = (comparisons: readonly Comparison[]): readonly string[] =>
  table(
    ["row", "column", "paper", "here", "95 % interval", "seeds", "apart", "verdict"],
    comparisons.map((each) => [
      each.row,
      each.column,
      withError(each.paper, each.paperError),
      here(each),
      between(each),
      String(each.seeds),
      apart(each),
      verdictOf(each),
    ]),
    2,
  );

/** Settings in rows: what is compared, with verdicts, and what was measured besides. */
const settingsTable = ({ comparisons, measured }: LedgerReproduction): readonly string[] => {
  const compared = new Set(comparisons.map(({ column }) => column));
  const cells = [
    ...comparisons.map((each) => ({ ...each, text: `${here(each)} ${each.verdict}` })),
    ...measured
      .filter(({ column }) => !compared.has(column))
      .map(({ row, column, ours }) => ({ row, column, text: withError(ours.mean, ours.standardError) })),
  ];
  const { head, rows } = pivot(cells, ({ text }) => text);
  return table(["setting", ...head.slice(1)], rows);
};

const claimsSection = (claims: LedgerReproduction["claims"]): readonly string[] => [
  `${claimsInWords(claims)}. ${VERDICTS_MEAN.claims}`,
  "",
  ...table(
    ["claim", "where", "verdicts"],
    byClaim(claims).map(({ claim, source, own }) => [claim, source, claimsInWords(own)]),
    3,
  ),
  ...byClaim(claims).flatMap(({ claim, own }) => {
    const { head, rows } = claimTable(own);
    return [`### ${escaped(claim)}`, "", ...table(head, rows, 3)];
  }),
];

const section = (each: LedgerReproduction): readonly string[] => {
  const { name, title, source, beyond, findings, comparisons, measured, claims, remarks, figures, asked } =
    each;
  const { done, cells } = each;
  const swept = beyond && comparisons.length > 0;
  const { head, rows } = pivot(measured, ({ ours }) => withError(ours.mean, ours.standardError));
  return [
    `## ${escaped(title)}`,
    "",
    `${code(name)}: ${escaped(source)}. ${done} of ${cells} cells have a result.`,
    "",
    ...figures.flatMap(({ address, caption }) => [`![${escaped(caption)}](${address})`, ""]),
    ...list(findings),
    ...(swept ? settingsTable(each) : []),
    ...(!swept && comparisons.length > 0
      ? [`${verdictsInWords(comparisons)}.`, "", ...comparisonTable(comparisons)]
      : []),
    ...(claims.length > 0 ? claimsSection(claims) : []),
    ...(!swept && measured.length > 0
      ? ["Measured after the last label or step:", "", ...table(head, rows)]
      : []),
    ...(asked.length > 0
      ? [
          ASKED_MEANS,
          "",
          ...askedTables(asked).flatMap(({ head: names, rows: lines }) => table(names, lines)),
        ]
      : []),
    ...(remarks.length > 0 ? ["What is behind it, as far as it goes:", "", ...list(remarks)] : []),
  ];
};

export const reproductionLedger = (ledger: ReproductionLedger): string => {
  const comparisons = paperComparisons(ledger.reproductions);
  const lines = [
    `# ${ledger.title}`,
    "",
    "<!-- Written by fairbed reproduce --ledger from stored results: change those, not this. -->",
    "",
    comparisons.length === 0
      ? "No numbers of the paper to compare with."
      : [
          `Of the numbers that the paper prints: ${verdictsInWords(comparisons)}. One that stands in two tables counts once.`,
          ...circularInWords(comparisons),
        ].join(" "),
    "",
    ...(ledger.quick
      ? [
          "This is the quick protocol, far smaller than the paper's: there are no verdicts on its numbers.",
          "",
        ]
      : []),
    VERDICTS_MEAN.numbers,
    "",
    "Everything here is computed from the stored results, except what is said to be behind a table.",
    "",
    ...made(ledger),
    ...overview(ledger),
    ...ledger.reproductions.flatMap(section),
    ...settings(ledger),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
};
