/** `fairbed reproduce`: tables and figures of the paper, run, drawn and compared. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EnvironmentError, InputError } from "../../../core/errors.js";
import { between, fixed, withError } from "../../../core/number-text.js";
import type { JobsRun } from "../../../jobs/run-jobs.js";
import type { ClaimCheck } from "../../../reproduce/claim-verdict.js";
import type { Scale } from "../../../reproduce/reproduction.js";
import type { ResultStore } from "../../../reproduce/store.js";
import type { Comparison } from "../../../reproduce/verdict.js";
import { withClaimedFolder } from "../../claimed-folder.js";
import { defineCommand } from "../../command.js";
import { queueOption, runMissing } from "../../job-place.js";
import {
  argumentList,
  flag,
  integer,
  optionalInteger,
  outFile,
  outFolder,
  textOrAlone,
} from "../../options.js";
import { makeFolder } from "../../out-folder.js";
import { rightAligned } from "../../text-table.js";

export const reproduceTexts = {
  noNames: (names: readonly string[]) => `name one or more tables and figures, or all: ${names.join(", ")}`,
  noShipped: (option: string) =>
    `${option} was to begin with the results that ship with fairbed, and this copy has none: give --from-results a results.jsonl or a results folder that fairbed reproduce wrote, or leave ${option} out`,
  drawsOnly: (option: string) =>
    `--from-results runs nothing, so ${option} is of no use with it: give one of the two`,
  noneRan: (notes: readonly string[]) => `nothing could be run: ${notes.join("; ")}`,
  nothing: (quick: boolean) =>
    `these results hold nothing of what was named${quick ? " in the quick protocol" : ""}: run it first, without --from-results, or name other results, tables or figures`,
};

/** The store, in the folder that is written to. */
const RESULTS = "results.jsonl";

/** The results that ship with fairbed. */
const SHIPPED = fileURLToPath(new URL("../../../../results", import.meta.url));

export const reproduce = defineCommand({
  name: "reproduce",
  group: "Experiments",
  summary: "run the paper's tables and figures",
  examples: [
    { line: "reproduce table-location --quick", description: "a small run that shows the shape of it" },
    {
      line: "reproduce table-ratios fig-pareto-census --jobs 2",
      description: "two of them by the paper's protocol",
    },
    { line: "reproduce all --queue postgres://host", description: "on all machines that run fairbed worker" },
    { line: "reproduce all --resume", description: "run what the results that ship with fairbed lack" },
    {
      line: "reproduce all --from-results",
      description: "draw everything again from those, without running",
    },
  ],
  arguments: { names: argumentList("which ones, or all") },
  options: {
    quick: flag("--quick", "a much smaller protocol of the same shape"),
    seeds: optionalInteger("--seeds <number>", "how many seeds; the protocol's number unless given", {
      min: 1,
      max: 10_000,
    }),
    out: outFolder(
      "--out <folder>",
      "where results and figures go; a later run goes on from there",
      "reproduction",
    ),
    jobs: integer("--jobs <number>", "processes that run cells; 1 uses all cores for one cell at a time", 1, {
      min: 1,
      max: 256,
    }),
    queue: queueOption,
    resume: flag(
      "--resume",
      "begin with the results that ship with fairbed too; without it, with those in the folder of --out alone",
    ),
    fromResults: textOrAlone(
      "--from-results [path]",
      "run nothing and draw a results.jsonl or a results folder; those that ship with fairbed unless given",
    ),
    ledger: outFile(
      "--ledger <file.md>",
      "also write a Markdown page, with its figures in a folder of its name",
    ),
  },
  reportsProgress: true,
  async run({ arguments: { names: words }, options, context }) {
    const started = performance.now();
    const { REPRODUCTION_NAMES, reproductionsNamed } = await import("../../../reproduce/catalogue.js");
    const { cellJob } = await import("../../../reproduce/cell-jobs.js");
    const { requireCharts } = await import("../../../report/render.js");
    const { paperComparisons, verdictsInWords } = await import("../../../report/reproduction-report.js");
    const { drawnOf, storedOf, writeAll } = await import("./reproduce-files.js");
    const names = words
      .flatMap((word) => word.split(","))
      .flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
    if (names.length === 0) {
      throw new InputError("no-names", reproduceTexts.noNames(["all", ...REPRODUCTION_NAMES]));
    }
    const reproductions = reproductionsNamed(names);
    const scale: Scale = {
      quick: options.quick,
      seeds: options.seeds,
    };
    await requireCharts();
    const wanted = reproductions.flatMap((each) => each.cells(scale));
    const draw = async (store: ResultStore, { ran, notes }: JobsRun) => {
      const drawn = drawnOf(reproductions, store, scale);
      const { all, found } = storedOf(wanted, store);
      const { out, ledger } = options;
      const files = await writeAll({
        drawn,
        found,
        store,
        scale,
        names,
        shipped: options.resume || options.fromResults === true,
        notes,
        out,
        ledger,
        context,
      });
      const comparisons = paperComparisons(
        drawn.map(({ reproduction: { beyond = false }, drawing }) => ({ beyond, ...drawing })),
      );
      return {
        names: reproductions.map(({ name }) => name),
        quick: options.quick,
        out,
        cells: { wanted: all, ran, stored: found.length },
        reproductions: drawn.map(({ reproduction: { name, title, source }, drawing }) => ({
          name,
          title,
          source,
          findings: drawing.findings ?? [],
          asked: drawing.asked ?? [],
          comparisons: drawing.comparisons,
          measured: drawing.measured,
          claims: drawing.claims ?? [],
        })),
        summary: comparisons.length === 0 ? "" : verdictsInWords(comparisons),
        notes,
        files,
        ledger,
        seconds: (performance.now() - started) / 1000,
      };
    };
    if (options.fromResults !== undefined) {
      const store = await storeFor(options);
      if (storedOf(wanted, store).found.length === 0) {
        throw new InputError("no-results", reproduceTexts.nothing(options.quick));
      }
      await makeFolder(options.out);
      return draw(store, { ran: 0, notes: [] });
    }
    return withClaimedFolder(options.out, async () => {
      const store = await storeFor(options);
      const label = { label: "reproduce", unit: "cells" };
      const run = await runMissing(wanted.map(cellJob), store.jobs, options, label, context);
      // A page without a number would look as if something had been done.
      if (storedOf(wanted, store).found.length === 0) {
        throw new EnvironmentError("no-results", reproduceTexts.noneRan(run.notes));
      }
      return draw(store, run);
    });
  },
  print: ({ quick, cells, reproductions, summary, notes, files, ledger, out, seconds }) =>
    [
      ...reproductions.flatMap(({ name, title, findings, comparisons, claims }) => [
        `${name}: ${title}`,
        ...findings.map((finding) => `- ${finding}`),
        ...(comparisons.length > 0 ? [...comparisonLines(comparisons), ""] : []),
        ...(claims.length > 0 ? [...claimLines(claims), ""] : []),
      ]),
      ...(quick
        ? ["The quick protocol is not the paper's, so there are no verdicts on its numbers."]
        : summary === ""
          ? []
          : [`${summary}.`]),
      ...notes.map((note) => `Note: ${note}`),
      `${cells.stored} of ${cells.wanted} cells have a result, ${cells.ran} of them new, in ${fixed(seconds, 1)} s.`,
      `${files.length} files in ${out}; begin with ${join(out, "index.html")}.`,
      ...(ledger === undefined ? [] : [`The ledger is ${ledger}.`]),
    ].join("\n"),
});

