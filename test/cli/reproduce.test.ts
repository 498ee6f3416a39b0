import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeText } from "../../src/cli/atomic-write.js";
import { reproduceTexts } from "../../src/cli/commands/reproduce/reproduce.js";
import { renderTexts } from "../../src/report/render.js";
import { catalogueTexts, REPRODUCTION_NAMES } from "../../src/reproduce/catalogue.js";
import { storeTexts } from "../../src/reproduce/store.js";
import { tableLocationTexts } from "../../src/reproduce/table-location.js";
import { datasetNamed } from "../../src/sources/catalogue.js";
import { dataFolderTexts } from "../../src/sources/data-folder.js";
import { describeWithData } from "../setup/data.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { invoke } from "./one-process.js";

needsDist();
/** The first bytes of every PNG. */
const PNG = [0x89, 0x50, 0x4e, 0x47];
const folder = mkdtempSync(join(tmpdir(), "fairbed-reproduce-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("without any of the data there is nothing to show: exit code 1, and no folder", async () => {
  const out = join(folder, "no", "data");
  const outcome = await invoke(["reproduce", "table-ratios", "--quick", "--out", out], {
    env: { FAIRBED_DATA: join(folder, "nowhere"), FAIRBED_QUEUE: "" },
  });
  expect(outcome).toMatchObject({ code: 1, stdout: "" });
  expect(outcome.stderr).toMatch(/^fairbed: nothing could be run: the dataset census is not in .*\n$/);
  expect(existsSync(join(folder, "no"))).toBe(false);
});

test("policies that take a GPU are left out where none was asked for, with a note", async () => {
  const words = ["reproduce", "larger-policies", "--resume", "--seeds", "5", "--quiet", "--json"];
  const { code, stdout } = await invoke([...words, "--out", join(folder, "larger")]);
  expect(code).toBe(0);
  // Of four seeds the repository has the results, and of what they are compared with.
  expect(JSON.parse(stdout)).toMatchObject({
    cells: { wanted: 28, ran: 0, stored: 23 },
    notes: [reproduceTexts.leftOut(5)],
  });
}, 60_000);

