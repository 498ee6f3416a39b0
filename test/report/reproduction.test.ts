/** The snapshots are the gallery: look at them when they change. */
import { compile } from "vega-lite";
import { describe, expect, test } from "vitest";
import type { ChartDescription, ChartValue } from "../../src/core/chart-description.js";
import { hasPoints, reproductionChart } from "../../src/report/reproduction-charts.js";
import { type ReproductionLedger, reproductionLedger } from "../../src/report/reproduction-ledger.js";
import {
  claimsInWords,
  paperComparisons,
  pivot,
  reproductionReport,
  verdictsInWords,
} from "../../src/report/reproduction-report.js";
import { reproductionSvg } from "../../src/report/reproduction-svg.js";
import { verticalTitle } from "../../src/report/style.js";
import type { ClaimCheck } from "../../src/reproduce/claim-verdict.js";
import type { Comparison, Verdict } from "../../src/reproduce/verdict.js";

const value = (mean: number): ChartValue => ({ mean, low: mean - 0.01, high: mean + 0.01 });

const CHARTS: Readonly<Record<string, ChartDescription>> = {
  "trade-off": {
    kind: "trade-off",
    title: "An example",
    xTitle: "sensitive accuracy",
    yTitle: "target accuracy",
    better: "up and to the left",
    points: [50, 100].flatMap((labels) => [
      { method: "Random", labels, x: value(0.7), y: value(0.8 + labels / 2000) },
      ...[0, 1, 10].map((beta) => ({
        method: "FairBED",
        beta,
        labels,
        x: value(0.7 - beta / 100),
        y: value(0.81 - beta / 200 + labels / 2000),
      })),
    ]),
  },
  curves: {
    kind: "curves",
    title: "An example",
    points: ["β = 0", "β = 1"].flatMap((row, i) =>
      ["accuracy", "parity"].flatMap((column, j) =>
        ["Random", "FairBED"].flatMap((method, k) =>
          [0, 50, 100].map((labels) => ({
            row,
            column,
            method,
            labels,
            value: value(0.6 + (i + j + k) / 50 + labels / 1000),
          })),
        ),
      ),
    ),
  },
  information: {
    kind: "information",
    title: "An example",
    xTitle: "beta",
    rows: ["static", "DAD"].flatMap((panel) =>
      [0, 1].flatMap((x) => [
        { panel, x, about: "about the target", value: value(2 - x / 2) },
        { panel, x, about: "about the sensitive part", value: value(1.5 - x) },
      ]),
    ),
  },
  designs: {
    kind: "designs",
    title: "An example",
    prior: [3, 3],
    points: [0, 1].flatMap((seed) => [1, 2].map((x) => ({ seed, x, y: 3 + seed }))),
  },
  settings: {
    kind: "settings",
    title: "An example",
    xTitle: "parity",
    paper: value(0.7),
    rows: [
      { group: "trees", setting: "10 trees", value: value(0.65), description: "differs" },
      { group: "trees", setting: "30 trees", value: value(0.69), description: "reproduced" },
      { group: "beta", setting: "beta 1", value: value(0.6), description: "not run" },
      { group: "beta", setting: "beta 10", value: value(0.66), description: "undecided" },
    ],
  },
};

