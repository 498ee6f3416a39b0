import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { canonicalJson } from "../../src/jobs/content-key.js";
import { jobsHere } from "../../src/jobs/job-processes.js";
import { jobStoreTexts } from "../../src/jobs/job-store.js";
import { pendingJobs, runHere } from "../../src/jobs/run-jobs.js";
import { acquireCell, EPIG, fairbed, RANDOM, wholeSet } from "../../src/reproduce/acquisition-lines.js";
import { askedIn } from "../../src/reproduce/asked.js";
import {
  catalogueTexts,
  REPRODUCTION_NAMES,
  REPRODUCTIONS,
  reproductionsNamed,
} from "../../src/reproduce/catalogue.js";
import { type Cell, cellKey, type DesignCell, type FeatureChoice } from "../../src/reproduce/cell.js";
import { cellJob, cellJobs } from "../../src/reproduce/cell-jobs.js";
import { compactTexts } from "../../src/reproduce/compact-results.js";
import { loadTask, loadTaskTexts } from "../../src/reproduce/load-task.js";
import { drawingOf, reproductionTexts } from "../../src/reproduce/reproduction.js";
import { runCell } from "../../src/reproduce/run-cell.js";
import { departuresInWords } from "../../src/reproduce/settings-in-words.js";
import { ResultStore, storeTexts } from "../../src/reproduce/store.js";
import { isSameResult } from "../../src/reproduce/verify-cells.js";
import { fitEncoder } from "../../src/tables/encoder.js";
import { PAPER, prepareSeed, WHOLE_SET } from "../../src/workflows/simulation.js";
import { describeWithData } from "../setup/data.js";

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

const pendingCells = (cells: readonly Cell[], store: ResultStore) =>
  pendingJobs(cells.map(cellJob), store.jobs).map(({ input }) => input as Cell);

/** `before` is called before each cell. */
const run = (store: ResultStore, before: () => void = () => {}) => {
  const here = jobsHere([cellJobs]);
  const start = () => ({
    ...here,
    run: (...message: Parameters<typeof here.run>) => {
      before();
      return here.run(...message);
    },
  });
  return runHere(pendingJobs(CELLS.map(cellJob), store.jobs), 1, start, { store: store.jobs });
};

/** Key and result of every line, without the time it took. */
const contents = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .map(({ key, kind, input, result }) => JSON.stringify({ key, kind, input, result }))
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
    const { designs, steps, target, sensitive, sensitiveGivenTarget, joint } = await runCell(location);
    expect(designs).toHaveLength(2);
    expect(steps).toBe(3);
    for (const [lower, upper] of [target, sensitive, sensitiveGivenTarget, joint]) {
      expect(lower).toBeLessThan(upper);
    }
  });

  test("of static designs stops when they have settled, and says after how many steps", async () => {
    const training = { ...location.training, steps: 60, settled: { window: 5, speed: 0.9, times: 2 } };
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
    expect(await run(whole)).toEqual({ ran: 5, notes: [] });
    const path = join(folder, "interrupted.jsonl");
    let calls = 0;
    let interruptions = 0;
    for (let finished = false; !finished; ) {
      const store = ResultStore.open(path);
      const before = calls;
      try {
        await run(store, () => {
          calls += 1;
          // Stopped before each third cell or so, and the last line is cut off as a sudden end would.
          if (calls - before === 3) throw new Error("interrupted");
        });
        finished = true;
      } catch (error) {
        expect((error as Error).message).toBe("interrupted");
        interruptions += 1;
        appendFileSync(path, '{"key":"0123","kind":"cell","input":{"kind":"acq');
      }
    }
    expect(interruptions).toBeGreaterThan(0);
    expect(contents(path)).toEqual(contents(join(folder, "whole.jsonl")));
    expect(await run(ResultStore.open(path))).toEqual({ ran: 0, notes: [] });
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
    expect(pendingCells([location], ResultStore.open(join(folder, "order.jsonl")))).toEqual([]);
  });

  const line = (input: unknown, result: unknown) =>
    `${JSON.stringify({ key: "a", kind: "cell", input, result, seconds: 1 })}\n`;

  test.each([
    ["null", "null\n"],
    ["a list", "[]\n"],
    ["a number", "1\n"],
    ["no result", line({ kind: "design" }, null)],
    ["a list as a result", line({ kind: "design" }, [])],
    ["an empty result", line({ kind: "design" }, {})],
    ["bounds that are none", line({ kind: "design" }, { target: null, sensitive: 1 })],
    ["no rows", line({ kind: "acquire" }, { labelled: null, checkpoints: [] })],
    ["no metrics", line({ kind: "acquire" }, { labelled: [1], checkpoints: [null] })],
    ["metrics that are none", line({ kind: "generalize" }, { metrics: [] })],
    ["no cell", line(null, {})],
  ])("is no result: %s", (_, text) => {
    const path = join(folder, "no-result.jsonl");
    writeFileSync(path, text);
    for (const read of [ResultStore.open, ResultStore.read]) {
      expect(() => read(path)).toThrow(new InputError("results", jobStoreTexts.line(path, 1)));
    }
  });

  test("says which line is wrong, and that there is nothing to read", () => {
    const path = join(folder, "wrong.jsonl");
    writeFileSync(path, `${line({ kind: "other" }, {})}what\n`);
    expect(() => ResultStore.open(path)).toThrow(jobStoreTexts.line(path, 2));
    const none = join(folder, "none.jsonl");
    expect(() => ResultStore.read(none)).toThrow(storeTexts.none(none));
  });
});