test("a table in quick: once run, then only drawn, here and from a copy of its results", async () => {
  const out = join(folder, "location");
  const words = ["reproduce", "table-location", "--quick", "--quiet", "--json"];
  const first = await invoke([...words, "--out", out, "--jobs", "2"]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const { cells, reproductions } = JSON.parse(first.stdout);
  expect(cells).toEqual({ wanted: 10, ran: 10, stored: 10 });
  expect(reproductions[0].comparisons).toHaveLength(10);
  expect(reproductions[0].comparisons[0]).toMatchObject({
    row: "Random",
    column: "EIG_phi / EIG_theta",
    paper: 1.009,
    seeds: 2,
    verdict: "not run",
  });
  // Small as it is, it shows what the table is about, and says so where a reader looks.
  expect(reproductions[0].findings).toEqual([tableLocationTexts.shown]);
  const page = readFileSync(join(out, "index.html"), "utf8");
  expect(page).toContain("1.009 ± 0.034");
  expect(page).toContain("shows the order of the paper&#39;s table");
  expect(readFileSync(join(out, "cells.csv"), "utf8").split("\n")[0]).toMatch(
    /^key,kind,what,seed,labels,target lower,target upper,/,
  );
  expect(JSON.parse(readFileSync(join(out, "cells.json"), "utf8"))).toHaveLength(10);

  const again = JSON.parse((await invoke([...words, "--out", out])).stdout);
  expect(again.cells).toEqual({ wanted: 10, ran: 0, stored: 10 });
  expect(again.reproductions).toEqual(reproductions);

  const copy = join(folder, "copy.jsonl");
  copyFileSync(join(out, "results.jsonl"), copy);
  const drawn = await invoke([...words, "--out", join(folder, "drawn"), "--from-results", copy]);
  expect(JSON.parse(drawn.stdout).reproductions).toEqual(reproductions);
  expect(existsSync(join(folder, "drawn", "results.jsonl"))).toBe(false);
  // The folder of --out itself: its lines, and without them its tables, which have fewer digits.
  const whole = await invoke([...words, "--out", join(folder, "drawn"), "--from-results", out]);
  expect(JSON.parse(whole.stdout).reproductions).toEqual(reproductions);
  const tables = await invoke([
    ...words,
    ...["--out", join(folder, "drawn"), "--from-results", join(folder, "drawn")],
  ]);
  expect(JSON.parse(tables.stdout).cells).toEqual({ wanted: 10, ran: 0, stored: 10 });
  const paper = words.filter((word) => word !== "--quick");
  expect(await invoke([...paper, "--out", join(folder, "drawn"), "--from-results", out])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${reproduceTexts.nothing(false, true)}\n`,
  });
  expect(reproduceTexts.nothing(false, true)).toContain("add --quick");
}, 300_000);

test("results that ship with fairbed: drawn without running, and what a run begins with", async () => {
  // A copy of the package with results of its own.
  const copy = join(folder, "package");
  mkdirSync(copy);
  for (const part of ["bin", "dist", "package.json"]) symlinkSync(join(ROOT, part), join(copy, part));
  const packages = join(copy, "node_modules");
  mkdirSync(packages);
  const link = (name: string) => symlinkSync(join(ROOT, "node_modules", name), join(packages, name));
  for (const name of readdirSync(join(ROOT, "node_modules"))) if (name !== "vega") link(name);
  const program = join(copy, "bin", "fairbed");
  const env = { NODE_OPTIONS: "--preserve-symlinks --preserve-symlinks-main" };
  const inCopy = (...words: readonly string[]) =>
    invoke(["reproduce", "table-location", "--quick", "--quiet", "--json", ...words], { program, env });
  // Said before vega is asked for, which is not there either.
  for (const option of ["--from-results", "--resume"]) {
    expect(await inCopy(option)).toMatchObject({
      code: 2,
      stderr: `fairbed: ${reproduceTexts.noShipped(option)}\n`,
    });
  }
  cpSync(join(folder, "location", "results"), join(copy, "results"), { recursive: true });
  const undrawn = await inCopy("--out", join(folder, "shipped"), "--from-results");
  expect(undrawn).toMatchObject({ code: 1, stderr: `fairbed: ${renderTexts.noVega}\n` });
  expect(existsSync(join(folder, "shipped"))).toBe(false);
  link("vega");
  const drawn = await inCopy("--out", join(folder, "shipped"), "--from-results");
  expect(JSON.parse(drawn.stdout).cells).toEqual({ wanted: 10, ran: 0, stored: 10 });
  // Two seeds ship, the third is run; all three are in what may ship next.
  const out = join(folder, "resumed");
  const resumed = await inCopy("--out", out, "--resume", "--seeds", "3");
  expect(JSON.parse(resumed.stdout).cells).toEqual({ wanted: 15, ran: 5, stored: 15 });
  expect(readFileSync(join(out, "results.jsonl"), "utf8").trim().split("\n")).toHaveLength(5);
  expect(
    readFileSync(join(out, "results", "design.csv"), "utf8")
      .trim()
      .split("\n"),
  ).toHaveLength(16);
  const again = JSON.parse((await inCopy("--out", out, "--resume")).stdout);
  expect(again.cells).toEqual({ wanted: 10, ran: 0, stored: 10 });
  expect(
    readFileSync(join(out, "results", "design.csv"), "utf8")
      .trim()
      .split("\n"),
  ).toHaveLength(16);
}, 300_000);

test("what is not there is said in one sentence", async () => {
  expect(await invoke(["reproduce", "fig-horizn"])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${catalogueTexts.unknown("fig-horizn", "fig-horizon")}\n`,
  });
  for (const [option, ...value] of [["--resume"], ["--queue", "postgres://host/db"]]) {
    expect(await invoke(["reproduce", "all", "--from-results", option, ...value])).toMatchObject({
      code: 2,
      stderr: `fairbed: ${reproduceTexts.drawsOnly(option)}\n`,
    });
  }
  const empty = join(folder, "empty results.jsonl");
  writeFileSync(empty, "");
  const drawing = ["reproduce", "table-location", "--quick", "--out", join(folder, "unused")];
  expect(await invoke([...drawing, "--from-results", empty])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${reproduceTexts.nothing(true)}\n`,
  });
  expect(existsSync(join(folder, "unused"))).toBe(false);
  expect(await invoke(["reproduce", "table-location", "--quick", "--out", empty])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${writeText.isFile(empty)}\n`,
  });
  const none = join(folder, "no results");
  expect(await invoke(["reproduce", "all", "--from-results", none])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${storeTexts.none(none)}\n`,
  });
  expect(await invoke(["reproduce"])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${reproduceTexts.noNames(["all", ...REPRODUCTION_NAMES])}\n`,
  });
});