describe.each(Object.entries(CHARTS))("the chart of a reproduction: %s", (name, chart) => {
  test("is a specification that Vega-Lite has nothing to say against", () => {
    const said: unknown[] = [];
    const hear = (...words: readonly unknown[]) => {
      said.push(...words);
      return logger;
    };
    const logger = { warn: hear, info: hear, debug: hear, error: hear, level: () => logger };
    compile(reproductionChart(chart), { logger: logger as never });
    expect(said).toEqual([]);
  });

  test("says its note below its title", () => {
    const subtitleOf = (each: ChartDescription) =>
      (reproductionChart(each).title as { subtitle: string[] }).subtitle;
    expect(subtitleOf({ ...chart, note: "not complete" })).toEqual(
      [subtitleOf(chart), "not complete"].flat(),
    );
  });

  test("looks as in the gallery, and has no digits that nobody sees", async () => {
    const svg = await reproductionSvg(chart);
    expect(svg).toMatch(/^<svg/);
    for (const [attribute] of svg.matchAll(/ (?:d|transform|x|y)="[^"]*"/g)) {
      expect(attribute).not.toMatch(/\.\d{3}/);
    }
    await expect(svg).toMatchFileSnapshot(`gallery/reproduction-${name}.svg`);
  });

  test("says whether there is anything to draw", () => {
    expect(hasPoints(chart)).toBe(true);
    expect(hasPoints({ ...chart, ...("rows" in chart ? { rows: [] } : { points: [] }) } as never)).toBe(
      false,
    );
  });
});

const comparison = (
  row: string,
  column: string,
  ours: number | null,
  apart: number | null,
  verdict: Verdict,
): Comparison => ({
  row,
  column,
  paper: 0.7,
  paperError: 0.02,
  ours,
  standardError: ours === null ? null : 0.01,
  interval: ours === null ? null : [ours - 0.02, ours + 0.02],
  seeds: ours === null ? 0 : 8,
  apart,
  verdict,
  otherFeatures: false,
  circular: false,
});

const reproduction = (name: string, beyond: boolean, comparisons: readonly Comparison[]) => ({
  name,
  title: `The title of ${name}`,
  source: "a table",
  beyond,
  remarks: beyond ? [] : [`why ${name} has_a [number]`],
  protocol: { stated: ["8 seeds"], chosen: ["30 % are tested on", `only in ${name}`] },
  findings: beyond ? ["1 of 2 settings is near"] : [],
  comparisons,
  claims: [],
  asked: [],
  measured: [
    { row: "Random", column: "selected", ours: { mean: 0.25, standardError: null, interval: null, n: 1 } },
  ],
  figures: [{ address: `page/${name}.svg`, caption: "A [caption]." }],
  done: beyond ? 5 : 8,
  cells: 8,
});

const LEDGER: ReproductionLedger = {
  title: "An example",
  quick: false,
  reproductions: [
    reproduction("table-a", false, [
      comparison("Random", "EIG_{phi|theta} / EIG_theta", 0.69, 0.4, "reproduced"),
      comparison("EPIG", "DP", 0.5, 8.9, "differs"),
      comparison("HFE", "DP", 0.4, 13.4, "differs"),
      comparison("Random", "EO-FPR", 0.63, 2.1, "undecided"),
      { ...comparison("Random", "CelebA DP", 0.1, 20, "differs"), otherFeatures: true },
    ]),
    reproduction("table-b", false, [comparison("Random", "DP", null, null, "not run")]),
    reproduction("sweep-c", true, [comparison("10 trees", "DP", 0.6, 4.5, "differs")]),
  ],
  parts: [
    { name: "one", cells: 10, seconds: 30 },
    { name: "two", cells: 6, seconds: 7200 },
  ],
  commands: ["fairbed reproduce all --resume"],
};