describe("small tables", () => {
  /** A store with one result of each kind, and its tables in a folder. */
  const written = async (name: string) => {
    const store = ResultStore.open(join(folder, `${name}.jsonl`));
    await run(store);
    const path = join(folder, name);
    mkdirSync(path);
    for (const [file, text] of store.tables([...CELLS].reverse())) writeFileSync(join(path, file), text);
    return { store, path };
  };
  const near = (ours: unknown, whole: unknown): void => {
    if (typeof whole === "number") {
      expect(Math.abs(Number(ours) - whole)).toBeLessThanOrEqual(5e-6 * Math.abs(whole));
    } else if (typeof whole === "object" && whole !== null) {
      expect(Object.keys(ours as object).sort()).toEqual(Object.keys(whole).sort());
      for (const [key, value] of Object.entries(whole)) near((ours as Record<string, unknown>)[key], value);
    } else {
      expect(ours).toEqual(whole);
    }
  };

  test("hold every result to six digits, with the rows that were labelled, and are the same when written again", async () => {
    const { store, path } = await written("tables");
    const read = ResultStore.read(path);
    expect(read.size).toBe(5);
    expect(read.seeds).toBe(2);
    for (const cell of CELLS) near(read.get(cell), store.get(cell));
    expect(read.get(acquisition)?.labelled).toEqual(store.get(acquisition)?.labelled);
    expect(read.tables(CELLS)).toEqual(store.tables(CELLS));
    expect([...read.tables(CELLS).keys()].sort()).toEqual(
      ["acquire", "design", "generalize", "reject-option", "representation"].map((kind) => `${kind}.csv`),
    );
  });

  test("are what a later run begins with: only what they lack is run, and it starts from their labels", async () => {
    const { path } = await written("base");
    const other: Cell = { kind: "generalize", acquisition, model: "forest" };
    const store = ResultStore.open(join(folder, "later.jsonl"), ResultStore.read(path));
    expect(pendingCells([...CELLS, other], store)).toEqual([other]);
    const acquired = store.get(acquisition);
    expect(await runCell(other, acquired === undefined ? {} : { acquired })).toEqual(await runCell(other));
    store.append(other, { metrics: { accuracy: 0.5 } }, 1);
    // What was there before is not written again.
    expect(contents(join(folder, "later.jsonl"))).toHaveLength(1);
    expect(
      store
        .tables([...CELLS, other])
        .get("generalize.csv")
        ?.split("\n"),
    ).toHaveLength(4);
  });

  test("do not mind rows and columns that nobody asks for, nor values that are missing", () => {
    const cell = { ...acquisition, seed: 7 };
    const result = {
      labelled: [35, 36, 48_841],
      checkpoints: [
        { labels: 0, metrics: { accuracy: 0.123456789 } },
        { labels: 2, metrics: { accuracy: 1, dpRatio: 0.5 } },
      ],
    };
    const store = ResultStore.open(join(folder, "missing.jsonl"));
    store.append(cell, result, 0.123456);
    const [[name, text]] = store.tables([cell]);
    const [head, row] = text.trim().split("\n");
    expect(head).toBe("key,what,seed,seconds,labels,accuracy,dpRatio,labelled");
    expect(row.split(",").slice(-5)).toEqual(["0.123", "0 2", "0.123457 1", "- 0.5", "z 10 11op"]);
    const path = join(folder, "missing");
    mkdirSync(path);
    const other = row.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    writeFileSync(join(path, name), `${head}\n${other}\n${row}\n`);
    const read = ResultStore.read(path);
    near(read.get(cell), {
      ...result,
      checkpoints: [{ labels: 0, metrics: { accuracy: 0.123457 } }, result.checkpoints[1]],
    });
    expect(read.get(acquisition)).toBeUndefined();
    // In one order, whoever asks.
    const earlier = { ...cell, seed: 3 };
    store.append(earlier, result, 1);
    const rows = store.tables([cell, earlier]).get(name)?.trim().split("\n") ?? [];
    expect(store.tables([earlier, cell])).toEqual(store.tables([cell, earlier]));
    expect(rows.slice(1).map((each) => each.split('",')[1].split(",")[0])).toEqual(["3", "7"]);
    writeFileSync(join(path, name), `${head}\n${row}\n${row.slice(0, 40)}\n`);
    expect(() => ResultStore.read(path)).toThrow(compactTexts.line(join(path, name), 3));
    const empty = join(folder, "no tables");
    mkdirSync(empty);
    expect(() => ResultStore.read(empty)).toThrow(storeTexts.none(empty));
  });
});