test("a table whose data is not here is not run, and says how to get it; the others are", async () => {
  const { code, stdout } = await invoke(
    ["reproduce", "table-celeba", "table-location", "--seeds", "1", "--quick", "--quiet", "--json"].concat([
      "--out",
      join(folder, "none"),
    ]),
    { env: { FAIRBED_DATA: join(folder, "nowhere"), FAIRBED_QUEUE: "" } },
  );
  expect(code).toBe(0);
  const { notes, cells } = JSON.parse(stdout);
  expect(cells).toEqual({ wanted: 10, ran: 5, stored: 5 });
  expect(notes).toEqual([dataFolderTexts.notHere(datasetNamed("celeba"), join(folder, "nowhere"))]);
});

/** Every file under a folder, by its path from there. */
const contentsOf = (path: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [relative(path, file), readFileSync(file)]),
  );

/** The same, but for the last digits of numbers. */
const closeTo = (ours: unknown, whole: unknown, at: string): void => {
  if (typeof ours === "number" && typeof whole === "number") {
    // Intervals of two seeds are 13 standard errors wide, and distances are shares of small errors.
    const allowed = 2e-4 * Math.max(1, Math.abs(whole));
    expect(Math.abs(ours - whole), `${at}: ${ours} and ${whole}`).toBeLessThan(allowed);
  } else if (typeof ours === "object" && ours !== null && typeof whole === "object" && whole !== null) {
    expect(Object.keys(ours)).toEqual(Object.keys(whole));
    for (const [name, value] of Object.entries(ours)) {
      closeTo(value, (whole as Record<string, unknown>)[name], `${at} ${name}`);
    }
  } else {
    expect(ours, at).toEqual(whole);
  }
};

const FILES = [
  "students-dropout/data.csv",
  "census-income-kdd/census-income.data.gz",
  "celeba/list_attr_celeba.txt.gz",
  "celeba/resnet18-layer3-gap-000001-010000.npy.gz",
  "adult/adult.data.gz",
  "adult/adult.test.gz",
];

