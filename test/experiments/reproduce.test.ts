import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  acquireCell,
  EPIG,
  fairbed,
  RANDOM,
  recommended,
} from "../../src/experiments/reproduce/acquisition-lines.js";
import {
  catalogueTexts,
  REPRODUCTION_NAMES,
  REPRODUCTIONS,
  reproductionsNamed,
} from "../../src/experiments/reproduce/catalogue.js";
import { type Cell, canonicalJson, cellKey, type DesignCell } from "../../src/experiments/reproduce/cell.js";
import { drawingOf } from "../../src/experiments/reproduce/reproduction.js";
import { runCell } from "../../src/experiments/reproduce/run-cell.js";
import { pendingCells, runCells } from "../../src/experiments/reproduce/run-cells.js";
import { ResultStore, storeTexts } from "../../src/experiments/reproduce/store.js";
import { compare, meanOverSeeds } from "../../src/experiments/reproduce/verdict.js";
import { RECOMMENDED } from "../../src/experiments/simulation.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-reproduce-"));
afterAll(() => rmSync(folder, { recursive: true }));

const QUICK = { quick: true };
const acquisition = acquireCell("synthetic", fairbed(10), 1, QUICK);
const location: DesignCell = {
  kind: "design",
  policy: "static",
  objective: "conditional",
  beta: 0.8,
  horizon: 2,
  training: { steps: 3, outer: 5, contrastive: 10, marginal: 10 },
  evaluation: { outer: 10, batches: 2, inner: 50 },
  seed: 0,
};
/** One of each kind; the last three start from the first. */
const CELLS: readonly Cell[] = [
  { kind: "generalize", acquisition, model: "svm" },
  acquisition,
  location,
  { kind: "reject-option", acquisition, validationFraction: 0.3, band: [-0.05, 0.05] },
  {
    kind: "representation",
    acquisition,
    prototypes: 3,
    reconstruction: 0.01,
    prediction: 1,
    parity: 1,
    steps: 20,
    restarts: 1,
  },
];

const run = (store: ResultStore, checkpoint: () => Promise<void> = async () => {}) =>
  runCells(CELLS, store, {
    jobs: 1,
    signal: new AbortController().signal,
    onProgress: () => {},
    checkpoint,
  });

/** Key and result of every line, without the time it took. */
const contents = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .map(({ key, cell, result }) => JSON.stringify({ key, cell, result }))
    .sort();