describe("who was asked", () => {
  const composition = [
    {
      attribute: "sex, of a person",
      groups: [
        { group: 'the "first"', count: 3, population: 0.25 },
        { group: "b", count: 37, population: 0.75 },
      ],
      cells: [{ group: "b", outcome: "no, never", count: 12, population: 1 / 3 }],
    },
  ];
  const result = { labelled: [1, 2], composition, checkpoints: [{ labels: 2, metrics: { accuracy: 1 } }] };

  test("is kept in tables, and a table that has none still reads", () => {
    const cell = { ...acquisition, seed: 11 };
    const store = ResultStore.open(join(folder, "asked.jsonl"));
    store.append(cell, result, 1);
    const [[name, text]] = store.tables([cell]);
    const path = join(folder, "asked");
    mkdirSync(path);
    writeFileSync(join(path, name), text);
    expect(ResultStore.read(path).get(cell)).toEqual({
      ...result,
      composition: [{ ...composition[0], cells: [{ ...composition[0].cells[0], population: 0.333333 }] }],
    });
    writeFileSync(join(path, name), text.replace("[[", "["));
    expect(() => ResultStore.read(path)).toThrow(compactTexts.line(join(path, name), 2));
  });

  test("is counted over seeds beside the candidates, from what was acquired", async () => {
    const cells = [1, 2].map((seed) => acquireCell("synthetic", fairbed(10), seed, QUICK));
    const store = ResultStore.open(join(folder, "asked-again.jsonl"));
    expect(askedIn(cells, store)).toEqual([]);
    for (const cell of cells) store.append(cell, await runCell(cell), 1);
    const [asked, ...others] = askedIn([...cells, location], store);
    expect(others).toEqual([]);
    const task = await loadTask({ name: "synthetic", dataSeed: 0 });
    const [{ classes, labels }] = task.sensitive;
    const shares = cells.map((cell) => {
      const { split } = prepareSeed(task, cell.settings, cell.seed);
      const acquired = (store.get(cell)?.labelled ?? []).slice(split.initial.length);
      const of = (rows: ArrayLike<number>) =>
        Array.from(rows).filter((row) => labels[row] === 0).length / rows.length;
      return { acquired: of(acquired), population: of(split.pool) };
    });
    expect(asked.groups.map(({ group }) => group)).toEqual(classes);
    expect(asked.groups[0].share.mean).toBeCloseTo((shares[0].acquired + shares[1].acquired) / 2, 12);
    expect(asked.groups[0].population).toBeCloseTo((shares[0].population + shares[1].population) / 2, 12);
    expect(asked.cells).toHaveLength(4);
  });

  test("and what was measured later do not make a stored result another", () => {
    const stored = { key: "", cell: acquisition, seconds: 1, result: { ...result, composition: undefined } };
    expect(isSameResult(stored, result)).toBe(true);
    const more = { ...result, checkpoints: [{ labels: 2, metrics: { accuracy: 1, leakageAuc: 0.7 } }] };
    expect(isSameResult(stored, more)).toBe(true);
    expect(isSameResult({ ...stored, result: more }, result)).toBe(false);
    expect(isSameResult(stored, { ...result, labelled: [2, 1] })).toBe(false);
  });
});