describeWithData("reproduce all --quick", FILES, (data) => {
  const out = join(folder, "all");
  const env = { FAIRBED_DATA: data };
  // With two seeds, as for a table above, it takes twice as long and shows no more.
  const quickly = ["--quick", "--seeds", "1", "--quiet", "--json"];
  /** What is drawn from these results, beside what the run drew. */
  const drawnFrom = async (name: string, names: readonly string[], results: string) => {
    const again = join(folder, name);
    const { code, stdout } = await invoke([
      ...["reproduce", ...names, ...quickly, "--out", again],
      ...["--from-results", results],
    ]);
    expect(code).toBe(0);
    return { answer: JSON.parse(stdout), files: contentsOf(again) };
  };

  test("stopped in the middle, it goes on where it was; then it is drawn again from its results", async () => {
    const results = join(out, "results.jsonl");
    const stopped = await invoke(["reproduce", "fig-lfr-students", ...quickly, "--out", out], {
      env,
      during: (child) => {
        const watch = setInterval(() => {
          if (!existsSync(results)) return;
          clearInterval(watch);
          child.kill("SIGINT");
        }, 20);
        child.on("close", () => clearInterval(watch));
      },
    });
    expect(stopped.code).toBe(130);
    const before = readFileSync(results, "utf8").split("\n").length - 1;
    expect(before).toBeGreaterThan(0);

    const ledger = join(folder, "reproduction.md");
    const first = await invoke(
      ["reproduce", "all", ...quickly, "--out", out, "--jobs", "2", "--ledger", ledger],
      { env },
    );
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const { cells, files, names, reproductions, notes } = JSON.parse(first.stdout);
    expect(notes).toEqual([]);
    expect(names).toEqual(REPRODUCTION_NAMES);
    expect(cells).toEqual({ wanted: cells.wanted, ran: cells.wanted - before, stored: cells.wanted });
    const drawn = contentsOf(out);
    expect([...drawn.keys()].filter((file) => file !== "results.jsonl").sort()).toEqual([...files].sort());
    const page = readFileSync(ledger, "utf8");
    for (const name of REPRODUCTION_NAMES) {
      // Figures as SVG and as PNG, in the folder and beside the ledger.
      const own = files.filter((file: string) => new RegExp(`^${name}-[A-Za-z]+\\.svg$`).test(file));
      expect([name, own.length > 0]).toEqual([name, /^(fig|frontier|sweep|best|parity)-/.test(name)]);
      expect(page).toContain(`\`${name}\``);
      for (const file of own) {
        expect(drawn.get(file)?.subarray(0, 4).toString()).toBe("<svg");
        expect([...(drawn.get(file.replace(/svg$/, "png"))?.subarray(0, 4) ?? [])]).toEqual(PNG);
        expect(page).toContain(`(reproduction/${file})`);
        expect(existsSync(join(folder, "reproduction", file))).toBe(true);
      }
    }
    expect(page).toContain("\nfairbed reproduce all --quick --seeds 1 --ledger reproduction.md\n");
    expect(page).not.toContain("--resume");
    // Its own settings, not those of the paper's protocol.
    expect(drawn.get("index.html")?.toString()).toContain("40 labels, 10 at a time, 1 seed<");
    expect(drawn.get("index.html")?.toString()).not.toContain("400 labels");

    const tables = REPRODUCTION_NAMES.filter((name) => name.startsWith("table-"));
    const second = await invoke(["reproduce", ...tables, ...quickly, "--out", out], {
      env,
    });
    expect(JSON.parse(second.stdout).cells).toMatchObject({ ran: 0 });
    expect(contentsOf(out).get("results.jsonl")).toEqual(drawn.get("results.jsonl"));

    const exact = await drawnFrom("from lines", ["all"], results);
    expect(exact.answer.reproductions).toEqual(reproductions);
    expect(exact.files).toEqual(new Map([...drawn].filter(([name]) => name !== "results.jsonl")));

    // One of every kind of cell and of drawing, from six significant digits.
    const some = [...tables, "fig-static-designs", "fig-horizon", "fig-lfr-students", "sweep-students"];
    const compact = await drawnFrom("from tables", some, join(out, "results"));
    const named = new Map(reproductions.map((each: { readonly name: string }) => [each.name, each]));
    for (const each of compact.answer.reproductions) closeTo(each, named.get(each.name), each.name);
    for (const [name, contents] of compact.files) {
      if (name.startsWith("results")) expect(contents).toEqual(drawn.get(name));
      else expect([...drawn.keys()]).toContain(name);
    }
  }, 900_000);
});
