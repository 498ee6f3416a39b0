/** `fairbed reproduce`: tables and figures of the paper, run, drawn and compared. */
import { join } from "node:path";
import { InputError } from "../../../core/errors.js";
import type { Cell } from "../../../experiments/reproduce/cell.js";
import type { Drawing, Reproduction, Scale } from "../../../experiments/reproduce/reproduction.js";
import type { ResultStore, StoredCell } from "../../../experiments/reproduce/store.js";
import type { Comparison } from "../../../experiments/reproduce/verdict.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { argumentList, flag, integer, optionalInteger, text } from "../../options.js";
import { rightAligned } from "../design/words.js";

export const reproduceTexts = {
  noNames: (names: readonly string[]) => `name one or more tables and figures, or all: ${names.join(", ")}`,
};

/** The store, in the folder that is written to. */
const RESULTS = "results.jsonl";

interface Drawn {
  readonly reproduction: Reproduction;
  readonly drawing: Drawing;
  readonly cells: readonly Cell[];
  readonly done: number;
}

export const reproduce = defineCommand({
  name: "reproduce",
  group: "Experiments",
  summary: "run the paper's tables and figures",
  examples: [
    { line: "reproduce table-location --quick", says: "a small run that shows the shape of it" },
    {
      line: "reproduce table-ratios fig-pareto-census --jobs 2",
      says: "two of them by the paper's protocol",
    },
    { line: "reproduce all --from-results results.jsonl", says: "draw everything again, without running" },
  ],
  arguments: { names: argumentList("which ones, or all") },
  options: {
    quick: flag("--quick", "a much smaller protocol of the same shape"),
    seeds: optionalInteger("--seeds <number>", "how many seeds; the protocol's number unless given", {
      min: 1,
    }),
    out: text(
      "--out <folder>",
      "where results and figures go; a later run goes on from there",
      "reproduction",
    ),
    jobs: integer("--jobs <number>", "processes that run cells; 1 uses all cores for one cell at a time", 1, {
      min: 1,
      max: 256,
    }),
    fromResults: text("--from-results <file>", "draw what is in this results.jsonl and run nothing"),
  },
  reportsProgress: true,
  async run({ arguments: { names: words }, options, context }) {
    const started = performance.now();
    const { REPRODUCTION_NAMES, reproductionsNamed } = await import(
      "../../../experiments/reproduce/catalogue.js"
    );
    const { drawingOf } = await import("../../../experiments/reproduce/reproduction.js");
    const { ResultStore: Store } = await import("../../../experiments/reproduce/store.js");
    const { requireCharts } = await import("../../../report/render.js");
    const { verdictsInWords } = await import("../../../report/reproduction-report.js");
    const names = words
      .flatMap((word) => word.split(","))
      .flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
    if (names.length === 0) {
      throw new InputError("no-names", reproduceTexts.noNames(["all", ...REPRODUCTION_NAMES]));
    }
    const reproductions = reproductionsNamed(names);
    const scale: Scale = {
      quick: options.quick,
      ...(options.seeds === undefined ? {} : { seeds: options.seeds }),
    };
    await requireCharts();
    const wanted = reproductions.flatMap((each) => each.cells(scale));
    const drawsOnly = options.fromResults !== undefined;
    const store = drawsOnly ? Store.read(options.fromResults ?? "") : Store.open(join(options.out, RESULTS));
    const { ran, notes } = drawsOnly
      ? { ran: 0, notes: [] }
      : await runMissing(wanted, store, options.jobs, context);
    const drawn = reproductions.map((reproduction): Drawn => {
      const cells = reproduction.cells(scale);
      return {
        reproduction,
        drawing: drawingOf(reproduction, store, scale),
        cells,
        done: cells.filter((cell) => store.has(cell)).length,
      };
    });
    const comparisons = drawn.flatMap(({ drawing }) => drawing.comparisons);
    const stored = storedOf(wanted, store);
    const files = await writeAll({ drawn, stored, notes, quick: options.quick, out: options.out, context });
    return {
      names: reproductions.map(({ name }) => name),
      quick: options.quick,
      out: options.out,
      cells: { wanted: new Set(stored.keys).size, ran, stored: stored.found.length },
      reproductions: drawn.map(({ reproduction: { name, title, source }, drawing }) => ({
        name,
        title,
        source,
        comparisons: drawing.comparisons,
        measured: drawing.measured,
      })),
      summary: comparisons.length === 0 ? "" : verdictsInWords(comparisons),
      notes,
      files,
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ quick, cells, reproductions, summary, notes, files, out, seconds }) =>
    [
      ...reproductions.flatMap(({ name, title, comparisons }) => [
        `${name}: ${title}`,
        ...(comparisons.length > 0 ? [...comparisonLines(comparisons), ""] : []),
      ]),
      ...(summary === "" ? [] : [`${summary}.`]),
      ...(quick ? ["The quick protocol is not the paper's, so there are no verdicts on its numbers."] : []),
      ...notes.map((note) => `Note: ${note}`),
      `${cells.stored} of ${cells.wanted} cells have a result, ${cells.ran} of them from this run, in ${seconds.toFixed(1)} s.`,
      `${files.length} files in ${out}; begin with ${join(out, "index.html")}.`,
    ].join("\n"),
});

const comparisonLines = (comparisons: readonly Comparison[]): readonly string[] =>
  rightAligned([
    ["", "", "paper", "here", "apart", "verdict"],
    ...comparisons.map(({ row, column, paper, paperError, ours, standardError, apart, verdict }) => [
      row,
      column,
      `${paper} ± ${paperError}`,
      ours === null
        ? "–"
        : `${ours.toFixed(3)}${standardError === null ? "" : ` ± ${standardError.toFixed(3)}`}`,
      apart === null ? "–" : `${apart.toFixed(1)} se`,
      verdict,
    ]),
  ]);