describe("the ledger", () => {
  const page = reproductionLedger(LEDGER);
  const linesOf = (start: string) => page.split("\n").filter((line) => line.startsWith(start));

  test("counts what the paper prints, and what differs most comes first", () => {
    expect(page).toContain(
      "Of the numbers that the paper prints: 1 of 5 reproduced, 1 undecided, 2 differ, 1 not run; apart, CelebA, whose features are not the paper's: 0 of 1 reproduced, 1 differs.",
    );
    expect(
      linesOf("| table-a").map((line) =>
        line
          .split("|")
          .map((cell) => cell.trim())
          .slice(2, -1),
      ),
    ).toEqual([
      ["1", "1", "2", "0"],
      // Counted apart.
      ["0", "0", "1", "0"],
      ["HFE", "DP", "0.700 ± 0.020", "0.400 ± 0.010", "13.4 se"],
      ["EPIG", "DP", "0.700 ± 0.020", "0.500 ± 0.010", "8.9 se"],
      // And last, however far it is.
      ["Random", "CelebA DP", "0.700 ± 0.020", "0.100 ± 0.010", "20.0 se"],
      ["Random", "EO-FPR", "0.700 ± 0.020", "0.630 ± 0.010", "2.1 se"],
    ]);
    expect(linesOf("| 10 trees")[0]).toContain("0.600 ± 0.010 differs");
    expect(page).toContain("- sweep-c: 5 of 8 cells have a result");
    expect(page).not.toContain("- table-a: 8 of 8");
    expect(page.split("\n")).toContain("- why table-a has_a \\[number\\]");
    expect(linesOf("| in all")[0]).toMatch(/\| +16 \| +2\.0 h \|$/);
  });

  test("shows who was asked beside the candidates' shares, where results say so", () => {
    expect(page).not.toContain("Who was asked");
    const share = (mean: number, standardError: number | null, population: number, belowHalf: boolean) => ({
      share: { mean, standardError, interval: null, n: 8 },
      population,
      belowHalf,
    });
    const asked = [
      {
        acquisition: "census fairbed beta 10",
        attribute: "sex",
        groups: [
          { group: "Female", ...share(0.09, 0.012, 0.33, true) },
          { group: "Male", ...share(0.91, 0.012, 0.67, false) },
        ],
        cells: [{ group: "Female", outcome: "rich", ...share(0.004, null, 0.034, true) }],
      },
    ];
    const [table] = LEDGER.reproductions;
    const lines = reproductionLedger({ ...LEDGER, reproductions: [{ ...table, asked }] }).split("\n");
    const cells = (start: string) =>
      lines
        .find((line) => line.startsWith(start))
        ?.split("|")
        .map((cell) => cell.trim())
        .slice(1, -1);
    expect(cells("| sex")).toEqual(["sex", "Female", "Male", "Female, rich"]);
    expect(cells("| census fairbed beta 10")).toEqual([
      "census fairbed beta 10",
      "9.0 ± 1.2 % (33 %), below half",
      "91.0 ± 1.2 % (67 %)",
      "0.4 % (3.4 %), below half",
    ]);
  });

  test("says of each claim what stands for it, and what was picked because it matches", () => {
    const ours = { mean: 0.1, standardError: 0.02, interval: [0.05, 0.15] as const, n: 8 };
    const check: ClaimCheck = {
      claim: "A is fairer than B",
      source: "section 6",
      compared: "A less B",
      measure: "DP",
      expected: "more",
      margin: 0.05,
      difference: ours,
      verdict: "holds",
      otherFeatures: false,
      besides: false,
    };
    const claims = [
      check,
      { ...check, difference: null, verdict: "not run" as const },
      { ...check, verdict: "undecided" as const, otherFeatures: true },
      { ...check, measure: "DP matched", besides: true },
    ];
    const [table] = LEDGER.reproductions;
    const protocol = { ...table.protocol, matched: ["the start was picked: table-a is circular"] };
    const own = reproductionLedger({ ...LEDGER, reproductions: [{ ...table, claims, protocol }] });
    const words =
      "1 of 2 holds, 1 not run; apart, CelebA, whose features are not the paper's: 0 of 1 hold, 1 undecided";
    expect(claimsInWords(claims)).toBe(words);
    expect(own).toContain(`| A is fairer than B | section 6 | ${words} |`);
    expect(own).toContain("\n### A is fairer than B\n");
    const cells = own
      .split("\n")
      .filter((line) => line.startsWith("| A less B"))
      .map((line) => line.split("|").map((cell) => cell.trim()));
    expect(cells[0].slice(2, -1)).toEqual(["DP", "more", "0.100 ± 0.020", "0.050 to 0.150", "8", "holds"]);
    expect(cells[1].slice(4, -1)).toEqual(["–", "–", "0", "not run"]);
    expect(cells[3][2]).toBe("DP matched; not the paper's measure, not counted");
    expect(own).toContain("\n`table-a`:\n\n- the start was picked: table-a is circular\n");
    expect(page).not.toContain("picked because they match");
    const html = reproductionReport({
      title: "An example",
      quick: false,
      notes: [],
      reproductions: [{ ...table, claims, protocol, figures: [] }],
      footer: "",
    });
    expect(html).toContain("<h3>A is fairer than B</h3>");
    expect(html).toContain("<li>the start was picked: table-a is circular</li>");
  });

  test("says once what several share, under their names", () => {
    expect(page.split("- 8 seeds")).toHaveLength(2);
    expect(page).toContain("`table-a`, `table-b`, `sweep-c`:\n\n- 8 seeds\n");
    expect(page).toContain("`table-b`:\n\n- only in table-b\n");
  });

  test("has tables whose columns stand under each other", () => {
    const tables = page.split(/\n{2,}/).filter((block) => block.startsWith("|"));
    expect(tables.length).toBeGreaterThan(0);
    const places = (line: string) =>
      [...line.replaceAll("\\|", "  ").matchAll(/\|/g)].map(({ index }) => index);
    for (const table of tables) {
      const [head, ...rows] = table.trim().split("\n");
      for (const row of rows) expect(places(row)).toEqual(places(head));
    }
  });
});

