/** What `fairbed reproduce` writes: figures, tables, the page, and the ledger where it is asked for. */

import { mkdir } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join } from "node:path";
import { fixed } from "../../../core/number-text.js";
import { hasPoints } from "../../../report/reproduction-charts.js";
import { reproductionLedger } from "../../../report/reproduction-ledger.js";
import { pngOf } from "../../../report/reproduction-png.js";
import { reproductionReport } from "../../../report/reproduction-report.js";
import { reproductionSvg } from "../../../report/reproduction-svg.js";
import { catalogueCells } from "../../../reproduce/catalogue.js";
import { type Cell, cellKey, seedOf } from "../../../reproduce/cell.js";
import { describeCell, numbersOf } from "../../../reproduce/describe-cell.js";
import {
  countDone,
  type Drawing,
  drawingOf,
  type Reproduction,
  type Scale,
} from "../../../reproduce/reproduction.js";
import { type ResultStore, type StoredCell, TABLES } from "../../../reproduce/store.js";
import { csvText } from "../../../tables/csv.js";
import type { CommandContext } from "../../command.js";

export interface Drawn {
  readonly reproduction: Reproduction;
  readonly drawing: Drawing;
  readonly cells: readonly Cell[];
  /** How many of the cells have a result. */
  readonly done: number;
}

export interface WriteOptions {
  readonly drawn: readonly Drawn[];
  /** What is there of the cells that were asked for. */
  readonly found: readonly StoredCell[];
  readonly store: ResultStore;
  readonly scale: Scale;
  /** As typed. */
  readonly names: readonly string[];
  /** Whether results that ship with fairbed are among these. */
  readonly shipped: boolean;
  readonly notes: readonly string[];
  readonly out: string;
  readonly ledger: string | undefined;
  readonly context: CommandContext;
}

/** How many different cells were asked for, and what is there of them, in their order. */
export const storedOf = (
  wanted: readonly Cell[],
  store: ResultStore,
): { readonly all: number; readonly found: readonly StoredCell[] } => {
  const cells = new Map(wanted.map((cell) => [cellKey(cell), cell]));
  const found = [...cells.values()].map((cell) => store.find(cell)).filter((each) => each !== undefined);
  return { all: cells.size, found };
};

/** Every table and figure from what is there. */
export const drawnOf = (
  reproductions: readonly Reproduction[],
  store: ResultStore,
  scale: Scale,
): readonly Drawn[] =>
  reproductions.map((reproduction) => {
    const cells = reproduction.cells(scale);
    return {
      reproduction,
      drawing: drawingOf(reproduction, store, scale),
      cells,
      done: countDone(cells, store),
    };
  });

const TITLE = "The paper's tables and figures";

/** Names of the files in the folder; the ledger is not among them. */
export const writeAll = async (options: WriteOptions): Promise<readonly string[]> => {
  const { drawn, found, store, scale, notes, out, ledger, context } = options;
  const files: string[] = [];
  const write = async (name: string, contents: string | Uint8Array) => {
    await mkdir(dirname(join(out, name)), { recursive: true });
    await context.writeFile(join(out, name), contents);
    files.push(name);
  };
  const reported = [];
  for (const each of drawn) {
    const figures = await drawFigures(each, context);
    for (const { name, svg } of figures) {
      await write(`${name}.svg`, svg);
      const png = await pngOf(svg);
      if (png !== undefined) await write(`${name}.png`, png);
    }
    reported.push({ ...reportOf(each, scale), figures });
  }
  await write("cells.json", `[\n${found.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`);
  await write("cells.csv", cellTable(found));
  const comparisons = drawn.flatMap(({ reproduction: { name }, drawing }) =>
    drawing.comparisons.map((each) => ({ name, ...each })),
  );
  await write("comparisons.json", `${JSON.stringify(comparisons, null, 1)}\n`);
  await write("comparisons.csv", comparisonTable(comparisons));
  for (const [name, text] of store.tables(catalogueCells(store.seeds))) {
    await context.checkpoint();
    await write(join(TABLES, name), text);
  }
  await write(
    "index.html",
    reproductionReport({
      title: TITLE,
      quick: scale.quick,
      notes,
      reproductions: reported,
      footer: `Made by fairbed reproduce from ${found.length} cells, which took ${fixed(
        found.reduce((sum, { seconds }) => sum + seconds, 0),
        0,
      )} seconds to run.`,
    }),
  );
  if (ledger !== undefined) await writeLedger(ledger, reported, options);
  return files;
};

interface Figure {
  readonly name: string;
  readonly caption: string;
  readonly svg: string;
}