describe("settings in words", () => {
  test("are nothing where they are the paper's, and name every other", () => {
    expect(departuresInWords(PAPER)).toEqual([]);
    expect(
      departuresInWords({
        ...PAPER,
        initial: 10,
        forest: { maxDepth: 3 },
        sensitiveForest: { minLeaf: 5, leafSmoothing: 1 },
      }),
    ).toEqual(["depth 3", "sensitive leaves of 5", "sensitiveForest.leafSmoothing 1", "10 initial labels"]);
  });

  test("of a protocol are those of the cells that it runs", () => {
    for (const reproduction of REPRODUCTIONS) {
      const [quick, full] = [true, false].map((each) => {
        const { stated, chosen } = reproduction.protocol({ quick: each });
        return [...stated, ...chosen].join("\n");
      });
      const location = reproduction.cells(QUICK)[0].kind === "design";
      expect(full).toContain(
        location ? "10,000 steps" : /celeba/.test(reproduction.name) ? "300 labels" : "400 labels",
      );
      expect(quick).toContain(location ? "600 steps" : "40 labels, 10 at a time, 2 seeds");
      expect(quick).not.toMatch(/10,000 steps|[34]00 labels/);
    }
  });
});

describeWithData("other features of students", ["students-dropout/data.csv"], (root) => {
  const columnsOf = async (features?: FeatureChoice) => {
    const task = await loadTask({ name: "students", dataSeed: 0, features, root });
    return fitEncoder(task).sourceColumns;
  };

  test("codes become categories, gender is there too, results of semesters are not", async () => {
    const own = await columnsOf();
    expect(own).toHaveLength(35);
    expect(own).not.toContain("Gender");
    const codes = await columnsOf("codes-as-categories");
    expect(new Set(codes)).toEqual(new Set(own));
    // 6 marital states and 17 courses, by the description of the dataset; grades stay numbers.
    const widths = { "Marital status": 6, Course: 17, "Admission grade": 1 };
    for (const [name, count] of Object.entries(widths)) {
      expect(codes.filter((each) => each === name)).toHaveLength(count);
    }
    expect(await columnsOf("sensitive-too")).toEqual([...own, "Gender"]);
    const early = await columnsOf("known-at-start");
    expect(early).toEqual(own.filter((name) => !name.startsWith("Curricular units")));
    expect(early).toHaveLength(35 - 12);
  });

  test("are for students alone", async () => {
    await expect(loadTask({ name: "synthetic", dataSeed: 0, features: "sensitive-too" })).rejects.toThrow(
      loadTaskTexts.features("synthetic"),
    );
  });
});