describe("a cell", () => {
  test("has the same key whatever the order of what it says, and another one for another setting", () => {
    expect(canonicalJson({ b: [1, { d: undefined, c: null }], a: "x" })).toBe('{"a":"x","b":[1,{"c":null}]}');
    const { kind, seed, ...rest } = location;
    expect(cellKey({ seed, ...rest, kind })).toBe(cellKey(location));
    expect(cellKey({ ...location, seed: 1 })).not.toBe(cellKey(location));
    expect(cellKey(location)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("survives JSON, and gives the same numbers on any number of threads, with its acquisition or without", async () => {
    const sent: Cell = JSON.parse(JSON.stringify(CELLS[3]));
    const acquired = await runCell(acquisition, { threads: 1 });
    expect(await runCell(sent, { threads: 2 })).toEqual(await runCell(CELLS[3], { acquired, threads: 1 }));
    expect(acquired.labelled).toHaveLength(44);
    expect(new Set(acquired.labelled).size).toBe(44);
    expect(acquired.checkpoints.map(({ labels }) => labels)).toEqual([0, 10, 20, 30, 40]);
  });

  test("of a design has its lower bounds below its upper ones", async () => {
    const { designs, steps, ...bounds } = await runCell(location);
    expect(designs).toHaveLength(2);
    expect(steps).toBe(3);
    for (const [lower, upper] of Object.values(bounds)) expect(lower).toBeLessThan(upper);
  });

  test("of static designs stops when they have settled, and says after how many steps", async () => {
    const training = { ...location.training, steps: 60, settled: { window: 5, speed: 0.9 } };
    const { steps } = await runCell({ ...location, training });
    expect(steps).toBeGreaterThanOrEqual(15);
    expect(steps).toBeLessThan(60);
  });

  test("of location finding says when designs have settled only where they are static", () => {
    const cells = reproductionsNamed(["table-location"])[0].cells({ quick: false }) as readonly DesignCell[];
    expect(new Set(cells.map(({ policy }) => policy))).toEqual(new Set(["random", "static", "dad"]));
    for (const { policy, training } of cells) {
      const { settled, ...paper } = training;
      // As in the keys of results from before static designs could stop.
      expect(paper).toEqual({ steps: 10_000, outer: 100, contrastive: 1000, marginal: 1000 });
      expect(settled !== undefined).toBe(policy === "static");
    }
  });
});

describe("the store", () => {
  test("interrupted anywhere and continued, has what an uninterrupted run has", async () => {
    const whole = ResultStore.open(join(folder, "whole.jsonl"));
    expect(await run(whole)).toEqual({ ran: 5, missing: {} });
    const path = join(folder, "interrupted.jsonl");
    let calls = 0;
    let interruptions = 0;
    for (let finished = false; !finished; ) {
      const store = ResultStore.open(path);
      const before = calls;
      try {
        await run(store, async () => {
          calls += 1;
          // Stopped before each third cell or so, and the last line is cut off as a sudden end would.
          if (calls - before === 3) throw new Error("interrupted");
        });
        finished = true;
      } catch (error) {
        expect((error as Error).message).toBe("interrupted");
        interruptions += 1;
        appendFileSync(path, '{"key":"0123","cell":{"kind":"acq');
      }
    }
    expect(interruptions).toBeGreaterThan(0);
    expect(contents(path)).toEqual(contents(whole.path));
    expect(await run(ResultStore.open(path))).toEqual({ ran: 0, missing: {} });
  });

  test("runs acquisitions first, each once, and nothing that is there", () => {
    const store = ResultStore.open(join(folder, "order.jsonl"));
    const pending = pendingCells([...CELLS, ...CELLS], store);
    expect(pending.map(({ kind }) => kind)).toEqual([
      "acquire",
      "design",
      "generalize",
      "reject-option",
      "representation",
    ]);
    const bounds = [0, 1] as const;
    store.append(
      location,
      { target: bounds, sensitive: bounds, sensitiveGivenTarget: bounds, joint: bounds },
      1,
    );
    expect(pendingCells([location], ResultStore.open(store.path))).toEqual([]);
  });

  test("says which line is wrong, and that there is nothing to read", () => {
    const path = join(folder, "wrong.jsonl");
    writeFileSync(path, '{"key":"a","cell":{"kind":"design"},"result":{}}\nwhat\n');
    expect(() => ResultStore.open(path)).toThrow(storeTexts.line(path, 2));
    const none = join(folder, "none.jsonl");
    expect(() => ResultStore.read(none)).toThrow(storeTexts.none(none));
  });
});

describe("verdicts", () => {
  test("by hand: 3-4-5 errors, three of them away", () => {
    // Combined error sqrt(0.3^2 + 0.4^2) = 0.5.
    const paper = { mean: 1, standardError: 0.4 };
    const ours = (mean: number) => ({ mean, standardError: 0.3, interval: null, n: 8 });
    expect(compare("row", "column", paper, ours(2.5))).toMatchObject({ apart: 3, verdict: "reproduced" });
    expect(compare("row", "column", paper, ours(-0.5))).toMatchObject({ apart: 3, verdict: "reproduced" });
    expect(compare("row", "column", paper, ours(2.51))).toMatchObject({ verdict: "differs" });
    expect(compare("row", "column", paper, undefined)).toMatchObject({
      ours: null,
      standardError: null,
      verdict: "not run",
    });
    expect(compare("row", "column", paper, meanOverSeeds([1]))).toMatchObject({
      ours: 1,
      verdict: "not run",
    });
  });

  test("over seeds: mean 2, standard deviation 1, so an error of 1 / sqrt(3)", () => {
    expect(meanOverSeeds([1, undefined, 2, 3])).toMatchObject({ mean: 2, n: 3 });
    expect(meanOverSeeds([1, 2, 3])?.standardError).toBeCloseTo(0.5773502692, 9);
    expect(meanOverSeeds([undefined])).toBeUndefined();
  });
});

describe("the catalogue", () => {
  test("has every name of the paper, and says what it does not have", () => {
    expect(reproductionsNamed(["all"])).toHaveLength(REPRODUCTIONS.length);
    expect(new Set(REPRODUCTION_NAMES).size).toBe(24);
    expect(reproductionsNamed(["fig-horizon", "table-location"]).map(({ name }) => name)).toEqual([
      "table-location",
      "fig-horizon",
    ]);
    expect(() => reproductionsNamed(["table-locaton"])).toThrow(
      catalogueTexts.unknown("table-locaton", "table-location"),
    );
  });

  test("the full protocol is the paper's", () => {
    const settings = acquireCell("census", fairbed(10), 0, { quick: false }).settings;
    expect(settings).toMatchObject({ budget: 400, batch: 1, forest: {}, sensitiveForest: {} });
    expect(acquireCell("census", recommended(10), 0, { quick: false }).settings).toMatchObject({
      sensitiveForest: RECOMMENDED.sensitiveForest,
    });
    const ratios = reproductionsNamed(["table-ratios"])[0].cells({ quick: false });
    const of = (task: string) => ratios.filter((cell) => cell.kind === "acquire" && cell.task === task);
    // Five methods; 8 seeds, 5 on CelebA.
    expect([of("census"), of("students"), of("celeba")].map(({ length }) => length)).toEqual([40, 40, 25]);
    expect(of("celeba")[0]).toMatchObject({ settings: { budget: 300, batch: 2 } });
    expect(reproductionsNamed(["table-location"])[0].cells({ quick: false })[1]).toMatchObject({
      training: { steps: 10_000, outer: 100, contrastive: 1000, marginal: 1000 },
      evaluation: { inner: 100_000 },
    });
  });

  test("figures share their cells", () => {
    const keys = (name: string) =>
      new Set(reproductionsNamed([name])[0].cells({ quick: false }).map(cellKey));
    const curves = keys("fig-curves-census");
    expect(keys("fig-dp-curves-census")).toEqual(curves);
    const shared = [...keys("table-ratios")].filter((key) => curves.has(key));
    expect(shared).toHaveLength(40);
    // Methods that have no beta and no sensitive model are one cell, whatever stands beside them.
    expect(acquireCell("census", RANDOM, 0, QUICK)).not.toEqual(acquireCell("census", EPIG, 0, QUICK));
  });

  test("the sweep changes one thing at a time, and shares what the tables and figures run", () => {
    const keysOf = (name: string, seeds: number) =>
      reproductionsNamed([name])[0].cells({ quick: false, seeds }).map(cellKey);
    const sweep = keysOf("sweep-students", 1);
    expect(new Set(sweep).size).toBe(sweep.length);
    // As in the table, beta 1, 2, 5 and 20.
    const figure = keysOf("fig-curves-students", 1);
    expect(sweep.filter((key) => figure.includes(key))).toHaveLength(5);
    expect(keysOf("table-ratios", 1)).toContain(sweep[0]);
  });

  test("everything can be drawn with nothing run, and every number of the paper is then not run", () => {
    const empty = ResultStore.open(join(folder, "empty.jsonl"));
    for (const reproduction of REPRODUCTIONS) {
      const { comparisons, measured } = drawingOf(reproduction, empty, { quick: false });
      expect(measured).toEqual([]);
      expect(comparisons.filter(({ verdict }) => verdict !== "not run")).toEqual([]);
      expect(comparisons.length > 0).toBe(/^(table|sweep)-/.test(reproduction.name));
    }
  });

  test("a table of made-up results: the verdict is computed from them, and the quick protocol gets none", () => {
    const [table] = reproductionsNamed(["table-location"]);
    for (const quick of [false, true]) {
      const store = ResultStore.open(join(folder, `table-${quick}.jsonl`));
      for (const cell of table.cells({ quick, seeds: 2 })) {
        if (cell.kind !== "design") continue;
        // Ratios 0.08 and 0.07 in the first column: mean 0.075, standard error 0.005.
        const [sensitive, given] = cell.seed === 0 ? [0.8, 3] : [0.7, 5];
        store.append(
          cell,
          {
            target: [10, 11],
            sensitive: [sensitive, 1],
            sensitiveGivenTarget: [given, 6],
            joint: [12, 13],
          },
          1,
        );
      }
      const { comparisons } = drawingOf(table, store, { quick, seeds: 2 });
      const cell = comparisons.find(
        ({ row, column }) => row === "FairBED (static)" && column === "EIG_phi / EIG_theta",
      );
      expect(cell).toMatchObject({ paper: 0.077, verdict: quick ? "not run" : "reproduced", seeds: 2 });
      expect(cell?.ours).toBeCloseTo(0.075, 12);
      expect(cell?.standardError).toBeCloseTo(0.005, 12);
      const random = comparisons.find(({ row }) => row === "Random");
      expect(random?.verdict).toBe(quick ? "not run" : "differs");
    }
  });
});