const claimLines = (claims: readonly ClaimCheck[]): readonly string[] =>
  claims.flatMap(({ claim, compared, measure, difference, verdict }, i) => [
    ...(claims[i - 1]?.claim === claim ? [] : [claim]),
    `  ${compared}, ${measure}: ${
      difference === null
        ? "–"
        : `${fixed(difference.mean, 3)}${difference.interval === null ? "" : ` (${between(difference.interval)})`}`
    }, ${verdict}`,
  ]);

const comparisonLines = (comparisons: readonly Comparison[]): readonly string[] =>
  rightAligned([
    ["", "", "paper", "here", "apart", "verdict"],
    ...comparisons.map(({ row, column, paper, paperError, ours, standardError, apart, verdict }) => [
      row,
      column,
      `${paper} ± ${paperError}`,
      ours === null ? "–" : withError(ours, standardError),
      apart === null ? "–" : `${fixed(apart, 1)} se`,
      verdict,
    ]),
  ]);

/** Where results are read from, and written to where something is run. */
const storeFor = async ({
  fromResults,
  resume,
  queue,
  out,
}: {
  readonly fromResults: string | true | undefined;
  readonly resume: boolean;
  readonly queue: string | undefined;
  readonly out: string;
}): Promise<ResultStore> => {
  const { ResultStore: Store } = await import("../../../reproduce/store.js");
  const shipped = (option: string): ResultStore => {
    if (!existsSync(SHIPPED)) throw new InputError("no-results", reproduceTexts.noShipped(option));
    return Store.read(SHIPPED);
  };
  if (fromResults !== undefined) {
    const useless = resume ? "--resume" : queue !== undefined ? "--queue" : undefined;
    if (useless !== undefined) throw new InputError("draws-only", reproduceTexts.drawsOnly(useless));
    return fromResults === true ? shipped("--from-results") : Store.read(fromResults);
  }
  return Store.open(join(out, RESULTS), resume ? shipped("--resume") : undefined);
};