test("a number that settings were picked by is said to be circular", () => {
  const [table] = LEDGER.reproductions;
  const picked = table.comparisons.map((each) => ({ ...each, circular: true }));
  const page = reproductionLedger({ ...LEDGER, reproductions: [{ ...table, comparisons: picked }] });
  expect(page).toContain("Of those reproduced, 1 is circular");
  expect(page.match(/reproduced \(circular\)/g)).toHaveLength(1);
  expect(page).not.toContain("differs (circular)");
  expect(reproductionLedger(LEDGER)).not.toContain("circular");
});

test("what goes beyond the paper does not count among the paper's numbers", () => {
  const { reproductions } = LEDGER;
  expect(verdictsInWords(paperComparisons(reproductions))).toBe(
    "1 of 5 reproduced, 1 undecided, 2 differ, 1 not run; apart, CelebA, whose features are not the paper's: 0 of 1 reproduced, 1 differs",
  );
});

test("a title beside an axis takes two lines where the axis is short for it", () => {
  expect(verticalTitle("demographic parity (ratio)")).toBe("demographic parity (ratio)");
  expect(verticalTitle("demographic parity (ratio)", 120)).toEqual(["demographic", "parity (ratio)"]);
  expect(verticalTitle("share of all the information about the target part")).toEqual([
    "share of all the information",
    "about the target part",
  ]);
  expect(verticalTitle("matchedDemographicParity", 120)).toBe("matchedDemographicParity");
});

test("a number that stands in two tables counts once, one that only looks the same does not", () => {
  const number = comparison("EPIG", "DP", 0.5, 8.9, "differs");
  const same = { ...number, column: "Census DP" };
  const others = [
    { ...number, row: "HFE" },
    { ...number, ours: 0.51 },
  ];
  const none = comparison("EPIG", "DP", null, null, "not run");
  const reproductions = [
    reproduction("table-a", false, [number, none]),
    reproduction("table-b", false, [same, ...others, none]),
  ];
  expect(paperComparisons(reproductions)).toMatchObject([number, none, ...others, none]);
});

test("a table of rows and columns has a dash where there is nothing", () => {
  const cells = [
    { row: "a", column: "x", text: "1" },
    { row: "b", column: "y", text: "2" },
  ];
  expect(pivot(cells, ({ text }) => text)).toEqual({
    head: ["", "x", "y"],
    rows: [
      ["a", "1", "–"],
      ["b", "–", "2"],
    ],
  });
});