const drawFigures = async (
  { reproduction, drawing }: Drawn,
  context: CommandContext,
): Promise<readonly Figure[]> => {
  const figures: Figure[] = [];
  for (const { id, caption, chart } of drawing.figures) {
    await context.checkpoint();
    if (!hasPoints(chart)) continue;
    figures.push({ name: `${reproduction.name}-${id}`, caption, svg: await reproductionSvg(chart) });
  }
  return figures;
};

const reportOf = ({ reproduction, drawing, cells, done }: Drawn, scale: Scale) => {
  const { name, title, source, beyond = false } = reproduction;
  const remarks = scale.quick ? [] : (reproduction.remarks ?? []);
  const { comparisons, measured, claims = [], findings = [], asked = [] } = drawing;
  const protocol = reproduction.protocol(scale);
  return {
    name,
    title,
    source,
    beyond,
    remarks,
    protocol,
    findings,
    asked,
    comparisons,
    measured,
    claims,
    done,
    cells: cells.length,
  };
};

/** A line for every cell, or for every number of labels of an acquisition; a column for every number. */
const cellTable = (found: readonly StoredCell[]): string => {
  const lines = found.flatMap(({ key, cell, result }) => {
    const byLabels = new Map<number | undefined, Map<string, number>>();
    for (const { labels, metric, value } of numbersOf(result)) {
      const own = byLabels.get(labels) ?? new Map<string, number>();
      byLabels.set(labels, own.set(metric, value));
    }
    const about = [key.slice(0, 16), cell.kind, describeCell(cell), seedOf(cell)];
    return [...byLabels].map(([labels, values]) => ({ about: [...about, labels ?? ""], values }));
  });
  const metrics = [...new Set(lines.flatMap(({ values }) => [...values.keys()]))];
  return csvText([
    ["key", "kind", "what", "seed", "labels", ...metrics],
    ...lines.map(({ about, values }) => [...about, ...metrics.map((metric) => values.get(metric) ?? "")]),
  ]);
};

const comparisonTable = (
  comparisons: readonly ({ readonly name: string } & Drawing["comparisons"][number])[],
): string =>
  csvText([
    ["name", "row", "column", "paper", "paper error", "ours", "standard error", "seeds", "apart", "verdict"],
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
  ]);

type Reported = ReturnType<typeof reportOf> & { readonly figures: readonly Figure[] };

/** The page, and its drawings in a folder of the same name beside it. */
const writeLedger = async (
  path: string,
  reported: readonly Reported[],
  { drawn, found, scale: { quick, seeds }, names, shipped, context }: WriteOptions,
): Promise<void> => {
  const folder = basename(path, extname(path));
  for (const { figures } of reported) {
    if (figures.length > 0) await mkdir(join(dirname(path), folder), { recursive: true });
    for (const { name, svg } of figures) {
      await context.writeFile(join(dirname(path), folder, `${name}.svg`), svg);
    }
  }
  const page = isAbsolute(path) ? basename(path) : path;
  const asked = [
    "fairbed reproduce",
    ...names,
    ...(quick ? ["--quick"] : []),
    ...(seeds === undefined ? [] : [`--seeds ${seeds}`]),
  ].join(" ");
  await context.writeFile(
    path,
    reproductionLedger({
      title: `${TITLE}: what was reproduced`,
      quick,
      reproductions: reported.map(({ figures, ...each }) => ({
        ...each,
        figures: figures.map(({ name, caption }) => ({ address: `${folder}/${name}.svg`, caption })),
      })),
      parts: partsOf(drawn, found),
      commands: shipped
        ? [`${asked} --resume`, `${asked} --from-results --ledger ${page}`]
        : [`${asked} --ledger ${page}`],
    }),
  );
};

/** What is run for a name beyond the paper alone is told apart, by the first such name that needs it. */
const partsOf = (drawn: readonly Drawn[], found: readonly StoredCell[]) => {
  const needed = new Set(
    drawn.filter(({ reproduction }) => !reproduction.beyond).flatMap(({ cells }) => cells.map(cellKey)),
  );
  const beyond = new Map(
    drawn
      .filter(({ reproduction }) => reproduction.beyond)
      .reverse()
      .flatMap(({ reproduction: { name }, cells }) => cells.map((cell) => [cellKey(cell), name] as const)),
  );
  const partOf = ({ key, cell }: StoredCell): string => {
    if (cell.kind === "design") return "location finding";
    if (!needed.has(key)) return `beyond the paper: ${beyond.get(key)}`;
    return cell.kind === "acquire" ? "active learning" : "models and mitigations on what was acquired";
  };
  const parts = new Map<string, { cells: number; seconds: number }>();
  for (const stored of found) {
    const name = partOf(stored);
    const { cells, seconds } = parts.get(name) ?? { cells: 0, seconds: 0 };
    parts.set(name, { cells: cells + 1, seconds: seconds + stored.seconds });
  }
  return [...parts].map(([name, part]) => ({ name, ...part }));
};