const runMissing = async (
  wanted: readonly Cell[],
  store: ResultStore,
  jobs: number,
  context: CommandContext,
): Promise<{ readonly ran: number; readonly notes: readonly string[] }> => {
  const { estimateWork, pendingCells, runCells } = await import(
    "../../../experiments/reproduce/run-cells.js"
  );
  const pending = pendingCells(wanted, store);
  if (pending.length === 0) return { ran: 0, notes: [] };
  const total = Math.max(1, Math.round(estimateWork(pending)));
  const progress = context.progress(`${pending.length} cells, seconds of work`, total);
  try {
    const { ran, missing } = await runCells(wanted, store, {
      jobs: Math.min(jobs, pending.length),
      signal: context.signal,
      onProgress: (done) => progress.update(Math.round(done)),
      checkpoint: () => context.checkpoint(),
    });
    return { ran, notes: Object.values(missing) };
  } finally {
    progress.end();
  }
};

interface StoredCells {
  readonly keys: readonly string[];
  readonly found: readonly StoredCell[];
}

/** What is there of the cells that were asked for, each once and in their order. */
const storedOf = (wanted: readonly Cell[], store: ResultStore): StoredCells => {
  const found = new Map<string, StoredCell>();
  const keys: string[] = [];
  for (const cell of wanted) {
    const stored = store.find(cell);
    keys.push(stored?.key ?? JSON.stringify(cell));
    if (stored !== undefined) found.set(stored.key, stored);
  }
  return { keys, found: [...found.values()] };
};

interface WriteOptions {
  readonly drawn: readonly Drawn[];
  readonly stored: StoredCells;
  readonly notes: readonly string[];
  readonly quick: boolean;
  readonly out: string;
  readonly context: CommandContext;
}

const writeAll = async ({ drawn, stored, notes, quick, out, context }: WriteOptions): Promise<string[]> => {
  const { mkdir } = await import("node:fs/promises");
  const { seedOf } = await import("../../../experiments/reproduce/cell.js");
  const { describeCell, numbersOf } = await import("../../../experiments/reproduce/describe-cell.js");
  const { hasPoints, reproductionChart } = await import("../../../report/reproduction-charts.js");
  const { reproductionReport } = await import("../../../report/reproduction-report.js");
  const { renderSvg } = await import("../../../report/render.js");
  const { pngOf } = await import("../../../report/reproduction-png.js");
  await mkdir(out, { recursive: true });
  const files: string[] = [];
  const write = async (name: string, contents: string | Uint8Array) => {
    await context.writeFile(join(out, name), contents);
    files.push(name);
  };
  const reported = [];
  for (const { reproduction, drawing, cells, done } of drawn) {
    const figures = [];
    for (const { id, caption, chart } of drawing.figures) {
      await context.checkpoint();
      if (!hasPoints(chart)) continue;
      const svg = await renderSvg(reproductionChart(chart));
      await write(`${reproduction.name}-${id}.svg`, svg);
      const png = await pngOf(svg);
      if (png !== undefined) await write(`${reproduction.name}-${id}.png`, png);
      figures.push({ svg, caption });
    }
    const { name, title, source, protocol } = reproduction;
    const { comparisons, measured } = drawing;
    reported.push({
      name,
      title,
      source,
      protocol,
      comparisons,
      measured,
      figures,
      done,
      cells: cells.length,
    });
  }
  await write("cells.json", `[\n${stored.found.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`);
  await write(
    "cells.csv",
    csv([
      ["key", "kind", "what", "seed", "labels", "metric", "value"],
      ...stored.found.flatMap(({ key, cell, result }) =>
        numbersOf(result).map(({ labels, metric, value }) => [
          key.slice(0, 12),
          cell.kind,
          describeCell(cell),
          seedOf(cell),
          labels ?? "",
          metric,
          value,
        ]),
      ),
    ]),
  );
  const comparisons = drawn.flatMap(({ reproduction: { name }, drawing }) =>
    drawing.comparisons.map((each) => ({ name, ...each })),
  );
  await write("comparisons.json", `${JSON.stringify(comparisons, null, 1)}\n`);
  await write(
    "comparisons.csv",
    csv([
      [
        "name",
        "row",
        "column",
        "paper",
        "paper error",
        "ours",
        "standard error",
        "seeds",
        "apart",
        "verdict",
      ],
      ...comparisons.map((each) => [
        each.name,
        each.row,
        each.column,
        each.paper,
        each.paperError,
        each.ours ?? "",
        each.standardError ?? "",
        each.seeds,
        each.apart ?? "",
        each.verdict,
      ]),
    ]),
  );
  const seconds = stored.found.reduce((sum, each) => sum + each.seconds, 0);
  await write(
    "index.html",
    reproductionReport({
      title: "The paper's tables and figures",
      quick,
      notes,
      reproductions: reported,
      footer: `Made by fairbed reproduce from ${stored.found.length} cells, which took ${seconds.toFixed(0)} seconds to run.`,
    }),
  );
  return files;
};

const csv = (rows: readonly (readonly (string | number)[])[]): string =>
  rows
    .map((row) =>
      row
        .map((each) => (/[",\n]/.test(String(each)) ? `"${String(each).replaceAll('"', '""')}"` : each))
        .join(","),
    )
    .join("\n")
    .concat("\n");