describe("the catalogue", () => {
  test("has every name of the paper, and says what it does not have", () => {
    expect(reproductionsNamed(["all"])).toHaveLength(REPRODUCTIONS.length);
    expect(new Set(REPRODUCTION_NAMES).size).toBe(REPRODUCTIONS.length);
    expect(REPRODUCTIONS.filter(({ beyond }) => beyond !== true)).toHaveLength(23);
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
    expect(acquireCell("census", wholeSet(1), 0, { quick: false }).settings).toMatchObject({
      sensitiveForest: WHOLE_SET.sensitiveForest,
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

  test("a figure says so where cells are missing", () => {
    const [figure] = reproductionsNamed(["fig-beta-static"]);
    const scale = { quick: true, seeds: 2 };
    const cells = figure.cells(scale);
    const store = ResultStore.open(join(folder, "partly.jsonl"));
    const notes = () => drawingOf(figure, store, scale).figures.map(({ chart }) => chart.note);
    for (const [i, cell] of cells.entries()) {
      expect(notes()).toEqual([reproductionTexts.incomplete(i, cells.length)]);
      store.append(
        cell,
        { target: [1, 1], sensitive: [1, 1], sensitiveGivenTarget: [1, 1], joint: [2, 2] },
        1,
      );
    }
    expect(notes()).toEqual([undefined]);
  });

  test("what a reader should know of some results is said with how many have it", () => {
    const [figure] = reproductionsNamed(["fig-lfr-students"]);
    const cells = figure.cells(QUICK).filter(({ kind }) => kind === "representation");
    const store = ResultStore.open(join(folder, "warned.jsonl"));
    const findings = () => drawingOf(figure, store, QUICK).findings ?? [];
    store.append(cells[0], { metrics: { accuracy: 0.5 } }, 1);
    expect(findings()).toEqual([]);
    for (const cell of cells.slice(1, 3)) store.append(cell, { metrics: {}, warning: "it collapsed" }, 1);
    expect(findings()).toEqual([reproductionTexts.warned("it collapsed", 2)]);
  });

  test("a size that is not the paper's is not said to be stated there", () => {
    for (const { name, protocol } of REPRODUCTIONS) {
      const full = protocol({ quick: false });
      const isNew = ["better-than-paper-again", "parity-at-least-cost"].includes(name);
      const saysSeeds = (sentences: readonly string[]) => sentences.some((each) => /\d seeds?$/.test(each));
      expect([name, saysSeeds(full.stated)]).toEqual([name, !isNew]);
      for (const other of [protocol({ quick: true }), protocol({ quick: false, seeds: 3 })]) {
        expect([name, saysSeeds(other.stated), saysSeeds(other.chosen)]).toEqual([name, false, true]);
      }
    }
  });

  test("what the paper does not state is not said to be stated, and what was picked by its numbers is said", () => {
    const all = REPRODUCTIONS.map(({ protocol }) => protocol({ quick: false }));
    const stated = all.flatMap((each) => each.stated).join("\n");
    const chosen = all.flatMap((each) => each.chosen).join("\n");
    const choices = [
      "distance^2",
      "Adam",
      "drawn from N(0, I)",
      "smaller rate of the two groups over the larger",
      "stay in [0, 1]",
      "read standardised features",
      "class-balanced",
      "rate of 2e-3",
    ];
    for (const choice of choices) {
      expect([choice, stated.includes(choice), chosen.includes(choice)]).toEqual([choice, false, true]);
    }
    const matched = all.flatMap((each) => each.matched ?? []).join("\n");
    for (const picked of ["N(0, I)", "static designs", "Census"]) expect(matched).toContain(picked);
  });

  test("seeds that are new are not those of the tables", () => {
    const [first, again] = reproductionsNamed(["better-than-paper", "better-than-paper-again"]);
    const keys = new Set(first.cells({ quick: false, seeds: 12 }).map(cellKey));
    const cells = again.cells({ quick: false });
    expect(cells).toHaveLength(10 * (9 + 10));
    expect(cells.filter((cell) => keys.has(cellKey(cell)))).toEqual([]);
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
